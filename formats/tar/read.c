/* SPDX-License-Identifier: Apache-2.0 */
#include "tar/tar.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    NAME_BYTES = 100,
    SIZE = 124,
    CHANGED = 136,
    SUM = 148,
    KIND = 156,
    MAGIC = 257,
    PREFIX = 345,
    PREFIX_BYTES = 155
};

static const char sparse[] = "GNU.sparse."; /* how GNU tar marks a file whose bytes are a map and parts of it */

/* What is said of the next file before its own header. */
struct ahead {
    bool any, path, size;
};

void tar_open(struct tar_reader *r, tar_read_fn read, void *context, const char *keys)
{
    *r = (struct tar_reader){.read = read, .context = context, .keys = keys};
}

__attribute__((format(printf, 3, 4))) static int fail(struct tar_reader *r, int rc, const char *format, ...)
{
    va_list rest;
    va_start(rest, format);
    vsnprintf(r->why, sizeof r->why, format, rest);
    va_end(rest);
    return rc;
}

/* Reads as many as there are, up to size. */
static int64_t read_some(struct tar_reader *r, void *bytes, size_t size)
{
    size_t got = 0;
    while (got < size) {
        int64_t n = r->read(r->context, (uint8_t *)bytes + got, size - got);
        if (n < 0) {
            return fail(r, (int)n, "byte %" PRIu64 ": %s", r->at + got, strerror((int)-n));
        }
        if (n == 0) {
            break;
        }
        got += (size_t)n;
    }
    r->at += got;
    return (int64_t)got;
}

static int read_all(struct tar_reader *r, void *bytes, size_t size)
{
    int64_t n = read_some(r, bytes, size);
    return n < 0 ? (int)n : (size_t)n == size ? 0 : fail(r, -EPROTO, "it breaks off at byte %" PRIu64, r->at);
}

static int pass_over(struct tar_reader *r, uint64_t size)
{
    uint8_t bytes[8 * TAR_BLOCK];
    int rc = 0;
    while (rc == 0 && size > 0) {
        size_t n = size < sizeof bytes ? (size_t)size : sizeof bytes;
        rc = read_all(r, bytes, n);
        size -= n;
    }
    return rc;
}

static unsigned to_block(uint64_t size)
{
    return (unsigned)((TAR_BLOCK - size % TAR_BLOCK) % TAR_BLOCK);
}

/* ---- Numbers ----------------------------------------------------------------------------------------------------- */

/* Octal digits, or, as GNU tar has it, a first byte of 0x80 and then the number in bytes. False: neither. */
static bool read_number(const uint8_t *field, unsigned bytes, uint64_t *out)
{
    uint64_t n = 0;
    unsigned i = 0;
    if (field[0] == 0x80) {
        for (i = 1; i < bytes; i++) {
            if (n >> 56 != 0) {
                return false;
            }
            n = n << 8 | field[i];
        }
        *out = n;
        return true;
    }
    while (i < bytes && field[i] == ' ') {
        i++;
    }
    for (; i < bytes && field[i] >= '0' && field[i] <= '7'; i++) {
        n = n << 3 | (uint64_t)(field[i] - '0');
    }
    *out = n;
    return i == bytes || field[i] == '\0' || field[i] == ' ';
}

static bool read_decimal(const char *text, size_t length, uint64_t *out)
{
    uint64_t n = 0;
    for (size_t i = 0; i < length; i++) {
        if (text[i] < '0' || text[i] > '9' || n > UINT64_MAX / 10 - 1) {
            return false;
        }
        n = n * 10 + (uint64_t)(text[i] - '0');
    }
    *out = n;
    return length > 0;
}

static bool sum_fits(const uint8_t *header)
{
    uint64_t said, sum = 0;
    for (unsigned i = 0; i < TAR_BLOCK; i++) {
        sum += i >= SUM && i < SUM + 8 ? ' ' : header[i];
    }
    return read_number(header + SUM, 8, &said) && said == sum;
}

/* ---- Extended headers -------------------------------------------------------------------------------------------- */

/* A record "KEY=TEXT" of the next file. */
static int take_record(struct tar_reader *r, struct tar_file *f, struct ahead *ahead, char *key, char *text)
{
    size_t length = strlen(text);
    if (strcmp(key, "path") == 0) {
        if (length == 0 || length >= sizeof f->path) {
            return fail(r, -EPROTO, "the header before byte %" PRIu64 " has a path of %zu bytes", r->at, length);
        }
        memcpy(f->path, text, length + 1);
        ahead->path = true;
    } else if (strcmp(key, "size") == 0) {
        ahead->size = read_decimal(text, length, &f->size);
        return ahead->size ? 0 : fail(r, -EPROTO, "the header before byte %" PRIu64 " has no size", r->at);
    } else if (strncmp(key, sparse, sizeof sparse - 1) == 0) {
        return fail(r, -EOPNOTSUPP, "the file before byte %" PRIu64 " has holes (GNU.sparse): make it without", r->at);
    } else if (strncmp(key, r->keys, strlen(r->keys)) == 0 && tar_word_set(f, key, text) < 0) {
        return fail(r, -EPROTO, "the header before byte %" PRIu64 " has too many or too long words", r->at);
    }
    return 0;
}

/* Records "LENGTH KEY=TEXT\n", one behind the other. */
static int take_records(struct tar_reader *r, struct tar_file *f, struct ahead *ahead, char *bytes, size_t size)
{
    size_t at = 0;
    int rc = 0;
    while (rc == 0 && at < size) {
        uint64_t length = 0;
        const char *space = memchr(bytes + at, ' ', size - at);
        bool good = space != NULL && read_decimal(bytes + at, (size_t)(space - bytes) - at, &length) &&
                    length <= size - at && bytes + at + length > space + 1 && bytes[at + length - 1] == '\n';
        char *key = good ? bytes + (space - bytes) + 1 : NULL;
        char *text = good ? memchr(key, '=', (size_t)(bytes + at + length - key)) : NULL;
        if (text == NULL) {
            return fail(r, -EPROTO, "the header before byte %" PRIu64 " has a record that is none", r->at);
        }
        *text++ = '\0';
        bytes[at + length - 1] = '\0';
        rc = take_record(r, f, ahead, key, text);
        at += (size_t)length;
    }
    return rc;
}

/* A header that is about the next one: of pax, or GNU tar's long name. */
static int take_header(struct tar_reader *r, struct tar_file *f, struct ahead *ahead, char kind, uint64_t size)
{
    if (size > TAR_HEADER_MOST) {
        return fail(r, -EPROTO, "the header before byte %" PRIu64 " has %" PRIu64 " bytes", r->at, size);
    }
    char *bytes = malloc((size_t)size + 1);
    int rc = bytes != NULL ? read_all(r, bytes, (size_t)size) : fail(r, -ENOMEM, "no memory");
    rc = rc < 0 ? rc : pass_over(r, to_block(size));
    if (rc == 0 && kind == 'x') {
        rc = take_records(r, f, ahead, bytes, (size_t)size);
    } else if (rc == 0 && kind == 'L') {
        char key[] = "path";
        bytes[size] = '\0';
        rc = take_record(r, f, ahead, key, bytes);
    }
    free(bytes);
    return rc;
}

/* ---- Files ------------------------------------------------------------------------------------------------------- */

static void take_path(struct tar_file *f, const uint8_t *header)
{
    size_t prefix =
        memcmp(header + MAGIC, "ustar\0", 6) == 0 ? strnlen((const char *)header + PREFIX, PREFIX_BYTES) : 0;
    snprintf(f->path, sizeof f->path, "%.*s%s%.*s", (int)prefix, (const char *)header + PREFIX, prefix > 0 ? "/" : "",
             (int)strnlen((const char *)header, NAME_BYTES), (const char *)header);
}

/*
 * Reads a block. 0: it is the end, a block of zeros; 1: there is a header. An archive without an end was cut off, maybe
 * behind a whole file: what is missing would not be missed.
 */
static int read_header(struct tar_reader *r, uint8_t header[static TAR_BLOCK])
{
    static const uint8_t zero[TAR_BLOCK];
    int64_t n = read_some(r, header, TAR_BLOCK);
    if (n < 0) {
        return (int)n;
    }
    if (n < TAR_BLOCK && r->at >= TAR_BLOCK) {
        return fail(r, -EPROTO, "it breaks off at byte %" PRIu64, r->at);
    }
    if (n == TAR_BLOCK && memcmp(header, zero, TAR_BLOCK) == 0) {
        return 0;
    }
    if (n == TAR_BLOCK && sum_fits(header)) {
        return 1;
    }
    return r->at > TAR_BLOCK ? fail(r, -EPROTO, "the header before byte %" PRIu64 " is damaged", r->at)
                             : fail(r, -EPROTO, r->at == 0 ? "it is empty" : "it is no tar archive");
}

/* The header of a file, or of what is passed over. 1: *f is a file. */
static int take_file(struct tar_reader *r, struct tar_file *f, const struct ahead *ahead, const uint8_t *header)
{
    uint64_t size, changed = 0;
    char kind = (char)header[KIND];
    if (!read_number(header + SIZE, 12, &size)) {
        return fail(r, -EPROTO, "the header before byte %" PRIu64 " has no size", r->at);
    }
    if (!ahead->path) {
        take_path(f, header);
    }
    size = ahead->size ? f->size : size;
    if (size > TAR_SIZE_MOST) {
        return fail(r, -EPROTO, "the header before byte %" PRIu64 " has %" PRIu64 " bytes", r->at, size);
    }
    f->size = size;
    f->changed_s = read_number(header + CHANGED, 12, &changed) && changed <= INT64_MAX ? (int64_t)changed : 0;
    bool folder = kind == '5' || (kind == '\0' && f->path[0] != '\0' && f->path[strlen(f->path) - 1] == '/');
    r->left = folder ? 0 : size;
    r->fill = to_block(r->left);
    if (!folder && kind != '0' && kind != '\0' && kind != '7') {
        return fail(r, -EOPNOTSUPP, "'%.80s' is no file: its kind is '%c'", f->path,
                    kind >= ' ' && kind <= '~' ? kind : '?');
    }
    return folder ? 0 : 1;
}

int tar_next(struct tar_reader *r, struct tar_file *f)
{
    struct ahead ahead = {false, false, false};
    uint8_t header[TAR_BLOCK];
    int rc = pass_over(r, r->left + r->fill);
    r->left = r->fill = 0;
    f->words = 0;
    while (rc == 0) {
        uint64_t size = 0;
        rc = read_header(r, header);
        if (rc <= 0) {
            return rc == 0 && ahead.any ? fail(r, -EPROTO, "it breaks off at byte %" PRIu64, r->at) : rc;
        }
        char kind = (char)header[KIND];
        if (kind == 'x' || kind == 'g' || kind == 'L' || kind == 'K') {
            bool good = read_number(header + SIZE, 12, &size);
            ahead.any = true;
            rc = good ? take_header(r, f, &ahead, kind, size)
                      : fail(r, -EPROTO, "the header before byte %" PRIu64 " has no size", r->at);
            continue;
        }
        rc = take_file(r, f, &ahead, header);
        ahead = (struct ahead){false, false, false};
        f->words = rc == 0 ? 0 : f->words; /* of a folder, which is passed over */
    }
    return rc;
}

int64_t tar_get(struct tar_reader *r, void *bytes, size_t size)
{
    size = r->left < size ? (size_t)r->left : size;
    int rc = read_all(r, bytes, size);
    if (rc < 0) {
        return rc;
    }
    r->left -= size;
    return (int64_t)size;
}
