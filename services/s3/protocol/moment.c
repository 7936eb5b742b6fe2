/* SPDX-License-Identifier: Apache-2.0 */
#include "services/s3/protocol/moment.h"

#include "base/check.h"
#include "base/text.h"

#include <errno.h>
#include <string.h>

enum { DAY_S = 86400, ERA_DAYS = 146097, EPOCH_DAYS = 719468 };

static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
static const char days[] = "ThuFriSatSunMonTueWed"; /* 1970 began on a Thursday */

struct date {
    unsigned year, month, day, hour, minute, second;
};

/* Years that begin in March, in eras of 400 years: the day that comes every four years is the last one then. */
static int64_t days_of(const struct date *d)
{
    unsigned year = d->year - (d->month <= 2 ? 1 : 0);
    unsigned of_era = year % 400;
    unsigned of_year = (153 * (d->month + (d->month > 2 ? 0 : 12) - 3) + 2) / 5 + d->day - 1;
    return (int64_t)(year / 400) * ERA_DAYS + of_era * 365 + of_era / 4 - of_era / 100 + of_year - EPOCH_DAYS;
}

static struct date date_of(int64_t s)
{
    CHECK(s >= 0 && s <= S3_MOMENT_MAX);
    uint32_t day = (uint32_t)(s / DAY_S) + EPOCH_DAYS, in_day = (uint32_t)(s % DAY_S);
    uint32_t of_era = day % ERA_DAYS;
    uint32_t year = (of_era - of_era / 1460 + of_era / 36524 - of_era / (ERA_DAYS - 1)) / 365;
    uint32_t of_year = of_era - (365 * year + year / 4 - year / 100);
    uint32_t month = (5 * of_year + 2) / 153;
    struct date d = {.day = of_year - (153 * month + 2) / 5 + 1,
                     .month = month < 10 ? month + 3 : month - 9,
                     .hour = in_day / 3600,
                     .minute = in_day / 60 % 60,
                     .second = in_day % 60};
    d.year = day / ERA_DAYS * 400 + year + (d.month <= 2 ? 1 : 0);
    return d;
}

static bool digits(const char *text, unsigned count, unsigned *out)
{
    *out = 0;
    for (unsigned i = 0; i < count; i++) {
        if (text[i] < '0' || text[i] > '9') {
            return false;
        }
        *out = *out * 10 + (unsigned)(text[i] - '0');
    }
    return true;
}

/* -EINVAL: there is no such day or time. A leap second counts as the one behind it. */
static int seconds_of(const struct date *d, int64_t *out_s)
{
    static const uint8_t longest[] = {31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    if (d->year < 1970 || d->month < 1 || d->month > 12 || d->day < 1 || d->day > longest[d->month - 1] ||
        d->hour > 23 || d->minute > 59 || d->second > 60) {
        return -EINVAL;
    }
    if (d->month == 2 && d->day == 29 && (d->year % 4 != 0 || (d->year % 100 == 0 && d->year % 400 != 0))) {
        return -EINVAL;
    }
    int64_t s = days_of(d) * DAY_S + d->hour * 3600 + d->minute * 60 + d->second;
    if (s > S3_MOMENT_MAX) {
        return -EINVAL;
    }
    *out_s = s;
    return 0;
}

int s3_moment_read_basic(const char *text, int64_t *out_s)
{
    struct date d;
    if (strlen(text) != 16 || text[8] != 'T' || text[15] != 'Z' || !digits(text, 4, &d.year) ||
        !digits(text + 4, 2, &d.month) || !digits(text + 6, 2, &d.day) || !digits(text + 9, 2, &d.hour) ||
        !digits(text + 11, 2, &d.minute) || !digits(text + 13, 2, &d.second)) {
        return -EINVAL;
    }
    return seconds_of(&d, out_s);
}

/* Where in a row of names of three letters it is, from 0 on; count: nowhere. */
static unsigned name_at(const char *names, unsigned count, const char *text)
{
    unsigned i = 0;
    while (i < count && memcmp(names + (size_t)3 * i, text, 3) != 0) {
        i++;
    }
    return i;
}

int s3_moment_read_http(const char *text, int64_t *out_s)
{
    static const char shape[] = "___, __ ___ ____ __:__:__ GMT";
    struct date d;
    if (strlen(text) != sizeof shape - 1) {
        return -EINVAL;
    }
    for (unsigned i = 0; i < sizeof shape - 1; i++) {
        if (shape[i] != '_' && shape[i] != text[i]) {
            return -EINVAL;
        }
    }
    d.month = name_at(months, 12, text + 8) + 1;
    if (name_at(days, 7, text) == 7 || !digits(text + 5, 2, &d.day) || !digits(text + 12, 4, &d.year) ||
        !digits(text + 17, 2, &d.hour) || !digits(text + 20, 2, &d.minute) || !digits(text + 23, 2, &d.second)) {
        return -EINVAL;
    }
    return seconds_of(&d, out_s);
}

static void put(struct text *t, unsigned number, unsigned width, const char *behind)
{
    unsigned scale = width == 4 ? 1000 : 10;
    for (; scale > 0 && number < scale && scale > 1; scale /= 10) {
        text_put(t, "0");
    }
    text_put_unsigned(t, number, 10);
    text_put(t, behind);
}

void s3_moment_http(int64_t s, char out[static S3_MOMENT_TEXT])
{
    struct date d = date_of(s);
    struct text t = text_of(out, S3_MOMENT_TEXT);
    text_put_bytes(&t, days + 3 * (s / DAY_S % 7), 3);
    text_put(&t, ", ");
    put(&t, d.day, 2, " ");
    text_put_bytes(&t, months + (size_t)3 * (d.month - 1), 3);
    text_put(&t, " ");
    put(&t, d.year, 4, " ");
    put(&t, d.hour, 2, ":");
    put(&t, d.minute, 2, ":");
    put(&t, d.second, 2, " GMT");
}

void s3_moment_xml(int64_t s, char out[static S3_MOMENT_TEXT])
{
    struct date d = date_of(s);
    struct text t = text_of(out, S3_MOMENT_TEXT);
    put(&t, d.year, 4, "-");
    put(&t, d.month, 2, "-");
    put(&t, d.day, 2, "T");
    put(&t, d.hour, 2, ":");
    put(&t, d.minute, 2, ":");
    put(&t, d.second, 2, ".000Z");
}
