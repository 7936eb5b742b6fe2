/* SPDX-License-Identifier: Apache-2.0 */
/*
 * explain.h - why a lab is not as it should be, in words: daemons that are dead, a machine that has too few processors
 * for them, where to read on.
 */
#ifndef TESTBED_CWLAB_EXPLAIN_H
#define TESTBED_CWLAB_EXPLAIN_H

#include "message/message.h"
#include "testbed/lab.h"

enum { EXPLAIN_NAMES = 6 };

/* What a look has found. Begin with {0}, give explain_row() each row of the keeper's status. */
struct explain {
    unsigned running, paused, dead;
    unsigned unordered; /* dead, and nobody of this lab ended them */
    struct explain_dead {
        char name[TORUS_TEXT], ended[64];
        bool ordered;
    } first[EXPLAIN_NAMES]; /* of the dead */
    unsigned timed;         /* daemons of which the kernel says how long they waited */
    double waited;          /* the mean share of their lives in which these waited for a processor, 0 to 1 */
    double seconds;         /* their mean life */
    double load;            /* of the machine, now: runnable processes */
    unsigned processors;
};

void explain_row(struct explain *e, const struct message *row);
/* Asks the lab's keeper for all of it. False: there is no keeper; *e says nothing then. */
bool explain_look(struct explain *e, const struct lab *lab);
/* Daemons wait so much that late hellos are to be expected; not said of the first seconds, when all begin at once. */
bool explain_is_starved(const struct explain *e);
/*
 * Some lines: who is dead and how that is mended, with the end of the log of one that died by itself; whether
 * processors are too few, and what to do; where the logs are. Nothing when nothing is wrong.
 */
void explain_tell(const struct explain *e, const struct lab *lab, FILE *out);

#endif
