/* SPDX-License-Identifier: Apache-2.0 */
/*
 * files_storm.c - a file to all 26 while servers, the source among them, stall all the time, so that they go out of
 * sight and come back: as on a machine where daemons wait for a processor for longer than their neighbours wait for
 * them. The links' damping is short, or it would soon keep all servers apart.
 */
#include "files_storm.h"

#include "files_world.h"

#include <stdio.h>

enum { MTU = 9000, MBIT = 1000 * 1000, MS_MOST = 60 * 1000, BYTES = 5 * 1000 * 1000, MEMBERS = FW_SERVERS - 1 };
/* The bound of docs/services/multicast.md, "Nothing goes back", in percent of the file. */
enum { PERCENT_MOST = 150 };
/* A stall longer than 50 ms (two thirds of them are) puts the server out of sight. */
static const int stall_most_ms = 150;

static void stall(uint64_t *state)
{
    cw_server s = (cw_server)fw_draw(state, FW_SERVERS);
    int64_t ms = 1 + (int64_t)fw_draw(state, (uint64_t)stall_most_ms);
    if (world_state(fw_world, s) == WORLD_RUNS) {
        world_pause(fw_world, s, CW_MS(ms));
    }
}

/* Sends the file while a server stalls every so many ms. */
static void play(int every_ms, uint64_t seed)
{
    uint64_t state = seed * 7777;
    int ms = 0;
    fw_open(&(struct fw_setup){.seed = seed, .bits_per_second = 20 * MBIT, .mtu = MTU, .calm_damping = true});
    const struct fake_result *r = fw_send(0, BYTES, "all");
    for (; ms < MS_MOST && !r->done; ms++) {
        if (ms % every_ms == 0) {
            stall(&state);
        }
        fw_run(CW_MS(1));
    }
    int64_t percent = fake_int(r, 0, "sent_bytes") * 100 / BYTES;
    printf("a server stalls every %d ms, seed %llu: %lld of %d have it after %d ms, the source sent %lld %% of the "
           "file: %lld kB lost, %lld missed, %lld mended\n",
           every_ms, (unsigned long long)seed, (long long)fake_int(r, 0, "complete"), (int)MEMBERS, ms,
           (long long)percent, (long long)fake_int(r, 0, "lost_bytes") / 1000,
           (long long)fake_int(r, 0, "missed_bytes") / 1000, (long long)fake_int(r, 0, "mended_bytes") / 1000);
    fw_must(r->done, "a sending does not end while servers come and go");
    fw_must(percent <= PERCENT_MOST, "the source sent more than the page promises while servers come and go");
    for (cw_server s = 1; s < FW_SERVERS; s++) {
        fw_must(fw_reason(r, s) != NULL || fw_has(s, BYTES), "a member is told as complete, and is not");
    }
    /* One that is out of sight when all others are done may be left out. */
    fw_must(fake_int(r, 0, "complete") >= MEMBERS - 2, "members that came back have not the file");
    fw_close();
}

void files_storm(void)
{
    for (uint64_t seed = 1; seed <= (SANITIZED ? 1 : 3); seed++) {
        play(50, seed);
    }
    play(100, 3);
}
