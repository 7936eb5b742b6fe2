/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A denied flood costs other jobs nothing: a service without privileges tries to send, two million times a second on
 * each of half of the servers, while bench keeps every link full or sends to everybody. What bench gets across is
 * compared with the same world without the flood.
 *
 * Simulated time: what the flood takes of its own server's processor is not in this; tests/bench/bench_nmu.c measures
 * that.
 */
#include "fake_result.h"
#include "keyspace/torus.h"
#include "nmu/book.h"
#include "nmu/nmu.h"
#include "sanitized.h"
#include "services/bench/bench.h"
#include "simulator/world.h"
#include "suite.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { FLOOD_JOB = 2000, TRIES = 20, SIZE = 1000, SERVERS = 27, SPAN_MS = SANITIZED ? 2 : 50 };

/* ---- The flood --------------------------------------------------------------------------------------------------- */

static struct {
    bool on;
    uint64_t tries, denied;
} flood; /* of all servers: one thread runs them */

/* Servers, keys and links; bench's job and its own; ports that there are and that there are not. */
static cw_to anywhere(cw_svc *s)
{
    cw_server server = (cw_server)cw_random_below(s, SERVERS);
    return (cw_to){
        .kind = (cw_to_kind)(CW_TO_KEY + cw_random_below(s, 3)),
        .job = cw_random_below(s, 2) == 0 ? BENCH_JOB : FLOOD_JOB,
        .port = (cw_port)cw_random_below(s, 3),
        .link = (cw_link)cw_random_below(s, CW_LINK_COUNT),
        .server = cw_server_coord(s, server),
        .process = server,
        .key = cw_key_of(s, &server, sizeof server),
    };
}

static void try_some(cw_svc *s, void *state, void *arg)
{
    for (unsigned i = 0; i < TRIES && flood.on; i++) {
        cw_packet *p = cw_packet_new(s, SIZE);
        cw_to to = anywhere(s);
        ck_assert_ptr_nonnull(p);
        flood.tries++;
        int rc = cw_send(s, p, &to, NULL);
        flood.denied += rc == -EACCES;
        if (rc < 0) {
            cw_packet_free(s, p);
        }
    }
    ck_assert_ptr_nonnull(cw_timer_start(s, flood.on ? CW_US(10) : CW_MS(1), try_some, arg));
    (void)state;
}

static int open_flood(cw_svc *s, void *state)
{
    if (cw_server_id(s, cw_self(s)) % 2 == 1) {
        try_some(s, state, NULL);
    }
    return 0;
}

static cw_verdict nothing_comes(cw_svc *s, void *state, cw_packet *p, const cw_rx *rx)
{
    (void)s;
    (void)state;
    (void)p;
    (void)rx;
    ck_abort_msg("a packet of the flood came through");
    return CW_DROP;
}

/* ---- A world with it --------------------------------------------------------------------------------------------- */

static struct world *world;
static struct fake_result r;

static void run(cw_span span)
{
    ck_assert_int_eq(world_run(world, cw_time_add(world_now(world), span)), 0);
}

static void open_world(void)
{
    static const cw_service flooder = {CW_SERVICE_INIT, .name = "flood", .job = FLOOD_JOB, .open = open_flood,
                                       .on_packet = nothing_comes};
    static const struct world_service services[] = {{.table = &bench_service}, {.table = &flooder}};
    static const struct book_grant grant = {.from = BENCH_JOB, .to = BENCH_JOB, .port = 0, .all_processes = true};
    struct world_config config = world_config_default();
    config.dims = (cw_dims){3, 3, 3};
    config.seed = 5;
    config.services = services;
    config.service_count = 2;
    config.grants = &grant;
    config.grant_count = 1;
    memset(&flood, 0, sizeof flood);
    ck_assert_int_eq(world_open(&world, &config), 0);
    world_start_all(world, CW_MS(1));
    for (int i = 0; i < 500 && (world_active(world) < SERVERS || world_agreeing(world) < SERVERS); i++) {
        run(CW_MS(10));
    }
    ck_assert_uint_eq(world_active(world), SERVERS);
}

static int64_t command_all(const char *line, const char *sum)
{
    int64_t all = 0;
    for (cw_server s = 0; s < SERVERS; s++) {
        struct fake_words words = fake_words_of(line);
        struct node_request_sink sink = {&r, fake_result_row, fake_result_int, fake_result_text, fake_result_done};
        fake_result_init(&r);
        ck_assert_int_eq(world_command(world, s, "bench", words.argc, words.argv, &sink), 0);
        ck_assert(r.done && r.rc == 0);
        all += sum != NULL ? fake_int(&r, r.rows - 1, sum) : 0;
    }
    return all;
}

struct outcome {
    int64_t bytes, lost;
    uint64_t tries;
};

static struct outcome measure(const char *load, bool flooded)
{
    open_world();
    command_all(load, NULL);
    flood.on = flooded;
    run(CW_MS(SPAN_MS));
    command_all("reset", NULL);
    uint64_t before = flood.tries;
    run(CW_MS(SPAN_MS));
    struct outcome o = {.tries = flood.tries - before};
    o.bytes = command_all("stats", "bytes");
    o.lost = command_all("stats", "lost");
    ck_assert_uint_eq(flood.denied, flood.tries);
    uint64_t counted = 0;
    for (cw_server s = 0; s < SERVERS; s++) {
        const struct denied *denied = &node_nmu(world_node(world, s))->denied;
        counted += denied->total;
        ck_assert_uint_le(denied->used, denied->limit);
    }
    ck_assert_uint_eq(counted, flood.tries);
    world_close(world);
    return o;
}

/*
 * Links to neighbours full, by either way of queueing; and everybody to everybody at nine tenths of what the torus
 * carries.
 */
START_TEST(a_bystander_notices_nothing)
{
    static const char *const loads[] = {
        "start mode=links count=6 size=8900",
        "start mode=links count=6 size=1400 own=1",
        "start mode=all rate=2500M size=8900",
    };
    for (unsigned i = 0; i < sizeof loads / sizeof loads[0]; i++) {
        struct outcome calm = measure(loads[i], false), flooded = measure(loads[i], true);
        printf("%-42s %10.3f Gb/s a server; with %.1f M refused sends a second on each of 13 servers %.3f: %+.4f %%\n",
               loads[i], (double)calm.bytes * 8 / (SPAN_MS * 1e6) / SERVERS,
               (double)flooded.tries / 13 / (SPAN_MS * 1e-3) / 1e6,
               (double)flooded.bytes * 8 / (SPAN_MS * 1e6) / SERVERS,
               100.0 * (double)(flooded.bytes - calm.bytes) / (double)calm.bytes);
        ck_assert_uint_eq(calm.tries, 0);
        ck_assert_uint_gt(flooded.tries, 13u * 1900u * SPAN_MS);
        ck_assert_int_gt(calm.bytes, 0);
        ck_assert_int_ge(flooded.bytes * 100, calm.bytes * 99);
        ck_assert_int_eq(calm.lost, flooded.lost);
    }
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(a_bystander_notices_nothing),
};
SUITE_MAIN("flood_world", tests)
