/* SPDX-License-Identifier: Apache-2.0 */
/* trail.h - what all witnesses of a lab wrote down, and what its keeper did, as one list in the order of time. */
#ifndef TESTBED_CWLAB_TRAIL_H
#define TESTBED_CWLAB_TRAIL_H

#include "testbed/lab.h"
#include "testbed/witness.h"

/* The keeper's: from then on it is dead; it leaves, and may have told its neighbours so. */
enum { TRAIL_KILLED = WITNESS_KINDS, TRAIL_LEAVES };

struct trail_event {
    int64_t at; /* of what ends something: its earliest instant; of all else: its latest */
    cw_server server;
    struct witness_record record; /* .kind: enum witness_kind, or one of the above */
};

struct trail {
    struct trail_event *event; /* by at; equal ones as they were read */
    size_t count, room;
};

/*
 * Of the lab's folder; daemons may be writing. -ENOMEM, or -errno of a file that cannot be read (one that is not there
 * is none).
 */
CW_MUST_CHECK int trail_load(struct trail *t, const struct lab *lab);
CW_MUST_CHECK int trail_add(struct trail *t, const struct trail_event *event);
void trail_sort(struct trail *t);
void trail_free(struct trail *t);

#endif
