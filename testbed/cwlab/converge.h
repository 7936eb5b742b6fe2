/* SPDX-License-Identifier: Apache-2.0 */
/* converge.h - do all servers of a lab know each other? */
#ifndef TESTBED_CWLAB_CONVERGE_H
#define TESTBED_CWLAB_CONVERGE_H

#include "cubeway/time.h"
#include "testbed/lab.h"

/* What a server said of itself. reachable 0: it did not answer, or does not belong to the cluster yet. */
struct converge_view {
    uint32_t reachable;
    bool whole; /* it serves, with all its links */
    /* How often it did not run when it was due, for how long at most, and how long ago last. */
    uint64_t stalls;
    cw_span stall_longest, stall_ago;
    /* How long a service held its thread at most, how long ago the last one did so, and which one, in which upcall. */
    cw_span hold_longest, hold_ago;
    int64_t memory; /* bytes that its process holds for itself */
    char hold_service[64], hold_upcall[24];
    char state[16];
};

CW_MUST_CHECK int converge_ask(const struct lab *lab, cw_server s, struct converge_view *out);

/* What converge_wait() waits for. */
struct converge_goal {
    const bool *who; /* by server: true for those that must reach the goal; NULL: all must */
    uint32_t want;   /* how many servers each of them must reach */
    bool links;      /* each must have all its links, too: no cable is out */
};
/* How far the waiting is. */
struct converge_sight {
    unsigned done, total; /* servers that have reached the goal, of those that are waited for */
    cw_server server;     /* the one that is waited for now */
    uint32_t reachable;   /* how many servers that one reached when it was asked */
};
/*
 * Asks until every server has reached the goal and serves, or until that instant. Returns how many have. progress may
 * be NULL; when it returns false, the waiting ends.
 */
unsigned converge_wait(const struct lab *lab, const struct converge_goal *goal, cw_time until,
                       bool (*progress)(void *context, const struct converge_sight *sight), void *context);

#endif
