/* SPDX-License-Identifier: Apache-2.0 */
#include "setting/setting.h"

#include "base/check.h"
#include "base/nearest.h"
#include "base/quantity.h"
#include "base/text.h"
#include "setting/internal.h"

#include <errno.h>
#include <string.h>

static const char *const truths[] = {"false", "true", "no", "yes", "off", "on"};
enum { TRUTHS = sizeof truths / sizeof *truths, MODE_MOST = 0777, SHOWN_MOST = 40 };

static bool is_word(const char *word, const char *text, size_t length)
{
    return strlen(word) == length && memcmp(word, text, length) == 0;
}

/* ---- The field --------------------------------------------------------------------------------------------------- */

static uint64_t largest(size_t size)
{
    return size == sizeof(uint64_t) ? UINT64_MAX : (UINT64_C(1) << 8 * size) - 1;
}

static void put_field(void *at, size_t size, uint64_t value)
{
    CHECK(value <= largest(size));
    switch (size) {
    case sizeof(uint8_t):
        *(uint8_t *)at = (uint8_t)value;
        break;
    case sizeof(uint16_t):
        *(uint16_t *)at = (uint16_t)value;
        break;
    case sizeof(uint32_t):
        memcpy(at, &(uint32_t){(uint32_t)value}, size);
        break;
    default:
        CHECK(size == sizeof value);
        memcpy(at, &value, size);
        break;
    }
}

static uint64_t get_field(const void *at, size_t size)
{
    uint32_t word;
    uint64_t value;
    switch (size) {
    case sizeof(uint8_t):
        return *(const uint8_t *)at;
    case sizeof(uint16_t):
        return *(const uint16_t *)at;
    case sizeof(uint32_t):
        memcpy(&word, at, size);
        return word;
    default:
        CHECK(size == sizeof value);
        memcpy(&value, at, size);
        return value;
    }
}

static uint64_t unit_of(const struct setting *s)
{
    return s->kind == SETTING_COUNT && s->unit != 0 ? s->unit : 1;
}

uint64_t setting_most(const struct setting *s)
{
    uint64_t field = largest(s->size) / unit_of(s);
    return s->most < field ? s->most : field;
}

uint64_t setting_number(const struct setting *s, const void *base)
{
    return get_field((const char *)base + s->at, s->size) / unit_of(s);
}

/* A number within the limits goes to the field. */
static int store(const struct setting *s, uint64_t value, void *at)
{
    if (value < s->least || value > setting_most(s)) {
        return -ERANGE;
    }
    put_field(at, s->size, value * unit_of(s));
    return 0;
}

/* ---- From text --------------------------------------------------------------------------------------------------- */

static int read_text(const struct setting *s, const char *text, size_t length, char *out)
{
    for (size_t i = 0; i < length; i++) {
        if ((unsigned char)text[i] < ' ' || text[i] == 0x7f) {
            return -EINVAL;
        }
    }
    if (length >= s->size || length < s->least) {
        return -ERANGE;
    }
    memset(out, 0, s->size); /* so that equal configurations are equal bytes */
    memcpy(out, text, length);
    return 0;
}

static int digit_of(char c)
{
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    if (c >= 'a' && c <= 'f') {
        return c - 'a' + 10;
    }
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : 16;
}

static int read_digits(const char *text, size_t length, unsigned base, uint64_t *out)
{
    uint64_t value = 0;
    bool fits = true;
    for (size_t i = 0; i < length; i++) {
        unsigned digit = (unsigned)digit_of(text[i]);
        if (digit >= base) {
            return -EINVAL;
        }
        fits = fits && !__builtin_mul_overflow(value, base, &value) && !__builtin_add_overflow(value, digit, &value);
    }
    *out = value;
    return length == 0 ? -EINVAL : fits ? 0 : -ERANGE;
}

static int read_hex(const char *text, size_t length, uint64_t *out)
{
    bool hex = length > 2 && text[0] == '0' && text[1] == 'x';
    return hex ? read_digits(text + 2, length - 2, 16, out) : read_digits(text, length, 10, out);
}

static int read_mode(const char *text, size_t length, uint64_t *out)
{
    int rc = read_digits(text, length, 8, out);
    return rc == 0 && *out > MODE_MOST ? -ERANGE : rc;
}

static int read_span(const char *text, size_t length, uint64_t *out)
{
    cw_span span;
    int rc = quantity_span(text, length, &span);
    *out = rc == 0 ? (uint64_t)span.ns : 0;
    return rc;
}

static int read_ppm(const char *text, size_t length, uint64_t *out)
{
    uint32_t ppm;
    int rc = quantity_ppm(text, length, &ppm);
    *out = rc == 0 ? ppm : 0;
    return rc;
}

static int read_bool(const char *text, size_t length, bool *out)
{
    for (size_t i = 0; i < TRUTHS; i++) {
        if (is_word(truths[i], text, length)) {
            *out = i % 2 == 1;
            return 0;
        }
    }
    return -EINVAL;
}

static int read_word(const struct setting *s, const char *text, size_t length, void *out)
{
    for (int i = 0; s->words[i] != NULL; i++) {
        if (is_word(s->words[i], text, length)) {
            memcpy(out, &i, sizeof i);
            return 0;
        }
    }
    return -EINVAL;
}

static int read_range(const char *text, size_t length, struct setting_range *out)
{
    const char *dots = memchr(text, '.', length);
    size_t head = dots == NULL ? length : (size_t)(dots - text);
    struct setting_range range;
    int rc = quantity_count(text, head, &range.first);
    range.last = range.first;
    if (rc == 0 && dots != NULL) {
        rc = length - head < 3 || dots[1] != '.' ? -EINVAL : quantity_count(dots + 2, length - head - 2, &range.last);
    }
    if (rc < 0 || range.last < range.first) {
        return rc < 0 ? rc : -EINVAL;
    }
    *out = range;
    return 0;
}

/* The kinds that are one number within limits. */
static int read_number(const struct setting *s, const char *text, size_t length, uint64_t *out)
{
    switch (s->kind) {
    case SETTING_COUNT:
        return s->plain ? read_digits(text, length, 10, out) : quantity_count(text, length, out);
    case SETTING_SEED:
        return read_digits(text, length, 10, out);
    case SETTING_HEX:
        return read_hex(text, length, out);
    case SETTING_MODE:
        return read_mode(text, length, out);
    case SETTING_SPAN:
        return read_span(text, length, out);
    case SETTING_RATE:
        return quantity_rate(text, length, out);
    default:
        CHECK(s->kind == SETTING_PPM);
        return read_ppm(text, length, out);
    }
}

int setting_read(const struct setting *s, const char *text, size_t length, void *base)
{
    void *at = (char *)base + s->at;
    uint64_t number = 0;
    switch (s->kind) {
    case SETTING_TEXT:
        return read_text(s, text, length, at);
    case SETTING_RATIO:
        return quantity_millionths(text, length, at);
    case SETTING_BOOL:
        return read_bool(text, length, at);
    case SETTING_WORD:
        return read_word(s, text, length, at);
    case SETTING_DIMS:
        return quantity_dims(text, length, at);
    case SETTING_RANGE:
        return read_range(text, length, at);
    default:
        break;
    }
    int rc = read_number(s, text, length, &number);
    return rc < 0 ? rc : store(s, number, at);
}

/* ---- A table ----------------------------------------------------------------------------------------------------- */

const struct setting *setting_find(const struct setting *table, const char *name, size_t length)
{
    while (table->name != NULL && !is_word(table->name, name, length)) {
        table++;
    }
    return table->name != NULL ? table : NULL;
}

static const char *name_nth(const void *context, size_t i)
{
    return ((const struct setting *)context)[i].name;
}

const char *setting_nearest(const struct setting *table, const char *name, size_t length)
{
    size_t count = 0;
    while (table[count].name != NULL) {
        count++;
    }
    return nearest_name(name, length, name_nth, table, count);
}

static const char *word_nth(const void *context, size_t i)
{
    return ((const char *const *)context)[i];
}

const char *setting_nearest_value(const struct setting *s, const char *text, size_t length)
{
    const char *const *words = s->kind == SETTING_BOOL ? truths : s->words;
    size_t count = s->kind == SETTING_BOOL ? TRUTHS : 0;
    while (s->kind == SETTING_WORD && words[count] != NULL) {
        count++;
    }
    return count == 0 ? NULL : nearest_name(text, length, word_nth, words, count);
}

int setting_read_table(const struct setting *table, void *base, const char *(*get)(void *context, const char *name),
                       void *context, char why[static SETTING_WHY])
{
    int rc = 0;
    for (const struct setting *s = table; s->name != NULL; s++) {
        const char *value = get(context, s->name);
        if (value == NULL || setting_read(s, value, strlen(value), base) == 0 || rc < 0) {
            continue;
        }
        char expected[SETTING_WHY];
        struct text t = text_of(why, SETTING_WHY);
        setting_expected(s, expected);
        text_put(&t, s->name);
        text_put(&t, " = \"");
        text_put_bytes(&t, value, strnlen(value, SHOWN_MOST));
        text_put(&t, "\": expected ");
        text_put(&t, expected);
        const char *near = setting_nearest_value(s, value, strlen(value));
        text_put(&t, near != NULL ? "; did you mean " : "");
        text_put(&t, near != NULL ? near : "");
        text_put(&t, near != NULL ? "?" : "");
        rc = -EINVAL;
    }
    return rc;
}
