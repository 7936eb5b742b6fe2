/* SPDX-License-Identifier: Apache-2.0 */
/*
 * needed.h - does a lab that runs need longer timers, and may it have them without anybody's order? It needs them when
 * its daemons did not run when they were due, for so long that neighbours count them out, and this machine would give a
 * lab that comes up now timers at least twice as long. It may have them when nothing is in the memory of its services
 * that would be missed: all daemons begin again (cmd_rescale.c).
 */
#ifndef TESTBED_CWLAB_NEEDED_H
#define TESTBED_CWLAB_NEEDED_H

#include "message/message.h"
#include "testbed/cwlab/converge.h"
#include "testbed/lab.h"

enum { NEEDED_MOST = 100 }; /* so many times longer than the profile timers become by themselves, and no longer */

/* What was seen. Begin with {0}. */
struct needed {
    unsigned asked, late; /* daemons that answered; that did not run when due, lately, for long enough to be lost */
    unsigned streams;     /* servers on which the witness or bench sends, in measurements */
    unsigned values, files, modules, stores; /* cached values, files under way, services of the user's own, stores */
    unsigned faulty;                         /* daemons that are paused, dead or leaving: somebody tries faults */
    unsigned unanswered; /* daemons that left a question without a whole answer: anything may be there */
    unsigned groups;     /* groups known to servers */
    unsigned calls;      /* services that wait for replies, send by timers, or have packets in hand */
    unsigned asked_for;  /* services and networks that cwlab up was asked for */
    cw_span longest;
    char latest[TORUS_TEXT]; /* the daemon of `longest` */
};

/* A row that a daemon gives of one of its services. */
void needed_service(struct needed *n, const struct lab *lab, const struct message *row);

enum needed_verdict {
    NEEDED_NOT,  /* the timers do */
    NEEDED_HELD, /* longer ones are needed, but something would be missed */
    NEEDED_NOW,
};

/* Notes what a daemon says of itself. paused: cwlab pause has stopped it since it started. */
void needed_note(struct needed *n, const struct lab *lab, const char *name, const struct converge_view *view,
                 bool paused);
/* Asks the keeper and all daemons. False: the keeper does not answer. */
bool needed_look(struct needed *n, const struct lab *lab);
/* scale: what the machine needs now (explain_scale()). */
enum needed_verdict needed_judge(const struct needed *n, const struct lab *lab, uint64_t scale);
/* Writes what daemons suffered: "3 of 27 daemons did not run when due, for up to 63 ms (0,2,0)". Returns out. */
char *needed_why(const struct needed *n, char out[static LAB_REASON]);
/* Writes what would be missed: "12 cached values, a service of your own (..)". Returns out. */
char *needed_kept(const struct needed *n, char out[static LAB_REASON]);

#endif
