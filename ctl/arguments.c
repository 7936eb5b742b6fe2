/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/arguments.h"

#include "base/quantity.h"

#include <errno.h>
#include <string.h>

enum { WORD_MAX = 40 };

/* What all commands take: where the value goes is said by its place in struct arguments. */
enum common { SOCKET, NODE, LAB, SERVER, JSON, WATCH, ROUNDS, TIMEOUT, HELP, VERSION };

static const struct {
    const char *name, *value, *help;
    bool takes, optional;
} common[] = {
    [SOCKET] = {"socket", "PATH", "the daemon's control socket", true, false},
    [NODE] = {"node", "NAME", "the daemon of that name here (the only one, or $CUBEWAY_SOCKET)", true, false},
    [LAB] = {"lab", "LAB", "the daemons of a lab; --node says which", true, false},
    [SERVER] = {"server", "SERVER", "of a daemon with several servers: x,y,z, or all", true, false},
    [JSON] = {"json", "", "print JSON: one object a line", false, false},
    [WATCH] = {"watch", "[TIME]", "again and again, every second or so often", true, true},
    [ROUNDS] = {"rounds", "N", "of --watch: end after so many", true, false},
    [TIMEOUT] = {"timeout", "TIME", "give up when the daemon says nothing for so long (10s)", true, false},
    [HELP] = {"help", "", "what a command does, with examples", false, false},
    [VERSION] = {"version", "", "of cwctl", false, false},
};
enum { COMMON = sizeof common / sizeof *common };

const char *arguments_expected(enum arguments_kind kind)
{
    static const char *const words[] = {
        [ARGUMENTS_FLAG] = "no value",
        [ARGUMENTS_TEXT] = "a text",
        [ARGUMENTS_NUMBER] = "a whole number, as 100 or 10k",
        [ARGUMENTS_SPAN] = "a time with its unit, as 20ms or 1.5s",
    };
    return words[kind];
}

unsigned arguments_distance(const char *a, const char *b)
{
    size_t m = strlen(a), n = strlen(b);
    unsigned row[3][WORD_MAX + 1];
    if (m > WORD_MAX || n > WORD_MAX) {
        return WORD_MAX;
    }
    for (size_t i = 0; i <= m; i++) {
        unsigned *now = row[i % 3], *before = row[(i + 2) % 3], *earlier = row[(i + 1) % 3];
        for (size_t j = 0; j <= n; j++) {
            if (i == 0 || j == 0) {
                now[j] = (unsigned)(i + j);
                continue;
            }
            unsigned best = before[j - 1] + (a[i - 1] != b[j - 1]);
            best = before[j] + 1 < best ? before[j] + 1 : best;
            best = now[j - 1] + 1 < best ? now[j - 1] + 1 : best;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && earlier[j - 2] + 1 < best) {
                best = earlier[j - 2] + 1;
            }
            now[j] = best;
        }
    }
    return row[m % 3][n];
}

/* ---- Parsing ------------------------------------------------------------------------------------------------------------- */

static bool is_named(const char *name, const char *word, size_t length)
{
    return strlen(name) == length && memcmp(name, word, length) == 0;
}

static int say_unknown(const char *word, size_t length, const struct arguments_option *options, FILE *errors)
{
    char name[WORD_MAX + 1];
    const char *near = NULL;
    unsigned best = 1 + (unsigned)length / 3;
    snprintf(name, sizeof name, "%.*s", (int)(length < WORD_MAX ? length : WORD_MAX), word);
    for (unsigned i = 0; i < COMMON; i++) {
        unsigned d = arguments_distance(name, common[i].name);
        near = d <= best ? common[i].name : near;
        best = d <= best ? d : best;
    }
    for (; options->name != NULL; options++) {
        unsigned d = arguments_distance(name, options->name);
        near = d <= best ? options->name : near;
        best = d <= best ? d : best;
    }
    fprintf(errors, "cwctl: unknown option --%s%s%s%s\n", name, near != NULL ? "; did you mean --" : "; ",
            near != NULL ? near : "cwctl --help lists them", near != NULL ? "?" : "");
    return -EINVAL;
}

static int read_span(const char *text, cw_span *out)
{
    size_t length = strlen(text);
    char seconds[32];
    if (quantity_span(text, length, out) == 0) {
        return 0;
    }
    snprintf(seconds, sizeof seconds, "%.20ss", text); /* a bare number is seconds */
    return quantity_span(seconds, strlen(seconds), out);
}

static int say_bad(const char *name, const char *value, const char *expected, FILE *errors)
{
    fprintf(errors, "cwctl: --%s %s: expected %s\n", name, value, expected);
    return -EINVAL;
}

static int take_common(enum common which, const char *value, struct arguments *out, FILE *errors)
{
    switch (which) {
    case SOCKET:
        out->socket = value;
        break;
    case NODE:
        out->node = value;
        break;
    case LAB:
        out->lab = value;
        break;
    case SERVER:
        out->server = value;
        break;
    case JSON:
        out->json = true;
        break;
    case WATCH:
        out->watch = true;
        if (value != NULL && (read_span(value, &out->every) < 0 || out->every.ns < 1000000)) {
            return say_bad("watch", value, "a time of 1ms or more, as 500ms or 2s", errors);
        }
        break;
    case ROUNDS:
        if (quantity_count(value, strlen(value), &out->rounds) < 0 || out->rounds == 0) {
            return say_bad("rounds", value, "a whole number from 1", errors);
        }
        break;
    case TIMEOUT:
        if (read_span(value, &out->timeout) < 0 || out->timeout.ns <= 0) {
            return say_bad("timeout", value, "a time, as 500ms or 2s", errors);
        }
        break;
    case HELP:
        out->help = true;
        break;
    case VERSION:
        out->version = true;
        break;
    }
    return 0;
}

static int take_given(const struct arguments_option *option, const char *value, struct arguments *out, FILE *errors)
{
    struct arguments_given given = {.option = option, .text = value};
    uint64_t count;
    cw_span span;
    if (option->kind == ARGUMENTS_NUMBER) {
        if (quantity_count(value, strlen(value), &count) < 0 || count > INT64_MAX) {
            return say_bad(option->name, value, arguments_expected(option->kind), errors);
        }
        given.number = (int64_t)count;
    } else if (option->kind == ARGUMENTS_SPAN) {
        if (read_span(value, &span) < 0) {
            return say_bad(option->name, value, arguments_expected(option->kind), errors);
        }
        given.number = span.ns / 1000;
    }
    if (out->options == ARGUMENTS_OPTIONS) {
        fprintf(errors, "cwctl: more than %d options\n", ARGUMENTS_OPTIONS);
        return -EINVAL;
    }
    out->given[out->options++] = given;
    return 0;
}

/* Begins like a time: what may follow --watch. */
static bool is_time(const char *text)
{
    return text != NULL && text[0] >= '0' && text[0] <= '9' && strchr(text, ',') == NULL;
}

/* One option; *at moves on when the next word is its value. */
static int take_option(int argc, char *const argv[], int *at, const struct arguments_option *options,
                       struct arguments *out, FILE *errors)
{
    const char *name = argv[*at] + 2;
    const char *value = strchr(name, '=');
    size_t length = value != NULL ? (size_t)(value - name) : strlen(name);
    const char *next = *at + 1 < argc ? argv[*at + 1] : NULL;
    const struct arguments_option *given = options;
    unsigned which = 0;
    while (which < COMMON && !is_named(common[which].name, name, length)) {
        which++;
    }
    while (which == COMMON && given->name != NULL && !is_named(given->name, name, length)) {
        given++;
    }
    if (which == COMMON && given->name == NULL) {
        return say_unknown(name, length, options, errors);
    }
    bool takes = which < COMMON ? common[which].takes : given->kind != ARGUMENTS_FLAG;
    bool optional = which < COMMON && common[which].optional;
    if (value != NULL) {
        value++;
    } else if (takes && (optional ? is_time(next) : next != NULL)) {
        value = next;
        ++*at;
    }
    if (value != NULL && !takes) {
        fprintf(errors, "cwctl: --%.*s takes no value\n", (int)length, name);
        return -EINVAL;
    }
    if (value == NULL && takes && !optional) {
        fprintf(errors, "cwctl: --%.*s needs a value%s%s\n", (int)length, name, which < COMMON ? "" : ": ",
                which < COMMON ? "" : arguments_expected(given->kind));
        return -EINVAL;
    }
    return which < COMMON ? take_common((enum common)which, value, out, errors) : take_given(given, value, out, errors);
}

int arguments_parse(int argc, char *const argv[], const struct arguments_option *options, const char *verbatim,
                    struct arguments *out, FILE *errors)
{
    *out = (struct arguments){.every = CW_SEC(1)};
    for (int i = 1; i < argc; i++) {
        const char *word = argv[i];
        bool plain = out->ended || (verbatim != NULL && out->words >= 2 && strcmp(out->word[0], verbatim) == 0);
        if (!plain && strcmp(word, "--") == 0) {
            out->ended = true;
        } else if (!plain && (strcmp(word, "-h") == 0)) {
            out->help = true;
        } else if (!plain && strncmp(word, "--", 2) == 0) {
            if (take_option(argc, argv, &i, options, out, errors) < 0) {
                return -EINVAL;
            }
        } else if (!plain && word[0] == '-' && word[1] != '\0' &&
                   quantity_link(word, strlen(word), &(cw_link){0}) < 0) {
            bool number = word[1] >= '0' && word[1] <= '9';
            fprintf(errors, "cwctl: %s%s%s\n", number ? "" : "unknown option ", word,
                    number ? ": no number here is below 0; a server is x,y,z, counted from 0,0,0"
                           : "; options have two dashes");
            return -EINVAL;
        } else if (out->words == ARGUMENTS_WORDS) {
            fprintf(errors, "cwctl: more than %d words\n", ARGUMENTS_WORDS);
            return -EINVAL;
        } else {
            out->word[out->words++] = word; /* "-x" is a link */
        }
    }
    return 0;
}

/* ---- Help ------------------------------------------------------------------------------------------------------------------ */

static void help_line(const char *name, const char *value, const char *help, FILE *out)
{
    char left[64];
    snprintf(left, sizeof left, "--%s %s", name, value);
    fprintf(out, "  %-24s %s\n", left, help);
}

void arguments_help(FILE *out)
{
    for (unsigned i = 0; i < COMMON; i++) {
        help_line(common[i].name, common[i].value, common[i].help, out);
    }
}

void arguments_help_option(const struct arguments_option *option, FILE *out)
{
    help_line(option->name, option->kind == ARGUMENTS_FLAG ? "" : option->value, option->help, out);
}
