/* SPDX-License-Identifier: Apache-2.0 */
/*
 * files_flaps.c - a file to six members while something is wrong that kills nobody. Each scene states what the source
 * may send of the file, repetitions included, in percent of its bytes (docs/services/multicast.md, "Nothing goes
 * back").
 */
#include "files_flaps.h"

#include "files_world.h"
#include "keyspace/torus.h"

#include <stdio.h>
#include <string.h>

enum { BYTES = FW_BYTES_MOST, MTU = 1500, MEMBERS = 6, CABLES = 64, MBIT = 1000 * 1000 };
static const cw_coord places[MEMBERS] = {{1, 0, 0}, {1, 1, 0}, {0, 0, 1}, {1, 1, 1}, {2, 0, 2}, {2, 2, 2}};
static const char names[] = "1,0,0 1,1,0 0,0,1 1,1,1 2,0,2 2,2,2";
static cw_server members[MEMBERS];

struct scene {
    const char *name;
    uint64_t bits_per_second;
    int cut_every_ms, cut_most_ms;     /* a cable is cut every so many ms, for a drawn time; 0: none */
    int pause_every_ms, pause_most_ms; /* the same of a member's pauses */
    uint32_t ns_per_kb;                /* of the disks of two members; 0: as the others */
    const char *patience_ms;           /* NULL: the default, 2,000 */
    int64_t percent_most;              /* that the source may send */
};

struct cut {
    cw_server s;
    cw_link link;
    int until_ms; /* 0: none */
};

static void flap(const struct scene *scene, struct cut cuts[static CABLES], uint64_t *state, int ms)
{
    struct cut *spare = NULL;
    for (unsigned i = 0; i < CABLES; i++) {
        struct cut *c = &cuts[i];
        if (c->until_ms != 0 && ms >= c->until_ms) {
            world_cable(fw_world, c->s, c->link, true, true);
            c->until_ms = 0;
        }
        spare = c->until_ms == 0 ? c : spare;
    }
    if (scene->cut_every_ms > 0 && ms % scene->cut_every_ms == 0 && spare != NULL) {
        spare->s = (cw_server)fw_draw(state, FW_SERVERS);
        spare->link = (cw_link)fw_draw(state, CW_LINK_COUNT);
        spare->until_ms = ms + 1 + (int)fw_draw(state, (uint64_t)scene->cut_most_ms);
        world_cable(fw_world, spare->s, spare->link, true, false);
    }
}

static void stall(const struct scene *scene, uint64_t *state, int ms)
{
    if (scene->pause_every_ms > 0 && ms % scene->pause_every_ms == 0) {
        cw_server s = members[fw_draw(state, MEMBERS)];
        if (world_state(fw_world, s) == WORLD_RUNS) {
            world_pause(fw_world, s, CW_MS(1 + (int64_t)fw_draw(state, (uint64_t)scene->pause_most_ms)));
        }
    }
}

static void play(const struct scene *scene)
{
    enum { MS_MOST = 120000 };
    struct cut cuts[CABLES] = {{.until_ms = 0}};
    uint64_t state = 99;
    int ms = 0;
    fw_open(&(struct fw_setup){
        .seed = 7, .bits_per_second = scene->bits_per_second, .mtu = MTU, .patience_ms = scene->patience_ms});
    for (unsigned i = 0; i < MEMBERS; i++) {
        members[i] = torus_id(world_torus(fw_world), places[i]);
    }
    fw_disk[members[0]].host.ns_per_kb = fw_disk[members[3]].host.ns_per_kb = scene->ns_per_kb;
    const struct fake_result *r = fw_send(0, BYTES, names);
    for (; ms < MS_MOST && !r->done; ms++) {
        flap(scene, cuts, &state, ms);
        stall(scene, &state, ms);
        fw_run(CW_MS(1));
    }
    int64_t percent = fake_int(r, 0, "sent_bytes") * 100 / BYTES;
    printf("%s: %lld of %d members after %d ms, the source sent %lld %% of the file\n", scene->name,
           (long long)fake_int(r, 0, "complete"), (int)MEMBERS, ms, (long long)percent);
    fw_must(r->done && r->rc == 0, "a member that lives has not the file");
    fw_must(percent <= scene->percent_most, "the source sent more than the page promises");
    int64_t again = fake_int(r, 0, "lost_bytes") + fake_int(r, 0, "missed_bytes") + fake_int(r, 0, "mended_bytes");
    /* Pieces are counted in full: the last one, which is shorter, may have been sent again. */
    fw_must(fake_int(r, 0, "sent_bytes") <= BYTES + again, "more was sent than reasons are told for");
    fw_must(fake_int(r, 0, "sent_bytes") >= BYTES + again - MTU * (MEMBERS + CW_LINK_COUNT),
            "more reasons are told than was sent for");
    for (unsigned i = 0; i < MEMBERS; i++) {
        fw_must(fw_has(members[i], BYTES), "a member is told as complete, and is not");
    }
    fw_close();
}

void files_flaps(void)
{
    static const struct scene scenes[] = {
        {.name = "nothing is wrong", .bits_per_second = 20 * MBIT, .percent_most = 100},
        {.name = "cables flap",
         .bits_per_second = 20 * MBIT,
         .cut_every_ms = 20,
         .cut_most_ms = 200,
         .percent_most = 102},
        {.name = "members stall, mostly for less than the others' patience with them",
         .bits_per_second = 10 * MBIT,
         .pause_every_ms = 400,
         .pause_most_ms = 120,
         .percent_most = 105},
        {.name = "members stall for longer",
         .bits_per_second = 10 * MBIT,
         .pause_every_ms = 400,
         .pause_most_ms = 200,
         .percent_most = 125},
        {.name = "two disks are half as fast as the network",
         .bits_per_second = 20 * MBIT,
         .patience_ms = "400",
         .ns_per_kb = 1000 * 1000 * 1000 / 7500,
         .percent_most = 200},
        {.name = "two disks are a quarter as fast",
         .bits_per_second = 20 * MBIT,
         .patience_ms = "400",
         .ns_per_kb = 1000 * 1000 * 1000 / 3750,
         .percent_most = 200},
        {.name = "both, and members stall",
         .bits_per_second = 20 * MBIT,
         .pause_every_ms = 400,
         .pause_most_ms = 120,
         .patience_ms = "400",
         .ns_per_kb = 1000 * 1000 * 1000 / 7500,
         .percent_most = 225},
    };
    for (size_t i = SANITIZED ? 1 : 0; i < sizeof scenes / sizeof *scenes; i += SANITIZED ? 3 : 1) {
        play(&scenes[i]);
    }
}
