/* SPDX-License-Identifier: Apache-2.0 */
/*
 * launch.h - starts a keeper in namespaces of its own: as root or, where the machine allows it, as an ordinary user.
 */
#ifndef TESTBED_LAUNCH_H
#define TESTBED_LAUNCH_H

#include "cubeway/time.h"
#include "testbed/lab.h"

struct launch {
    int lifeline; /* to the keeper: the lab ends when this is closed, unless launch_let_go() was called */
    int hold;     /* on the lab's folder, until the keeper has it for itself alone (hold.h); -1: none */
    char bytes[1024];
    size_t used;
};

/*
 * Tries in a child process whether network namespaces may be made here. 0, or -errno, and why says what forbids it.
 */
CW_MUST_CHECK int launch_allowed(char why[static LAB_WHY]);
/*
 * Makes the lab's folder and starts its keeper, which gets a copy of the lab; sets lab->keeper. Files left by a dead
 * lab of that name are removed, and *cleaned is then true. -EEXIST: a lab of that name is running; -EBUSY: one is
 * coming up, or ending.
 */
CW_MUST_CHECK int launch_begin(struct launch *l, struct lab *lab, bool *cleaned, char why[static LAB_WHY]);
/* Waits until all is built and every daemon has begun. -errno, and why: the lab has failed and is gone. */
CW_MUST_CHECK int launch_wait(struct launch *l,
                              void (*progress)(void *context, unsigned done, unsigned total, const char *what),
                              void *context, char why[static LAB_WHY]);
/* The lab lives on when this process ends. */
void launch_let_go(struct launch *l);
/* Ends a lab that was not let go, and waits until it has ended. */
void launch_close(struct launch *l, const struct lab *lab);

#endif
