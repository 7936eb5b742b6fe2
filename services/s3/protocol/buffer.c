/* SPDX-License-Identifier: Apache-2.0 */
#include "services/s3/protocol/buffer.h"

#include <stdlib.h>
#include <string.h>

enum { LEAST = 256 };

static bool grow(struct s3_buffer *b, size_t length)
{
    if (b->failed || length > SIZE_MAX / 4 - b->length || (b->most > 0 && b->length + length > b->most)) {
        return false;
    }
    size_t need = b->length + length + 1;
    if (need <= b->room) {
        return true;
    }
    size_t room = need < LEAST ? LEAST : need + need / 2;
    char *bytes = realloc(b->bytes, room);
    if (bytes == NULL) {
        return false;
    }
    b->bytes = bytes;
    b->room = room;
    return true;
}

void s3_buffer_add(struct s3_buffer *b, const void *bytes, size_t length)
{
    if (!grow(b, length)) {
        b->failed = true;
        return;
    }
    if (length > 0) {
        memcpy(b->bytes + b->length, bytes, length);
    }
    b->length += length;
    b->bytes[b->length] = '\0';
}

void s3_buffer_text(struct s3_buffer *b, const char *text)
{
    s3_buffer_add(b, text, strlen(text));
}

void s3_buffer_number(struct s3_buffer *b, uint64_t number)
{
    char digits[20];
    size_t at = sizeof digits;
    do {
        digits[--at] = (char)('0' + number % 10);
        number /= 10;
    } while (number > 0);
    s3_buffer_add(b, digits + at, sizeof digits - at);
}

void s3_buffer_clear(struct s3_buffer *b)
{
    b->length = 0;
    b->failed = false;
    if (b->bytes != NULL) {
        b->bytes[0] = '\0';
    }
}

void s3_buffer_drop(struct s3_buffer *b)
{
    free(b->bytes);
    *b = (struct s3_buffer){.most = b->most};
}
