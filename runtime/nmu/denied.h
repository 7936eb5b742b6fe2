/* SPDX-License-Identifier: Apache-2.0 */
/*
 * denied.h - how often which packets were refused: a row for each (source, destination, port), for `explain` and
 * `audit`.
 *
 * Bounded: when all rows are taken, refusals of new kinds are counted together in `overflow`, so a sender that tries
 * everything costs nothing more. A row is never dropped.
 */
#ifndef NMU_DENIED_H
#define NMU_DENIED_H

#include "cubeway/types.h"
#include "nmu/cause.h"

struct denied_row {
    cw_job source_job;
    cw_process source_process;
    cw_job job;
    cw_process process; /* 0 when key */
    cw_port port;
    bool key;
    uint8_t cause;   /* of the latest, enum nmu_cause */
    uint64_t times;  /* 0: a free row */
    uint64_t latest; /* denied.total when it was counted last: the row with the highest is the latest refusal */
};

struct denied {
    struct denied_row *row; /* open addressing, at most half full */
    uint32_t mask;
    uint32_t limit, used;
    uint64_t overflow;
    uint64_t total;
    uint64_t salt; /* of the hash: senders choose what is refused, and must not choose its slot */
};

/* At most limit rows. -ENOMEM. */
CW_MUST_CHECK int denied_open(struct denied *d, uint32_t limit, uint64_t salt);
void denied_close(struct denied *d);
size_t denied_bytes(const struct denied *d);

/* Counts one refusal: all members of *what but cause, times and latest are its kind. */
void denied_count(struct denied *d, const struct denied_row *what);
/* Borrows the row of the latest refusal of what that job sent; NULL: there is none, or its rows are all in use. */
const struct denied_row *denied_latest(const struct denied *d, cw_job source_job);
/* Borrows the first row at or after *from, and moves *from behind it. NULL: there are no more. */
const struct denied_row *denied_next(const struct denied *d, uint32_t *from);

#endif
