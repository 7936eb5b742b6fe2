/* SPDX-License-Identifier: Apache-2.0 */
#include "nmu/map.h"

#include "base/check.h"

#include <errno.h>
#include <stdlib.h>

int map_open(struct map *m, uint32_t jobs, uint32_t ranges)
{
    CHECK(jobs >= 1 && jobs <= MAP_JOBS_MAX);
    uint32_t slots = 2;
    while (slots < 2 * jobs) {
        slots *= 2;
    }
    *m = (struct map){.jobs = jobs, .slot_mask = slots - 1};
    m->job = calloc(jobs, sizeof *m->job);
    m->door = calloc(jobs, sizeof *m->door);
    m->slot = calloc(slots, sizeof *m->slot);
    if (m->job == NULL || m->door == NULL || m->slot == NULL || spans_open(&m->ranges, ranges, jobs) < 0) {
        map_close(m);
        return -ENOMEM;
    }
    return 0;
}

void map_close(struct map *m)
{
    free(m->job);
    free(m->door);
    free(m->slot);
    spans_close(&m->ranges);
    *m = (struct map){0};
}

size_t map_bytes(const struct map *m)
{
    return m->jobs * (sizeof *m->job + sizeof *m->door) + (m->slot_mask + 1) * sizeof *m->slot +
           spans_bytes(&m->ranges);
}

static uint32_t home_of(const struct map *m, cw_job job)
{
    return (uint32_t)((job * UINT64_C(0x9e3779b97f4a7c15)) >> 32) & m->slot_mask;
}

/* The slot of a job, or the empty slot where it would be inserted. */
static uint32_t slot_of(const struct map *m, cw_job job)
{
    uint32_t at = home_of(m, job);
    while (m->slot[at] != 0 && m->job[m->slot[at] - 1].job != job) {
        at = (at + 1) & m->slot_mask;
    }
    return at;
}

uint32_t map_find(const struct map *m, cw_job job)
{
    return m->slot[slot_of(m, job)] - 1; /* an empty slot: 0 - 1 is MAP_NONE */
}

uint32_t map_take(struct map *m, cw_job job)
{
    CHECK(job != 0);
    uint32_t at = slot_of(m, job);
    if (m->slot[at] != 0 || m->used == m->jobs) {
        return m->slot[at] - 1;
    }
    uint32_t place = 0;
    while (m->job[place].job != 0) {
        place++;
    }
    m->job[place] = (struct map_job){.job = job};
    m->slot[at] = place + 1;
    m->used++;
    return place;
}

void map_give(struct map *m, uint32_t place)
{
    const struct map_job *job = &m->job[place];
    CHECK(job->job != 0 && job->residents == 0 && job->wanted == 0);
    (void)map_replace(m, place, 0);
    uint32_t hole = slot_of(m, job->job);
    for (uint32_t at = (hole + 1) & m->slot_mask; m->slot[at] != 0; at = (at + 1) & m->slot_mask) {
        uint32_t home = home_of(m, m->job[m->slot[at] - 1].job);
        if (((at - home) & m->slot_mask) >= ((at - hole) & m->slot_mask)) {
            m->slot[hole] = m->slot[at];
            hole = at;
        }
    }
    m->slot[hole] = 0;
    m->job[place] = (struct map_job){.job = 0};
    m->door[place] = (struct map_door){.known = false};
    m->used--;
}

/* A single range stands in the door itself, without a list. */
static uint32_t listed(uint32_t ranges)
{
    return ranges == 1 ? 0 : ranges;
}

bool map_fits(const struct map *m, uint32_t place, uint32_t ranges)
{
    return spans_fit(&m->ranges, place, listed(ranges));
}

struct nmu_span *map_replace(struct map *m, uint32_t place, uint32_t count)
{
    struct map_door *door = &m->door[place];
    struct nmu_span *list = spans_replace(&m->ranges, place, listed(count));
    door->ranges = (uint16_t)count;
    return count == 1 ? &door->only : list;
}
