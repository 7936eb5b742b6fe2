/* SPDX-License-Identifier: Apache-2.0 */
/*
 * launch.h - a keeper begins: in namespaces of its own, as root or, where the machine allows it, as an ordinary user.
 */
#ifndef TESTBED_LAUNCH_H
#define TESTBED_LAUNCH_H

#include "cubeway/time.h"
#include "testbed/lab.h"

struct launch {
    int lifeline; /* to the keeper: the lab ends when this is closed, until launch_let_go() */
    char bytes[1024];
    size_t used;
};

/*
 * May network namespaces be made here? 0, or -errno and why says what forbids it. Tries it, in a process of its own.
 */
CW_MUST_CHECK int launch_allowed(char why[static LAB_WHY]);
/*
 * Makes the lab's folder and starts its keeper. What a dead lab of that name has left is removed, and `cleaned` says
 * so. -EEXIST: it lives. lab->keeper is filled in. Copies the lab.
 */
CW_MUST_CHECK int launch_begin(struct launch *l, struct lab *lab, bool *cleaned, char why[static LAB_WHY]);
/* Waits until the lab is up: all is built and every daemon has begun. -errno and why, and the lab is gone. */
CW_MUST_CHECK int launch_wait(struct launch *l,
                              void (*progress)(void *context, unsigned done, unsigned total, const char *what),
                              void *context, char why[static LAB_WHY]);
/* The lab lives on without us. */
void launch_let_go(struct launch *l);
/* The lab ends when it was not let go; returns when it has. */
void launch_close(struct launch *l, const struct lab *lab);

#endif
