/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arguments.h - cwctl's command line: options that all commands take, options of some, and words.
 *
 *     cwctl [options] COMMAND [words] [options]         --name value, --name=value, in any order; "--" ends the options
 */
#ifndef CTL_ARGUMENTS_H
#define CTL_ARGUMENTS_H

#include "cubeway/time.h"
#include "cubeway/types.h"

#include <stdio.h>

enum { ARGUMENTS_WORDS = 48, ARGUMENTS_OPTIONS = 32 };

enum arguments_kind { ARGUMENTS_FLAG, ARGUMENTS_TEXT, ARGUMENTS_NUMBER, ARGUMENTS_SPAN };

/* An option of some commands, as it goes to the daemon. */
struct arguments_option {
    const char *name; /* without the dashes */
    enum arguments_kind kind;
    const char *member; /* of the request's options; spans are in microseconds there */
    bool list;          /* may be given again: all of them count */
    const char *value;  /* what help calls it */
    const char *help;
};

struct arguments_given {
    const struct arguments_option *option;
    const char *text; /* as it was written, borrowed from argv; NULL: ARGUMENTS_FLAG */
    int64_t number;   /* ARGUMENTS_NUMBER; ARGUMENTS_SPAN in microseconds */
};

struct arguments {
    const char *socket, *node, *lab, *server;
    bool json, help, version;
    bool watch;
    cw_span every;   /* of watch: 1 s */
    uint64_t rounds; /* of watch; 0: for ever */
    cw_span timeout; /* 0: not said */
    const char *word[ARGUMENTS_WORDS];
    int words;
    struct arguments_given given[ARGUMENTS_OPTIONS];
    int options;
    bool ended; /* the last words stand behind "--" */
};

/*
 * Reads argv[1..argc). options ends with name NULL. Behind the first word `verbatim` (may be NULL) and one more, words are taken as they are,
 * whatever they look like. 0, or -EINVAL after one line on errors.
 */
CW_MUST_CHECK int arguments_parse(int argc, char *const argv[], const struct arguments_option *options,
                                  const char *verbatim, struct arguments *out, FILE *errors);

/* The options of all commands, two columns. */
void arguments_help(FILE *out);
/* One option of some, in the same columns. */
void arguments_help_option(const struct arguments_option *option, FILE *out);
/* What a value of that kind looks like, for messages. */
const char *arguments_expected(enum arguments_kind kind);
/* Letters to insert, take away, change or swap to make one word the other: for "did you mean". */
unsigned arguments_distance(const char *a, const char *b);

#endif
