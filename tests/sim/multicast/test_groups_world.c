/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_groups_world.c - groups and messages of services on real nodes in a simulated torus, judged by groups_talker.h.
 * An even seed is strict: servers die and come back, frames get lost, and everybody who was acknowledged must get
 * everything. An odd seed draws a torus and every kind of fault (cuts, pauses, partitions, duplication), and judges
 * only what must hold even there.
 *
 *   test_groups_world --latency      how long an operator's text to 1, 6 and 26 members takes when nothing else happens
 *   test_groups_world [--span MS] [--large], and the options of seeds.h. Exit code 1: a seed failed.
 *
 * --large: some messages do not fit into a packet, so that the engine sends them.
 */
#include "base/prng.h"
#include "fake_result.h"
#include "groups_talker.h"
#include "nmu/book.h"
#include "sanitized.h"
#include "seeds.h"
#include "services/multicast/cast/head.h"
#include "services/multicast/multicast.h"
#include "simulator/faults.h"
#include "simulator/world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct book_grant grants[] = {
    {.from = MULTICAST_JOB, .to = MULTICAST_JOB, .port = MULTICAST_PORT, .all_processes = true},
    {.from = MULTICAST_JOB, .to = MULTICAST_JOB, .port = MULTICAST_PORT_GROUPS, .all_processes = true},
};

static cw_time world_clock_now(void *context)
{
    return world_now(context);
}

static void server_changed(void *context, cw_server s, enum world_server_state state, cw_time now)
{
    (void)context;
    struct groups_ledger *l = groups_ledger;
    if (state == WORLD_DEAD && l->deaths < GROUPS_DEATHS) {
        l->death[l->deaths].server = s;
        l->death[l->deaths++].at = now.ns;
    } else if (state == WORLD_DEAD) {
        seeds_fail(l->wrong, "deaths", "more than are counted");
    }
}

static void run_until(struct world *w, cw_time end)
{
    while (cw_time_before(world_now(w), end) && groups_ledger->wrong[0] == '\0') {
        if (world_run(w, cw_time_min(end, cw_time_add(world_now(w), CW_MS(5)))) != 0) {
            const struct world_violation *v = world_violation(w);
            seeds_fail(groups_ledger->wrong, "world", "%s", v != NULL ? v->text : "stopped");
        }
    }
}

struct doom {
    cw_server victim;
    bool start;
};
static struct doom dooms[GROUPS_DEATHS];

static void befalls(struct world *w, void *arg)
{
    const struct doom *d = arg;
    if (d->start && world_state(w, d->victim) == WORLD_DEAD) {
        int rc = world_start(w, d->victim);
        (void)rc;
    } else if (!d->start && world_state(w, d->victim) == WORLD_RUNS) {
        world_kill(w, d->victim, false);
    }
}

/* Deaths and returns, most of them of the one and the same few servers, so that roots go more than once. */
static void draw_deaths(struct world *w, uint64_t seed, cw_time from, cw_span span)
{
    unsigned count = (unsigned)(prng_mix(seed, 11) % 8), servers = world_torus(w)->servers;
    for (unsigned i = 0; i < count; i++) {
        uint64_t m = prng_mix(seed, 100 + i);
        cw_time at = cw_time_add(from, CW_NS((int64_t)(m >> 8 & 0xffff) * span.ns / 0x10000));
        dooms[2 * i] = (struct doom){(cw_server)(m % servers), false};
        dooms[2 * i + 1] = (struct doom){(cw_server)(m % servers), true};
        world_at(w, at, befalls, &dooms[2 * i]);
        world_at(w, cw_time_add(at, CW_MS(20 + (int64_t)(m >> 40 & 511))), befalls, &dooms[2 * i + 1]);
    }
}

static void lose(struct world *w, uint32_t per_million)
{
    const struct wire_harm harm = {.loss = per_million};
    for (cw_server s = 0; s < world_torus(w)->servers; s++) {
        for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
            world_harm(w, s, link, &harm);
        }
    }
}

/* What the command line asks for. */
static int64_t span_ms = 1500;
static bool large, latency_only;

static void run_world(uint64_t seed)
{
    static const struct world_service services[] = {
        {.table = &multicast_service}, {.table = &groups_talker_service}, {.table = &groups_other_service}};
    static const struct world_watch watch = {.server = server_changed};
    static const uint32_t losses[] = {0, 100, 2000, 20000};
    static const cw_dims dims[] = {{3, 3, 3}, {3, 3, 2}, {4, 2, 2}, {3, 3, 1}};
    struct world_config config = world_config_default();
    struct fault_plan plan = {.count = 0};
    struct world *w;
    bool strict = seed % 2 == 0;
    config.dims = dims[prng_mix(seed, 1) % 4];
    if (!strict) {
        world_config_draw(&config, seed, GROUPS_SERVERS);
    }
    config.seed = seed;
    config.services = services;
    config.service_count = 3;
    config.grants = grants;
    config.grant_count = sizeof grants / sizeof *grants;
    cw_time from = {CW_MS(400).ns}, to = cw_time_add(from, CW_MS(span_ms));
    groups_plan = (struct groups_plan){.from = from,
                                       .quiet = to,
                                       .pause_most = CW_MS(10 + (int64_t)(prng_mix(seed, 2) % 60)),
                                       .large = large && prng_mix(seed, 3) % 2 == 0 ? 1 : 0,
                                       .strict = strict,
                                       .now = world_clock_now};
    if (world_open(&w, &config) != 0) {
        seeds_fail(groups_ledger->wrong, "world", "it does not open");
        return;
    }
    groups_plan.context = w;
    world_watch(w, &watch);
    world_start_all(w, CW_MS(20));
    run_until(w, (cw_time){CW_MS(390).ns});
    groups_ledger->deaths = 0; /* what was dead at first */
    if (strict) {
        lose(w, losses[prng_mix(seed, 4) % 4]);
        draw_deaths(w, seed, from, CW_MS(span_ms));
    } else if (fault_plan_draw(&plan, world_torus(w), &config.node.timers, prng_mix(seed, 5), from, to) != 0) {
        abort();
    } else {
        fault_plan_schedule(&plan, w);
    }
    run_until(w, cw_time_add(to, CW_MS(500)));
    for (unsigned i = 0; i < 60 && groups_waits();
         i++) { /* a source of a long one gives up after 30 s without progress */
        run_until(w, cw_time_add(world_now(w), CW_SEC(1)));
    }
    if (groups_ledger->wrong[0] == '\0') {
        groups_judge();
    }
    world_close(w);
    fault_plan_free(&plan);
}

/* ---- How long it takes ------------------------------------------------------------------------------------------- */

static int64_t command(struct world *w, cw_server s, const char *line, const char *field)
{
    static struct fake_result r;
    struct fake_words words = fake_words_of(line);
    struct node_request_sink sink = {&r, fake_result_row, fake_result_int, fake_result_text, fake_result_done};
    fake_result_init(&r);
    if (world_command(w, s, "multicast", words.argc, words.argv, &sink) < 0) {
        return -1;
    }
    for (unsigned i = 0; i < 1000 && !r.done; i++) {
        run_until(w, cw_time_add(world_now(w), CW_MS(1)));
    }
    return r.done && r.rc == 0 ? fake_int(&r, 0, field) : -1;
}

static int latency(void)
{
    static const struct world_service services[] = {{.table = &multicast_service}};
    static const unsigned counts[] = {1, 6, 26};
    struct world_config config = world_config_default();
    struct world *w;
    config.services = services;
    config.service_count = 1;
    config.grants = grants;
    config.grant_count = sizeof grants / sizeof *grants;
    if (world_open(&w, &config) != 0) {
        return 1;
    }
    world_start_all(w, CW_MS(1));
    run_until(w, (cw_time){CW_MS(800).ns});
    int rc = 0;
    for (unsigned c = 0; c < 3; c++) {
        char line[64];
        int64_t sum = 0, most = 0;
        for (unsigned i = 1; i <= counts[c]; i++) {
            snprintf(line, sizeof line, "group join g%u", c);
            rc |= command(w, i * 7 % 27, line, "took_ns") < 0;
        }
        for (unsigned i = 0; i < 100; i++) {
            snprintf(line, sizeof line, "group publish g%u text", c);
            int64_t took = command(w, 0, line, "took_ns");
            rc |= took < 0;
            sum += took;
            most = took > most ? took : most;
        }
        snprintf(line, sizeof line, "send 1000000 to g%u", c);
        printf("%2u members: a text until all have answered, %lld us on the mean, %lld at most; a megabyte, %lld us\n",
               counts[c], (long long)sum / 100000, (long long)most / 1000,
               (long long)command(w, 0, line, "took_ns") / 1000);
    }
    world_close(w);
    return rc;
}

static struct {
    unsigned long long messages, delivered, joins, deaths, forwards;
    int64_t slowest;
} sums;

static void add(void)
{
    const struct groups_ledger *l = groups_ledger;
    sums.messages += l->messages;
    sums.delivered += l->delivered;
    sums.joins += l->joins;
    sums.deaths += l->deaths;
    sums.forwards += l->forwards;
    sums.slowest = l->slowest > sums.slowest ? l->slowest : sums.slowest;
}

static void say(void)
{
    const struct groups_ledger *l = groups_ledger;
    printf("%zu messages (%llu best effort, %llu refused), %llu delivered, %llu joins, %llu leaves, %zu deaths, "
           "slowest %lld us",
           l->messages, (unsigned long long)l->best, (unsigned long long)l->refused, (unsigned long long)l->delivered,
           (unsigned long long)l->joins, (unsigned long long)l->leaves, l->deaths, (long long)l->slowest / 1000);
}

int main(int argc, char **argv)
{
    static const struct seeds_option options[] = {
        {"--span", NULL, &span_ms}, {"--large", &large, NULL}, {"--latency", &latency_only, NULL}, {NULL, NULL, NULL}};
    groups_ledger = seeds_share(sizeof *groups_ledger);
    struct seeds seeds = {.count = SANITIZED ? 2 : 10,
                          .options = options,
                          .ledger = groups_ledger,
                          .ledger_bytes = sizeof *groups_ledger,
                          .wrong = groups_ledger->wrong,
                          .run = run_world,
                          .add = add,
                          .say = say};
    if (seeds_read(&seeds, argc, argv) != 0) {
        return 2;
    }
    if (latency_only) {
        return latency();
    }
    int rc = seeds_run(&seeds);
    printf("%llu messages, %llu delivered, %llu joins, %llu deaths, %llu passed on with leave; the slowest reliable "
           "one took %lld ms\n",
           sums.messages, sums.delivered, sums.joins, sums.deaths, sums.forwards, (long long)sums.slowest / 1000000);
    return rc;
}
