/* SPDX-License-Identifier: Apache-2.0 */
#include "base/utf8.h"

#include <stdbool.h>
#include <string.h>

/*
 * Reads the first character of a text. Gives its bytes, 1 to 4; 0: they are no UTF-8 (RFC 3629: the shortest form, no
 * surrogates, nothing above U+10FFFF).
 */
static unsigned first_of(const char *text, size_t length, uint32_t *code)
{
    static const struct {
        uint8_t mask, lead;
        uint32_t least;
    } forms[] = {{0x80, 0x00, 0}, {0xe0, 0xc0, 0x80}, {0xf0, 0xe0, 0x800}, {0xf8, 0xf0, 0x10000}};
    for (unsigned more = 0; more < sizeof forms / sizeof *forms && more < length; more++) {
        uint8_t first = (uint8_t)text[0];
        if ((first & forms[more].mask) != forms[more].lead) {
            continue;
        }
        *code = (uint32_t)(first & ~forms[more].mask);
        for (unsigned i = 1; i <= more; i++) {
            uint8_t next = (uint8_t)text[i];
            if ((next & 0xc0) != 0x80) {
                return 0;
            }
            *code = *code << 6 | (next & 0x3fU);
        }
        bool good = *code >= forms[more].least && *code <= 0x10ffff && (*code < 0xd800 || *code > 0xdfff);
        return good ? more + 1 : 0;
    }
    return 0;
}

static bool is_control(uint32_t code)
{
    return code < 0x20 || (code >= 0x7f && code < 0xa0);
}

/*
 * Characters that show nothing, or turn the line around (Unicode, UAX 9): marks and joiners of no width, separators,
 * and the embeddings, overrides and isolates.
 */
static bool is_hidden(uint32_t code)
{
    return (code >= 0x200b && code <= 0x200f) || (code >= 0x2028 && code <= 0x202e) ||
           (code >= 0x2060 && code <= 0x2069) || code == 0xfeff;
}

enum utf8_kind utf8_check(const char *text, size_t length)
{
    enum utf8_kind kind = UTF8_PLAIN;
    for (size_t at = 0; at < length;) {
        uint32_t code;
        unsigned bytes = first_of(text + at, length - at, &code);
        if (bytes == 0) {
            return UTF8_NONE;
        }
        kind = is_control(code) ? UTF8_CONTROL : kind;
        at += bytes;
    }
    return kind;
}

size_t utf8_show(const char *text, size_t length, char *out, size_t room)
{
    static const char digits[] = "0123456789abcdef";
    size_t end = 0;
    for (size_t at = 0; at < length;) {
        uint32_t code;
        unsigned bytes = first_of(text + at, length - at, &code);
        bool plain = bytes > 0 && !is_control(code) && !is_hidden(code);
        char escaped[] = {'\\', 'x', digits[(uint8_t)text[at] >> 4], digits[(uint8_t)text[at] & 15]};
        size_t add = plain ? bytes : sizeof escaped;
        if (end + add >= room) {
            break;
        }
        memcpy(out + end, plain ? text + at : escaped, add);
        end += add;
        at += plain ? bytes : 1;
    }
    if (room > 0) {
        out[end] = '\0';
    }
    return end;
}
