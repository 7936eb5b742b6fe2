/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text.h"

#include "base/check.h"

#include <string.h>

struct text text_of(char *out, size_t room)
{
    CHECK(room > 0);
    out[0] = 0;
    return (struct text){out, room, 0};
}

void text_put_bytes(struct text *t, const char *bytes, size_t length)
{
    size_t left = t->room - 1 - t->length;
    size_t taken = length < left ? length : left;
    memcpy(t->out + t->length, bytes, taken);
    t->length += taken;
    t->out[t->length] = 0;
}

void text_put(struct text *t, const char *words)
{
    text_put_bytes(t, words, strlen(words));
}

void text_put_unsigned(struct text *t, uint64_t number, unsigned base)
{
    char digits[64];
    size_t at = sizeof digits;
    CHECK(base >= 2 && base <= 16);
    do {
        digits[--at] = "0123456789abcdef"[number % base];
        number /= base;
    } while (number > 0);
    text_put_bytes(t, digits + at, sizeof digits - at);
}

void text_put_number(struct text *t, int64_t number)
{
    if (number < 0) {
        text_put(t, "-");
    }
    text_put_unsigned(t, number < 0 ? 0 - (uint64_t)number : (uint64_t)number, 10);
}
