/* SPDX-License-Identifier: Apache-2.0 */
#include "base/base64.h"

#include <errno.h>
#include <string.h>

/* The value of a digit, 0..63, or -1. */
static int digit(char c)
{
    if (c >= 'A' && c <= 'Z') {
        return c - 'A';
    }
    if (c >= 'a' && c <= 'z') {
        return c - 'a' + 26;
    }
    if (c >= '0' && c <= '9') {
        return c - '0' + 52;
    }
    if (c == '+') {
        return 62;
    }
    return c == '/' ? 63 : -1;
}

int base64_decode(const char *text, uint8_t *out, size_t room)
{
    size_t length = strlen(text), used = 0;
    if (length % 4 != 0) {
        return -EINVAL;
    }
    for (size_t i = 0; i < length; i += 4) {
        uint32_t word = 0;
        unsigned bytes = 3;
        for (unsigned k = 0; k < 4; k++) {
            int d = digit(text[i + k]);
            bool filler = text[i + k] == '=' && i + 4 == length && k >= 2 && (k == 3 || text[i + 3] == '=');
            if (d < 0 && !filler) {
                return -EINVAL;
            }
            if (filler) {
                bytes--;
            }
            word = word << 6 | (uint32_t)(filler ? 0 : d);
        }
        if (used + bytes > room) {
            return -EMSGSIZE;
        }
        for (unsigned k = 0; k < bytes; k++) {
            out[used++] = (uint8_t)(word >> (16 - 8 * k));
        }
    }
    return (int)used;
}

void base64_encode(const uint8_t *bytes, size_t size, char *out)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < size; i += 3) {
        size_t left = size - i < 3 ? size - i : 3;
        uint32_t word = 0;
        for (size_t k = 0; k < 3; k++) {
            word = word << 8 | (k < left ? bytes[i + k] : 0u);
        }
        for (unsigned k = 0; k < 4; k++) {
            *out++ = k <= left ? digits[word >> (18 - 6 * k) & 63] : '=';
        }
    }
    *out = '\0';
}
