/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tar.h - archives of values: files in the format pax of POSIX.1-2001, which every tar reads and writes.
 *
 * Of each file there are its path, its bytes, and some words of text by key, which stand in its extended header; other
 * programs pass over keys that they do not know. A path is any bytes but NUL. Written are regular files only. Read are
 * those of pax, of GNU tar (long names) and of old tars; folders are passed over, and what is neither a file nor a
 * folder is an error. No memory is kept between calls but that of the struct; nothing is global.
 */
#ifndef TAR_TAR_H
#define TAR_TAR_H

#include "cubeway/types.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    TAR_BLOCK = 512,
    TAR_PATH_MOST = 4096,
    TAR_WORDS_MOST = 8,
    TAR_KEY_MOST = 64,           /* bytes of a key, with its NUL */
    TAR_TEXT_MOST = 2048,        /* bytes of a word's text, with its NUL */
    TAR_HEADER_MOST = 64 * 1024, /* bytes of an extended header */
    TAR_WHY = 160,
};

#define TAR_SIZE_MOST (INT64_C(1) << 40)

struct tar_word {
    char key[TAR_KEY_MOST];
    char text[TAR_TEXT_MOST];
};

struct tar_file {
    char path[TAR_PATH_MOST];
    uint64_t size;     /* bytes of what follows; TAR_SIZE_MOST at most */
    int64_t changed_s; /* seconds since 1970; 0 or more */
    unsigned words;
    struct tar_word word[TAR_WORDS_MOST];
};

/* The text of the word of that key; NULL: it has none. Borrowed from the file. */
const char *tar_word(const struct tar_file *f, const char *key);
/* Adds a word, or changes it. -ENOBUFS: it is too long, or there are too many. */
CW_MUST_CHECK int tar_word_set(struct tar_file *f, const char *key, const char *text);

/* ---- Writing ----------------------------------------------------------------------------------------------------- */

/* Writes `size` bytes, all of them. 0, or -errno, which ends what is under way and is passed on. */
typedef int (*tar_write_fn)(void *context, const void *bytes, size_t size);

/* Writes the headers of a file. Its f->size bytes are to follow by `write`, and tar_put_end(). */
CW_MUST_CHECK int tar_put(const struct tar_file *f, tar_write_fn write, void *context);
/* Fills up the last block of a file of that size. */
CW_MUST_CHECK int tar_put_end(uint64_t size, tar_write_fn write, void *context);
/* Ends the archive. */
CW_MUST_CHECK int tar_close(tar_write_fn write, void *context);

/* ---- Reading ----------------------------------------------------------------------------------------------------- */

/* Reads up to `size` bytes: how many; 0 at the end; -errno. */
typedef int64_t (*tar_read_fn)(void *context, void *bytes, size_t size);

struct tar_reader {
    tar_read_fn read;
    void *context;
    uint64_t at;   /* bytes that were read: where in the archive that is */
    uint64_t left; /* of the file's bytes, */
    unsigned fill; /* and behind them up to the end of the block */
    const char *keys;
    char why[TAR_WHY]; /* of the last error: a sentence without the archive's name, that says where */
};

/* keys: only words whose key begins so are kept, of the many that other programs write. Borrowed. */
void tar_open(struct tar_reader *r, tar_read_fn read, void *context, const char *keys);
/*
 * Goes on to the next file, past what is left of the one before, and fills *f. 1: there is one; 0: the archive has
 * ended; -EPROTO: it is damaged, or no archive; -EOPNOTSUPP: this is neither a file nor a folder, or a file with
 * holes; -EIO, or what `read` gave: it could not be read. r->why says what and where.
 */
CW_MUST_CHECK int tar_next(struct tar_reader *r, struct tar_file *f);
/* Reads up to `size` bytes of the file: how many; 0 at its end; negative: as of tar_next(). */
CW_MUST_CHECK int64_t tar_get(struct tar_reader *r, void *bytes, size_t size);

#endif
