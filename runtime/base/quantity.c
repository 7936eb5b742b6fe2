/* SPDX-License-Identifier: Apache-2.0 */
#include "base/quantity.h"

#include "base/text.h"

#include <errno.h>
#include <string.h>

struct unit {
    const char *name;
    uint64_t scale; /* how many base units it is */
};

static const struct unit span_units[] = {
    {"ns", 1},
    {"us", CW_NS_PER_US},
    {"ms", CW_NS_PER_MS},
    {"s", CW_NS_PER_SEC},
    {"min", 60 * CW_NS_PER_SEC},
    {"h", 3600 * CW_NS_PER_SEC},
};
static const struct unit rate_units[] = {{"bit", 1}, {"kbit", 1000}, {"mbit", 1000000}, {"gbit", 1000000000}};
static const struct unit count_units[] = {
    {"", 1}, {"k", 1000}, {"M", 1000000}, {"G", 1000000000}, {"T", 1000000000000}};
static const struct unit ppm_units[] = {{"ppm", 1}, {"%", 10000}};
static const struct unit millionth_units[] = {{"", 1000000}, {"%", 10000}};

enum { DIGITS_MAX = 19 }; /* so many digits fit 64 bits */

/* The unit of that name; for "0" without a unit, the first: nothing is nothing in every unit. NULL: there is none. */
static const struct unit *find_unit(const struct unit *units, size_t count, const char *name, size_t length,
                                    uint64_t digits)
{
    for (size_t i = 0; i < count; i++) {
        if (strlen(units[i].name) == length && memcmp(units[i].name, name, length) == 0) {
            return &units[i];
        }
    }
    return length == 0 && digits == 0 ? &units[0] : NULL;
}

/* Reads digits[.digits]unit exactly: value = digits * scale / 10^(digits behind the point) must be whole. */
static int read_with_unit(const char *text, size_t length, const struct unit *units, size_t count, uint64_t *out)
{
    uint64_t digits = 0, power = 1;
    size_t at = 0, seen = 0;
    bool fraction = false;
    for (; at < length && ((text[at] >= '0' && text[at] <= '9') || (text[at] == '.' && !fraction)); at++) {
        if (text[at] == '.') {
            fraction = true;
            continue;
        }
        if (++seen > DIGITS_MAX) {
            return -ERANGE;
        }
        digits = digits * 10 + (uint64_t)(text[at] - '0');
        power *= fraction ? 10 : 1;
    }
    if (seen == 0 || text[0] == '.' || text[at - 1] == '.') {
        return -EINVAL;
    }
    const struct unit *unit = find_unit(units, count, text + at, length - at, digits);
    if (unit == NULL) {
        return -EINVAL;
    }
    unsigned __int128 value = (unsigned __int128)digits * unit->scale;
    if (value % power != 0) {
        return -EINVAL;
    }
    value /= power;
    if (value > INT64_MAX) {
        return -ERANGE;
    }
    *out = (uint64_t)value;
    return 0;
}

#define READ(text, length, units, out) read_with_unit(text, length, units, sizeof(units) / sizeof *(units), out)

int quantity_count(const char *text, size_t length, uint64_t *out)
{
    return READ(text, length, count_units, out);
}

int quantity_span(const char *text, size_t length, cw_span *out)
{
    uint64_t ns;
    int rc = READ(text, length, span_units, &ns);
    if (rc == 0) {
        *out = (cw_span){(int64_t)ns};
    }
    return rc;
}

int quantity_rate(const char *text, size_t length, uint64_t *out)
{
    return READ(text, length, rate_units, out);
}

int quantity_ppm(const char *text, size_t length, uint32_t *out)
{
    uint64_t ppm;
    int rc = READ(text, length, ppm_units, &ppm);
    if (rc == 0 && ppm > UINT32_MAX) {
        rc = -ERANGE;
    }
    if (rc == 0) {
        *out = (uint32_t)ppm;
    }
    return rc;
}

int quantity_dims(const char *text, size_t length, cw_dims *out)
{
    uint32_t dim[CW_AXES] = {0};
    unsigned axis = 0;
    size_t digits = 0;
    for (size_t i = 0; i < length; i++) {
        if (text[i] == 'x' && digits > 0 && axis + 1 < CW_AXES) {
            axis++;
            digits = 0;
            continue;
        }
        if (text[i] < '0' || text[i] > '9' || ++digits > 3) {
            return -EINVAL;
        }
        dim[axis] = dim[axis] * 10 + (uint32_t)(text[i] - '0');
    }
    if (axis + 1 != CW_AXES || digits == 0) {
        return -EINVAL;
    }
    for (unsigned i = 0; i < CW_AXES; i++) {
        if (dim[i] < 1 || dim[i] > CW_DIM_MAX) {
            return -ERANGE;
        }
    }
    *out = (cw_dims){(uint16_t)dim[0], (uint16_t)dim[1], (uint16_t)dim[2]};
    return 0;
}

int quantity_millionths(const char *text, size_t length, int64_t *out)
{
    bool minus = length > 0 && text[0] == '-';
    uint64_t value;
    int rc = READ(text + minus, length - minus, millionth_units, &value);
    if (rc == 0) {
        *out = minus ? -(int64_t)value : (int64_t)value;
    }
    return rc;
}

int quantity_link(const char *text, size_t length, cw_link *out)
{
    if (length != 2 || (text[0] != '+' && text[0] != '-') || text[1] < 'x' || text[1] > 'z') {
        return -EINVAL;
    }
    *out = (cw_link)(2 * (text[1] - 'x') + (text[0] == '-'));
    return 0;
}

const char *quantity_link_name(cw_link link)
{
    static const char *const names[] = {"+x", "-x", "+y", "-y", "+z", "-z"};
    return link < CW_LINK_COUNT ? names[link] : "self";
}

/* Writes the value in the largest unit of which it is a whole number. */
static int format_with_unit(uint64_t value, const struct unit *units, size_t count, char *out)
{
    size_t best = 0;
    for (size_t i = 0; i < count; i++) {
        if (value != 0 && value % units[i].scale == 0 && units[i].scale >= units[best].scale) {
            best = i;
        }
    }
    struct text t = text_of(out, QUANTITY_TEXT);
    text_put_unsigned(&t, value / units[best].scale, 10);
    text_put(&t, units[best].name);
    return (int)t.length;
}

int quantity_span_format(cw_span span, char out[static QUANTITY_TEXT])
{
    const size_t up_to_seconds = 4; /* units: minutes and hours are harder to read */
    return format_with_unit((uint64_t)(span.ns < 0 ? 0 : span.ns), span_units, up_to_seconds, out);
}

int quantity_ago_format(cw_span span, char out[static QUANTITY_TEXT])
{
    const char *end = " ago";
    int64_t seconds = span.ns / CW_NS_PER_SEC;
    int length = seconds > 0 ? quantity_span_format(CW_SEC(seconds), out) : 0;
    end = seconds > 0 ? end : "just now";
    memcpy(out + length, end, strlen(end) + 1);
    return length + (int)strlen(end);
}

int quantity_rate_format(uint64_t bits_per_second, char out[static QUANTITY_TEXT])
{
    return format_with_unit(bits_per_second, rate_units, 4, out);
}

/* Writes ".05" for rest 5 of 2 places; rest is not 0. */
static void put_fraction(struct text *t, uint64_t rest, unsigned places)
{
    uint64_t tenths = 1;
    for (unsigned i = 1; i < places; i++) {
        tenths *= 10;
    }
    text_put(t, ".");
    for (; rest < tenths; tenths /= 10) {
        text_put(t, "0");
    }
    text_put_unsigned(t, rest, 10);
}

/* Writes value / 10^places with as few digits as that needs. */
static int format_decimal(uint64_t value, unsigned places, const char *before, const char *after, char *out)
{
    uint64_t power = 1;
    for (unsigned i = 0; i < places; i++) {
        power *= 10;
    }
    uint64_t rest = value % power;
    while (places > 0 && rest % 10 == 0) {
        rest /= 10;
        places--;
    }
    struct text t = text_of(out, QUANTITY_TEXT);
    text_put(&t, before);
    text_put_unsigned(&t, value / power, 10);
    if (places > 0) {
        put_fraction(&t, rest, places);
    }
    text_put(&t, after);
    return (int)t.length;
}

int quantity_ppm_format(uint32_t ppm, char out[static QUANTITY_TEXT])
{
    return format_decimal(ppm, 4, "", "%", out);
}

int quantity_share_format(uint32_t ppm, char out[static QUANTITY_TEXT])
{
    const uint32_t percent = 10000, tenth = 1000, hundredth = 100;
    struct text t = text_of(out, QUANTITY_TEXT);
    if (ppm >= 10 * percent) {
        text_put_unsigned(&t, ((uint64_t)ppm + percent / 2) / percent, 10);
    } else if (ppm >= tenth / 2) {
        uint64_t tenths = (ppm + tenth / 2) / tenth;
        text_put_unsigned(&t, tenths / 10, 10);
        text_put(&t, ".");
        text_put_unsigned(&t, tenths % 10, 10);
    } else {
        text_put(&t, ppm == 0 ? "0" : ppm < hundredth ? "below 0.01" : "below 0.1");
    }
    text_put(&t, " %");
    return (int)t.length;
}

int quantity_dims_format(cw_dims dims, char out[static QUANTITY_TEXT])
{
    struct text t = text_of(out, QUANTITY_TEXT);
    text_put_unsigned(&t, dims.x, 10);
    text_put(&t, "x");
    text_put_unsigned(&t, dims.y, 10);
    text_put(&t, "x");
    text_put_unsigned(&t, dims.z, 10);
    return (int)t.length;
}

int quantity_millionths_format(int64_t millionths, char out[static QUANTITY_TEXT])
{
    uint64_t magnitude = millionths < 0 ? 0 - (uint64_t)millionths : (uint64_t)millionths;
    return format_decimal(magnitude, 6, millionths < 0 ? "-" : "", "", out);
}
