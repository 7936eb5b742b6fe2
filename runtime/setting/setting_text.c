/* SPDX-License-Identifier: Apache-2.0 */
/* setting_text.c - what people read of a setting: what was expected of a value, and the value as text. */
#include "base/quantity.h"
#include "base/text.h"
#include "setting/internal.h"
#include "setting/setting.h"

#include <string.h>

/* ---- What was expected ------------------------------------------------------------------------------------------- */

/* A limit, as its kind is written. */
static void say_limit(struct text *t, enum setting_kind kind, uint64_t limit)
{
    char text[QUANTITY_TEXT];
    switch (kind) {
    case SETTING_HEX:
        text_put(t, "0x");
        text_put_unsigned(t, limit, 16);
        return;
    case SETTING_SPAN:
        quantity_span_format((cw_span){(int64_t)limit}, text);
        break;
    case SETTING_RATE:
        quantity_rate_format(limit, text);
        break;
    case SETTING_PPM:
        quantity_ppm_format((uint32_t)limit, text);
        break;
    default:
        text_put_unsigned(t, limit, 10);
        return;
    }
    text_put(t, limit == 0 ? "0" : text);
}

/* "a share from 1% to 5%", "a share from 1% on", or without limits "a share". */
static void say_limits(struct text *t, const struct setting *s, const char *what)
{
    bool open = s->most == SETTING_ANY;
    text_put(t, what);
    if (open && s->least == 0) {
        return;
    }
    text_put(t, " from ");
    say_limit(t, s->kind, s->least);
    text_put(t, open ? " on" : " to ");
    if (!open) {
        say_limit(t, s->kind, setting_most(s));
    }
}

/* The smallest number that is shorter with its unit: 10k. */
enum { UNITS_FROM = 10000 };

static void say_count(struct text *t, const struct setting *s)
{
    bool any = s->least == 0 && s->most == SETTING_ANY;
    say_limits(t, s, "a whole number");
    if (s->of != NULL) {
        text_put(t, any ? " of " : " ");
        text_put(t, s->of);
    }
    text_put(t, !s->plain && s->of == NULL && setting_most(s) >= UNITS_FROM ? ", as 1000 or 10k" : "");
}

/* One item of "a, b or c". */
static void say_item(struct text *t, size_t i, const char *word, bool last)
{
    if (i > 0) {
        text_put(t, last ? " or " : ", ");
    }
    text_put(t, word);
}

static void say_words(struct text *t, const char *const *words)
{
    for (size_t i = 0; words[i] != NULL; i++) {
        say_item(t, i, words[i], words[i + 1] == NULL);
    }
}

static void say_text(struct text *t, const struct setting *s)
{
    text_put_unsigned(t, s->least, 10);
    text_put(t, " to ");
    text_put_unsigned(t, s->size - 1, 10);
    text_put(t, " characters, none of them a control character");
}

void setting_expected(const struct setting *s, char out[static SETTING_WHY])
{
    struct text t = text_of(out, SETTING_WHY);
    switch (s->kind) {
    case SETTING_TEXT:
        say_text(&t, s);
        break;
    case SETTING_COUNT:
        say_count(&t, s);
        break;
    case SETTING_SEED:
        text_put(&t, "a whole number of at most 64 bits");
        break;
    case SETTING_HEX:
        say_limits(&t, s, "a number");
        break;
    case SETTING_MODE:
        text_put(&t, "a file's mode in octal, as 0660");
        break;
    case SETTING_SPAN:
        say_limits(&t, s, "a time with its unit");
        text_put(&t, ", as 5s or 200ms");
        break;
    case SETTING_RATE:
        say_limits(&t, s, "a rate with its unit");
        text_put(&t, ", as 1gbit or 100mbit");
        break;
    case SETTING_PPM:
        say_limits(&t, s, "a share");
        text_put(&t, ", as 5% or 200ppm");
        break;
    case SETTING_RATIO:
        text_put(&t, "a number, as 2 or 0.5");
        break;
    case SETTING_BOOL:
        text_put(&t, "true or false");
        break;
    case SETTING_WORD:
        say_words(&t, s->words);
        break;
    case SETTING_DIMS:
        text_put(&t, "dimensions of 1 to 256 each, as 3x3x3");
        break;
    case SETTING_RANGE:
        text_put(&t, "a number or a range, as 7 or 1..100");
        break;
    }
}
_Static_assert(CW_DIM_MAX == 256, "said above");

void setting_names(const struct setting *table, char out[static SETTING_WHY])
{
    struct text t = text_of(out, SETTING_WHY);
    for (size_t i = 0; table[i].name != NULL; i++) {
        say_item(&t, i, table[i].name, table[i + 1].name == NULL);
    }
}

/* ---- To text ----------------------------------------------------------------------------------------------------- */

bool setting_is_text(const struct setting *s)
{
    return s->kind == SETTING_TEXT || s->kind == SETTING_DIMS || s->kind == SETTING_MODE;
}

static bool is_zero(const struct setting *s, const char *at)
{
    for (size_t i = 0; i < s->size; i++) {
        if (at[i] != 0) {
            return false;
        }
    }
    return true;
}

static void write_dims(struct text *t, const void *at)
{
    cw_dims dims;
    char text[QUANTITY_TEXT];
    memcpy(&dims, at, sizeof dims);
    quantity_dims_format(dims, text);
    text_put(t, text);
}

static void write_ratio(struct text *t, const void *at)
{
    int64_t millionths;
    char text[QUANTITY_TEXT];
    memcpy(&millionths, at, sizeof millionths);
    quantity_millionths_format(millionths, text);
    text_put(t, text);
}

static void write_range(struct text *t, const void *at)
{
    struct setting_range range;
    memcpy(&range, at, sizeof range);
    text_put_unsigned(t, range.first, 10);
    text_put(t, "..");
    text_put_unsigned(t, range.last, 10);
}

static void write_number(struct text *t, const struct setting *s, uint64_t value)
{
    char text[QUANTITY_TEXT] = "";
    switch (s->kind) {
    case SETTING_HEX:
        say_limit(t, s->kind, value);
        break;
    case SETTING_MODE:
        text_put(t, "0");
        text_put_unsigned(t, value, 8);
        break;
    case SETTING_SPAN:
        quantity_span_format((cw_span){(int64_t)value}, text);
        break;
    case SETTING_RATE:
        quantity_rate_format(value, text);
        break;
    case SETTING_PPM:
        quantity_ppm_format((uint32_t)value, text);
        break;
    default:
        text_put_unsigned(t, value, 10);
        break;
    }
    text_put(t, text);
}

bool setting_write(const struct setting *s, const void *base, char out[static SETTING_VALUE])
{
    const char *at = (const char *)base + s->at;
    struct text t = text_of(out, SETTING_VALUE);
    int word;
    bool always = s->kind == SETTING_BOOL || s->kind == SETTING_WORD;
    if (s->optional && !always && is_zero(s, at)) {
        return false;
    }
    switch (s->kind) {
    case SETTING_TEXT:
        text_put(&t, at);
        break;
    case SETTING_BOOL:
        text_put(&t, *(const bool *)at ? "true" : "false");
        break;
    case SETTING_WORD:
        memcpy(&word, at, sizeof word);
        text_put(&t, s->words[word]);
        break;
    case SETTING_DIMS:
        write_dims(&t, at);
        break;
    case SETTING_RATIO:
        write_ratio(&t, at);
        break;
    case SETTING_RANGE:
        write_range(&t, at);
        break;
    default:
        write_number(&t, s, setting_number(s, base));
        break;
    }
    return true;
}
