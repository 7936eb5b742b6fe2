/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spans.h - many small sorted lists of process ranges in one array: which processes a grant covers, and on which
 * servers processes live.
 *
 * Owners are numbers; each has at most one list. Lists change seldom and are read for every packet, so they stand
 * densely, and a change moves all lists behind it: O(all). Numbers only.
 */
#ifndef NMU_SPANS_H
#define NMU_SPANS_H

#include "cubeway/types.h"

/* Processes first..last; the first lives on `server` (0 in sets of grants, where servers do not matter). */
struct nmu_span {
    cw_process first, last;
    cw_server server;
};

struct spans {
    struct nmu_span *span;
    struct spans_list {
        uint32_t at, count;
    } * list; /* by owner */
    uint32_t limit, used, owners;
};

/* Room for limit spans of owners 0..owners-1. -ENOMEM. */
CW_MUST_CHECK int spans_open(struct spans *s, uint32_t limit, uint32_t owners);
void spans_close(struct spans *s);
size_t spans_bytes(const struct spans *s);

/* True when the owner's list may become count long. */
bool spans_fit(const struct spans *s, uint32_t owner, uint32_t count);
/*
 * Ends the owner's list and gives it a new one of `count` spans (spans_fit() must hold), which the caller fills.
 * Borrowed until the next change.
 */
struct nmu_span *spans_replace(struct spans *s, uint32_t owner, uint32_t count);

static inline const struct nmu_span *spans_of(const struct spans *s, uint32_t owner)
{
    return s->span + s->list[owner].at;
}

/* Borrows the span of a rising list that holds the process, or NULL. Logarithmic. */
static inline const struct nmu_span *spans_search(const struct nmu_span *span, uint32_t count, cw_process process)
{
    uint32_t from = 0, to = count;
    while (from < to) {
        uint32_t half = from + (to - from) / 2;
        if (span[half].last < process) {
            from = half + 1;
        } else if (span[half].first > process) {
            to = half;
        } else {
            return &span[half];
        }
    }
    return NULL;
}

#endif
