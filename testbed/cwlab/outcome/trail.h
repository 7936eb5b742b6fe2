/* SPDX-License-Identifier: Apache-2.0 */
/* trail.h - what all witnesses of a lab wrote down, and what its keeper did, as one list by time. */
#ifndef TESTBED_CWLAB_OUTCOME_TRAIL_H
#define TESTBED_CWLAB_OUTCOME_TRAIL_H

#include "testbed/lab.h"
#include "testbed/witness.h"

/* What the keeper did: killed the server; or told it to leave, which its neighbours may know already. */
enum { TRAIL_KILLED = WITNESS_KINDS, TRAIL_LEAVES };

struct trail_event {
    /* The earliest instant at which the event may have happened if it ends something, else the latest. */
    int64_t at;
    cw_server server;
    struct witness_record record; /* .kind: enum witness_kind, or one of the above */
};

struct trail {
    struct trail_event *event; /* by `at`; equal ones in the order in which they were read */
    size_t count, room;
};

/*
 * Reads the trails in the lab's folder; daemons may still be writing. A trail that does not exist is empty. -ENOMEM, or
 * -errno of a file that cannot be read.
 */
CW_MUST_CHECK int trail_load(struct trail *t, const struct lab *lab);
CW_MUST_CHECK int trail_add(struct trail *t, const struct trail_event *event);
void trail_sort(struct trail *t);
void trail_free(struct trail *t);

#endif
