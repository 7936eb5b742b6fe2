/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Servers with relays, by seed: real nodes publish, and the judge that runs in the kernel passes frames on past them,
 * while processes are killed and paused, cables break, and processors are taken away from both. The world's invariants
 * look after all of it, among them those of the relay, 23 and 39 to 44 (simulator/check_relay.h).
 *
 * Of four seeds one keeps links full, so that relays stand back for what waits; one begins with a while in which
 * nothing goes wrong; and two are drawn as cwsim swarm draws worlds: timers from a tenth of the usual ones to ten times
 * as long, limits down to 1, clocks that run off.
 * With CUBEWAY_SOAK so many seeds run as 10^8 relayed hops take. With --without no server has a relay: is it the relay
 * that makes a seed fail?
 */
#include "keyspace/torus.h"
#include "sanitized.h"
#include "seeds.h"
#include "services/bench/bench.h"
#include "services/builtin.h"
#include "services/ping/ping.h"
#include "simulator/check.h"
#include "simulator/faults.h"
#include "simulator/workload.h"
#include "wire/relay.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    SEEDS = SANITIZED ? 6 : 30,
    SEEDS_SOAK = 6600,
    SERVERS_MAX = 36,
    MILLION = 1000000,
    DEADS = 12,                          /* how long faults go on, in spans of `dead` */
    PACKETS = SANITIZED ? 10000 : 60000, /* that are sent while faults go on, about */
    BYTES = 200,
    PAUSES = 6,
    OVERLOAD_PPM = 1300000,
    OVERLOAD_MS = 4,
    CALM_MS = 1300,
    CALM_LOAD_MS = 5,
    CALM_RATE = 20000,
};

struct ledger {
    char wrong[SEEDS_WRONG_BYTES];
    uint64_t relayed, hops, delivered, judged[RELAY_REASONS], checks, pauses, kills;
};
static struct ledger *ledger, sum;
static bool without;

static bool run(struct world *w, cw_span span)
{
    if (ledger->wrong[0] == '\0' && world_run(w, cw_time_add(world_now(w), span)) != 0) {
        const struct world_violation *v = world_violation(w);
        char rule[16];
        snprintf(rule, sizeof rule, "%u", v != NULL ? v->invariant : 0);
        seeds_fail(ledger->wrong, rule, "%s", v != NULL ? v->text : "stopped");
    }
    return ledger->wrong[0] == '\0';
}

/* A server that runs while none of its neighbours does, all of them having left or died. */
static bool is_lonely(const struct world *w, cw_server s)
{
    bool alone = true;
    for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
        cw_server far = world_neighbours(w)[(size_t)s * CW_LINK_COUNT + link];
        alone = alone && (far == s || world_state(w, far) == WORLD_DEAD);
    }
    return alone;
}

/* Every server that runs agrees, but for lonely ones: a server without a neighbour has no lease (semantics 4.2). */
static bool all_agree(struct world *w)
{
    bool all = true;
    for (cw_server s = 0; s < world_torus(w)->servers && all; s++) {
        if (world_state(w, s) != WORLD_DEAD) {
            all = is_lonely(w, s) ? !world_is_active(w, s) : world_agrees(w, s);
        }
    }
    return all;
}

/* Until at least so many servers run, and every server knows who is there. Cables are whole. */
static bool agree(struct world *w, const struct ls_timers *t, unsigned least)
{
    /* A link that flapped rests for ten seconds, however short the other timers are. */
    const cw_span step = CW_NS(t->dead.ns / 2 > CW_MS(10).ns ? t->dead.ns / 2 : CW_MS(10).ns);
    for (unsigned i = 0; i < 2000; i++) {
        if (!run(w, step)) {
            return false;
        }
        if (world_running(w) >= least && all_agree(w)) {
            return true;
        }
    }
    seeds_fail(ledger->wrong, "world", "the servers do not agree");
    return false;
}

/*
 * Processors are late here, and a lease bears that from three hellos on (semantics 4.6): the echo that renews it may be
 * one hello old when it comes, and the next one comes a hello later.
 */
static void leave_room(struct ls_timers *t)
{
    if (t->dead.ns < 3 * t->hello.ns) {
        t->dead = cw_span_add(t->dead, t->hello);
        t->hold = cw_span_add(t->hold, t->hello);
    }
}

static void configure(struct world_config *config, uint64_t seed)
{
    static const cw_dims shapes[] = {{3, 3, 3}, {2, 3, 4}, {1, 1, 8}, {3, 4, 3}, {1, 5, 5}};
    static const struct world_service services[] = {{.table = &ping_service}, {.table = &bench_service}};
    size_t grants;
    struct prng random = prng_stream(seed, 0, WORLD_STREAM_RELAY);
    *config = world_config_default();
    if (seed % 2 == 0) {
        world_config_draw(config, seed, SERVERS_MAX);
        leave_room(&config->node.timers);
    } else {
        config->dims = shapes[seed / 2 % (sizeof shapes / sizeof *shapes)];
        config->node.timers = seed % 4 == 1 ? ls_timers_fast() : ls_timers_default();
        config->node.mtu = 1500;
        config->carrier = prng_chance(&random, 1, 2) ? CW_MS(1) : CW_NS(-1);
    }
    config->seed = seed;
    config->relay_ppm = prng_chance(&random, 1, 3) ? MILLION / 2 : MILLION;
    config->relay_ppm = without ? 0 : config->relay_ppm;
    config->services = services;
    config->service_count = sizeof services / sizeof *services;
    config->grants = builtin_grants(&grants);
    config->grant_count = (unsigned)grants;
}

/* All links full, so that what is in transit waits, too. */
static bool overload(struct world *w)
{
    const struct workload all = {.kind = WORKLOAD_ALL_TO_ALL, .load_ppm = OVERLOAD_PPM, .bytes = 1000};
    if (workload_start(w, &all) < 0) {
        seeds_fail(ledger->wrong, "world", "no load");
        return false;
    }
    bool well = run(w, CW_MS(OVERLOAD_MS));
    workload_stop(w);
    return well && run(w, CW_MS(OVERLOAD_MS));
}

/* Whatever else is drawn: daemons stand still while their relays do not, for a tenth of `dead` up to five times it. */
static int add_pauses(struct fault_plan *plan, const struct torus *torus, const struct ls_timers *t, cw_time from,
                      uint64_t seed)
{
    struct prng random = prng_stream(seed, 1, WORLD_STREAM_RELAY);
    int rc = 0;
    for (unsigned i = 0; i < PAUSES && rc == 0; i++) {
        struct fault pause = {
            .at = cw_time_add(from, prng_span(&random, CW_NS(0), CW_NS(t->dead.ns * DEADS / 2))),
            .kind = FAULT_PAUSE,
            .server = (cw_server)prng_below(&random, torus->servers),
            .link = CW_LINK_SELF,
            .span = prng_span(&random, CW_NS(t->dead.ns / 10), CW_NS(t->dead.ns * (i % 2 == 0 ? 1 : 5))),
        };
        rc = fault_plan_add(plan, &pause);
    }
    fault_plan_sort(plan);
    return rc;
}

/* Nothing has happened for so long that packets take shortest ways, each counted by every server (invariant 10). */
static bool calm(struct world *w)
{
    const struct workload keys = {.kind = WORKLOAD_KEYS, .rate = CALM_RATE, .bytes = BYTES};
    if (!run(w, CW_MS(CALM_MS)) || workload_start(w, &keys) < 0) {
        seeds_fail(ledger->wrong, "world", "no load");
        return false;
    }
    bool well = run(w, CW_MS(CALM_LOAD_MS));
    workload_stop(w);
    return well && run(w, CW_MS(CALM_LOAD_MS));
}

static bool disturb(struct world *w, const struct ls_timers *t, uint64_t seed)
{
    struct fault_plan plan = {.count = 0};
    const struct torus *torus = world_torus(w);
    cw_span span = CW_NS(t->dead.ns * DEADS);
    cw_time from = world_now(w);
    /* What all send together within the span. */
    uint64_t rate = (uint64_t)PACKETS * CW_NS_PER_SEC / (uint64_t)span.ns / torus->servers + 1;
    const struct workload keys = {.kind = WORKLOAD_KEYS, .rate = rate, .bytes = BYTES};
    if (fault_plan_draw(&plan, torus, t, seed, from, cw_time_add(from, span)) < 0 ||
        add_pauses(&plan, torus, t, from, seed) < 0 || workload_start(w, &keys) < 0) {
        seeds_fail(ledger->wrong, "world", "no faults");
        return false;
    }
    fault_plan_schedule(&plan, w);
    bool well = run(w, cw_span_add(span, CW_NS(1)));
    workload_stop(w);
    well = well && run(w, CW_NS(t->dead.ns * 4 + t->hold.ns * 2));
    fault_plan_free(&plan);
    return well;
}

static void count(struct world *w)
{
    struct world_totals t;
    world_totals(w, &t);
    ledger->relayed = t.relayed;
    ledger->hops = t.packet_hops;
    ledger->delivered = t.delivered;
    ledger->checks = t.checks;
    ledger->pauses = t.pauses;
    ledger->kills = t.kills;
    for (unsigned i = 0; i < RELAY_REASONS; i++) {
        ledger->judged[i] = t.judged[i];
    }
}

static void run_seed(uint64_t seed)
{
    struct world_config config;
    struct world *w;
    configure(&config, seed);
    if (world_open(&w, &config) < 0) {
        seeds_fail(ledger->wrong, "world", "it does not begin");
        return;
    }
    const struct ls_timers *t = &config.node.timers;
    world_start_all(w, t->dead);
    bool well = agree(w, t, world_torus(w)->servers) && (seed % 4 != 1 || overload(w)) && (seed % 4 != 3 || calm(w)) &&
                disturb(w, t, seed) && agree(w, t, 0);
    /* What is held, repeated or on its way ends within this. */
    well = well && run(w, CW_NS(t->hold.ns * 2 + CW_SEC(1).ns));
    if (well && check_quiet(w) != 0) {
        seeds_fail(ledger->wrong, "quiet", "%s", world_violation(w)->text);
    }
    count(w);
    world_close(w);
}

static void add(void)
{
    sum.relayed += ledger->relayed;
    sum.hops += ledger->hops;
    sum.delivered += ledger->delivered;
    sum.checks += ledger->checks;
    sum.pauses += ledger->pauses;
    sum.kills += ledger->kills;
    for (unsigned i = 0; i < RELAY_REASONS; i++) {
        sum.judged[i] += ledger->judged[i];
    }
}

static void say(void)
{
    printf("%" PRIu64 " hops, of which %" PRIu64 " relayed; %" PRIu64 " delivered", ledger->hops, ledger->relayed,
           ledger->delivered);
}

int main(int argc, char **argv)
{
    static const struct seeds_option options[] = {{.name = "--without", .flag = &without}, {.name = NULL}};
    ledger = seeds_share(sizeof *ledger);
    struct seeds s = {.count = getenv("CUBEWAY_SOAK") != NULL ? SEEDS_SOAK : SEEDS,
                      .options = options,
                      .ledger = ledger,
                      .ledger_bytes = sizeof *ledger,
                      .wrong = ledger->wrong,
                      .run = run_seed,
                      .add = add,
                      .say = say};
    int rc = seeds_read(&s, argc, argv);
    if (rc != 0) {
        return rc;
    }
    rc = seeds_run(&s);
    printf("%" PRIu64 " hops, %" PRIu64 " relayed, %" PRIu64 " delivered, %" PRIu64 " pauses, %" PRIu64
           " kills, %" PRIu64 " checks; handed up",
           sum.hops, sum.relayed, sum.delivered, sum.pauses, sum.kills, sum.checks);
    for (unsigned i = 1; i < RELAY_REASONS; i++) {
        printf(", %s %" PRIu64, relay_reason_name(i), sum.judged[i]);
    }
    printf("\n");
    /* A world that relays nothing would try nothing. */
    return rc == 0 && !s.named && sum.relayed * 20 < sum.hops ? 1 : rc;
}
