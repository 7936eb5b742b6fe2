/* SPDX-License-Identifier: Apache-2.0 */
#include "commandline/options.h"

#include "base/quantity.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

enum { NAME_MAX_LENGTH = 32 };

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Letters to insert, take away, change or swap to make one short word the other (Damerau, Levenshtein). */
static size_t distance(const char *a, size_t a_length, const char *b, size_t b_length)
{
    size_t row[3][NAME_MAX_LENGTH + 1];
    if (a_length > NAME_MAX_LENGTH || b_length > NAME_MAX_LENGTH) {
        return SIZE_MAX;
    }
    for (size_t i = 0; i <= a_length; i++) {
        size_t *now = row[i % 3], *before = row[(i + 2) % 3], *earlier = row[(i + 1) % 3];
        for (size_t j = 0; j <= b_length; j++) {
            if (i == 0 || j == 0) {
                now[j] = i + j;
                continue;
            }
            now[j] = least(least(now[j - 1], before[j]) + 1, before[j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
                now[j] = least(now[j], earlier[j - 2] + 1);
            }
        }
    }
    return row[a_length % 3][b_length];
}

const char *options_nearest(const char *name, size_t length, const char *(*nth)(const void *context, size_t i),
                            const void *context, size_t count)
{
    const char *best = NULL;
    size_t best_distance = SIZE_MAX;
    for (size_t i = 0; i < count; i++) {
        const char *candidate = nth(context, i);
        size_t candidate_length = strlen(candidate);
        bool begins = length >= 2 && candidate_length > length && memcmp(name, candidate, length) == 0;
        size_t d = begins ? 1 : distance(name, length, candidate, candidate_length);
        if (d < best_distance) {
            best_distance = d;
            best = candidate;
        }
    }
    return best_distance <= 1 + length / 3 ? best : NULL;
}

static const char *option_name(const void *context, size_t i)
{
    return ((const struct option *)context)[i].name;
}

static const char *argument_of(const struct option *o)
{
    static const char *const words[] = {
        [OPTION_FLAG] = "",      [OPTION_TEXT] = "TEXT",    [OPTION_COUNT] = "N",     [OPTION_SMALL] = "N",
        [OPTION_SPAN] = "TIME",  [OPTION_RATE] = "RATE",    [OPTION_PPM] = "PERCENT", [OPTION_DIMS] = "XxYxZ",
        [OPTION_RANGE] = "A..B", [OPTION_RATIO] = "NUMBER", [OPTION_LIST] = "TEXT",
    };
    return o->argument != NULL ? o->argument : words[o->kind];
}

static const char *expected(enum option_kind kind)
{
    static const char *const words[] = {
        [OPTION_FLAG] = "no value",
        [OPTION_TEXT] = "a text",
        [OPTION_COUNT] = "a whole number, as 1000 or 10k",
        [OPTION_SMALL] = "a whole number, as 1000 or 10k",
        [OPTION_SPAN] = "a time with its unit, as 50ms or 1.5s",
        [OPTION_RATE] = "a rate with its unit, as 1gbit or 100mbit",
        [OPTION_PPM] = "a percentage, as 98% or 0.5%",
        [OPTION_DIMS] = "dimensions of 1 to 256 each, as 8x8x8",
        [OPTION_RANGE] = "a number or a range, as 7 or 1..100",
        [OPTION_RATIO] = "a number, as 2 or 0.5",
        [OPTION_LIST] = "a text, at most 16 of them",
    };
    return words[kind];
}

static int read_range(const char *text, size_t length, struct option_range *out)
{
    const char *dots = memchr(text, '.', length);
    size_t head = dots == NULL ? length : (size_t)(dots - text);
    struct option_range range;
    int rc = quantity_count(text, head, &range.first);
    range.last = range.first;
    if (rc == 0 && dots != NULL) {
        rc = length - head < 3 || dots[1] != '.' ? -EINVAL : quantity_count(dots + 2, length - head - 2, &range.last);
    }
    if (rc == 0 && range.last < range.first) {
        rc = -EINVAL;
    }
    if (rc == 0) {
        *out = range;
    }
    return rc;
}

static int read_small(const char *text, size_t length, uint32_t *out)
{
    uint64_t value;
    int rc = quantity_count(text, length, &value);
    if (rc == 0 && value > UINT32_MAX) {
        rc = -ERANGE;
    }
    if (rc == 0) {
        *out = (uint32_t)value;
    }
    return rc;
}

static int add_word(struct option_words *words, const char *text)
{
    if (words->count == OPTION_WORDS_MAX) {
        return -ERANGE;
    }
    words->word[words->count++] = text;
    return 0;
}

static int read_value(const struct option *o, const char *text)
{
    size_t length = strlen(text);
    switch (o->kind) {
    case OPTION_FLAG:
        break;
    case OPTION_TEXT:
        *(const char **)o->value = text;
        return 0;
    case OPTION_COUNT:
        return quantity_count(text, length, o->value);
    case OPTION_SMALL:
        return read_small(text, length, o->value);
    case OPTION_SPAN:
        return quantity_span(text, length, o->value);
    case OPTION_RATE:
        return quantity_rate(text, length, o->value);
    case OPTION_PPM:
        return quantity_ppm(text, length, o->value);
    case OPTION_DIMS:
        return quantity_dims(text, length, o->value);
    case OPTION_RANGE:
        return read_range(text, length, o->value);
    case OPTION_RATIO:
        return quantity_millionths(text, length, o->value);
    case OPTION_LIST:
        return add_word(o->value, text);
    }
    return -EINVAL;
}

static const struct option *find(const struct option *option, size_t count, const char *name, size_t length)
{
    for (size_t i = 0; i < count; i++) {
        if (strlen(option[i].name) == length && memcmp(option[i].name, name, length) == 0) {
            return &option[i];
        }
    }
    return NULL;
}

static int say_unknown(const char *program, const struct option *option, size_t count, const char *name, size_t length,
                       FILE *errors)
{
    const char *near = options_nearest(name, length, option_name, option, count);
    fprintf(errors, "%s: unknown option --%.*s", program, (int)length, name);
    if (near != NULL) {
        fprintf(errors, "; did you mean --%s?\n", near);
    } else {
        fprintf(errors, "; %s --help lists them\n", program);
    }
    return -EINVAL;
}

/* One word of argv; *at moves on when its value is the next one. */
static int parse_option(const char *program, const struct option *option, size_t count, int argc, char *const argv[],
                        int *at, FILE *errors)
{
    const char *name = argv[*at] + 2;
    const char *value = strchr(name, '=');
    size_t length = value != NULL ? (size_t)(value - name) : strlen(name);
    const struct option *o = find(option, count, name, length);
    if (o == NULL) {
        return say_unknown(program, option, count, name, length, errors);
    }
    if (o->kind == OPTION_FLAG) {
        if (value != NULL) {
            fprintf(errors, "%s: --%s takes no value\n", program, o->name);
            return -EINVAL;
        }
        *(bool *)o->value = true;
        return 0;
    }
    if (value != NULL) {
        value++;
    } else if (*at + 1 < argc) {
        value = argv[++*at];
    } else {
        fprintf(errors, "%s: --%s needs a value: %s\n", program, o->name, expected(o->kind));
        return -EINVAL;
    }
    int rc = read_value(o, value);
    if (rc < 0) {
        fprintf(errors, "%s: --%s %s: %s; expected %s\n", program, o->name, value,
                rc == -ERANGE ? "out of range" : "cannot be read", expected(o->kind));
        return -EINVAL;
    }
    return 0;
}

int options_parse(const char *program, const struct option *option, size_t count, int argc, char *const argv[],
                  struct option_words *words, FILE *errors)
{
    bool options = true;
    if (words != NULL) {
        words->count = 0;
    }
    for (int i = 1; i < argc; i++) {
        if (options && strcmp(argv[i], "--") == 0) {
            options = false;
            continue;
        }
        if (options && (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)) {
            return 1;
        }
        if (options && strncmp(argv[i], "--", 2) == 0) {
            if (parse_option(program, option, count, argc, argv, &i, errors) < 0) {
                return -EINVAL;
            }
            continue;
        }
        cw_link link;
        if (options && argv[i][0] == '-' && argv[i][1] != '\0' && quantity_link(argv[i], strlen(argv[i]), &link) < 0) {
            fprintf(errors, "%s: unknown option %s; options have two dashes\n", program, argv[i]);
            return -EINVAL;
        }
        if (words == NULL || words->count == OPTION_WORDS_MAX) {
            fprintf(errors, "%s: what is '%s'? %s --help says what it takes\n", program, argv[i], program);
            return -EINVAL;
        }
        words->word[words->count++] = argv[i];
    }
    return 0;
}

/* The default as text; empty when there is none worth showing. */
static void show_default(const struct option *o, char *out, size_t room)
{
    char text[2 * QUANTITY_TEXT] = "";
    switch (o->kind) {
    case OPTION_FLAG:
    case OPTION_LIST:
        break;
    case OPTION_TEXT:
        if (*(const char **)o->value != NULL) {
            snprintf(text, sizeof text, "%.60s", *(const char **)o->value);
        }
        break;
    case OPTION_COUNT:
        snprintf(text, sizeof text, "%" PRIu64, *(const uint64_t *)o->value);
        break;
    case OPTION_SMALL:
        snprintf(text, sizeof text, "%" PRIu32, *(const uint32_t *)o->value);
        break;
    case OPTION_SPAN:
        quantity_span_format(*(const cw_span *)o->value, text);
        break;
    case OPTION_RATE:
        quantity_rate_format(*(const uint64_t *)o->value, text);
        break;
    case OPTION_PPM:
        quantity_ppm_format(*(const uint32_t *)o->value, text);
        break;
    case OPTION_DIMS:
        quantity_dims_format(*(const cw_dims *)o->value, text);
        break;
    case OPTION_RANGE: {
        const struct option_range *r = o->value;
        snprintf(text, sizeof text, "%" PRIu64 "..%" PRIu64, r->first, r->last);
        break;
    }
    case OPTION_RATIO:
        quantity_millionths_format(*(const int64_t *)o->value, text);
        break;
    }
    snprintf(out, room, "%s%s%s", text[0] != '\0' ? " (" : "", text, text[0] != '\0' ? ")" : "");
}

void options_print(const struct option *option, size_t count, FILE *out)
{
    for (size_t i = 0; i < count; i++) {
        const struct option *o = &option[i];
        char left[64], right[80];
        if (o->hidden) {
            continue;
        }
        snprintf(left, sizeof left, "--%s %s", o->name, argument_of(o));
        show_default(o, right, sizeof right);
        fprintf(out, "  %-24s %s%s\n", left, o->help, right);
    }
    fprintf(out, "  %-24s %s\n", "--help", "this text");
}
