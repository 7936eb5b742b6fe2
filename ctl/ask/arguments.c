/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/ask/arguments.h"

#include "base/check.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
    NS_IN_MS = 1000000,
};

/* ---- The tables -------------------------------------------------------------------------------------------------- */

enum common { SOCKET, NODE, LAB, SERVER, JSON, WATCH, ROUNDS, TIMEOUT, HELP, VERSION, COMMON };

/* What all commands take; out: where the values go, NULL for the help. Gives how many there are. */
static size_t common_options(struct option option[COMMON], struct arguments *out)
{
#define TO(member) (out != NULL ? (void *)&out->member : NULL)
    const struct option all[COMMON] = {
        [SOCKET] = {"socket", OPTION_TEXT, TO(socket), "PATH", "the daemon's control socket", false},
        [NODE] =
            {"node", OPTION_TEXT, TO(node), "NAME",
             "the daemon of that name, or of that socket, on this machine (the only one, or $CUBEWAY_SOCKET); all, or "
             "\"NAME NAME..\": "
             "several at once",
             false},
        [LAB] = {"lab", OPTION_TEXT, TO(lab), "LAB", "a daemon of that lab; --node says which", false},
        [SERVER] = {"server", OPTION_TEXT, TO(server), "SERVER",
                    "for a daemon that runs several servers: x,y,z of one of them, or all", false},
        [JSON] = {"json", OPTION_FLAG, TO(json), NULL, "print JSON: one object a line", false},
        [WATCH] = {"watch", OPTION_SPAN, TO(every), "[TIME]", "repeat the command every TIME (1s)", false},
        [ROUNDS] = {"rounds", OPTION_COUNT, TO(rounds), "N", "repeat the command N times: every 1s, or as --watch says",
                    false},
        [TIMEOUT] = {"timeout", OPTION_SPAN, TO(timeout), "TIME", "give up when the daemon is silent for so long (10s)",
                     false},
        [HELP] = {"help", OPTION_FLAG, TO(help), NULL, "what a command does, with examples", false},
        [VERSION] = {"version", OPTION_FLAG, TO(version), NULL, "print cwctl's version", false},
    };
#undef TO
    memcpy(option, all, sizeof all);
    return COMMON;
}
static const struct option_traits common_traits[ARGUMENTS_TABLE] = {
    [WATCH] = {.bare = true, .least = NS_IN_MS},
    [ROUNDS] = {.least = 1},
    [TIMEOUT] = {.least = 1},
    [HELP] = {.letter = 'h'},
};

/* An option of some commands; its value goes to `value`, NULL for the help. */
static struct option given_option(const struct arguments_option *o, void *value)
{
    static const enum option_kind kinds[] = {
        [ARGUMENTS_FLAG] = OPTION_FLAG,
        [ARGUMENTS_TEXT] = OPTION_TEXT,
        [ARGUMENTS_NUMBER] = OPTION_COUNT,
        [ARGUMENTS_SPAN] = OPTION_SPAN,
    };
    return (struct option){o->name, kinds[o->kind], value, o->value, o->help, false};
}

size_t arguments_table(const struct arguments_option *options, struct arguments *out,
                       struct option table[static ARGUMENTS_TABLE], struct option_traits traits[static ARGUMENTS_TABLE])
{
    size_t count = common_options(table, out);
    memcpy(traits, common_traits, sizeof common_traits);
    for (const struct arguments_option *o = options; o->name != NULL; o++) {
        CHECK(count < ARGUMENTS_TABLE);
        traits[count].most = o->kind == ARGUMENTS_NUMBER ? INT64_MAX : 0;
        traits[count].list = o->list;
        table[count++] = given_option(o, NULL);
    }
    return count;
}

const struct arguments_option *arguments_own(const struct arguments_option *options, size_t place)
{
    return place < COMMON ? NULL : &options[place - COMMON];
}

/* ---- Parsing ----------------------------------------------------------------------------------------------------- */

struct reading {
    struct arguments *out;
    const struct option_words *words; /* so far */
    const struct option *table;
    const struct arguments_option *given; /* table[COMMON + i] is given[i] */
    union {
        bool flag;
        const char *text;
        uint64_t number;
        cw_span span;
    } value; /* of the option of some commands that was read last */
    FILE *errors;
};

static int on_given(void *context, const struct option *option, const char *text)
{
    struct reading *r = context;
    size_t which = (size_t)(option - r->table);
    if (which < COMMON) {
        r->out->watch = r->out->watch || which == WATCH || which == ROUNDS;
        return 0;
    }
    if (r->out->options == ARGUMENTS_OPTIONS) {
        fprintf(r->errors, "cwctl: more than %d options\n", ARGUMENTS_OPTIONS);
        return -EINVAL;
    }
    struct arguments_given *given = &r->out->given[r->out->options++];
    *given = (struct arguments_given){.option = &r->given[which - COMMON], .text = text, .after = r->words->count};
    if (given->option->kind == ARGUMENTS_NUMBER) {
        given->number = (int64_t)r->value.number;
    } else if (given->option->kind == ARGUMENTS_SPAN) {
        given->number = r->value.span.ns / CW_US(1).ns;
    }
    return 0;
}

/* cwlab ctl sets CWLAB_TYPED to "3 cwlab ctl 0,0,0": so many words it has put before those that were typed to it. */
static const char *arguments_typed(int *words)
{
    const char *text = getenv("CWLAB_TYPED");
    int used = 0;
    bool good = text != NULL && sscanf(text, "%d %n", words, &used) == 1 && used > 0 && text[used] != '\0';
    return good ? text + used : NULL;
}

int arguments_parse(int argc, char *const argv[], const struct arguments_option *options, const char *verbatim,
                    struct arguments *out, FILE *errors)
{
    struct option table[ARGUMENTS_TABLE];
    struct option_traits traits[ARGUMENTS_TABLE];
    struct option_words words = {.count = 0};
    struct reading r = {.out = out, .words = &words, .table = table, .given = options, .errors = errors};
    *out = (struct arguments){.every = CW_SEC(1)};
    size_t count = arguments_table(options, out, table, traits);
    for (size_t i = COMMON; i < count; i++) {
        table[i].value = &r.value;
    }
    struct options of = {"cwctl",           table,        count, .traits = traits, .verbatim = verbatim,
                         .given = on_given, .context = &r};
    of.typed = arguments_typed(&of.typed_for);
    int rc = options_read(&of, argc, argv, &words, errors);
    out->words = words.count;
    out->ended = words.ended;
    memcpy(out->word, words.word, sizeof out->word);
    return rc;
}
_Static_assert((int)ARGUMENTS_WORDS == (int)OPTION_WORDS_MAX, "they are copied");

/* ---- Help -------------------------------------------------------------------------------------------------------- */

void arguments_help(FILE *out)
{
    struct option table[COMMON];
    options_print_rows(table, common_options(table, NULL), out);
}

void arguments_help_option(const struct arguments_option *option, FILE *out)
{
    struct option one = given_option(option, NULL);
    options_print_rows(&one, 1, out);
}
