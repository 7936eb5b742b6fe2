/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tally.h - what each job holds at one server: its names that have a value, and their bytes, names and values together.
 * Exact: every register that comes into a table or leaves it is counted (table.c). A deleted name counts nothing.
 *
 * All zero is an empty tally. Without memory for a job that is new its registers are not counted.
 */
#ifndef SERVICES_STORE_HELD_TALLY_H
#define SERVICES_STORE_HELD_TALLY_H

#include "cubeway/types.h"

#include <stddef.h>
#include <stdint.h>

struct store_used {
    cw_job job;
    uint64_t bytes, names;
};

struct store_tally {
    struct store_used *used; /* by job, those that hold something */
    unsigned count, room;
};

void store_tally_add(struct store_tally *t, cw_job job, uint64_t bytes);
void store_tally_take(struct store_tally *t, cw_job job, uint64_t bytes);
/* What the job holds: zeros when it holds nothing. */
struct store_used store_tally_of(const struct store_tally *t, cw_job job);
void store_tally_close(struct store_tally *t);

#endif
