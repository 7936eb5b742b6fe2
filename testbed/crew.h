/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crew.h - the daemons of a lab: processes that a keeper starts, stops in the bad ways that real ones are stopped in,
 * and whose death it sees. None outlives its keeper.
 */
#ifndef TESTBED_CREW_H
#define TESTBED_CREW_H

#include "cubeway/time.h"
#include "cubeway/types.h"

#include <stdbool.h>
#include <sys/types.h>

enum crew_state { CREW_DEAD, CREW_RUNS, CREW_PAUSED };

struct crew {
    enum crew_state state;
    pid_t pid;     /* as the keeper sees it: 0 when dead */
    pid_t group;   /* of it and what it started; stays when it is dead, for those may live a moment longer */
    pid_t outside; /* as the rest of the machine sees it, where /proc is mounted for it */
    cw_time started, ended;
    cw_time resume; /* when a pause ends; CW_NEVER: nobody said */
    unsigned starts;
    int status; /* of wait(), of the process before; -1: none has ended yet */
    bool asked; /* the end was ordered */
};

struct crew_order {
    const char *const *argv;  /* ended by NULL; argv[0] is a path */
    const char *const *extra; /* of the environment, ended by NULL; NULL: none */
    int ns;                   /* network namespace to be in; -1: the keeper's */
    const char *log;          /* standard output and error are added to it */
    const char *folder;       /* to be in */
};

/*
 * -EALREADY it runs, -errno of what failed, exec included: returns when the program has begun. What a killed one had
 * started and still ends (a watcher that says goodbye) is waited for, and after a second killed.
 */
CW_MUST_CHECK int crew_start(struct crew *c, const struct crew_order *order);
/* SIGKILL. whole: with everything it started (nobody is left to say goodbye). -ESRCH: it does not run. */
int crew_kill(struct crew *c, bool whole);
int crew_terminate(struct crew *c); /* SIGTERM: in order */
/* SIGSTOP until `resume`, SIGCONT. -ESRCH, -EALREADY. */
int crew_pause(struct crew *c, cw_time resume);
int crew_continue(struct crew *c);
/* The process has ended, as wait() says. */
void crew_ended(struct crew *c, int status);

const char *crew_state_name(enum crew_state state);

#endif
