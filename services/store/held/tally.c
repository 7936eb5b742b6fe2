/* SPDX-License-Identifier: Apache-2.0 */
#include "services/store/held/tally.h"

#include <stdlib.h>
#include <string.h>

/* Where the job stands, or would. */
static unsigned place(const struct store_tally *t, cw_job job)
{
    unsigned low = 0, high = t->count;
    while (low < high) {
        unsigned middle = low + (high - low) / 2;
        if (t->used[middle].job < job) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

void store_tally_add(struct store_tally *t, cw_job job, uint64_t bytes)
{
    unsigned at = place(t, job);
    if (at == t->count || t->used[at].job != job) {
        if (t->count == t->room) {
            unsigned room = t->room > 0 ? 2 * t->room : 4;
            struct store_used *more = realloc(t->used, room * sizeof *more);
            if (more == NULL) {
                return;
            }
            t->used = more;
            t->room = room;
        }
        memmove(t->used + at + 1, t->used + at, (t->count - at) * sizeof *t->used);
        t->used[at] = (struct store_used){.job = job};
        t->count++;
    }
    t->used[at].bytes += bytes;
    t->used[at].names++;
}

void store_tally_take(struct store_tally *t, cw_job job, uint64_t bytes)
{
    unsigned at = place(t, job);
    if (at == t->count || t->used[at].job != job) {
        return; /* there was no memory to count it */
    }
    struct store_used *u = &t->used[at];
    u->bytes -= bytes < u->bytes ? bytes : u->bytes;
    u->names--;
    if (u->names == 0) {
        t->count--;
        memmove(u, u + 1, (t->count - at) * sizeof *u);
    }
}

struct store_used store_tally_of(const struct store_tally *t, cw_job job)
{
    unsigned at = place(t, job);
    return at < t->count && t->used[at].job == job ? t->used[at] : (struct store_used){.job = job};
}

void store_tally_close(struct store_tally *t)
{
    free(t->used);
    *t = (struct store_tally){.used = NULL};
}
