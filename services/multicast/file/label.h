/* SPDX-License-Identifier: Apache-2.0 */
/*
 * label.h - what a file that is sent is called: the label of its message (cast/store.h), the names it may have, and those of what is beside it on the way.
 *
 *      0        1       2        4             12          44
 *      | form:1 | flags | mode 2 | bytes (8)   | digest 32 | the name
 *
 * While it comes a file called NAME is .NAME.DIGEST.part, and what is known of it .NAME.DIGEST.map, DIGEST being the first 32 hex digits: so that two files
 * of one name are two parts, and the same file that comes again finds what it left. A message has at least one byte: an empty file goes as one zero byte.
 */
#ifndef SERVICES_MULTICAST_FILE_LABEL_H
#define SERVICES_MULTICAST_FILE_LABEL_H

#include "services/multicast/cast/store.h"
#include "services/multicast/file/host.h"

enum {
    FILE_NAME_MOST = 200, /* bytes; what is beside it still fits 255 */
    FILE_LABEL_HEAD = 44,
    FILE_LABEL_MOST = FILE_LABEL_HEAD + FILE_NAME_MOST,
    FILE_BESIDE = 256,
};

struct file_label {
    uint64_t bytes; /* of the file */
    uint16_t mode;  /* 0777 at most */
    bool keep;      /* a file of that name that is there is not replaced */
    uint8_t digest[FILES_DIGEST_BYTES];
    char name[FILE_NAME_MOST + 1];
};

enum file_name_fault {
    FILE_NAME_GOOD,
    FILE_NAME_EMPTY,
    FILE_NAME_LONG,
    FILE_NAME_SLASH,
    FILE_NAME_DOT,
    FILE_NAME_CONTROL
};
/* A name is 1 to 200 bytes, none of them a slash or below 32 or 127, and does not begin with a dot. */
enum file_name_fault file_name_check(const char *name, size_t length);
/* What is wrong, as the end of a sentence; static. */
const char *file_name_text(enum file_name_fault fault);

/* Gives the length. */
size_t file_label_encode(const struct file_label *l, uint8_t out[static FILE_LABEL_MOST]);
/* -EBADMSG: no such label, or with a name that is none; *out is then undefined. */
CW_MUST_CHECK int file_label_decode(const uint8_t *bytes, size_t length, struct file_label *out);
/* Bytes of the message. */
static inline uint64_t file_label_message(const struct file_label *l)
{
    return l->bytes > 0 ? l->bytes : 1;
}

void file_label_part(const struct file_label *l, char out[static FILE_BESIDE]);
void file_label_map(const struct file_label *l, char out[static FILE_BESIDE]);
/* Is it the name of something that is beside a file on its way? */
bool file_label_is_part(const char *name);

#endif
