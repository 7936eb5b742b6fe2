/* SPDX-License-Identifier: Apache-2.0 */
/*
 * collect.h - what is made of several reductions: a reduce-scatter is one to each member, an allgather a broadcast of
 * each. A few of them run at a time, in the same order on all servers, so that no two servers wait for each other.
 */
#ifndef SERVICES_AGGREGATE_COLLECT_H
#define SERVICES_AGGREGATE_COLLECT_H

#include "base/list.h"
#include "cubeway/aggregate.h"

struct dense;

/* All that are under way on a server. */
struct collects {
    struct list all;
    struct dense *dense;
    cw_svc *s;
    int64_t tickets;
};

enum collect_kind { COLLECT_REDUCE_SCATTER, COLLECT_ALLGATHER };

/* Borrows both until collects_close(). */
void collects_open(struct collects *c, cw_svc *s, struct dense *dense);
/* Nothing is under way any more: all their owners were disowned (dense_disown()), or the engine was closed. */
void collects_close(struct collects *c);

/* As cw_aggregate_api's reduce_scatter() and allgather(). owner is whoever asks, as dense_reduce() has it. */
CW_MUST_CHECK int64_t collect_begin(struct collects *c, enum collect_kind kind, const void *owner, cw_job job,
                                    const cw_reduce *reduce, cw_reduce_done_fn done, void *arg);
/* As cw_aggregate_api's cancel(). -ENOENT: that ticket is none of these. */
int collect_cancel(struct collects *c, const void *owner, int64_t ticket);
/* Ends all of the owner: done() is called with -ECANCELED from within. */
void collect_disown(struct collects *c, const void *owner);

#endif
