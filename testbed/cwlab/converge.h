/* SPDX-License-Identifier: Apache-2.0 */
/* converge.h - do all servers of a lab know each other? */
#ifndef TESTBED_CWLAB_CONVERGE_H
#define TESTBED_CWLAB_CONVERGE_H

#include "cubeway/time.h"
#include "testbed/lab.h"

/* What a server said of itself; reachable 0: it did not answer, or is none of the cluster yet. */
struct converge_view {
    uint32_t reachable;
    bool whole; /* it serves, with all its links */
    char state[16];
};

CW_MUST_CHECK int converge_ask(const struct lab *lab, cw_server s, struct converge_view *out);

/* What is waited for. */
struct converge_goal {
    const bool *who; /* by server: these; NULL: all */
    uint32_t want;   /* servers that each of them must reach */
    bool links;      /* and each has all its links: no cable is out */
};
/* While it waits: so many have arrived; for which one it waits, and whom that one said it reaches. */
struct converge_sight {
    unsigned done, total;
    cw_server server;
    uint32_t reachable;
};
/*
 * Asks until each has arrived, and serves, or until the instant. Gives how many have. progress may be NULL; when it
 * returns false, nobody is asked any more.
 */
unsigned converge_wait(const struct lab *lab, const struct converge_goal *goal, cw_time until,
                       bool (*progress)(void *context, const struct converge_sight *sight), void *context);

#endif
