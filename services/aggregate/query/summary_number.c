/* SPDX-License-Identifier: Apache-2.0 */
#include "services/aggregate/query/summary_number.h"

#include "base/bytes.h"

#include <errno.h>

enum { DECIMALS = 6, MILLION = 1000000 };

void summary_number_add(struct summary_number *n, summary_value value, uint64_t times, cw_server at)
{
    struct summary_number one = {.of = n->of, .count = times, .numbers = times, .least_at = at, .greatest_at = at};
    if (times > 0) {
        one.sum = (summary_value)((unsigned __int128)value * times);
        one.least = one.greatest = value;
        (void)!summary_number_merge(n, &one);
    }
}

static void take_ends(struct summary_number *a, const struct summary_number *b)
{
    bool none = a->numbers == 0;
    if (none || b->least < a->least || (b->least == a->least && b->least_at < a->least_at)) {
        a->least = b->least;
        a->least_at = b->least_at;
    }
    if (none || b->greatest > a->greatest || (b->greatest == a->greatest && b->greatest_at < a->greatest_at)) {
        a->greatest = b->greatest;
        a->greatest_at = b->greatest_at;
    }
}

int summary_number_merge(struct summary_number *a, const struct summary_number *b)
{
    if (a->of != b->of) {
        return -EINVAL;
    }
    if (b->numbers > 0) {
        take_ends(a, b);
    }
    a->count = summary_count(a->count, b->count);
    a->numbers = summary_count(a->numbers, b->numbers);
    a->sum = summary_sum(a->sum, b->sum);
    return 0;
}

/* ---- Bytes ------------------------------------------------------------------------------------------------------- */

static void put_value(uint8_t *at, summary_value v)
{
    put_be64(at, (uint64_t)((unsigned __int128)v >> 64));
    put_be64(at + 8, (uint64_t)v);
}

static summary_value read_value(struct reader *r)
{
    uint64_t high = reader_be64(r), low = reader_be64(r);
    return (summary_value)((unsigned __int128)high << 64 | low);
}

void summary_number_encode(const struct summary_number *n, uint8_t *out)
{
    memset(out, 0, 8);
    out[0] = n->of;
    put_be64(out + 8, n->count);
    put_be64(out + 16, n->numbers);
    put_value(out + 24, n->sum);
    put_value(out + 40, n->least);
    put_value(out + 56, n->greatest);
    put_be32(out + 72, n->least_at);
    put_be32(out + 76, n->greatest_at);
}

static bool is_zero(const uint8_t *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        if (bytes[i] != 0) {
            return false;
        }
    }
    return true;
}

int summary_number_decode(const uint8_t *bytes, size_t size, struct summary_number *out)
{
    struct reader r = reader_of(bytes, size);
    out->of = reader_u8(&r);
    const uint8_t *pad = reader_take(&r, 7);
    out->count = reader_be64(&r);
    out->numbers = reader_be64(&r);
    out->sum = read_value(&r);
    out->least = read_value(&r);
    out->greatest = read_value(&r);
    out->least_at = reader_be32(&r);
    out->greatest_at = reader_be32(&r);
    if (!reader_done(&r) || !is_zero(pad, 7) || !summary_of_valid(out->of) || out->numbers > out->count) {
        return -EPROTO;
    }
    bool nothing =
        out->sum == 0 && out->least == 0 && out->greatest == 0 && out->least_at == 0 && out->greatest_at == 0;
    return out->least <= out->greatest && (out->numbers > 0 || nothing) ? 0 : -EPROTO;
}

/* ---- Text -------------------------------------------------------------------------------------------------------- */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

bool summary_value_read(const char *text, size_t length, summary_value *out)
{
    const char *at = text, *end = text + length;
    unsigned digits = 0, behind = 0;
    summary_value v = 0;
    while (at < end && (*at == ' ' || *at == '\t')) {
        at++;
    }
    while (end > at && (end[-1] == ' ' || end[-1] == '\t' || end[-1] == '\r')) {
        end--;
    }
    bool minus = at < end && *at == '-';
    at += minus;
    for (; at < end && is_digit(*at); at++, digits++) {
        v = v * 10 + (*at - '0');
        if (v > UINT64_MAX) {
            return false;
        }
    }
    bool point = at < end && *at == '.';
    at += point;
    for (; point && at < end && is_digit(*at); at++, digits++) {
        if (behind < DECIMALS) {
            v = v * 10 + (*at - '0');
            behind++;
        }
    }
    for (; behind < DECIMALS; behind++) {
        v *= 10;
    }
    if (at != end || digits == 0 || v > SUMMARY_VALUE_MOST) {
        return false;
    }
    *out = minus ? -v : v;
    return true;
}

/* Writes backwards from `at`, and gives where it begins. */
static char *put_digits(char *at, unsigned __int128 v, unsigned least)
{
    for (unsigned n = 0; v > 0 || n < least; n++) {
        *--at = (char)('0' + (unsigned)(v % 10));
        v /= 10;
    }
    return at;
}

size_t summary_value_text(unsigned of, summary_value v, char out[static SUMMARY_TEXT])
{
    char text[SUMMARY_TEXT], *end = text + sizeof text, *at = end;
    unsigned __int128 size = v < 0 ? -(unsigned __int128)v : (unsigned __int128)v;
    if (of == SUMMARY_OF_FEED) {
        unsigned part = (unsigned)(size % MILLION), digits = DECIMALS;
        for (; digits > 0 && part % 10 == 0; digits--) {
            part /= 10;
        }
        at = put_digits(at, part, digits);
        *--at = '.';
        at += digits == 0;
        size /= MILLION;
    }
    at = put_digits(at, size, 1);
    if (v < 0) {
        *--at = '-';
    }
    size_t length = (size_t)(end - at);
    memcpy(out, at, length);
    out[length] = '\0';
    return length;
}

summary_value summary_value_mean(unsigned of, summary_value sum, uint64_t n)
{
    summary_value whole = sum / n, rest = sum % n;
    return of == SUMMARY_OF_COUNTER ? whole * MILLION + rest * MILLION / n : whole;
}
