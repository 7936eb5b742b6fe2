/* SPDX-License-Identifier: Apache-2.0 */
#include "tar/tar.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Places in a header, of POSIX.1-2001 ("ustar interchange format"). */
enum {
    NAME = 0,
    NAME_BYTES = 100,
    MODE = 100,
    UID = 108,
    GID = 116,
    SIZE = 124,
    CHANGED = 136,
    SUM = 148,
    KIND = 156,
    MAGIC = 257,
    OCTAL_MOST = 12
};

#define SIZE_OCTAL (UINT64_C(1) << 33) /* from here on the size does not fit 11 octal digits */

const char *tar_word(const struct tar_file *f, const char *key)
{
    for (unsigned i = 0; i < f->words; i++) {
        if (strcmp(f->word[i].key, key) == 0) {
            return f->word[i].text;
        }
    }
    return NULL;
}

int tar_word_set(struct tar_file *f, const char *key, const char *text)
{
    unsigned i = 0;
    while (i < f->words && strcmp(f->word[i].key, key) != 0) {
        i++;
    }
    if (i == TAR_WORDS_MOST || strlen(key) >= TAR_KEY_MOST || strlen(text) >= TAR_TEXT_MOST) {
        return -ENOBUFS;
    }
    snprintf(f->word[i].key, sizeof f->word[i].key, "%s", key);
    snprintf(f->word[i].text, sizeof f->word[i].text, "%s", text);
    f->words = i == f->words ? i + 1 : f->words;
    return 0;
}

/* A number in octal digits that fill the field but for its NUL. */
static void put_octal(uint8_t *field, unsigned bytes, uint64_t n)
{
    char text[OCTAL_MOST + 16];
    snprintf(text, sizeof text, "%0*" PRIo64, (int)bytes - 1, n);
    memcpy(field, text, bytes);
}

static void put_header(uint8_t out[static TAR_BLOCK], const char *name, char kind, uint64_t size, int64_t changed_s)
{
    unsigned sum = 0;
    memset(out, 0, TAR_BLOCK);
    memcpy(out + NAME, name, strnlen(name, NAME_BYTES));
    put_octal(out + MODE, 8, 0644);
    put_octal(out + UID, 8, 0);
    put_octal(out + GID, 8, 0);
    put_octal(out + SIZE, 12, size);
    put_octal(out + CHANGED, 12, (uint64_t)changed_s);
    memset(out + SUM, ' ', 8);
    out[KIND] = (uint8_t)kind;
    memcpy(out + MAGIC,
           "ustar\0"
           "00",
           8);
    for (unsigned i = 0; i < TAR_BLOCK; i++) {
        sum += out[i];
    }
    put_octal(out + SUM, 7, sum);
}

/* Appends "LENGTH KEY=TEXT\n"; LENGTH counts its own digits, too. */
static size_t put_record(char *out, size_t room, const char *key, const char *text)
{
    size_t rest = strlen(key) + strlen(text) + 3, length = rest + 1;
    char digits[24];
    while ((size_t)snprintf(digits, sizeof digits, "%zu", length) + rest > length) {
        length++;
    }
    snprintf(out, room, "%s %s=%s\n", digits, key, text);
    return length;
}

static int fill_up(uint64_t size, tar_write_fn write, void *context)
{
    static const uint8_t zero[TAR_BLOCK];
    size_t rest = (size_t)(size % TAR_BLOCK);
    return rest == 0 ? 0 : write(context, zero, TAR_BLOCK - rest);
}

int tar_put(const struct tar_file *f, tar_write_fn write, void *context)
{
    enum { ROOM = TAR_PATH_MOST + TAR_WORDS_MOST * (TAR_KEY_MOST + TAR_TEXT_MOST + 16) + 64 };
    char records[ROOM];
    uint8_t header[TAR_BLOCK];
    char number[24];
    size_t used = put_record(records, ROOM, "path", f->path);
    for (unsigned i = 0; i < f->words; i++) {
        used += put_record(records + used, ROOM - used, f->word[i].key, f->word[i].text);
    }
    if (f->size >= SIZE_OCTAL) {
        snprintf(number, sizeof number, "%" PRIu64, f->size);
        used += put_record(records + used, ROOM - used, "size", number);
    }
    put_header(header, "pax", 'x', used, f->changed_s);
    int rc = write(context, header, sizeof header);
    rc = rc < 0 ? rc : write(context, records, used);
    rc = rc < 0 ? rc : fill_up(used, write, context);
    put_header(header, f->path, '0', f->size < SIZE_OCTAL ? f->size : 0, f->changed_s);
    return rc < 0 ? rc : write(context, header, sizeof header);
}

int tar_put_end(uint64_t size, tar_write_fn write, void *context)
{
    return fill_up(size, write, context);
}

int tar_close(tar_write_fn write, void *context)
{
    static const uint8_t zero[2 * TAR_BLOCK];
    return write(context, zero, sizeof zero);
}
