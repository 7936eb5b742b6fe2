/* SPDX-License-Identifier: Apache-2.0 */
/*
 * map.h - the job mapping table (NMU 4.1, 6.3): the jobs that this server has to know, and the servers on which their
 * processes live.
 *
 * A job has a place here while it is resident or a resident job may reach it, and no longer: what a server does not
 * hold it cannot leak or corrupt (NMU 6.2; nmu rule 8). A place is a number that stays the job's as long as it has one.
 * The privilege table keeps the place, so that the check of a packet goes to the remote job without a search.
 */
#ifndef NMU_MAP_H
#define NMU_MAP_H

#include "nmu/spans.h"

enum { MAP_JOBS_MAX = 32767 }; /* places are 15 bits of a key (privilege.h) */
#define MAP_NONE UINT32_MAX

/* Where a job's processes live: all that a check reads of the remote job; four of these fill a cache line. */
struct map_door {
    struct nmu_span only; /* the range, when there is one */
    uint16_t ranges;      /* how many; more than one are a list in map.ranges */
    bool known;           /* the job's record is here, and it is not destroyed */
};

struct map_job {
    cw_job job;         /* 0: a free place */
    bool ruled;         /* resident, and its grants are here */
    uint32_t residents; /* speakers of the job */
    uint32_t wanted;    /* privileges of resident jobs that name it */
    uint32_t rules;     /* privileges that it has itself */
    uint64_t version;   /* of the record taken in last, also that of a destroyed job; 0: none yet */
    uint64_t generation;
};

struct map {
    struct map_job *job;   /* by place */
    struct map_door *door; /* by place */
    uint32_t *slot;        /* open addressing over jobs: place + 1, 0 empty; at most half full */
    uint32_t slot_mask;
    uint32_t jobs; /* how many places there are */
    uint32_t used;
    struct spans ranges; /* owner: the place */
};

/* At most jobs (1..MAP_JOBS_MAX) jobs with ranges ranges. -ENOMEM. */
CW_MUST_CHECK int map_open(struct map *m, uint32_t jobs, uint32_t ranges);
void map_close(struct map *m);
size_t map_bytes(const struct map *m);

/* The place of a job, or MAP_NONE. */
uint32_t map_find(const struct map *m, cw_job job);
/* As map_find(), but gives the job a place if it has none. MAP_NONE: the map is full. */
uint32_t map_take(struct map *m, cw_job job);
/* Frees a place that nobody needs any more. */
void map_give(struct map *m, uint32_t place);

/* True when there is room for so many ranges of the place's job. */
bool map_fits(const struct map *m, uint32_t place, uint32_t ranges);
/*
 * Ends the job's ranges and gives count unwritten ones (they must fit), the caller's to fill. Borrowed until the next
 * change.
 */
struct nmu_span *map_replace(struct map *m, uint32_t place, uint32_t count);

/* The server of a process; CW_SERVER_NONE: the job has no such process. */
static inline cw_server map_server(const struct map *m, uint32_t place, cw_process process)
{
    const struct map_door *door = &m->door[place];
    const struct nmu_span *span =
        door->ranges == 1 ? &door->only : spans_search(spans_of(&m->ranges, place), door->ranges, process);
    bool there = span != NULL && process >= span->first && process <= span->last;
    return there ? span->server + (process - span->first) : CW_SERVER_NONE;
}

#endif
