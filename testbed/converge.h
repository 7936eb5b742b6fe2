/* SPDX-License-Identifier: Apache-2.0 */
/* converge.h - do all servers of a lab know each other? */
#ifndef TESTBED_CONVERGE_H
#define TESTBED_CONVERGE_H

#include "cubeway/time.h"
#include "testbed/lab.h"

/* What a server said of itself; reachable 0: it did not answer, or is none of the cluster yet. */
struct converge_view {
    uint32_t reachable;
    char state[16];
};

CW_MUST_CHECK int converge_ask(const struct lab *lab, cw_server s, struct converge_view *out);
/*
 * Asks until each of the servers in `who` (NULL: all) reaches `want` servers and serves, or until the instant. Gives how many
 * do. progress may be NULL; when it returns false, nobody is asked any more.
 */
unsigned converge_wait(const struct lab *lab, const bool *who, uint32_t want, cw_time until,
                       bool (*progress)(void *context, unsigned done, unsigned total), void *context);

#endif
