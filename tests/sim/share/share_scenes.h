/* SPDX-License-Identifier: Apache-2.0 */
/*
 * share_scenes.h - what test_share_world.c plays with an attachment, and its ledger.
 */
#ifndef SIM_SHARE_SCENES_H
#define SIM_SHARE_SCENES_H

#include "dice.h"
#include "seeds.h"

struct share_ledger {
    char wrong[SEEDS_WRONG_BYTES];
    uint64_t taken, refused, ends, messages, dropped; /* of honest processes */
    uint64_t hostile_taken, hostile_refused, overwrites, detached;
    uint64_t lane_messages, lanes_broken, views, torn, sleeps, wakes;
};

extern struct share_ledger *share_ledger;

/* Notes what is wrong; the first fault counts. */
#define WRONG(rule, ...) seeds_fail(share_ledger->wrong, rule, __VA_ARGS__)
static inline bool share_is_well(void)
{
    return share_ledger->wrong[0] == '\0';
}

/* Rings between an honest process and its daemon, with queues as a model of each; the daemon also runs in between. */
void share_scene_honest(struct dice *d);
/* The same daemon, while a process overwrites any byte of its memory before any load. */
void share_scene_hostile(struct dice *d);
/* A lane between honest processes, and one whose writer overwrites any byte before any load. */
void share_scene_lane(struct dice *d);
void share_scene_hostile_lane(struct dice *d);
/* The view is read between any two stores of its writer, and written between any two loads of its reader. */
void share_scene_view(struct dice *d);
/* Both handshakes, one side run between any two steps of the other, stores kept back until a fence. */
void share_scene_sleep(struct dice *d);

#endif
