/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pace.h - a steady beat, exact in integers: beat n comes at first + floor(n * num / den) ns, for ever, whatever the
 * ratio.
 */
#ifndef SERVICES_BENCH_PACE_H
#define SERVICES_BENCH_PACE_H

#include "cubeway/time.h"

struct pace {
    cw_time next;         /* the beat that comes next */
    uint64_t num, den;    /* ns from beat to beat: num / den */
    uint64_t whole, part; /* num / den and num % den */
    uint64_t rest;        /* parts of a nanosecond, below den, that next is late by */
};

/* A beat every num / den ns, the first at `first`; num and den are 1 or more, and below 2^62. */
static inline struct pace pace_of(uint64_t num, uint64_t den, cw_time first)
{
    return (struct pace){.next = first, .num = num, .den = den, .whole = num / den, .part = num % den};
}

static inline void pace_step(struct pace *p)
{
    p->next.ns += (int64_t)p->whole;
    p->rest += p->part;
    if (p->rest >= p->den) {
        p->rest -= p->den;
        p->next.ns++;
    }
}

/* Passes over every beat before `to` at once. Gives how many there were. */
static inline uint64_t pace_skip(struct pace *p, cw_time to)
{
    if (!cw_time_before(p->next, to)) {
        return 0;
    }
    /* In units of 1/den ns from next, less its rest: the first multiple of num that reaches `to`. */
    unsigned __int128 span = (unsigned __int128)(uint64_t)(to.ns - p->next.ns) * p->den - p->rest;
    uint64_t beats = (uint64_t)((span + p->num - 1) / p->num);
    unsigned __int128 moved = (unsigned __int128)beats * p->num + p->rest;
    p->next.ns += (int64_t)(uint64_t)(moved / p->den);
    p->rest = (uint64_t)(moved % p->den);
    return beats;
}

#endif
