/* SPDX-License-Identifier: Apache-2.0 */
/*
 * explain.h - says in words why a lab is not as it should be: daemons that are dead, a machine that has too few
 * processors for them; and where to read on.
 */
#ifndef TESTBED_CWLAB_EXPLAIN_H
#define TESTBED_CWLAB_EXPLAIN_H

#include "message/message.h"
#include "testbed/lab.h"

enum { EXPLAIN_NAMES = 6 };

/* What was found. Begin with {0}, and give explain_row() each row of the keeper's status. */
struct explain {
    unsigned running, paused, dead;
    unsigned unordered; /* dead daemons whose end nobody ordered */
    unsigned left;      /* dead daemons that have left in order, whoever told them to */
    struct explain_dead {
        char name[TORUS_TEXT], ended[64];
        bool ordered;
    } first[EXPLAIN_NAMES]; /* the first of the dead ones */
    unsigned timed;         /* daemons of which the kernel says how long they have waited for a processor */
    double waited;          /* the mean share of their lives for which those have waited, 0 to 1 */
    double seconds;         /* the mean length of these lives */
    double load;            /* the machine's processes that want to run now */
    unsigned processors;
    /* Set by the caller: the lab is taken down next, so that nothing in it can be mended or read; and the command that
     * makes one like it, with --scale (NULL: cwlab up). */
    bool goes;
    const char *again;
};

/* True when a daemon that ended so, as its keeper says, has left in order. ended may be NULL. */
bool explain_has_left(const char *ended);
void explain_row(struct explain *e, const struct message *row);
/* Reads how many of the machine's processes want to run now. */
void explain_load(struct explain *e);
/* Asks the lab's keeper, and fills all of it. False: there is no keeper, and *e is of no use. */
bool explain_look(struct explain *e, const struct lab *lab);
/* True when daemons wait so much that hellos come late. False in the first seconds, when all begin at once. */
bool explain_is_starved(const struct explain *e);
/*
 * How many times as long timers this lab needs now: what scale_now() says of a machine where so many processes want a
 * processor or, where its daemons wait too much all the same, twice what it has.
 */
uint64_t explain_scale(const struct explain *e, const struct lab *lab, double wanted);
/*
 * Writes some lines: which daemons are dead and how to mend that, with the end of the log of one that died by itself
 * (of one that crashed: from the line that says in what); whether there are too few processors, and what to do about
 * it; where the logs are. Nothing when nothing is wrong.
 */
void explain_tell(const struct explain *e, const struct lab *lab, FILE *out);

#endif
