/* SPDX-License-Identifier: Apache-2.0 */
/*
 * options.h - command lines by table, for all programs: one table of options is their parser, their check and their
 * help.
 *
 *     --name value    --name=value    --flag    -c value    -fc value    words without dashes; in any order;
 *     "--" ends the options
 *
 * An unknown option is a mistake, which names the nearest known option if one is near; so is a value that cannot be
 * read, with what was expected, and a second value for an option that has one. Nothing is kept between calls.
 */
#ifndef COMMANDLINE_OPTIONS_H
#define COMMANDLINE_OPTIONS_H

#include "cubeway/time.h"
#include "setting/setting.h"

#include <stdio.h>

enum option_kind {
    OPTION_FLAG,  /* bool: has no value, and sets true */
    OPTION_TEXT,  /* const char *, borrowed from argv */
    OPTION_COUNT, /* uint64_t */
    OPTION_SMALL, /* uint32_t: a count */
    OPTION_SPAN,  /* cw_span, always with its unit: "5s", "200ms" */
    OPTION_RATE,  /* uint64_t, bits per second */
    OPTION_PPM,   /* uint32_t, parts per million: "98%" */
    OPTION_DIMS,  /* cw_dims */
    OPTION_RANGE, /* struct setting_range: "7" or "1..100" */
    OPTION_RATIO, /* int64_t, millionths: "0.5" */
    OPTION_LIST,  /* struct option_words: a text, and one more each time that the option is given */
};

enum { OPTION_WORDS_MAX = 48 };
struct option_words {
    const char *word[OPTION_WORDS_MAX]; /* borrowed from argv */
    int count;
    bool ended; /* there was a "--" */
};

struct option {
    const char *name; /* without the dashes; "-c": it has a letter only */
    enum option_kind kind;
    void *value;          /* of the type above; holds the default, which help shows; NULL: help shows none */
    const char *argument; /* what help calls the value; NULL: the kind says it */
    const char *help;     /* one line */
    bool hidden;          /* understood, and not in the help */
};

/* What few options have. */
struct option_traits {
    char letter;          /* 'h': "-h" is a second name; '\0': none */
    bool bare;            /* its value may be missing; the next word is the value only when it looks like a number */
    bool list;            /* may be given again, and given() is told of each; an OPTION_LIST always may */
    uint64_t least, most; /* of the value, as a setting's (setting/setting.h); most 0: as the kind has it */
};

struct options {
    const char *program; /* every mistake begins with "<program>: " */
    const struct option *option;
    size_t count;
    const struct option_traits *traits; /* traits[i] are those of option[i]; NULL: none has any */
    bool abbreviated; /* a name's beginning is enough where no other name begins so, as getopt_long() has it */
    /* After this word and one more, all words are taken as they are, with their dashes; NULL: never. */
    const char *verbatim;
    /*
     * Called for each option in the order of argv, once its value is set; text is NULL for one without a value.
     * Gives 0; 1 to end the reading here, which options_read() then returns; or -EINVAL after one line on `errors`.
     * NULL: nothing is called.
     */
    int (*given)(void *context, const struct option *option, const char *text);
    void *context;
    /*
     * Where another program has put words before those that were typed: argv[1..typed_for] are its own, and `typed`
     * is what a line begins with that would be typed in their place. NULL: the line was typed as it is.
     */
    const char *typed;
    int typed_for;
};

/*
 * Reads argv[1..argc). Names of links ("-x") are words, not options; words may be NULL when none is expected. 0; 1 when
 * --help or -h was asked for and is no option of the table (the caller prints its help), or when given() ended the
 * reading; -EINVAL after one line on `errors`.
 */
CW_MUST_CHECK int options_read(const struct options *options, int argc, char *const argv[], struct option_words *words,
                               FILE *errors);
/* The same, of a plain table. */
CW_MUST_CHECK int options_parse(const char *program, const struct option *option, size_t count, int argc,
                                char *const argv[], struct option_words *words, FILE *errors);

/*
 * Help in two columns: "  --dims XxYxZ    shape of the torus (3x3x3)", and a last line for --help if the table has
 * none. Call it before the values are changed: what they hold is shown as the default.
 */
void options_print(const struct option *option, size_t count, FILE *out);
/* The same without the last line. */
void options_print_rows(const struct option *option, size_t count, FILE *out);
/* One row of two columns, for lists of commands; `width` is that of the first. */
void options_print_row(const char *left, const char *right, int width, FILE *out);

#endif
