/* SPDX-License-Identifier: Apache-2.0 */
/*
 * program.h - a program that is one word and a command: the table of commands is the dispatch, the help and the exit
 * codes.
 *
 *     PROGRAM COMMAND [options]    PROGRAM --help    PROGRAM help COMMAND    PROGRAM --version
 *
 * Options of a command may stand before it, too: PROGRAM [options] COMMAND [options].
 *
 *     PROGRAM complete WORDS.. WORD     for the completion of shells (commandline/completion.h)
 *
 * A command is a table of options, a help text, and a function. Its exit code: 0: all is well; 1: it was done, and the
 * result is not what it should be; 2: the command line is wrong, or a file or the machine does not allow it. A program
 * may add higher codes.
 */
#ifndef SCENARIO_PROGRAM_H
#define SCENARIO_PROGRAM_H

#include "commandline/completion.h"
#include "scenario/report.h"

enum { EXIT_FINE = 0, EXIT_BROKEN = 1, EXIT_USAGE = 2, PROGRAM_GO = -1 };

struct program_command;

/* A line that is completed: the command, and the words behind its name, of which argv[argc - 1] is at hand. */
struct program_line {
    const struct program_command *command;
    const struct options *options;
    int argc;
    char *const *argv;
};

struct program {
    const char *name;
    const char *purpose; /* what it is for; what --help begins with, behind the usage line */
    const char *ending;  /* what --help ends with: first steps, exit codes */
    const char *codes;   /* a line or two on exit codes, with which the help of every command ends; NULL: nothing */
    const struct program_command *const *commands; /* in the order of --help, ended by NULL */
    /*
     * Completes the whole line where the table and the usage line of the command do not say what may come. False: they
     * do. NULL: they always do.
     */
    bool (*complete)(const struct program_line *line, const struct completion *c);
    /* What a word in capitals stands for; the context is a struct program_line. NULL: nothing is known. */
    completion_values_fn *values;
    /* Where a word that is no command of this program is one: "cwctl has one: cwctl doctor". NULL: nowhere. */
    const char *(*elsewhere)(const char *word);
    const char *named;    /* an option whose value may be the name of a command, as "--name"; NULL: none is */
    const char *named_by; /* where there is one: a command that takes it, and completes its value */
    bool rows; /* --json prints the rows of a report as lines of their own (report_print_lines()), not as lists */
};

struct program_command {
    const struct program *program;
    const char *name;
    const char *summary; /* one line, in the list of commands */
    const char *words;   /* what follows the name on its usage line: "SCENARIO [options]" */
    const char *text;    /* what it does and shows; a few lines */
    const char *example; /* lines that can be pasted */
    int (*run)(const struct program_command *self, int argc,
               char **argv); /* argv[0] is the command's name; gives the exit code */
};

/*
 * All of main(): finds the command, runs it, and gives the exit code. An unknown command is a mistake that names the
 * nearest. Puts the words of argv in another order.
 */
int program_main(const struct program *p, int argc, char **argv);

/*
 * Reads the options, or shows the help, or says for completion what may come next. PROGRAM_GO: go on; else the exit
 * code. words may be NULL when the command takes none.
 */
CW_MUST_CHECK int program_options(const struct program_command *c, const struct option *option, size_t count, int argc,
                                  char **argv, struct option_words *words);
/* What argv[1] of a command is when program_options() is to complete the words that follow. */
extern const char program_complete_word[];
/* One line on standard error, "<program> <command>: ..."; gives EXIT_USAGE. */
__attribute__((format(printf, 2, 3))) int program_refuse(const struct program_command *c, const char *format, ...);

/* Prints the report on standard output, closes it, and gives `code`; EXIT_USAGE when it cannot be written. */
int program_print(const struct program_command *c, struct report *r, bool json, int code);

#endif
