/* SPDX-License-Identifier: Apache-2.0 */
#include "nmu/receive.h"

#include "base/check.h"

#include <errno.h>
#include <stdlib.h>

int receive_open(struct receive *r, uint32_t limit)
{
    uint32_t slots = 2;
    while (slots < 2 * limit) {
        slots *= 2;
    }
    *r = (struct receive){.mask = slots - 1, .limit = limit};
    r->slot = calloc(slots, sizeof *r->slot);
    return r->slot != NULL ? 0 : -ENOMEM;
}

void receive_close(struct receive *r)
{
    free(r->slot);
    *r = (struct receive){0};
}

size_t receive_bytes(const struct receive *r)
{
    return ((size_t)r->mask + 1) * sizeof *r->slot;
}

static uint32_t home_of(const struct receive *r, cw_job job, cw_process process, cw_port port)
{
    uint64_t key = (uint64_t)job << 32 | process;
    key = (key ^ port) * UINT64_C(0x9e3779b97f4a7c15);
    return (uint32_t)(key >> 32) & r->mask;
}

/* The slot of the port, or the empty slot where it would be inserted. */
static uint32_t slot_of(const struct receive *r, cw_job job, cw_process process, cw_port port)
{
    uint32_t at = home_of(r, job, process, port);
    for (;; at = (at + 1) & r->mask) {
        const struct receive_entry *e = &r->slot[at];
        if (e->job == 0 || (e->job == job && e->process == process && e->port == port)) {
            return at;
        }
    }
}

static void empty_slot(struct receive *r, uint32_t hole)
{
    for (uint32_t at = (hole + 1) & r->mask; r->slot[at].job != 0; at = (at + 1) & r->mask) {
        const struct receive_entry *e = &r->slot[at];
        uint32_t home = home_of(r, e->job, e->process, e->port);
        if (((at - home) & r->mask) >= ((at - hole) & r->mask)) {
            r->slot[hole] = *e;
            hole = at;
        }
    }
    r->slot[hole] = (struct receive_entry){.job = 0};
    r->used--;
}

int receive_set(struct receive *r, cw_job job, cw_process process, cw_port port, uint32_t template_id)
{
    CHECK(job != 0);
    uint32_t at = slot_of(r, job, process, port);
    if (template_id == 0) {
        if (r->slot[at].job != 0) {
            empty_slot(r, at);
        }
        return 0;
    }
    if (r->slot[at].job == 0) {
        if (r->used == r->limit) {
            return -ENOSPC;
        }
        r->used++;
    }
    r->slot[at] = (struct receive_entry){job, process, template_id, port};
    return 0;
}

uint32_t receive_find(const struct receive *r, cw_job job, cw_process process, cw_port port)
{
    return r->slot[slot_of(r, job, process, port)].template_id;
}

void receive_end(struct receive *r, cw_job job, cw_process process)
{
    for (uint32_t at = 0; at <= r->mask; at++) {
        while (r->slot[at].job == job && r->slot[at].process == process) {
            empty_slot(r, at); /* another may have moved in */
        }
    }
}
