/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/config/setting.h"

#include "base/check.h"
#include "base/quantity.h"
#include "cubeway/time.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const truths[] = {"false", "true", "no", "yes", "off", "on"};

__attribute__((format(printf, 2, 3))) static int expected(char why[static SETTING_WHY], const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = snprintf(why, SETTING_WHY, "expected ");
    vsnprintf(why + n, (size_t)(SETTING_WHY - n), format, args);
    va_end(args);
    return -EINVAL;
}

static int read_text(const struct setting *s, const char *text, char *out, char *why)
{
    size_t length = strlen(text);
    for (size_t i = 0; i < length; i++) {
        if ((unsigned char)text[i] < ' ' || text[i] == 0x7f) {
            return expected(why, "a text without control characters");
        }
    }
    if (length >= s->most || length < s->least) {
        return expected(why, "%" PRIu64 " to %" PRIu64 " characters", s->least, s->most - 1);
    }
    memset(out, 0, s->most); /* so that equal configurations are equal bytes */
    memcpy(out, text, length);
    return 0;
}

static int read_count(const struct setting *s, const char *text, uint32_t *out, char *why)
{
    uint64_t value;
    if (quantity_count(text, strlen(text), &value) < 0 || value < s->least || value > s->most) {
        return expected(why, "a number from %" PRIu64 " to %" PRIu64, s->least, s->most);
    }
    *out = (uint32_t)value;
    return 0;
}

static int read_digits(const char *text, int base, uint64_t most, uint64_t *out)
{
    char *end;
    if (text[0] < '0' || (text[0] > '9' && base != 16) || strlen(text) > 20) {
        return -EINVAL;
    }
    errno = 0;
    unsigned long long value = strtoull(text, &end, base);
    if (errno != 0 || *end != '\0' || end == text || value > most) {
        return -EINVAL;
    }
    *out = value;
    return 0;
}

static int read_number(const struct setting *s, const char *text, uint32_t *out, char *why)
{
    uint64_t value;
    bool hex = strncmp(text, "0x", 2) == 0;
    if (read_digits(text, hex ? 16 : 10, s->most, &value) < 0 || value < s->least) {
        return expected(why, "a number from 0x%" PRIx64 " to 0x%" PRIx64, s->least, s->most);
    }
    *out = (uint32_t)value;
    return 0;
}

static int read_mode(const char *text, uint32_t *out, char *why)
{
    uint64_t value;
    if (read_digits(text, 8, 0777, &value) < 0) {
        return expected(why, "a file's mode in octal, as 0660");
    }
    *out = (uint32_t)value;
    return 0;
}

static int read_span(const struct setting *s, const char *text, cw_span *out, char *why)
{
    cw_span span;
    if (quantity_span(text, strlen(text), &span) < 0 || (uint64_t)span.ns < s->least || (uint64_t)span.ns > s->most) {
        char least[QUANTITY_TEXT], most[QUANTITY_TEXT];
        quantity_span_format(CW_NS(s->least), least);
        quantity_span_format(CW_NS(s->most), most);
        return expected(why, "a time from %s to %s, as 10ms", least, most);
    }
    *out = span;
    return 0;
}

static int read_word(const struct setting *s, const char *text, void *out, char *why)
{
    char all[SETTING_WHY - 20] = "";
    size_t used = 0;
    for (int i = 0; s->words[i] != NULL; i++) {
        if (strcmp(text, s->words[i]) == 0) {
            memcpy(out, &i, sizeof i);
            return 0;
        }
        int n = snprintf(all + used, sizeof all - used, "%s%s", used == 0 ? "" : ", ", s->words[i]);
        used = used + (size_t)n < sizeof all ? used + (size_t)n : sizeof all - 1;
    }
    return expected(why, "one of %s", all);
}

int setting_read(const struct setting *s, const char *text, void *base, char why[static SETTING_WHY])
{
    void *at = (char *)base + s->at;
    size_t length = strlen(text);
    uint64_t large;
    why[0] = '\0';
    switch (s->kind) {
    case SETTING_TEXT:
        return read_text(s, text, at, why);
    case SETTING_COUNT:
        return read_count(s, text, at, why);
    case SETTING_SEED:
        if (read_digits(text, 10, UINT64_MAX, &large) < 0) {
            return expected(why, "a whole number");
        }
        memcpy(at, &large, sizeof large);
        return 0;
    case SETTING_NUMBER:
        return read_number(s, text, at, why);
    case SETTING_MODE:
        return read_mode(text, at, why);
    case SETTING_SPAN:
        return read_span(s, text, at, why);
    case SETTING_RATE:
        return quantity_rate(text, length, at) < 0 ? expected(why, "a rate, as 100mbit or 10gbit") : 0;
    case SETTING_PPM: {
        uint32_t ppm;
        if (quantity_ppm(text, length, &ppm) < 0 || ppm > s->most) {
            return expected(why, "a share, as 1%% or 500ppm, up to 100%%");
        }
        memcpy(at, &ppm, sizeof ppm);
        return 0;
    }
    case SETTING_BOOL:
        for (size_t i = 0; i < sizeof truths / sizeof *truths; i++) {
            if (strcmp(text, truths[i]) == 0) {
                *(bool *)at = i % 2 == 1;
                return 0;
            }
        }
        return expected(why, "true or false");
    case SETTING_WORD:
        return read_word(s, text, at, why);
    case SETTING_DIMS:
        return quantity_dims(text, length, at) < 0 ? expected(why, "dims of 1 to 256 servers an axis, as 3x3x3") : 0;
    }
    CHECK(false);
}

bool setting_is_text(const struct setting *s)
{
    return s->kind == SETTING_TEXT || s->kind == SETTING_DIMS || s->kind == SETTING_MODE;
}

static bool write_text(const char *text, char *out)
{
    snprintf(out, SETTING_VALUE, "%s", text);
    return text[0] != '\0';
}

static bool write_number(uint64_t value, char *out)
{
    snprintf(out, SETTING_VALUE, "%" PRIu64, value);
    return value != 0;
}

bool setting_write(const struct setting *s, const void *base, char out[static SETTING_VALUE])
{
    const void *at = (const char *)base + s->at;
    bool set = true;
    char text[QUANTITY_TEXT] = "";
    uint32_t number;
    uint64_t large;
    int word;
    cw_dims dims;
    switch (s->kind) {
    case SETTING_TEXT:
        set = write_text(at, out);
        break;
    case SETTING_COUNT:
        memcpy(&number, at, sizeof number);
        set = write_number(number, out);
        break;
    case SETTING_SEED:
        memcpy(&large, at, sizeof large);
        set = write_number(large, out);
        break;
    case SETTING_NUMBER:
    case SETTING_MODE:
        memcpy(&number, at, sizeof number);
        snprintf(out, SETTING_VALUE, s->kind == SETTING_MODE ? "0%o" : "0x%x", number);
        set = number != 0;
        break;
    case SETTING_SPAN: {
        cw_span span;
        memcpy(&span, at, sizeof span);
        quantity_span_format(span, text);
        write_text(text, out);
        set = span.ns != 0;
        break;
    }
    case SETTING_RATE:
        memcpy(&large, at, sizeof large);
        quantity_rate_format(large, text);
        write_text(text, out);
        set = large != 0;
        break;
    case SETTING_PPM:
        memcpy(&number, at, sizeof number);
        quantity_ppm_format(number, text);
        write_text(text, out);
        set = number != 0;
        break;
    case SETTING_BOOL:
        write_text(*(const bool *)at ? "true" : "false", out);
        break;
    case SETTING_WORD:
        memcpy(&word, at, sizeof word);
        write_text(s->words[word], out);
        break;
    case SETTING_DIMS:
        memcpy(&dims, at, sizeof dims);
        quantity_dims_format(dims, text);
        write_text(text, out);
        set = dims.x != 0;
        break;
    }
    return set || !s->optional;
}
