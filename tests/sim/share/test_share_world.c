/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_share_world.c - the memory of attachments, with every load and store of it in the hands of a seed: honest
 * processes beside a model, hostile ones that overwrite any byte at any instant, lanes, the view, and both handshakes.
 */
#include "sanitized.h"
#include "share_scenes.h"

#include <stdio.h>
#include <stdlib.h>

struct share_ledger *share_ledger;
static struct share_ledger sums;

static void run(uint64_t seed)
{
    struct dice d = {seed * 977};
    void (*const scenes[])(struct dice *) = {share_scene_honest,       share_scene_hostile, share_scene_lane,
                                             share_scene_hostile_lane, share_scene_view,    share_scene_sleep};
    for (size_t i = 0; i < sizeof scenes / sizeof *scenes && share_is_well(); i++) {
        scenes[i](&d);
    }
}

static void add(void)
{
    const uint64_t *from = &share_ledger->taken;
    uint64_t *to = &sums.taken;
    for (size_t i = 0; from + i <= &share_ledger->wakes; i++) {
        to[i] += from[i];
    }
}

int main(int argc, char **argv)
{
    share_ledger = seeds_share(sizeof *share_ledger);
    struct seeds seeds = {.first = 1,
                          .count = getenv("CUBEWAY_SOAK") != NULL ? 20000
                                   : SANITIZED                    ? 25
                                                                  : 120,
                          .ledger = share_ledger,
                          .ledger_bytes = sizeof *share_ledger,
                          .wrong = share_ledger->wrong,
                          .run = run,
                          .add = add};
    int rc = seeds_read(&seeds, argc, argv);
    if (rc != 0) {
        return rc;
    }
    rc = seeds_run(&seeds);
    printf("honest: %lu commands taken, %lu refused, %lu ends, %lu messages, %lu dropped; ", (unsigned long)sums.taken,
           (unsigned long)sums.refused, (unsigned long)sums.ends, (unsigned long)sums.messages,
           (unsigned long)sums.dropped);
    printf("hostile: %lu overwrites, %lu taken, %lu refused, %lu detached; ", (unsigned long)sums.overwrites,
           (unsigned long)sums.hostile_taken, (unsigned long)sums.hostile_refused, (unsigned long)sums.detached);
    printf("lanes: %lu messages, %lu broken; views: %lu read, %lu given up; handshakes: %lu slept, %lu woken\n",
           (unsigned long)sums.lane_messages, (unsigned long)sums.lanes_broken, (unsigned long)sums.views,
           (unsigned long)sums.torn, (unsigned long)sums.sleeps, (unsigned long)sums.wakes);
    return rc;
}
