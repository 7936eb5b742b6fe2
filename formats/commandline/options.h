/* SPDX-License-Identifier: Apache-2.0 */
/*
 * options.h - command lines by table: the table is the parser, the help and the check.
 *
 *     --name value    --name=value    --flag    and words without dashes, in any order; "--" ends the options
 *
 * An unknown option is an error that names the nearest known one, if one is near; a value that does not read says what was expected.
 * Nothing is kept between calls.
 */
#ifndef COMMANDLINE_OPTIONS_H
#define COMMANDLINE_OPTIONS_H

#include "cubeway/time.h"
#include "cubeway/types.h"

#include <stdio.h>

enum option_kind {
    OPTION_FLAG,  /* bool */
    OPTION_TEXT,  /* const char *, borrowed from argv */
    OPTION_COUNT, /* uint64_t */
    OPTION_SMALL, /* uint32_t: a count */
    OPTION_SPAN,  /* cw_span */
    OPTION_RATE,  /* uint64_t, bits per second */
    OPTION_PPM,   /* uint32_t, parts per million: "98%" */
    OPTION_DIMS,  /* cw_dims */
    OPTION_RANGE, /* struct option_range: "7" or "1..100" */
    OPTION_RATIO, /* int64_t, millionths: "0.5" */
    OPTION_LIST,  /* struct option_words: a text, and one more each time it is given */
};

struct option_range {
    uint64_t first, last; /* both included */
};

enum { OPTION_WORDS_MAX = 16 };
struct option_words {
    const char *word[OPTION_WORDS_MAX];
    int count;
};

struct option {
    const char *name; /* without the dashes */
    enum option_kind kind;
    void *value;          /* of the type above; holds the default, and is what help shows */
    const char *argument; /* what help calls the value; NULL: by kind */
    const char *help;     /* one line */
    bool hidden;          /* understood, not shown */
};

/*
 * Reads argv[1..argc); the names of links ("-x") are words. 0; 1 when --help was asked for (the caller prints it); -EINVAL after one line on `errors` which begins with
 * "<program>: ". words may be NULL when the command takes none.
 */
CW_MUST_CHECK int options_parse(const char *program, const struct option *option, size_t count, int argc,
                                char *const argv[], struct option_words *words, FILE *errors);

/* Two columns: "  --dims XxYxZ    shape of the torus (3x3x3)". Call it before the values are changed: they are the defaults. */
void options_print(const struct option *option, size_t count, FILE *out);

/*
 * The first of the names that are nearest to `name`, or NULL when none is near. Far apart are names by the letters to insert, take
 * away, change or swap between neighbours to make one the other; near is at most one of these, and one more for every three
 * letters of `name`. A name that begins with `name`, of two letters or more, is as near as one letter.
 */
const char *options_nearest(const char *name, size_t length, const char *(*nth)(const void *context, size_t i),
                            const void *context, size_t count);

#endif
