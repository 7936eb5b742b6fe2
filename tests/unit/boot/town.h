/* SPDX-License-Identifier: Apache-2.0 */
/*
 * town.h - bootstraps that are joined by the cables of a yard, in one process: frames cross with a delay, and are lost,
 * doubled and overtaken by chance. The town does what a daemon would do: it stores a place that was agreed on, and a
 * restart begins with that.
 */
#ifndef TOWN_H
#define TOWN_H

#include "boot/boot.h"
#include "yard.h"

struct town_frame {
    cw_time at;
    uint32_t order;
    struct graph_end to;
    uint32_t length;
    uint8_t *bytes;
};

struct town_server {
    struct boot *boot; /* NULL: off */
    struct boot_config config;
    struct boot_place stored; /* what its disk holds, dims 0: nothing */
    unsigned agreed;          /* times that it came to a place */
};

struct town {
    struct yard *yard; /* borrowed: who recables it tells nobody */
    struct town_server *server;
    struct town_frame *heap;
    uint32_t frames, room, order;
    /*
     * When each server wants to wake, and which of them is first: a tree of matches, whose leaves are the servers and
     * whose root is first[1]. With 512 servers most of the time went into asking all of them before each turn.
     */
    cw_time *wake;
    uint32_t *first, leaves;
    struct rng chance;
    cw_time now;
    unsigned loss, doubled; /* of 1,000 frames */
    int64_t delay_us;       /* 10 to this, drawn for each frame */
    uint64_t sent;
};

struct town town_make(struct yard *y, uint64_t seed);
void town_free(struct town *t);
void town_start(struct town *t, uint32_t i);
void town_start_all(struct town *t);
void town_stop(struct town *t, uint32_t i);    /* its disk stays */
void town_replace(struct town *t, uint32_t i); /* off, with a new id and an empty disk; not started */
void town_run(struct town *t, cw_span span);
/* Runs until all that are on have agreed, or the span is over; how many have. */
uint32_t town_run_until_agreed(struct town *t, cw_span span);
uint32_t town_count(const struct town *t, enum boot_state state);
/* Aborts with a message unless the places are those of the torus as it is cabled: by direction, no two the same. */
void town_check(const struct town *t);

#endif
