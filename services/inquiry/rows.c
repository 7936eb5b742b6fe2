/* SPDX-License-Identifier: Apache-2.0 */
#include "services/inquiry/rows.h"

#include "base/bytes.h"

#include <errno.h>
#include <string.h>

enum { FIELD_INTEGER = 1, FIELD_TEXT = 2, INTEGER_BYTES = 8, LENGTH_BYTES = 2 };

struct rows_writer rows_begin(uint8_t *bytes, size_t room)
{
    return (struct rows_writer){.bytes = bytes, .room = room};
}

/* Room for a field with `size` bytes behind its name, of which it writes the name. NULL: there is none. */
static uint8_t *field(struct rows_writer *w, uint8_t kind, const char *name, size_t size)
{
    size_t length = strnlen(name, ROWS_NAME - 1);
    w->full = w->full || w->room - w->at < 2 + length + size;
    if (w->full) {
        return NULL;
    }
    uint8_t *at = w->bytes + w->at;
    at[0] = kind;
    at[1] = (uint8_t)length;
    memcpy(at + 2, name, length);
    w->at += 2 + length + size;
    return at + 2 + length;
}

void rows_integer(struct rows_writer *w, const char *name, int64_t value)
{
    uint8_t *at = field(w, FIELD_INTEGER, name, INTEGER_BYTES);
    if (at != NULL) {
        put_be64(at, (uint64_t)value);
    }
}

void rows_text(struct rows_writer *w, const char *name, const char *text)
{
    size_t length = strnlen(text, ROWS_TEXT - 1);
    uint8_t *at = field(w, FIELD_TEXT, name, LENGTH_BYTES + length);
    if (at != NULL) {
        put_be16(at, (uint16_t)length);
        memcpy(at + LENGTH_BYTES, text, length);
    }
}

bool rows_end(struct rows_writer *w)
{
    bool fits = !w->full && w->at < w->room;
    if (fits) {
        w->bytes[w->at++] = 0;
        w->used = w->at;
    }
    w->at = w->used;
    w->full = false;
    return fits;
}

/* Reads a field of length `left` at most, and gives its bytes; 0: it is none. */
static size_t read_field(const uint8_t *at, size_t left, const struct rows_reader *reader)
{
    char name[ROWS_NAME], text[ROWS_TEXT];
    size_t length = left > 1 ? at[1] : 0, head = 2 + length;
    if (left < head + LENGTH_BYTES || length >= ROWS_NAME) {
        return 0;
    }
    memcpy(name, at + 2, length);
    name[length] = '\0';
    if (at[0] == FIELD_INTEGER && left >= head + INTEGER_BYTES) {
        reader->integer(reader->context, name, (int64_t)get_be64(at + head));
        return head + INTEGER_BYTES;
    }
    size_t size = get_be16(at + head);
    if (at[0] != FIELD_TEXT || size >= ROWS_TEXT || left < head + LENGTH_BYTES + size) {
        return 0;
    }
    memcpy(text, at + head + LENGTH_BYTES, size);
    text[size] = '\0';
    reader->text(reader->context, name, text);
    return head + LENGTH_BYTES + size;
}

int rows_read(const uint8_t *bytes, size_t length, const struct rows_reader *reader)
{
    for (size_t at = 0; at < length;) {
        if (bytes[at] == 0) {
            reader->row(reader->context);
            at++;
            continue;
        }
        size_t used = read_field(bytes + at, length - at, reader);
        if (used == 0) {
            return -EBADMSG;
        }
        at += used;
    }
    return 0;
}
