/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_transport_world.c - the transport on real nodes in a simulated torus where everything goes wrong. Each seed
 * draws a torus, limits and faults (loss, duplication, delay, cuts, churn, pauses, partitions), lets every server talk
 * to everybody, heals the world, and asks the ledger: was every message taken once or reported, byte for byte, and is
 * nothing left behind?
 *
 *   test_transport_world with the options of seeds.h. Exit code 1: a seed failed.
 */
#include "base/prng.h"
#include "fake_result.h"
#include "nmu/book.h"
#include "sanitized.h"
#include "simulator/faults.h"
#include "simulator/world.h"
#include "tp_ledger.h"
#include "tp_talker.h"

#include <stdio.h>
#include <stdlib.h>

enum { SERVERS_MOST = 27, FAIL = 1 };

static cw_time world_clock_now(void *context)
{
    return world_now(context);
}

/* An even seed: mild faults of one world; an odd one: everything drawn. */
static void draw(struct world_config *config, struct talker_plan *plan, uint64_t seed)
{
    static const struct {
        size_t memory;
        unsigned peers, messages, incoming;
    } tight[] = {{0, 0, 0, 0}, {300 << 10, 0, 0, 0}, {0, 3, 0, 0}, {0, 0, 4, 1}, {600 << 10, 6, 16, 2}};
    *config = world_config_default();
    config->seed = seed;
    if (seed % 2 == 1) {
        world_config_draw(config, seed, SERVERS_MOST);
        config->seed = seed;
    } else if (seed % 4 == 0) {
        config->node.mtu = 1500;
    }
    uint64_t mix = prng_mix(seed, 1);
    unsigned which = (unsigned)(mix % (sizeof tight / sizeof *tight));
    *plan = (struct talker_plan){
        .seed = seed,
        .pause_most = CW_US(300 + (int64_t)(mix >> 8) % 4000),
        .bytes_most = (mix >> 24) % 4 == 0 ? UINT64_C(3) << 20 : 200 << 10,
        .limits = {.memory = tight[which].memory,
                   .peer_memory = tight[which].memory / 2,
                   .peers = tight[which].peers,
                   .messages = tight[which].messages,
                   .incoming = tight[which].incoming,
                   .piece_window = (mix >> 32) % 2 ? 150 << 10 : 0},
    };
}

static int run_for(struct world *w, cw_span span)
{
    cw_time end = cw_time_add(world_now(w), span);
    while (cw_time_before(world_now(w), end) && ledger->wrong[0] == '\0') {
        if (world_run(w, cw_time_min(end, cw_time_add(world_now(w), CW_MS(1)))) != 0) {
            const struct world_violation *v = world_violation(w);
            ledger_wrong("world", "%s", v != NULL ? v->text : "stopped");
        }
    }
    return ledger->wrong[0] != '\0' ? FAIL : 0;
}

static int64_t ask(struct world *w, cw_server s, const char *name)
{
    static struct fake_result r;
    struct node_request_sink sink = {&r, fake_result_row, fake_result_int, fake_result_text, fake_result_done};
    const char *const words[] = {"show"};
    fake_result_init(&r);
    if (world_command(w, s, "talker", 1, words, &sink) != 0 || !r.done) {
        ledger_wrong("command", "server %u does not answer", s);
        return 0;
    }
    return fake_int(&r, 0, name);
}

/*
 * Everything works again: every server tells others something, and is heard. In worlds of ordinary timers a few frames
 * are lost; drawn ones may take one lost hello for a dead server.
 */
static void last_words(struct world *w, bool ordinary)
{
    const struct wire_harm harm = {.loss = ordinary ? 10000 : 0};
    cw_server servers = world_torus(w)->servers;
    static struct fake_result r;
    struct node_request_sink sink = {&r, fake_result_row, fake_result_int, fake_result_text, fake_result_done};
    for (cw_server s = 0; s < servers; s++) {
        for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
            world_harm(w, s, link, &harm);
        }
    }
    for (unsigned turn = 0; turn < 3 && ledger->wrong[0] == '\0'; turn++) {
        uint32_t first = ledger->count;
        for (cw_server s = 0; s < servers; s++) {
            char number[16];
            const char *const words[] = {"say", number};
            cw_server whom = (s + 1 + turn * 5) % servers;
            if (world_state(w, s) != WORLD_RUNS || world_state(w, whom) != WORLD_RUNS) {
                continue; /* the plan had it die last */
            }
            snprintf(number, sizeof number, "%u", whom);
            fake_result_init(&r);
            if (world_command(w, s, "talker", 2, words, &sink) != 0) {
                ledger_wrong("alive", "server %u does not run", s);
            }
        }
        if (run_for(w, CW_SEC(5)) != 0) {
            return;
        }
        for (uint32_t i = first; i < ledger->count; i++) {
            const struct ledger_message *m = &ledger->message[i];
            if (m->must && (m->ends != 1 || m->status != 0)) {
                ledger_wrong("alive", "message %u of server %u in turn %u, all being well, ended %u times, with %d", i,
                             m->from, turn, m->ends, m->status);
            }
        }
    }
}

/* Nothing is left of anything, where nobody has died. */
static void look_at_rest(struct world *w, cw_server s)
{
    if (ask(w, s, "open") != 0) {
        ledger_wrong("silent", "server %u was not told of %lld messages", s, (long long)ask(w, s, "open"));
    }
    if (ask(w, s, "memory") != 0 || ask(w, s, "coming") != 0) {
        ledger_wrong("memory", "server %u still has %lld bytes and %lld messages that come", s,
                     (long long)ask(w, s, "memory"), (long long)ask(w, s, "coming"));
    }
}

static void run_world(uint64_t seed)
{
    static const struct world_service services[] = {{.table = &talker_service}};
    struct world_config config;
    struct world *w;
    draw(&config, &talker_plan, seed);
    config.services = services;
    config.service_count = 1;
    static const struct book_grant grants[] = {
        {.from = TALKER_JOB, .to = TALKER_JOB, .port = TALKER_PORT, .all_processes = true}};
    config.grants = grants;
    config.grant_count = 1;
    if (world_open(&w, &config) != 0) {
        ledger_wrong("world", "it does not open");
        return;
    }
    talker_plan.now = world_clock_now;
    talker_plan.context = w;
    cw_time from = {CW_MS(50).ns}, to = {CW_MS(550).ns};
    talker_plan.quiet = to;
    struct fault_plan plan = {.count = 0};
    if (fault_plan_draw(&plan, world_torus(w), &config.node.timers, prng_mix(seed, 2), from, to) != 0) {
        abort();
    }
    world_start_all(w, CW_MS(20));
    fault_plan_schedule(&plan, w);
    if (run_for(w, CW_MS(600)) == 0 && run_for(w, CW_SEC(9)) == 0) {
        last_words(w, seed % 2 == 0);
        for (cw_server s = 0; s < world_torus(w)->servers && ledger->wrong[0] == '\0'; s++) {
            if (world_state(w, s) == WORLD_RUNS) {
                look_at_rest(w, s);
            }
        }
    }
    bool well = ledger->wrong[0] == '\0';
    world_close(w);
    for (uint32_t i = 0; i < ledger->count && well; i++) {
        const struct ledger_message *m = &ledger->message[i];
        if (m->ends != (m->refused ? 0 : 1)) {
            ledger_wrong("silent", "the end of message %u of server %u was told %u times", i, m->from, m->ends);
        }
    }
    fault_plan_free(&plan);
}

static unsigned long long taken, lost; /* by all seeds together */

static void add(void)
{
    taken += ledger->taken;
    lost += ledger->failed;
}

static void say(void)
{
    printf("%u messages, %llu taken, %llu failed, %llu bytes", ledger->count, (unsigned long long)ledger->taken,
           (unsigned long long)ledger->failed, (unsigned long long)ledger->bytes);
}

int main(int argc, char **argv)
{
    ledger = seeds_share(sizeof *ledger);
    struct seeds seeds = {.count = SANITIZED ? 1 : 8,
                          .ledger = ledger,
                          .ledger_bytes = sizeof *ledger,
                          .wrong = ledger->wrong,
                          .run = run_world,
                          .add = add,
                          .say = say};
    if (seeds_read(&seeds, argc, argv) != 0) {
        return 2;
    }
    int rc = seeds_run(&seeds);
    printf("%llu messages taken, %llu reported as failed\n", taken, lost);
    return rc;
}
