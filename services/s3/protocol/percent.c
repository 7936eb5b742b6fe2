/* SPDX-License-Identifier: Apache-2.0 */
#include "services/s3/protocol/percent.h"

#include <errno.h>

bool s3_percent_plain(uint8_t byte)
{
    return (byte >= '0' && byte <= '9') || (byte >= 'A' && byte <= 'Z') || (byte >= 'a' && byte <= 'z') ||
           byte == '-' || byte == '.' || byte == '_' || byte == '~';
}

int s3_hex_digit(char c)
{
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    if (c >= 'a' && c <= 'f') {
        return c - 'a' + 10;
    }
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

int64_t s3_percent_decode(const char *text, size_t length, char *out)
{
    size_t n = 0;
    for (size_t i = 0; i < length; i++) {
        char c = text[i];
        if (c == '%') {
            int high = length - i > 2 ? s3_hex_digit(text[i + 1]) : -1;
            int low = high >= 0 ? s3_hex_digit(text[i + 2]) : -1;
            if (low < 0) {
                return -EINVAL;
            }
            c = (char)(high << 4 | low);
            i += 2;
        }
        if (c == '\0') {
            return -EINVAL;
        }
        out[n++] = c;
    }
    return (int64_t)n;
}

unsigned s3_percent_byte(uint8_t byte, char out[static 3])
{
    static const char digits[] = "0123456789ABCDEF";
    if (s3_percent_plain(byte)) {
        out[0] = (char)byte;
        return 1;
    }
    out[0] = '%';
    out[1] = digits[byte >> 4];
    out[2] = digits[byte & 15];
    return 3;
}

void s3_percent_encode(const char *bytes, size_t length, bool slashes, struct s3_buffer *out)
{
    for (size_t i = 0; i < length; i++) {
        char text[3];
        if (slashes && bytes[i] == '/') {
            s3_buffer_add(out, "/", 1);
        } else {
            s3_buffer_add(out, text, s3_percent_byte((uint8_t)bytes[i], text));
        }
    }
}

/* '%' is below all that stands for itself, and the digits behind it rise with the byte. */
static unsigned rank(char c)
{
    return (uint8_t)c + (s3_percent_plain((uint8_t)c) ? 256u : 0u);
}

int s3_percent_compare(const char *a, size_t a_length, const char *b, size_t b_length)
{
    for (size_t i = 0; i < a_length && i < b_length; i++) {
        if (a[i] != b[i]) {
            return rank(a[i]) < rank(b[i]) ? -1 : 1;
        }
    }
    return (a_length > b_length) - (a_length < b_length);
}
