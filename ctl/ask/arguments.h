/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arguments.h - cwctl's command line: words, options that all commands take, and options of some commands, which go to
 * the daemon with the request. Read by commandline/options.h.
 *
 *     cwctl [options] COMMAND [words] [options]
 */
#ifndef CTL_ASK_ARGUMENTS_H
#define CTL_ASK_ARGUMENTS_H

#include "commandline/options.h"

enum { ARGUMENTS_WORDS = OPTION_WORDS_MAX, ARGUMENTS_OPTIONS = 32 };

enum arguments_kind { ARGUMENTS_FLAG, ARGUMENTS_TEXT, ARGUMENTS_NUMBER, ARGUMENTS_SPAN };

/* An option of some commands. */
struct arguments_option {
    const char *name; /* without the dashes */
    enum arguments_kind kind;
    /* The member of the request's options that gets the value (a span in microseconds); NULL: it stays in cwctl. */
    const char *member;
    /* May be given again: all values count. */
    bool list;
    const char *value; /* what help calls the value */
    const char *help;
};

struct arguments_given {
    const struct arguments_option *option;
    const char *text; /* as it was written, borrowed from argv; NULL: ARGUMENTS_FLAG */
    int64_t number;   /* ARGUMENTS_NUMBER; ARGUMENTS_SPAN in microseconds */
    int after;        /* words that stood before it */
};

struct arguments {
    const char *socket, *node, *lab, *server;
    bool json, help, version;
    bool watch;      /* repeat the command (--watch or --rounds), */
    cw_span every;   /* with this time between two of its beginnings (1 s), */
    uint64_t rounds; /* so many times; 0: for ever */
    cw_span timeout; /* 0: not given */
    const char *word[ARGUMENTS_WORDS];
    int words;
    struct arguments_given given[ARGUMENTS_OPTIONS]; /* in the order of the command line */
    int options;
    bool ended; /* there was a "--": the last words stand behind it */
};

/*
 * Reads argv[1..argc). options ends with name NULL. Behind the word `verbatim` (may be NULL), where it is the first,
 * and one more word, words are taken as they are, whatever they look like. 0, or -EINVAL after one line on errors.
 */
CW_MUST_CHECK int arguments_parse(int argc, char *const argv[], const struct arguments_option *options,
                                  const char *verbatim, struct arguments *out, FILE *errors);

/* The options of all commands, two columns. */
void arguments_help(FILE *out);
/* One option of some commands, in the same columns. */
void arguments_help_option(const struct arguments_option *option, FILE *out);

enum { ARGUMENTS_TABLE = 80 }; /* options in all */
/*
 * The table by which command lines are read: what all commands take, and behind it `options`. out: where the values of
 * the first go; NULL: nowhere, for completion. Gives how many there are.
 */
size_t arguments_table(const struct arguments_option *options, struct arguments *out,
                       struct option table[static ARGUMENTS_TABLE],
                       struct option_traits traits[static ARGUMENTS_TABLE]);
/* The option of some commands that is in this place of the table; NULL: all commands take the one that is there. */
const struct arguments_option *arguments_own(const struct arguments_option *options, size_t place);

#endif
