/* SPDX-License-Identifier: Apache-2.0 */
/*
 * keeper.h - the process that holds a lab together: its namespaces and its daemons live as long as it does, and no
 * longer.
 *
 * A keeper is the first process of a process namespace of its own where one can be had, so that the kernel ends all
 * that it ever started, however it dies. Whoever asks for a lab talks to it over <folder>/keeper.sock (message.h); its
 * commands:
 *
 *   status                        one row a server
 *   fail S [whole]                SIGKILL; whole: no process of it is left to say goodbye
 *   power-off S                   the same, and its links lose carrier
 *   leave S                       SIGTERM
 *   restore S                     its daemon starts again; links have carrier again
 *   pause S NANOSECONDS, continue S
 *   link S +x up|down             carrier
 *   loss S +x PPM                 frames out of S are lost
 *   namespace S                   the answer carries descriptors: user namespace, network namespace
 *   down                          answers, then ends everything
 */
#ifndef TESTBED_KEEPER_H
#define TESTBED_KEEPER_H

#include "testbed/crew.h"
#include "testbed/lab.h"
#include "testbed/veth.h"

enum { KEEPER_CLIENTS = 32 };

struct keeper_client {
    int fd;
    char *bytes;
    size_t used;
};

struct keeper {
    struct lab lab;
    struct veth *veth; /* NULL in one process */
    struct crew *crew; /* one for each daemon */
    unsigned daemons;
    int lifeline; /* to the cwlab that began it */
    int signals, listener;
    int user_ns; /* its own user namespace; -1: the machine's */
    bool tied;   /* ends with its lifeline */
    bool done;
    FILE *journal;
    cw_links *down; /* by server: ends of cables that are down */
    uint32_t *loss; /* [server * 6 + link] */
    struct keeper_client client[KEEPER_CLIENTS];
};

/*
 * Builds the lab and keeps it until it is told to end. What happens is told on the lifeline, a line each: "at DONE
 * TOTAL WHAT", then "up" or "failed WHY". The lab ends when the lifeline breaks, until a line "stay" comes. Gives the
 * exit code.
 */
int keeper_run(const struct lab *lab, int lifeline);

/* Requests: keeper_serve.c. Reads what the client sent; false: it is gone. */
bool keeper_serve(struct keeper *k, struct keeper_client *c);
/* One daemon starts, with its links up. */
CW_MUST_CHECK int keeper_start(struct keeper *k, cw_server s);
/* A line in <folder>/journal: the clock, what, and of whom. */
void keeper_note(struct keeper *k, const char *what, cw_server s, const char *more);

#endif
