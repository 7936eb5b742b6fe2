/* SPDX-License-Identifier: Apache-2.0 */
/*
 * label.h - what a file is called on its way: the label of its message (cast/store.h), the names it may have, and those
 * of the files beside it.
 *
 *      0        1       2        4             12          44
 *      | form:1 | flags | mode 2 | bytes (8)   | digest 32 | the name
 *
 * While a file NAME comes, its bytes are in .NAME.DIGEST.part, and the map of its pieces in .NAME.DIGEST.map; DIGEST is
 * the first 32 hex digits. So two files of one name are two parts, and the same file that comes again finds the part it
 * left. A message has at least one byte: an empty file is sent as one zero byte.
 */
#ifndef SERVICES_MULTICAST_FILE_LABEL_H
#define SERVICES_MULTICAST_FILE_LABEL_H

#include "services/multicast/cast/store.h"
#include "services/multicast/file/host.h"

enum {
    FILE_NAME_MOST = 200, /* bytes; the names beside it still fit the 255 bytes of a file system */
    FILE_LABEL_HEAD = 44,
    FILE_LABEL_MOST = FILE_LABEL_HEAD + FILE_NAME_MOST,
    FILE_BESIDE = 256,
};

struct file_label {
    uint64_t bytes; /* of the file */
    uint16_t mode;  /* 0777 at most */
    bool keep;      /* a file that has the name already is not replaced */
    uint8_t digest[FILES_DIGEST_BYTES];
    char name[FILE_NAME_MOST + 1];
};

enum file_name_fault {
    FILE_NAME_GOOD,
    FILE_NAME_EMPTY,
    FILE_NAME_LONG,
    FILE_NAME_SLASH,
    FILE_NAME_DOT,
    FILE_NAME_CONTROL,
    FILE_NAME_NO_TEXT
};
/*
 * A name has 1 to FILE_NAME_MOST bytes of UTF-8, no slash and no control character, and does not begin with a dot. So
 * it may be shown on any terminal, and stands in any JSON, as it is.
 */
enum file_name_fault file_name_check(const char *name, size_t length);
/* What is wrong with the name, as the end of a sentence. Static. */
const char *file_name_text(enum file_name_fault fault);

/* Writes the label and gives its length. */
size_t file_label_encode(const struct file_label *l, uint8_t out[static FILE_LABEL_MOST]);
/* -EBADMSG: the bytes are no label, or its name is not allowed; *out is then undefined. */
CW_MUST_CHECK int file_label_decode(const uint8_t *bytes, size_t length, struct file_label *out);
/* The bytes of the message that carries the file. */
static inline uint64_t file_label_message(const struct file_label *l)
{
    return l->bytes > 0 ? l->bytes : 1;
}

void file_label_part(const struct file_label *l, char out[static FILE_BESIDE]);
void file_label_map(const struct file_label *l, char out[static FILE_BESIDE]);
/* Is it the name of a part or a map? */
bool file_label_is_part(const char *name);

#endif
