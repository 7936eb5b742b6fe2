/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_file.h - a run of records in a file: `cwctl aggregate run FILE`. The file has the grammar of all configurations
 * (conf.h), and its keys are the options of that command:
 *
 *     from = "access.log";
 *     map = "field:1";
 *     to = "0,0,0:clients.txt";     # to and of may stand again
 *     top = 100;
 *     limit = 30s;
 *     without = true;
 *
 * An option of the command line stands instead of what the file says.
 */
#ifndef CTL_RUN_FILE_H
#define CTL_RUN_FILE_H

#include "conf/conf.h"
#include "ctl/commands.h"

enum { RUN_FILE_MISTAKES = 64, RUN_FILE_WHY = 400, RUN_FILE_PATH = 400 };

struct run_file {
    char path[RUN_FILE_PATH];         /* as it is told */
    struct arguments arguments;       /* with what the file says; borrows from the tree and from the command line */
    unsigned line[ARGUMENTS_OPTIONS]; /* where given[i] stands; 0: on the command line */
    struct conf tree;
    unsigned mistakes; /* so many, of which the first are kept */
    struct {
        unsigned line; /* 0: of the whole file */
        char why[RUN_FILE_WHY];
    } mistake[RUN_FILE_MISTAKES];
};

/*
 * Reads the file: 0, with f->mistakes > 0 if something is wrong with it. Then it is to be closed. < 0: it cannot be
 * read. run: the command whose options are its keys. Borrows given.
 */
CW_MUST_CHECK int run_file_open(struct run_file *f, const struct command *run, const struct arguments *given,
                                const char *path);
void run_file_mistake(struct run_file *f, unsigned line, const char *why);
/* Prints all mistakes, a line for each, in the order of the file. */
void run_file_tell(struct run_file *f, FILE *errors);
void run_file_close(struct run_file *f);

#endif
