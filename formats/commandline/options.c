/* SPDX-License-Identifier: Apache-2.0 */
#include "commandline/options.h"

#include "base/check.h"
#include "base/nearest.h"
#include "base/quantity.h"

#include <errno.h>
#include <string.h>

enum { COLUMN = 24, DEFAULT_SHOWN = 60, OPTIONS_MOST = 128 };

/* ---- One option -------------------------------------------------------------------------------------------------- */

/* Its value as a setting, for the kinds that have one; traits may be NULL. */
static struct setting setting_of(const struct option *o, const struct option_traits *traits)
{
    static const struct {
        enum setting_kind kind;
        size_t size;
        const char *argument;
    } kinds[] = {
        [OPTION_COUNT] = {SETTING_COUNT, sizeof(uint64_t), "N"},
        [OPTION_SMALL] = {SETTING_COUNT, sizeof(uint32_t), "N"},
        [OPTION_SPAN] = {SETTING_SPAN, sizeof(cw_span), "TIME"},
        [OPTION_RATE] = {SETTING_RATE, sizeof(uint64_t), "RATE"},
        [OPTION_PPM] = {SETTING_PPM, sizeof(uint32_t), "PERCENT"},
        [OPTION_DIMS] = {SETTING_DIMS, sizeof(cw_dims), "XxYxZ"},
        [OPTION_RANGE] = {SETTING_RANGE, sizeof(struct setting_range), "A..B"},
        [OPTION_RATIO] = {SETTING_RATIO, sizeof(int64_t), "NUMBER"},
    };
    CHECK(o->kind != OPTION_FLAG && o->kind < sizeof kinds / sizeof *kinds && kinds[o->kind].size > 0);
    return (struct setting){
        .name = kinds[o->kind].argument, /* what it is called where the option does not say */
        .kind = kinds[o->kind].kind,
        .size = kinds[o->kind].size,
        .least = traits != NULL ? traits->least : 0,
        .most = traits != NULL && traits->most != 0 ? traits->most : SETTING_ANY,
    };
}

static const char *argument_of(const struct option *o)
{
    if (o->kind == OPTION_FLAG) {
        return "";
    }
    if (o->argument != NULL) {
        return o->argument;
    }
    return o->kind == OPTION_TEXT || o->kind == OPTION_LIST ? "TEXT" : setting_of(o, NULL).name;
}

static void say_expected(const struct option *o, const struct option_traits *traits, int rc,
                         char out[static SETTING_WHY])
{
    if (o->kind == OPTION_TEXT) {
        snprintf(out, SETTING_WHY, "%s", o->argument != NULL ? o->argument : "a text");
    } else if (o->kind == OPTION_LIST) {
        snprintf(out, SETTING_WHY, "a text, at most %d of them", OPTION_WORDS_MAX);
    } else {
        struct setting s = setting_of(o, traits);
        if (rc != -ERANGE && s.most >= INT64_MAX) {
            s.most = SETTING_ANY; /* a bound that nobody meets is told to who has met it */
        }
        setting_expected(&s, out);
    }
}

static int add_word(struct option_words *words, const char *text)
{
    if (words->count == OPTION_WORDS_MAX) {
        return -ERANGE;
    }
    words->word[words->count++] = text;
    return 0;
}

static int read_value(const struct option *o, const struct option_traits *traits, const char *text)
{
    if (o->kind == OPTION_TEXT) {
        *(const char **)o->value = text;
        return 0;
    }
    if (o->kind == OPTION_LIST) {
        return add_word(o->value, text);
    }
    struct setting s = setting_of(o, traits);
    return setting_read(&s, text, strlen(text), o->value);
}

/* ---- A command line ---------------------------------------------------------------------------------------------- */

struct reading {
    const struct options *of;
    int argc;
    char *const *argv;
    int at; /* the word at hand */
    FILE *errors;
    bool given[OPTIONS_MOST]; /* options with a value that were typed already */
};

static const struct option *find(const struct options *of, const char *name, size_t length)
{
    const struct option *begins = NULL;
    bool several = false;
    for (size_t i = 0; i < of->count; i++) {
        const struct option *o = &of->option[i];
        if (o->name[0] == '-' || strncmp(o->name, name, length) != 0) {
            continue;
        }
        if (o->name[length] == '\0') {
            return o;
        }
        several = begins != NULL;
        begins = o;
    }
    return of->abbreviated && !several && length > 0 ? begins : NULL;
}

static const struct option_traits *traits_of(const struct options *of, const struct option *o)
{
    static const struct option_traits none;
    return of->traits != NULL ? &of->traits[o - of->option] : &none;
}

static const struct option *find_letter(const struct options *of, char letter)
{
    for (const struct option *o = of->option; o < of->option + of->count; o++) {
        if ((o->name[0] == '-' && o->name[1] == letter) || traits_of(of, o)->letter == letter) {
            return o;
        }
    }
    return NULL;
}

/* Behind the last option stands help, which every program has. */
static const char *option_name(const void *context, size_t i)
{
    const struct options *of = context;
    return i < of->count ? of->option[i].name : "help";
}

static int say_unknown(const struct reading *r, const char *name, size_t length)
{
    const char *program = r->of->program;
    const char *near = nearest_name(name, length, option_name, r->of, r->of->count + 1);
    fprintf(r->errors, "%s: unknown option --%.*s", program, (int)length, name);
    if (near != NULL && near[0] != '-') {
        fprintf(r->errors, "; did you mean --%s?\n", near);
    } else {
        fprintf(r->errors, "; %s --help lists them\n", program);
    }
    return -EINVAL;
}

static int say_no_value(const struct reading *r, const struct option *o, const char *shown)
{
    char expected[SETTING_WHY];
    say_expected(o, traits_of(r->of, o), -EINVAL, expected);
    fprintf(r->errors, "%s: %s needs a value: %s\n", r->of->program, shown, expected);
    return -EINVAL;
}

static int say_bad(const struct reading *r, const struct option *o, const char *shown, const char *value, int rc)
{
    char expected[SETTING_WHY];
    say_expected(o, traits_of(r->of, o), rc, expected);
    fprintf(r->errors, "%s: %s %s: %sexpected %s\n", r->of->program, shown, value,
            rc == -ERANGE ? "out of range; " : "", expected);
    return -EINVAL;
}

/* The value that stands in the next word, or NULL. */
static const char *next_value(struct reading *r, const struct option *o)
{
    const char *next = r->at + 1 < r->argc ? r->argv[r->at + 1] : NULL;
    bool number = next != NULL && next[0] >= '0' && next[0] <= '9' && strchr(next, ',') == NULL;
    if (next == NULL || (traits_of(r->of, o)->bare && !number)) {
        return NULL;
    }
    r->at++;
    return next;
}

/*
 * Which of two values was meant nobody can tell, and to take one of them silently may end the wrong lab. What another
 * program has put before the words that were typed may be said otherwise by them.
 */
static bool is_second(struct reading *r, const struct option *o)
{
    bool *given = &r->given[o - r->of->option];
    if (o->kind == OPTION_LIST || traits_of(r->of, o)->list || r->at <= r->of->typed_for) {
        return false;
    }
    bool second = *given;
    *given = true;
    return second;
}

/* The option at hand, which was written as `shown`; value: what stood in the same word, or NULL. */
static int take_option(struct reading *r, const struct option *o, const char *shown, const char *value)
{
    const struct options *of = r->of;
    if (o->kind == OPTION_FLAG) {
        if (value != NULL) {
            fprintf(r->errors, "%s: %s takes no value\n", of->program, shown);
            return -EINVAL;
        }
        *(bool *)o->value = true;
        return of->given != NULL ? of->given(of->context, o, NULL) : 0;
    }
    if (is_second(r, o)) {
        fprintf(r->errors, "%s: %s is given twice, and can have one value\n", of->program, shown);
        return -EINVAL;
    }
    value = value != NULL ? value : next_value(r, o);
    if (value == NULL && !traits_of(of, o)->bare) {
        return say_no_value(r, o, shown);
    }
    int rc = value != NULL ? read_value(o, traits_of(of, o), value) : 0;
    if (rc < 0) {
        return say_bad(r, o, shown, value, rc);
    }
    return of->given != NULL ? of->given(of->context, o, value) : 0;
}

/* 1: help is asked for, and no option of the table. */
static int take_long(struct reading *r)
{
    const char *name = r->argv[r->at] + 2;
    const char *value = strchr(name, '=');
    size_t length = value != NULL ? (size_t)(value - name) : strlen(name);
    const struct option *o = find(r->of, name, length);
    if (o == NULL) {
        return strcmp(name, "help") == 0 ? 1 : say_unknown(r, name, length);
    }
    char shown[80];
    snprintf(shown, sizeof shown, "--%s", o->name);
    return take_option(r, o, shown, value != NULL ? value + 1 : NULL);
}

/* Says what is wrong; of a number, also the line in which it is a word: all up to here, "--", the number. */
static int say_no_letter(const struct reading *r, const char *word)
{
    bool number = word[1] >= '0' && word[1] <= '9';
    if (!number) {
        fprintf(r->errors, "%s: unknown option %s; options have two dashes\n", r->of->program, word);
        return -EINVAL;
    }
    fprintf(r->errors, "%s: %s: no number here is below 0", r->of->program, word);
    if (strchr(word, ',') != NULL || r->at < 2) {
        fputs("; a server is x,y,z, counted from 0,0,0\n", r->errors);
        return -EINVAL;
    }
    const struct options *of = r->of;
    fprintf(r->errors, "; a word that begins with - stands behind --: %s", of->typed != NULL ? of->typed : of->program);
    for (int i = of->typed != NULL ? 1 + of->typed_for : 1; i < r->at; i++) {
        fprintf(r->errors, " %s", r->argv[i]);
    }
    fprintf(r->errors, " -- %s\n", word);
    return -EINVAL;
}

/* A word with one dash: letters of flags, and at the end perhaps one with a value: "-f", "-fc FILE", "-fcFILE". */
static int take_short(struct reading *r)
{
    const char *word = r->argv[r->at];
    int rc = 0;
    for (const char *letter = word + 1; *letter != '\0' && rc == 0; letter++) {
        const struct option *o = find_letter(r->of, *letter);
        const char shown[] = {'-', *letter, '\0'};
        if (o == NULL) {
            bool help = *letter == 'h' && letter[1] == '\0';
            return help ? 1 : say_no_letter(r, word);
        }
        if (o->kind != OPTION_FLAG) {
            return take_option(r, o, shown, letter[1] != '\0' ? letter + 1 : NULL);
        }
        rc = take_option(r, o, shown, NULL);
    }
    return rc;
}

/* A word that is no option: "-x" is a link. */
static bool is_plain(const char *word)
{
    cw_link link;
    return word[0] != '-' || word[1] == '\0' || quantity_link(word, strlen(word), &link) == 0;
}

static int take_word(struct reading *r, struct option_words *words)
{
    const char *program = r->of->program, *word = r->argv[r->at];
    if (words == NULL) {
        fprintf(r->errors, "%s: what is '%s'? %s --help says what it takes\n", program, word, program);
        return -EINVAL;
    }
    if (add_word(words, word) < 0) {
        fprintf(r->errors, "%s: more than %d words\n", program, OPTION_WORDS_MAX);
        return -EINVAL;
    }
    return 0;
}

int options_read(const struct options *options, int argc, char *const argv[], struct option_words *words, FILE *errors)
{
    struct reading r = {.of = options, .argc = argc, .argv = argv, .errors = errors};
    bool ended = false;
    int rc = 0;
    CHECK(options->count <= OPTIONS_MOST);
    if (words != NULL) {
        words->count = 0;
    }
    for (r.at = 1; r.at < argc && rc == 0; r.at++) {
        const char *word = argv[r.at];
        bool verbatim = options->verbatim != NULL && words != NULL && words->count >= 2 &&
                        strcmp(words->word[0], options->verbatim) == 0;
        if (ended || verbatim || is_plain(word)) {
            rc = take_word(&r, words);
        } else if (strcmp(word, "--") == 0) {
            ended = true;
        } else {
            rc = word[1] == '-' ? take_long(&r) : take_short(&r);
        }
    }
    if (words != NULL) {
        words->ended = ended;
    }
    return rc;
}

int options_parse(const char *program, const struct option *option, size_t count, int argc, char *const argv[],
                  struct option_words *words, FILE *errors)
{
    struct options options = {.program = program, .option = option, .count = count};
    return options_read(&options, argc, argv, words, errors);
}

/* ---- Help -------------------------------------------------------------------------------------------------------- */

void options_print_row(const char *left, const char *right, int width, FILE *out)
{
    fprintf(out, "  %-*s %s\n", width, left, right);
}

/* " (3x3x3)": the default, where there is one worth showing. */
static void show_default(const struct option *o, char *out, size_t room)
{
    char text[SETTING_VALUE] = "";
    if (o->value == NULL || o->kind == OPTION_FLAG || o->kind == OPTION_LIST) {
        out[0] = '\0';
        return;
    }
    if (o->kind == OPTION_TEXT) {
        const char *value = *(const char **)o->value;
        snprintf(text, sizeof text, "%.*s", DEFAULT_SHOWN, value != NULL ? value : "");
    } else {
        struct setting s = setting_of(o, NULL);
        (void)setting_write(&s, o->value, text);
        bool none = (o->kind == OPTION_SPAN && ((const cw_span *)o->value)->ns == 0) ||
                    (o->kind == OPTION_RATE && *(const uint64_t *)o->value == 0);
        if (none) { /* no span and no rate: the help says what 0 means, if it may be given */
            snprintf(text, sizeof text, "%s", strstr(o->help, "0:") != NULL ? "0" : "");
        }
    }
    snprintf(out, room, text[0] != '\0' ? " (%.*s)" : "%.*s", DEFAULT_SHOWN, text);
}

void options_print_rows(const struct option *option, size_t count, FILE *out)
{
    for (const struct option *o = option; o < option + count; o++) {
        char left[80], right[256], usual[DEFAULT_SHOWN + 8];
        if (o->hidden) {
            continue;
        }
        snprintf(left, sizeof left, "%s%s %s", o->name[0] == '-' ? "" : "--", o->name, argument_of(o));
        show_default(o, usual, sizeof usual);
        snprintf(right, sizeof right, "%s%s", o->help, usual);
        options_print_row(left, right, COLUMN, out);
    }
}

void options_print(const struct option *option, size_t count, FILE *out)
{
    const struct options of = {.option = option, .count = count};
    options_print_rows(option, count, out);
    if (find(&of, "help", 4) == NULL) {
        options_print_row("--help", "this text", COLUMN, out);
    }
}
