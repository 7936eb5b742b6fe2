/* SPDX-License-Identifier: Apache-2.0 */
#include "services/aggregate/sorted/decimal.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FAST_DIGITS = 18, DIGITS_SURE = 15, DIGITS_ALL = 17 };

static bool is_digit(uint8_t byte)
{
    return byte >= '0' && byte <= '9';
}

/* How many digits stand from `at` on. */
static size_t digits(cw_bytes text, size_t at)
{
    size_t n = 0;
    while (at + n < text.length && is_digit(text.bytes[at + n])) {
        n++;
    }
    return n;
}

static int real_read(cw_bytes text, struct decimal *out)
{
    char copy[DECIMAL_TEXT];
    size_t at = text.bytes[0] == '-', whole = digits(text, at), part = 0;
    at += whole;
    if (at < text.length && text.bytes[at] == '.') {
        part = digits(text, ++at);
        at += part;
    }
    if (at < text.length && (text.bytes[at] | 0x20) == 'e') {
        at++;
        at += at < text.length && (text.bytes[at] == '-' || text.bytes[at] == '+');
        size_t exponent = digits(text, at);
        at += exponent > 0 ? exponent : text.length; /* beyond the end: none */
    }
    if (at != text.length || whole + part == 0 || text.length >= sizeof copy) {
        return -EINVAL;
    }
    memcpy(copy, text.bytes, text.length);
    copy[text.length] = '\0';
    double real = strtod(copy, NULL);
    if (isinf(real)) {
        return -ERANGE;
    }
    *out = (struct decimal){.real = real};
    return 0;
}

int decimal_read(cw_bytes text, struct decimal *out)
{
    if (text.length == 0) {
        return -EINVAL;
    }
    bool minus = text.bytes[0] == '-';
    size_t n = digits(text, minus);
    if (n == 0 || minus + n != text.length) {
        return real_read(text, out);
    }
    if (n > DECIMAL_DIGITS) {
        return -ERANGE;
    }
    uint64_t low = 0;
    size_t i = minus, fast = n < FAST_DIGITS ? text.length : minus + (size_t)FAST_DIGITS;
    for (; i < fast; i++) {
        low = low * 10 + (uint64_t)(text.bytes[i] - '0');
    }
    decimal_whole whole = (decimal_whole)low;
    for (; i < text.length; i++) {
        whole = whole * 10 + (text.bytes[i] - '0');
    }
    *out = (struct decimal){.is_whole = true, .whole = minus ? -whole : whole};
    return 0;
}

/* 10 to the power of DECIMAL_DIGITS: the least number that has too many digits. */
static decimal_whole too_large(void)
{
    const decimal_whole ten_to_19 = (decimal_whole)UINT64_C(10000000000000000000);
    return ten_to_19 * ten_to_19;
}

static double as_double(const struct decimal *a)
{
    return a->is_whole ? (double)a->whole : a->real;
}

int decimal_add(struct decimal *a, const struct decimal *b)
{
    if (a->is_whole && b->is_whole) {
        decimal_whole sum;
        if (__builtin_add_overflow(a->whole, b->whole, &sum) || sum >= too_large() || sum <= -too_large()) {
            return -ERANGE;
        }
        a->whole = sum;
        return 0;
    }
    double sum = as_double(a) + as_double(b);
    if (isinf(sum)) {
        return -ERANGE;
    }
    *a = (struct decimal){.real = sum};
    return 0;
}

int decimal_order(const struct decimal *a, const struct decimal *b)
{
    if (a->is_whole && b->is_whole) {
        return (a->whole > b->whole) - (a->whole < b->whole);
    }
    long double x = a->is_whole ? (long double)a->whole : (long double)a->real;
    long double y = b->is_whole ? (long double)b->whole : (long double)b->real;
    return (x > y) - (x < y);
}

struct decimal decimal_divide(const struct decimal *a, uint64_t n)
{
    if (a->is_whole && a->whole % (decimal_whole)n == 0) {
        return (struct decimal){.is_whole = true, .whole = a->whole / (decimal_whole)n};
    }
    return (struct decimal){.real = (double)((a->is_whole ? (long double)a->whole : (long double)a->real) / n)};
}

static size_t real_write(double real, char *out, size_t room)
{
    int length = 0;
    for (int precision = DIGITS_SURE; precision <= DIGITS_ALL; precision++) {
        length = snprintf(out, room, "%.*g", precision, real);
        if (strtod(out, NULL) == real) {
            break;
        }
    }
    return (size_t)length;
}

int decimal_write(const struct decimal *a, uint8_t *out, size_t room)
{
    char text[DECIMAL_TEXT];
    char *at = text + sizeof text;
    size_t length;
    if (a->is_whole) {
        decimal_whole left = a->whole < 0 ? -a->whole : a->whole;
        for (; left > (decimal_whole)UINT64_MAX; left /= 10) {
            *--at = (char)('0' + (int)(left % 10));
        }
        uint64_t low = (uint64_t)left;
        do {
            *--at = (char)('0' + (int)(low % 10));
            low /= 10;
        } while (low > 0);
        if (a->whole < 0) {
            *--at = '-';
        }
        length = (size_t)(text + sizeof text - at);
    } else {
        at = text;
        length = real_write(a->real, text, sizeof text);
    }
    if (length > room) {
        return -EMSGSIZE;
    }
    memcpy(out, at, length);
    return (int)length;
}
