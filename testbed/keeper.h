/* SPDX-License-Identifier: Apache-2.0 */
/*
 * keeper.h - the process that holds a lab together: the lab's namespaces and daemons live exactly as long as it does.
 *
 * Where the machine allows it, a keeper is the first process of a process namespace of its own, so that the kernel ends
 * all that the keeper ever started, however it dies. The commands of cwlab talk to it over <folder>/keeper.sock
 * (message.h). It answers:
 *
 *   status                          one row for each server
 *   fail S [whole]                  SIGKILL to its daemon; whole: to all that it started, so that nobody says goodbye
 *   power-off S                     fail S whole, and its links lose carrier
 *   leave S                         SIGTERM to its daemon
 *   restore S                       its daemon starts again, and its links have carrier again
 *   pause S NANOSECONDS, continue S SIGSTOP and SIGCONT
 *   link S +x up|down               that end of the cable has carrier, or has none
 *   loss S +x PPM                   so many of a million frames out of S by +x are lost
 *   rescale N [WANTED [WHY SINCE]]  all daemons end, then start again with timers N times those of the profile; WANTED
 *                                   is for lab.json (struct lab). WHY: nobody ordered it, and this was seen by a look
 *                                   that began at SINCE (ns of peer_clock()). Refused then where a person is at work:
 *                                   the timers were fixed, a server is dead, paused or leaving, or anything but status
 *                                   was asked for since 10 s before the look
 *   namespace S                     the answer carries two descriptors: the user namespace and the network namespace
 *   down                            answers, then ends everything
 */
#ifndef TESTBED_KEEPER_H
#define TESTBED_KEEPER_H

#include "testbed/crew.h"
#include "testbed/lab.h"
#include "testbed/overload.h"
#include "testbed/veth.h"

enum { KEEPER_CLIENTS = 32 };

struct keeper_client {
    int fd;
    char *bytes;
    size_t used;
};

struct keeper {
    struct lab lab;
    struct veth *veth;  /* NULL with driver process */
    struct crew *crew;  /* one for each daemon */
    struct crew uplink; /* dead where the lab has none */
    unsigned daemons;
    int lifeline;          /* to the cwlab that began the lab */
    int signals, listener; /* descriptors: of signals, and of keeper.sock */
    int user_ns;           /* its own user namespace; -1: the machine's */
    bool tied;             /* the lab ends when the lifeline breaks */
    bool done;             /* the lab ends now */
    cw_time ordered;       /* when anything but status was asked for; 0: never */
    cw_time look;          /* when the sizes of logs are looked at again */
    cw_time count_next;    /* when those who want a processor are counted again */
    struct overload overload;
    FILE *journal;
    cw_links *down; /* by server: its links whose end of the cable was put down */
    uint32_t *loss; /* [server * 6 + link]: lost frames of a million */
    struct keeper_client client[KEEPER_CLIENTS];
};

/*
 * Builds the lab, and keeps it until it is told to end. Reports on the lifeline, in lines: "at DONE TOTAL WHAT" while
 * it builds, then "up" or "failed WHY". The lab ends when the lifeline breaks, unless a line "stay" came before.
 * Returns the exit code.
 */
int keeper_run(const struct lab *lab, int lifeline);

/* keeper_serve.c: reads what the client has sent, and answers. False: the client is gone. */
bool keeper_serve(struct keeper *k, struct keeper_client *c);
/* Starts one daemon, with its links up. */
CW_MUST_CHECK int keeper_start(struct keeper *k, cw_server s);
/* Writes a line into <folder>/journal: the clock, what happened, and the server. */
void keeper_note(struct keeper *k, const char *what, cw_server s, const char *more);

#endif
