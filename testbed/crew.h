/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crew.h - the daemons of a lab: processes that a keeper starts, that it stops in the bad ways in which real ones are
 * stopped, and whose death it sees. No daemon outlives its keeper.
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
    pid_t pid;     /* its number in the keeper's namespace; 0 when dead */
    pid_t group;   /* the group of the daemon and what it started; stays set, for those may live a moment longer */
    pid_t outside; /* its number in the rest of the machine, by that one's /proc */
    cw_time started, ended;
    cw_time resume;  /* when its pause ends; CW_NEVER: it was not said */
    cw_time paused;  /* when its last pause began */
    unsigned pauses; /* how often it has been paused since it was started */
    /* Of those pauses that have ended: the length of the longest one, and when the last one ended. */
    cw_span pause_longest;
    cw_time continued;
    unsigned starts; /* how often it was started */
    int status;      /* what wait() said of its last process that ended; -1: none has ended yet */
    bool asked;      /* the lab ordered that end */
    bool leaves;     /* it was told to leave in order, and has not ended yet */
    bool again;      /* for the owner: it was ended in order to be started again */
};

struct crew_order {
    const char *const *argv;  /* ended by NULL; argv[0] is a path */
    const char *const *extra; /* additions to the environment, ended by NULL; NULL: none */
    int ns;                   /* descriptor of its network namespace; -1: the keeper's */
    const char *log;          /* file to which its standard output and error are appended */
    const char *folder;       /* its working directory */
};

/*
 * Starts a daemon, and returns when its program has begun. -EALREADY: it runs; or -errno of what failed, exec included.
 * Processes that a killed daemon had started and that are about to end (a watcher that says goodbye) are waited for,
 * and killed after a second.
 */
CW_MUST_CHECK int crew_start(struct crew *c, const struct crew_order *order);
/*
 * SIGKILL. whole: to everything that it started, too, so that nobody is left to say goodbye. -ESRCH: it does not run.
 */
int crew_kill(struct crew *c, bool whole);
/*
 * SIGTERM: it leaves in good order. -ESRCH; -EALREADY: it does so already, and gets no second signal, which would make
 * it end at once.
 */
int crew_terminate(struct crew *c);
/* SIGSTOP, and SIGCONT. resume: when the caller will let it go on. -ESRCH, -EALREADY. */
int crew_pause(struct crew *c, cw_time resume);
int crew_continue(struct crew *c);
/* Its process has ended with this status of wait(). */
void crew_ended(struct crew *c, int status);

/* The caller's number in the rest of the machine, as crew.outside; 0: /proc does not say. */
int crew_number_outside(void);
/* "dead", "running", "leaving" or "paused". Static. */
const char *crew_state_name(const struct crew *c);

#endif
