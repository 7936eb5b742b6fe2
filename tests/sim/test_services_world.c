/* SPDX-License-Identifier: Apache-2.0 */
/* The services on the real node, in a simulated torus: what the fakes of the unit tests promise is what they get. */
#include "fake_result.h"
#include "keyspace/torus.h"
#include "nmu/book.h"
#include "nmu/nmu.h"
#include "services/bench/bench.h"
#include "services/loader.h"
#include "services/ping/ping.h"
#include "simulator/world.h"
#include "suite.h"

#include <errno.h>

static struct world *world;
static struct fake_result r;

static void run(cw_span span)
{
    ck_assert_int_eq(world_run(world, cw_time_add(world_now(world), span)), 0);
}

static bool ungranted; /* the third service may send nothing */

static void open_world(cw_dims dims, const cw_service *third)
{
    static struct world_service services[3] = {{.table = &ping_service}, {.table = &bench_service}};
    services[2].table = third;
    struct world_config config = world_config_default();
    config.dims = dims;
    config.seed = 11;
    config.services = services;
    config.service_count = third != NULL ? 3 : 2;
    static struct book_grant grants[3] = {
        {.from = PING_JOB, .to = PING_JOB, .port = 0, .all_processes = true},
        {.from = BENCH_JOB, .to = BENCH_JOB, .port = 0, .all_processes = true},
        {.any_port = true, .all_processes = true},
    };
    grants[2].from = grants[2].to = third != NULL ? third->job : PING_JOB;
    config.grants = grants;
    config.grant_count = ungranted ? 2 : 3;
    ck_assert_int_eq(world_open(&world, &config), 0);
    world_start_all(world, CW_MS(1));
    unsigned servers = world_torus(world)->servers;
    for (int i = 0; i < 500 && (world_active(world) < servers || world_agreeing(world) < servers); i++) {
        run(CW_MS(10));
    }
    ck_assert_uint_eq(world_active(world), servers);
}

/* Runs until the command is answered. */
static void command(cw_server s, const char *service, const char *line)
{
    struct fake_words words = fake_words_of(line);
    struct node_request_sink sink = {&r, fake_result_row, fake_result_int, fake_result_text, fake_result_done};
    fake_result_init(&r);
    ck_assert_int_eq(world_command(world, s, service, words.argc, words.argv, &sink), 0);
    for (int i = 0; i < 10000 && !r.done; i++) {
        run(CW_MS(1));
    }
    ck_assert_msg(r.done && r.rc == 0, "%s %s gave %d", service, line, r.rc);
}

static int64_t last(const char *name)
{
    return fake_int(&r, r.rows - 1, name);
}

static void command_all(const char *service, const char *line)
{
    for (cw_server s = 0; s < world_torus(world)->servers; s++) {
        command(s, service, line);
    }
}

static int64_t sum(const char *name)
{
    int64_t all = 0;
    for (cw_server s = 0; s < world_torus(world)->servers; s++) {
        command(s, "bench", "stats");
        all += last(name);
    }
    return all;
}

START_TEST(ping_everybody)
{
    open_world((cw_dims){4, 3, 2}, NULL);
    const struct torus *t = world_torus(world);
    for (cw_server s = 0; s < t->servers; s += 5) {
        command(s, "ping", "all rows=1");
        ck_assert_int_eq(last("sent"), t->servers - 1);
        ck_assert_int_eq(last("lost"), 0);
        ck_assert_int_eq(last("miscounted"), 0);
        for (unsigned row = 0; row + 1 < r.rows; row++) {
            cw_coord c;
            const char *text = fake_text(&r, row, "server");
            ck_assert_int_eq(torus_parse(t, text, strlen(text), &c), 0);
            ck_assert_int_eq(fake_int(&r, row, "hops_there"), torus_distance(t, s, torus_id(t, c)));
            ck_assert_int_eq(fake_int(&r, row, "hops_back"), torus_distance(t, s, torus_id(t, c)));
        }
    }
    world_close(world);
}
END_TEST

START_TEST(ping_far)
{
    open_world((cw_dims){3, 3, 3}, NULL);
    command(5, "ping", "far count=10 size=8000");
    ck_assert_int_eq(last("received"), 10);
    ck_assert_int_eq(last("miscounted"), 0);
    ck_assert_int_eq(last("hops_there_min"), 15);
    ck_assert_int_eq(last("hops_there_max"), 15);
    ck_assert_int_eq(last("hops_back_min"), 15);
    ck_assert_int_eq(last("hops_back_max"), 15);
    command(5, "ping", "to 1,1,1 count=100 interval=50");
    ck_assert_int_eq(last("received"), 100);
    command(5, "ping", "to 0,1,2"); /* itself */
    ck_assert_int_eq(last("hops_there_max"), 0);
    command(5, "ping", "key 0000000000000000000000008000000000000000");
    ck_assert_str_eq(fake_text(&r, 0, "server"), "1,1,1");
    world_close(world);
}
END_TEST

START_TEST(bench_all_to_all_and_keys)
{
    open_world((cw_dims){3, 3, 3}, NULL);
    for (int keys = 0; keys < 2; keys++) {
        command_all("bench", "reset");
        command_all("bench", keys ? "start mode=keys rate=2000 size=300" : "start mode=all rate=500M size=8000");
        run(CW_MS(50));
        command_all("bench", "stop");
        run(CW_MS(100));
        int64_t sent = sum("sent");
        ck_assert_int_ge(sent, keys ? 27 * 99 : 27 * 380);
        ck_assert_int_eq(sum("received"), sent);
        ck_assert_int_eq(sum("bytes"), sent * (keys ? 300 : 8000));
        ck_assert_int_eq(sum("lost") + sum("duplicated") + sum("old") + sum("malformed") + sum("refused"), 0);
    }
    world_close(world);
}
END_TEST

/* Both ways to keep links full fill them. */
START_TEST(bench_saturates_links)
{
    open_world((cw_dims){3, 3, 3}, NULL);
    for (int own = 0; own < 2; own++) {
        for (int count = 1; count <= 6; count += 5) {
            char line[80];
            snprintf(line, sizeof line, "start mode=links count=%d size=8900 own=%d", count, own);
            command_all("bench", "reset");
            command_all("bench", line);
            run(CW_MS(100));
            command_all("bench", "reset");
            run(CW_MS(100));
            int64_t bytes = sum("bytes");
            command_all("bench", "stop");
            /* 1 Gb/s for 100 ms and, in a frame, 9,000 bytes and less than 200 more. */
            double share = (double)bytes * 8 / (27.0 * count * 1e8);
            ck_assert_msg(share > 0.96 && share < 1.0, "own=%d count=%d: %.3f of the links", own, count, share);
            ck_assert_int_eq(sum("lost") + sum("duplicated") + sum("reordered") + sum("malformed"), 0);
            run(CW_MS(500)); /* what was queued leaves */
        }
    }
    world_close(world);
}
END_TEST

/* The module that the daemon would load, with the functions of this program. */
START_TEST(a_loaded_service)
{
    struct loader_module module;
    char why[TABLE_WHY_BYTES];
    ck_assert_msg(loader_open(HITCOUNT, &module, why) == 0, "%s", why);
    open_world((cw_dims){5, 1, 1}, module.service);
    for (int i = 0; i < 7; i++) {
        command(0, "hitcount", "walk 2,0,0");
    }
    run(CW_MS(1));
    command(0, "hitcount", "ask 1,0,0");
    ck_assert_int_eq(last("hits"), 7);
    command(0, "hitcount", "ask 3,0,0");
    ck_assert_int_eq(last("hits"), 0);
    command(2, "hitcount", "show");
    ck_assert_str_eq(fake_text(&r, 0, "sender"), "0,0,0");
    ck_assert_int_eq(last("hits"), 7);
    world_close(world);
    loader_close(&module);
}
END_TEST

/* It may answer; it may not ask, nor be asked by itself. Everybody else goes on. */
START_TEST(without_a_grant_it_cannot_send)
{
    struct loader_module module;
    char why[TABLE_WHY_BYTES];
    struct fake_words words = fake_words_of("walk 2,0,0");
    struct node_request_sink sink = {&r, fake_result_row, fake_result_int, fake_result_text, fake_result_done};
    ck_assert_msg(loader_open(HITCOUNT, &module, why) == 0, "%s", why);
    ungranted = true;
    open_world((cw_dims){5, 1, 1}, module.service);
    for (unsigned i = 0; i < 2; i++) {
        fake_result_init(&r);
        ck_assert_int_eq(world_command(world, 0, "hitcount", words.argc, words.argv, &sink), 0);
        run(CW_MS(10));
        ck_assert(r.done && r.rc == -EACCES);
        words = fake_words_of("ask 1,0,0");
    }
    command(2, "hitcount", "show");
    ck_assert_uint_eq(r.fields, 0);
    const struct denied *denied = &node_nmu(world_node(world, 0))->denied;
    uint32_t from = 0;
    const struct denied_row *row = denied_next(denied, &from);
    ck_assert_uint_eq(denied->total, 2);
    ck_assert(row != NULL && row->source_job == 4096 && row->job == 4096 && row->source_process == 0);
    command(0, "ping", "to 2,0,0");
    ck_assert_int_eq(last("received"), 1);
    world_close(world);
    loader_close(&module);
    ungranted = false;
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(ping_everybody),        SUITE_TEST(ping_far),         SUITE_TEST(bench_all_to_all_and_keys),
    SUITE_TEST(bench_saturates_links), SUITE_TEST(a_loaded_service), SUITE_TEST(without_a_grant_it_cannot_send),
};
SUITE_MAIN("services_world", tests)
