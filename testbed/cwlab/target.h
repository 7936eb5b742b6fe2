/* SPDX-License-Identifier: Apache-2.0 */
/*
 * target.h - lines that name servers of a lab and then words for another program: ctl, exec, shell, capture, logs.
 *
 *     cwlab ctl [--name LAB] SERVER.. WORDS.. [--name LAB]
 *
 * A server is written x,y,z, where * stands for any number: 0,*,* is a plane of servers; all is every server. A word in
 * quotes may name several: "0,0,0 1,*,*".
 */
#ifndef TESTBED_CWLAB_TARGET_H
#define TESTBED_CWLAB_TARGET_H

#include "testbed/cwlab/command.h"

enum target_reach {
    TARGET_BEFORE_WORDS, /* the words belong to any program: --name is ours only before the first one */
    TARGET_ALONE,        /* there are none: all options are ours, wherever they stand */
    TARGET_ANYWHERE,     /* the words are cwctl's, which has a --name of its own for one command only */
};

struct target {
    struct lab lab;
    const char **server; /* the words that name servers, borrowed from argv */
    int servers;
    char **word; /* the other words, borrowed from argv, ended by NULL */
    int words;
    bool *who; /* by server: it is named */
    unsigned count;
    bool named; /* --name was given */
};

/*
 * Reads a line, finds its lab and its servers. PROGRAM_GO, and *out is to be closed by target_close(), whatever is
 * returned; otherwise the exit code: help was shown, or standard error says what is wrong.
 */
CW_MUST_CHECK int target_read(const struct program_command *self, int argc, char **argv, enum target_reach reach,
                              struct target *out);
void target_close(struct target *t);
/* The server, where exactly one is named. PROGRAM_GO; EXIT_USAGE, and standard error says so. */
CW_MUST_CHECK int target_one(const struct program_command *self, const struct target *t, cw_server *out);

/* True for "all" and for x,y,z with numbers or * in it; and for several of these with spaces between. */
bool target_is_server(const char *word);
/* Marks the servers that a word names. How many were not marked before; -EINVAL: the torus has no such server. */
CW_MUST_CHECK int target_mark(const struct torus *torus, const char *word, bool *who);

#endif
