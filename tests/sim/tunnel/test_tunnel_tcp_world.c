/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_tunnel_tcp_world.c - the tunnel on real nodes in a simulated torus, with programs that speak TCP and UDP over it
 * (programs.h), in worlds where everything goes wrong: frames are lost, delayed and doubled, cables are cut, servers on
 * the way die and come back, others are paused. Each seed draws a torus, links and faults; at the end all heals, and
 * every connection between servers that lived has to end with all of its bytes.
 *
 *   test_tunnel_tcp_world with the options of seeds.h. Exit code 1: a seed failed.
 */
#include "base/prng.h"
#include "datagrams.h"
#include "fake_result.h"
#include "nmu/book.h"
#include "programs.h"
#include "sanitized.h"
#include "services/tunnel/packet/limits.h"
#include "services/tunnel/tunnel.h"
#include "simulator/faults.h"
#include "simulator/world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WAITING_MOST = 4 * 1024 * 1024, HELD_MOST = 16 * 1024 * 1024, FRAME_MOST = 9000 };

static struct programs_ledger sums;

#define WRONG(rule, ...) seeds_fail(programs_ledger->wrong, rule, __VA_ARGS__)

static int64_t ask(struct world *w, cw_server s, const char *name)
{
    static struct fake_result r;
    struct node_request_sink sink = {&r, fake_result_row, fake_result_int, fake_result_text, fake_result_done};
    const char *const words[] = {"status"};
    fake_result_init(&r);
    if (world_command(w, s, TUNNEL_NAME, 1, words, &sink) != 0 || !r.done) {
        WRONG("command", "server %u does not answer", s);
        return 0;
    }
    return fake_int(&r, 0, name);
}

/* In memory 4 MiB may wait before links, or three frames for each server if that is more; and 16 MiB behind holes. */
static void look_at_bounds(struct world *w)
{
    const cw_server servers = world_torus(w)->servers;
    const int64_t frames = 3 * FRAME_MOST * (int64_t)servers;
    for (cw_server s = 0; s < servers && programs_ledger->wrong[0] == '\0'; s++) {
        if (world_state(w, s) != WORLD_RUNS) {
            continue;
        }
        int64_t waiting = ask(w, s, "waiting_bytes"), held = ask(w, s, "held_bytes");
        if (waiting > (frames > WAITING_MOST ? frames : WAITING_MOST)) {
            WRONG("bounds", "on server %u %lld bytes wait for links", s, (long long)waiting);
        } else if (held > HELD_MOST) {
            WRONG("bounds", "on server %u %lld bytes wait behind holes", s, (long long)held);
        }
        programs_ledger->held = held > programs_ledger->held ? held : programs_ledger->held;
    }
}

static int run_for(struct world *w, cw_span span)
{
    cw_time end = cw_time_add(world_now(w), span);
    while (cw_time_before(world_now(w), end) && programs_ledger->wrong[0] == '\0') {
        if (world_run(w, cw_time_min(end, cw_time_add(world_now(w), CW_MS(1)))) != 0) {
            const struct world_violation *v = world_violation(w);
            WRONG("world", "%s", v != NULL ? v->text : "stopped");
        }
        look_at_bounds(w);
    }
    return programs_ledger->wrong[0] != '\0' ? 1 : 0;
}

/* Nothing fails in such a world, so that whatever is late is waited for. */
static bool is_calm(uint64_t seed)
{
    return seed % 8 == 6;
}

/* An even seed: one world, whose servers on the way die; an odd one: everything is drawn. */
static void draw(struct world_config *config, uint64_t seed)
{
    *config = world_config_default();
    if (seed % 2 == 1) {
        world_config_draw(config, seed, PROGRAMS_SERVERS);
    } else if (seed % 4 == 0) {
        config->wire.bits_per_second = UINT64_C(100) * 1000 * 1000;
        config->node.mtu = 1500;
    }
    config->seed = seed;
}

/* Every third seed has longer paths, too. */
static const char *option(void *context, const char *service, const char *name)
{
    const uint64_t *seed = context;
    bool spread = strcmp(service, TUNNEL_NAME) == 0 && strcmp(name, "spread") == 0;
    return spread && *seed % 3 == 0 ? "disjoint" : NULL;
}

static void on_server(void *context, cw_server s, enum world_server_state state, cw_time now)
{
    (void)context;
    (void)now;
    if (state == WORLD_DEAD) {
        programs_died(s);
    }
}

static void look_at_end(struct world *w, bool calm, bool spread)
{
    struct world_totals totals;
    world_totals(w, &totals);
    /* A server that starts again begins new numbers, and pieces of its former life are not ordered. */
    bool lives = totals.starts > world_torus(w)->servers;
    for (cw_server s = 0; s < world_torus(w)->servers && programs_ledger->wrong[0] == '\0'; s++) {
        if (world_state(w, s) != WORLD_RUNS) {
            continue;
        }
        uint64_t late = (uint64_t)ask(w, s, "late_after_all");
        programs_ledger->longer += spread ? (uint64_t)ask(w, s, "longer") : 0;
        programs_ledger->late += late;
        if (ask(w, s, "waiting") != 0 || ask(w, s, "waiting_bytes") != 0) {
            WRONG("home", "on server %u packets still wait", s);
        } else if (calm && late > 0) {
            WRONG("order", "to server %u %llu pieces came after they were given up, and nothing had failed", s,
                  (unsigned long long)late);
        } else if (!lives && programs_regress(s) > late) {
            WRONG("order", "to server %u %llu transmissions came after later ones, and %llu pieces were late", s,
                  (unsigned long long)programs_regress(s), (unsigned long long)late);
        }
    }
    if (programs_ledger->wrong[0] == '\0' && programs_open() > 0) {
        WRONG("ends", "%u connections do not end", programs_open());
    }
}

static void run_world(uint64_t seed)
{
    static const struct world_service services[] = {{.table = &tunnel_service}, {.table = &programs_service}};
    static const struct book_grant grants[] = {
        {.from = TUNNEL_JOB, .to = TUNNEL_JOB, .port = TUNNEL_PORT, .all_processes = true}};
    struct world_config config;
    struct world *w;
    draw(&config, seed);
    config.services = services;
    config.service_count = 2;
    config.option = option;
    config.option_context = &seed;
    config.grants = grants;
    config.grant_count = 1;
    if (world_open(&w, &config) != 0) {
        WRONG("world", "it does not open");
        return;
    }
    cw_time from = {CW_MS(50).ns}, to = {CW_MS(450).ns};
    struct fault_plan plan = {.count = 0};
    const struct world_watch watch = {.server = on_server};
    programs_begin();
    programs_plan = (struct programs_plan){
        .seed = seed, .servers = world_torus(w)->servers, .begin = {is_calm(seed) ? CW_MS(150).ns : 0}, .quiet = to};
    world_watch(w, &watch);
    if (fault_plan_draw(&plan, world_torus(w), &config.node.timers, prng_mix(seed, 2), from, to) != 0) {
        abort();
    }
    world_start_all(w, CW_MS(20));
    if (world_torus(w)->servers > 1) {
        if (!is_calm(seed)) {
            fault_plan_schedule(&plan, w);
        }
        int rc = run_for(w, CW_MS(600));
        for (unsigned i = 0; i < 120 && rc == 0 && programs_open() > 0; i++) {
            rc = run_for(w, CW_MS(100));
        }
        if (rc == 0 && run_for(w, CW_MS(100)) == 0) {
            look_at_end(w, is_calm(seed), option(&seed, TUNNEL_NAME, "spread") != NULL);
        }
    }
    const struct datagrams_counts datagrams = datagrams_counts();
    programs_ledger->datagrams = datagrams.sent;
    programs_ledger->datagrams_came = datagrams.came;
    world_close(w);
    fault_plan_free(&plan);
}

static void add(void)
{
    const struct programs_ledger *l = programs_ledger;
    sums.begun += l->begun;
    sums.ended += l->ended;
    sums.cut_off += l->cut_off;
    sums.bytes += l->bytes;
    sums.segments += l->segments;
    sums.again += l->again;
    sums.timeouts += l->timeouts;
    sums.late += l->late;
    sums.marks += l->marks;
    sums.joined += l->joined;
    sums.told += l->told;
    sums.longer += l->longer;
    sums.lies += l->lies;
    sums.datagrams += l->datagrams;
    sums.datagrams_came += l->datagrams_came;
    sums.held = l->held > sums.held ? l->held : sums.held;
}

static void print(const struct programs_ledger *l)
{
    printf("%llu connections, %llu ended, %llu cut off, %llu bytes in %llu segments, %llu sent again, %llu time-outs, "
           "%llu late after all, %llu windows halved by marks, %llu joined, %llu ICMP, %llu lies, %llu pieces by "
           "longer paths, %llu of %llu datagrams, %lld bytes behind holes",
           (unsigned long long)l->begun, (unsigned long long)l->ended, (unsigned long long)l->cut_off,
           (unsigned long long)l->bytes, (unsigned long long)l->segments, (unsigned long long)l->again,
           (unsigned long long)l->timeouts, (unsigned long long)l->late, (unsigned long long)l->marks,
           (unsigned long long)l->joined, (unsigned long long)l->told, (unsigned long long)l->lies,
           (unsigned long long)l->longer, (unsigned long long)l->datagrams_came, (unsigned long long)l->datagrams,
           (long long)l->held);
}

static void say(void)
{
    print(programs_ledger);
}

int main(int argc, char **argv)
{
    programs_ledger = seeds_share(sizeof *programs_ledger);
    struct seeds seeds = {.count = SANITIZED ? 2 : 8,
                          .ledger = programs_ledger,
                          .ledger_bytes = sizeof *programs_ledger,
                          .wrong = programs_ledger->wrong,
                          .run = run_world,
                          .add = add,
                          .say = say};
    if (seeds_read(&seeds, argc, argv) != 0) {
        return 2;
    }
    int rc = seeds_run(&seeds);
    print(&sums);
    putchar('\n');
    return rc;
}
