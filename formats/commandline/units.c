/* SPDX-License-Identifier: Apache-2.0 */
#include "commandline/units.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/*
 * Writes value / 1000^power in three digits: 1.23, 12.3 or 123. It is cut and not rounded, so that nothing reads as
 * more than it is.
 */
static void three_digits(uint64_t value, uint64_t scale, const char *unit, char out[static UNITS_TEXT])
{
    uint64_t whole = value / scale, rest = value % scale;
    if (whole >= 100 || scale == 1) {
        snprintf(out, UNITS_TEXT, "%" PRIu64 "%s%s", whole, unit[0] != '\0' ? " " : "", unit);
    } else if (whole >= 10) {
        snprintf(out, UNITS_TEXT, "%" PRIu64 ".%" PRIu64 " %s", whole, rest / (scale / 10), unit);
    } else {
        snprintf(out, UNITS_TEXT, "%" PRIu64 ".%02" PRIu64 " %s", whole, rest / (scale / 100), unit);
    }
}

static void scaled(uint64_t value, const char *const unit[], size_t units, char out[static UNITS_TEXT])
{
    uint64_t scale = 1;
    size_t i = 0;
    while (i + 1 < units && value / scale >= 1000) {
        scale *= 1000;
        i++;
    }
    three_digits(value, scale, unit[i], out);
}

void units_span(int64_t ns, char out[static UNITS_TEXT])
{
    static const char *const unit[] = {"ns", "us", "ms", "s"};
    uint64_t value = ns < 0 ? 0 : (uint64_t)ns;
    uint64_t seconds = value / 1000000000;
    if (seconds < 60) {
        scaled(value, unit, 4, out);
    } else if (seconds < 3600) {
        snprintf(out, UNITS_TEXT, "%" PRIu64 " min %" PRIu64 " s", seconds / 60, seconds % 60);
    } else if (seconds < 86400) {
        snprintf(out, UNITS_TEXT, "%" PRIu64 " h %" PRIu64 " min", seconds / 3600, seconds / 60 % 60);
    } else {
        snprintf(out, UNITS_TEXT, "%" PRIu64 " d %" PRIu64 " h", seconds / 86400, seconds / 3600 % 24);
    }
}

void units_bytes(uint64_t bytes, char out[static UNITS_TEXT])
{
    static const char *const unit[] = {"B", "kB", "MB", "GB", "TB", "PB"};
    scaled(bytes, unit, 6, out);
}

void units_rate(uint64_t bits_per_second, char out[static UNITS_TEXT])
{
    static const char *const unit[] = {"bit/s", "kbit/s", "Mbit/s", "Gbit/s", "Tbit/s"};
    if (bits_per_second == 0) {
        strcpy(out, "0");
    } else {
        scaled(bits_per_second, unit, 5, out);
    }
}

void units_short(uint64_t value, char out[static UNITS_TEXT])
{
    static const char *const unit[] = {"", "k", "M", "G", "T", "P"};
    scaled(value, unit, 6, out);
}

void units_count(int64_t value, char out[static UNITS_TEXT])
{
    char digits[24];
    int length = snprintf(digits, sizeof digits, "%" PRIu64, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
    char *at = out;
    if (value < 0) {
        *at++ = '-';
    }
    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0) {
            *at++ = ',';
        }
        *at++ = digits[i];
    }
    *at = '\0';
}
