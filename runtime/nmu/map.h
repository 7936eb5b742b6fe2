/* SPDX-License-Identifier: Apache-2.0 */
/*
 * map.h - the job mapping table (NMU 4.1, 6.3): the jobs this server has to know, and the servers their processes live
 * on.
 *
 * A job has a place here while it is resident or a resident job may reach it, and no longer: what a server does not
 * hold it cannot leak or corrupt (NMU 6.2). A place is a number that stays the job's as long as it has one; the
 * privilege table keeps it, so that the check of a packet goes to the job without looking for it.
 */
#ifndef NMU_MAP_H
#define NMU_MAP_H

#include "nmu/spans.h"

enum { MAP_JOBS_MAX = 32767 }; /* places are 15 bits of a key (privilege.h) */
#define MAP_NONE UINT32_MAX

/* Where a job's processes live: all that the check of a packet reads of the remote job, four to a line of cache. */
struct map_door {
    struct nmu_span only; /* when there is one range */
    uint16_t ranges;      /* else they are a list in the map's spans */
    bool known;           /* the job's record is here, and it is not destroyed */
};

struct map_job {
    cw_job job;         /* 0: a free place */
    bool ruled;         /* resident, and its grants are here */
    uint32_t residents; /* speakers of the job */
    uint32_t wanted;    /* privileges that lead to it */
    uint32_t rules;     /* privileges it has itself */
    uint64_t version;   /* of the record taken in last, also of a destroyed one; 0: none yet */
    uint64_t generation;
};

struct map {
    struct map_job *job;   /* by place */
    struct map_door *door; /* by place */
    uint32_t *slot;        /* open addressing over jobs: place + 1, 0 empty; at most half full */
    uint32_t slot_mask;
    uint32_t jobs; /* places there are */
    uint32_t used;
    struct spans ranges; /* owner: the place */
};

/* At most jobs (1..MAP_JOBS_MAX) jobs with ranges ranges. -ENOMEM. */
CW_MUST_CHECK int map_open(struct map *m, uint32_t jobs, uint32_t ranges);
void map_close(struct map *m);
size_t map_bytes(const struct map *m);

/* The place of a job, or MAP_NONE. */
uint32_t map_find(const struct map *m, cw_job job);
/* As map_find(), after giving it a place if it has none; MAP_NONE: full. */
uint32_t map_take(struct map *m, cw_job job);
/* Takes the place, which nobody needs any more, back. */
void map_give(struct map *m, uint32_t place);

/* True when the place's job may have so many ranges. */
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
