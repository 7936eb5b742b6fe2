/* SPDX-License-Identifier: Apache-2.0 */
#include "commandline/completion.h"

#include "base/quantity.h"

#include <ctype.h>
#include <string.h>

enum { TOKEN = 64 };

/* ---- The line so far --------------------------------------------------------------------------------------------- */

static const struct option *find_long(const struct options *of, const char *name, size_t length)
{
    for (size_t i = 0; i < of->count; i++) {
        if (strlen(of->option[i].name) == length && memcmp(of->option[i].name, name, length) == 0) {
            return &of->option[i];
        }
    }
    return NULL;
}

/* The option that a word is, when its value is in the next word; NULL: it has none, or it is no option. */
static const struct option *awaits_value(const struct options *of, const char *word)
{
    const struct option *o = NULL;
    if (word[0] == '-' && word[1] == '-' && strchr(word, '=') == NULL) {
        o = find_long(of, word + 2, strlen(word + 2));
    } else if (word[0] == '-' && word[1] != '\0' && word[2] == '\0') {
        o = find_long(of, word, 2); /* "-c" of a table stands there with its dash */
    }
    bool bare = o != NULL && of->traits != NULL && of->traits[o - of->option].bare;
    return o != NULL && o->kind != OPTION_FLAG && !bare ? o : NULL;
}

static bool is_link(const char *word)
{
    cw_link link;
    return quantity_link(word, strlen(word), &link) == 0;
}

static bool is_option(const char *word)
{
    return word[0] == '-' && word[1] != '\0' && !is_link(word);
}

static bool is_verbatim(const struct options *of, const struct completion *c)
{
    return of->verbatim != NULL && c->count >= 2 && strcmp(c->plain[0], of->verbatim) == 0;
}

/* "--name=value": completes the value. */
static void split(const struct options *of, struct completion *c)
{
    const char *equals = strchr(c->word, '=');
    size_t length = equals != NULL ? (size_t)(equals - c->word) : 0;
    if (length < 3 || length + 2 > sizeof c->text || strncmp(c->word, "--", 2) != 0) {
        return;
    }
    c->option = find_long(of, c->word + 2, length - 2);
    if (c->option != NULL) {
        memcpy(c->text, c->word, length + 1);
        c->text[length + 1] = '\0';
        c->word = equals + 1;
    }
}

void completion_read(const struct options *options, int argc, char *const argv[], FILE *out, struct completion *c)
{
    *c = (struct completion){.word = argv[argc - 1], .out = out};
    c->before = c->text;
    for (int i = 0; i + 1 < argc; i++) {
        const struct option *o = c->ended || is_verbatim(options, c) ? NULL : awaits_value(options, argv[i]);
        if (o != NULL && i + 2 == argc) {
            c->option = o;
            return;
        }
        if (!c->ended && strcmp(argv[i], "--") == 0) {
            c->ended = true;
        } else if (o == NULL && (c->ended || is_verbatim(options, c) || !is_option(argv[i]))) {
            if (c->count < OPTION_WORDS_MAX) {
                c->plain[c->count++] = argv[i];
            }
        }
        i += o != NULL;
    }
    c->verbatim = is_verbatim(options, c);
    if (!c->ended && !c->verbatim) {
        split(options, c);
    }
}

const char *completion_given(const struct options *options, int argc, char *const argv[], const char *name)
{
    const char *value = NULL;
    size_t length = strlen(name);
    for (int i = 0; i + 1 < argc; i++) {
        const struct option *o = awaits_value(options, argv[i]);
        if (o != NULL && strcmp(o->name, name) == 0 && i + 2 < argc) {
            value = argv[i + 1];
        } else if (strncmp(argv[i], "--", 2) == 0 && strncmp(argv[i] + 2, name, length) == 0 &&
                   argv[i][2 + length] == '=') {
            value = argv[i] + 3 + length;
        }
        i += o != NULL;
    }
    return value;
}

/* ---- Candidates -------------------------------------------------------------------------------------------------- */

void completion_say(const struct completion *c, const char *candidate, const char *help)
{
    if (strncmp(candidate, c->word, strlen(c->word)) == 0 && candidate[0] != '\0') {
        fprintf(c->out, "%s%s%s%s\n", c->before, candidate, help != NULL ? "\t" : "", help != NULL ? help : "");
    }
}

void completion_files(const struct completion *c)
{
    fputs(":files\n", c->out);
}

bool completion_wants_option(const struct completion *c)
{
    bool begun = c->word[0] == '-' && (c->word[1] == '-' || c->word[1] == '\0' || !is_link(c->word));
    return begun && c->option == NULL && !c->ended && !c->verbatim;
}

bool completion_wants_word(const struct completion *c)
{
    return !completion_wants_option(c) || c->word[1] == '\0';
}

void completion_options(const struct completion *c, const struct option *option, size_t count)
{
    char text[TOKEN];
    bool help = false;
    for (size_t i = 0; i < count; i++) {
        if (!option[i].hidden) {
            snprintf(text, sizeof text, "%s%s", option[i].name[0] == '-' ? "" : "--", option[i].name);
            completion_say(c, text, option[i].help);
        }
        help = help || strcmp(option[i].name, "help") == 0;
    }
    if (!help) {
        completion_say(c, "--help", "what it does, with examples");
    }
}

/* ---- What a usage line says -------------------------------------------------------------------------------------- */

static void say_kind(const struct completion *c, const char *kind, completion_values_fn *values, void *context)
{
    static const char *const files[] = {"FILE", "PATH", "DIR", "SCENARIO", "COMMAND"};
    static const char *const links[] = {"+x", "-x", "+y", "-y", "+z", "-z"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        if (strcmp(files[i], kind) == 0) {
            completion_files(c);
            return;
        }
    }
    if (strcmp(kind, "LINK") == 0) {
        for (size_t i = 0; i < sizeof links / sizeof *links; i++) {
            completion_say(c, links[i], NULL);
        }
    } else if (strcmp(kind, "LEVEL") == 0) {
        completion_say(c, "error", NULL);
        completion_say(c, "warn", NULL);
        completion_say(c, "info", NULL);
        completion_say(c, "debug", NULL);
    } else if (values != NULL) {
        values(context, c, kind);
    }
}

/* "all|SERVER..", "JOB:PROCESS", "[N]": words in small letters are meant as they are, those in capitals are a kind. */
static void say_token(const struct completion *c, const char *token, completion_values_fn *values, void *context)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    char text[TOKEN];
    if (islower((unsigned char)token[token[0] == '[']) && strchr(token, '=') != NULL) {
        return; /* "[rate=N]", "mode=all|keys": to be filled in */
    }
    for (const char *at = token; *at != '\0';) {
        at += strspn(at, "[|");
        size_t length = strcspn(at, "|[]:");
        snprintf(text, sizeof text, "%.*s", (int)length, at);
        size_t capitals = strspn(text, letters);                        /* not the dots of "SERVER.." and "FILE.so" */
        if (isupper((unsigned char)text[0]) && text[capitals] != 'x') { /* not XxYxZ */
            text[capitals] = '\0';
            say_kind(c, text, values, context);
        } else if (islower((unsigned char)text[0])) {
            completion_say(c, text, NULL);
        }
        at += length;
        at += strcspn(at, "|"); /* what follows a colon or a bracket belongs to the same word */
    }
}

/* The next token of a usage line; options in it are left out. */
static const char *next_token(const char *at, char token[static TOKEN], bool *repeats)
{
    for (;;) {
        at += strspn(at, " ");
        if (strncmp(at, "[--", 3) == 0 || strncmp(at, "[options]", 9) == 0) {
            at += strcspn(at, "]");
            at += *at == ']';
            continue;
        }
        size_t length = strcspn(at, " ");
        snprintf(token, TOKEN, "%.*s", (int)length, at);
        *repeats = strstr(token, "..") != NULL;
        at += length;
        if (strncmp(token, "--", 2) != 0) {
            return at;
        }
        at += strspn(at, " "); /* an option and its value are no words */
        at += strcspn(at, " ");
    }
}

/* True when a word can stand where the token is, as far as can be seen: words in small letters must be the same. */
static bool fits(const char *token, const char *word)
{
    bool literal = islower((unsigned char)token[token[0] == '[']) && strchr(token, '|') == NULL;
    size_t length = strcspn(token + (token[0] == '['), "]");
    return !literal || (strlen(word) == length && strncmp(token + (token[0] == '['), word, length) == 0);
}

/* One of the ways to use a command: a row of tokens, of which the one in the place of the word at hand is said. */
static void say_way(const struct completion *c, const char *way, int skip, completion_values_fn *values, void *context)
{
    char token[TOKEN];
    bool repeats = false;
    int place = skip;
    for (way = next_token(way, token, &repeats); token[0] != '\0'; way = next_token(way, token, &repeats)) {
        bool optional = token[0] == '[';
        if (place == c->count || repeats) {
            say_token(c, token, values, context);
        }
        if (place < c->count && (fits(token, c->plain[place]) || !optional)) {
            if (!fits(token, c->plain[place])) {
                return;
            }
            place++;
        } else if (!optional) {
            return;
        }
    }
}

void completion_argument(const struct completion *c, completion_values_fn *values, void *context)
{
    say_token(c, c->option->argument != NULL ? c->option->argument : "", values, context);
}

void completion_usage(const struct completion *c, const char *usage, int skip, completion_values_fn *values,
                      void *context)
{
    char way[256];
    while (*usage != '\0') {
        const char *end = strstr(usage, " | ");
        size_t length = end != NULL ? (size_t)(end - usage) : strlen(usage);
        snprintf(way, sizeof way, "%.*s", (int)length, usage);
        say_way(c, way, skip, values, context);
        usage += length + (end != NULL ? 3 : 0);
    }
}

void completion_plain(const struct options *options, int argc, char *const argv[], FILE *out)
{
    struct completion c;
    completion_read(options, argc, argv, out, &c);
    if (c.option != NULL) {
        completion_argument(&c, NULL, NULL);
    } else if (completion_wants_option(&c)) {
        completion_options(&c, options->option, options->count);
    } else {
        completion_files(&c);
    }
}
