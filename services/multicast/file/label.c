/* SPDX-License-Identifier: Apache-2.0 */
#include "services/multicast/file/label.h"

#include "base/bytes.h"
#include "base/utf8.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { FORM = 1, KEEP = 1, MODES = 0777, HEX = 32, SUFFIX = 5 };
_Static_assert((int)FILE_LABEL_MOST <= (int)CAST_LABEL_MOST, "a label fits");
_Static_assert(1 + (int)FILE_NAME_MOST + 1 + HEX + SUFFIX < (int)FILE_BESIDE, "what is beside a file has a name");

/* ---- Names ------------------------------------------------------------------------------------------------------- */

enum file_name_fault file_name_check(const char *name, size_t length)
{
    if (length == 0) {
        return FILE_NAME_EMPTY;
    }
    if (length > FILE_NAME_MOST) {
        return FILE_NAME_LONG;
    }
    if (memchr(name, '/', length) != NULL) {
        return FILE_NAME_SLASH;
    }
    enum utf8_kind kind = utf8_check(name, length);
    if (kind != UTF8_PLAIN) {
        return kind == UTF8_CONTROL ? FILE_NAME_CONTROL : FILE_NAME_NO_TEXT;
    }
    return name[0] == '.' ? FILE_NAME_DOT : FILE_NAME_GOOD;
}

const char *file_name_text(enum file_name_fault fault)
{
    static const char *const texts[] = {
        [FILE_NAME_GOOD] = "is a good name",
        [FILE_NAME_EMPTY] = "is empty",
        [FILE_NAME_LONG] = "is longer than 200 bytes",
        [FILE_NAME_SLASH] = "has a slash: files go into one folder",
        [FILE_NAME_DOT] = "begins with a dot: such names are those of files on their way",
        [FILE_NAME_CONTROL] = "has a control character",
        [FILE_NAME_NO_TEXT] = "is not UTF-8",
    };
    return texts[fault];
}

/* ---- The label --------------------------------------------------------------------------------------------------- */

size_t file_label_encode(const struct file_label *l, uint8_t out[static FILE_LABEL_MOST])
{
    size_t length = strlen(l->name);
    out[0] = FORM;
    out[1] = l->keep ? KEEP : 0;
    put_be16(out + 2, l->mode);
    put_be64(out + 4, l->bytes);
    memcpy(out + 12, l->digest, sizeof l->digest);
    memcpy(out + FILE_LABEL_HEAD, l->name, length);
    return FILE_LABEL_HEAD + length;
}

int file_label_decode(const uint8_t *bytes, size_t length, struct file_label *out)
{
    if (length <= FILE_LABEL_HEAD || length > FILE_LABEL_MOST || bytes[0] != FORM || bytes[1] > KEEP ||
        get_be16(bytes + 2) > MODES) {
        return -EBADMSG;
    }
    size_t name = length - FILE_LABEL_HEAD;
    if (file_name_check((const char *)bytes + FILE_LABEL_HEAD, name) != FILE_NAME_GOOD) {
        return -EBADMSG;
    }
    *out = (struct file_label){.bytes = get_be64(bytes + 4), .mode = get_be16(bytes + 2), .keep = bytes[1] == KEEP};
    memcpy(out->digest, bytes + 12, sizeof out->digest);
    memcpy(out->name, bytes + FILE_LABEL_HEAD, name);
    return 0;
}

/* ---- What is beside ---------------------------------------------------------------------------------------------- */

static const char part[] = ".part", map[] = ".map";

static void beside(const struct file_label *l, const char *suffix, char out[static FILE_BESIDE])
{
    char hex[HEX + 1];
    for (int i = 0; i < HEX / 2; i++) {
        snprintf(hex + (size_t)2 * (size_t)i, 3, "%02x", l->digest[i]);
    }
    snprintf(out, FILE_BESIDE, ".%s.%s%s", l->name, hex, suffix);
}

void file_label_part(const struct file_label *l, char out[static FILE_BESIDE])
{
    beside(l, part, out);
}

void file_label_map(const struct file_label *l, char out[static FILE_BESIDE])
{
    beside(l, map, out);
}

static bool ends_with(const char *name, size_t length, const char *suffix)
{
    size_t n = strlen(suffix);
    return length > n && memcmp(name + length - n, suffix, n) == 0;
}

bool file_label_is_part(const char *name)
{
    size_t length = strlen(name), tail = ends_with(name, length, part)  ? sizeof part - 1
                                         : ends_with(name, length, map) ? sizeof map - 1
                                                                        : 0;
    if (tail == 0 || name[0] != '.' || length < 1 + 1 + 1 + HEX + tail) {
        return false;
    }
    const char *hex = name + length - tail - HEX;
    return hex[-1] == '.' && strspn(hex, "0123456789abcdef") == HEX;
}
