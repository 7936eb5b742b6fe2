/* SPDX-License-Identifier: Apache-2.0 */
/*
 * completion.h - what may come next on a command line, for the completion of shells. All of it comes from the tables
 * that the command line is read by (options.h), and from the usage lines of commands; nothing is written down twice.
 *
 *     PROGRAM complete WORDS.. WORD
 *
 * prints what may stand in the place of WORD, the last word, which may be empty: a line each, "candidate" or
 * "candidate<TAB>help". The line ":files" means that files may stand there. packaging/completion/ has what asks so for
 * bash, zsh and fish.
 */
#ifndef COMMANDLINE_COMPLETION_H
#define COMMANDLINE_COMPLETION_H

#include "commandline/options.h"

/* A command line up to the word that is completed. */
struct completion {
    /* The words that are no options and no values of options, borrowed from argv. */
    const char *plain[OPTION_WORDS_MAX];
    int count;
    const struct option *option; /* whose value is completed; NULL: none */
    const char *word;            /* what is there of it: "--name=" does not belong to a value */
    const char *before;          /* what every candidate begins with: "--name=", or "" */
    bool ended;                  /* a "--" stands before it */
    bool verbatim;               /* options belong to somebody else here */
    char text[64];               /* holds `before` */
    FILE *out;
};

/*
 * Reads argv[0..argc): all words behind the program's name, or behind a command's; the last one is completed. argc is 1
 * at least.
 */
void completion_read(const struct options *options, int argc, char *const argv[], FILE *out, struct completion *c);
/* The value of the option of that name as it stands in argv before the word at hand; NULL: it does not. */
const char *completion_given(const struct options *options, int argc, char *const argv[], const char *name);

/* Prints a candidate, if it begins with what is there; help may be NULL. */
void completion_say(const struct completion *c, const char *candidate, const char *help);
/* Says that files may stand here. */
void completion_files(const struct completion *c);
/* True when the word is the beginning of an option, and options are read here. */
bool completion_wants_option(const struct completion *c);
/* True when a plain word may stand here. Both are true of "-", which may become "-x", a link. */
bool completion_wants_word(const struct completion *c);
/* All options of a table that are not hidden. */
void completion_options(const struct completion *c, const struct option *option, size_t count);

/* Says what only the program knows: all that a word in capitals stands for, as SERVER or LAB. It may know nothing. */
typedef void completion_values_fn(void *context, const struct completion *c, const char *kind);
/* The value of an option, which its argument describes: "netns|process", "FILE", "LAB". */
void completion_argument(const struct completion *c, completion_values_fn *values, void *context);
/*
 * The word that a usage line has in this place: "SERVER LINK up|down", "SERVER | key KEY | all", "[LEVEL]", "JOB TO..".
 * The first `skip` plain words are the name of the command.
 */
void completion_usage(const struct completion *c, const char *usage, int skip, completion_values_fn *values,
                      void *context);
/* Completes a line of a program that has no commands: options, their values, and files. */
void completion_plain(const struct options *options, int argc, char *const argv[], FILE *out);

#endif
