/* SPDX-License-Identifier: Apache-2.0 */
/* test_pump.c - 27 servers in this process: they come together, rest, lose one, get it back, and leave. */
#include "daemon_town.h"
#include "suite.h"

#include <errno.h>
#include <time.h>
#include <unistd.h>

static int64_t processor_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static uint64_t sum(struct host *h, enum ls_counter counter)
{
    uint64_t total = 0;
    for (unsigned i = 0; i < host_count(h); i++) {
        struct node *n = host_server(h, i)->node;
        total += n != NULL ? ls_count(node_linkstate(n), counter) : 0;
    }
    return total;
}

START_TEST(twenty_seven_come_together_and_rest)
{
    struct host *h = town_open("torus { dims = 3x3x3; coordinate = all }");
    int64_t us = town_settle(h, 27);
    town_run(h, CW_MS(300));
    uint64_t teardowns = sum(h, LS_TEARDOWNS), versions = sum(h, LS_VERSIONS);
    int64_t before = processor_us();
    town_run(h, CW_SEC(1));
    printf("27 servers: whole after %lld us; at rest %.1f %% of a processor\n", (long long)us,
           (double)(processor_us() - before) / 10000);
    ck_assert(town_is_whole(h, 27));
    ck_assert_uint_eq(sum(h, LS_TEARDOWNS), teardowns);
    ck_assert_uint_eq(sum(h, LS_VERSIONS), versions);
    ck_assert_uint_eq(sum(h, LS_MISWIRED), 0);
    host_close(h);
}
END_TEST

START_TEST(one_dies_and_comes_back)
{
    struct host *h = town_open("torus { dims = 3x3x3; coordinate = all }");
    town_settle(h, 27);
    struct host_server *victim = host_find(h, (cw_coord){1, 1, 1});
    ck_assert_int_eq(host_fail(victim), 0);
    ck_assert_int_eq(host_fail(victim), -EALREADY);
    printf("26 left after %lld us\n", (long long)town_settle(h, 26));
    ck_assert_int_eq(host_restore(victim), 0);
    ck_assert_int_eq(host_restore(victim), -EALREADY);
    printf("27 again after %lld us\n", (long long)town_settle(h, 27));
    host_close(h);
}
END_TEST

START_TEST(a_cable_is_cut_and_mended)
{
    struct host *h = town_open("torus { dims = 2x2x2; coordinate = all }");
    town_settle(h, 8);
    struct host_server *s = host_server(h, 0);
    ck_assert_int_eq(host_cut(s, CW_LINK_XP, true), 0);
    town_run(h, CW_MS(50));
    ck_assert(!s->link[CW_LINK_XP].carrier);
    ck_assert_uint_eq(ls_live_links(node_linkstate(s->node)), CW_LINKS_ALL & ~cw_links_of(CW_LINK_XP));
    ck_assert(town_is_whole(h, 8));
    ck_assert_int_eq(host_cut(s, CW_LINK_XP, false), 0);
    town_run(h, CW_MS(500));
    ck_assert_uint_eq(ls_live_links(node_linkstate(s->node)), CW_LINKS_ALL);
    host_close(h);
}
END_TEST

/* Every turn comes later than neighbours would wait: the whole torus had no processor, and nobody in it is dead. */
START_TEST(a_stall_that_all_share_kills_nobody)
{
    struct host *h = town_open("torus { dims = 2x2x2; coordinate = all }");
    town_settle(h, 8);
    uint64_t fences = sum(h, LS_FENCES), teardowns = sum(h, LS_TEARDOWNS);
    for (int i = 0; i < 20; i++) {
        nanosleep(&(struct timespec){.tv_nsec = 70000000}, NULL);
        host_turn(h, CW_MS(1));
    }
    ck_assert_uint_eq(sum(h, LS_FENCES), fences);
    ck_assert_uint_eq(sum(h, LS_TEARDOWNS), teardowns);
    ck_assert(town_is_whole(h, 8));
    host_close(h);
}
END_TEST

struct twice {
    struct host *host;
    struct host_deferred call;
    unsigned runs;
};

static void again(void *context)
{
    struct twice *t = context;
    if (++t->runs == 1) {
        host_defer(t->host, &t->call);
    }
}

/*
 * A deferred call runs once at the end of the turn, however often it was asked for; the next turn does not sleep when
 * it defers again.
 */
START_TEST(deferred_calls_end_a_turn)
{
    struct host *h = town_open("torus { dims = 2x2x1; coordinate = all }");
    struct twice t = {.host = h, .call = {.fn = again, .context = &t}};
    town_settle(h, 4);
    host_defer(h, &t.call);
    host_defer(h, &t.call);
    host_turn(h, CW_SEC(10));
    ck_assert_uint_eq(t.runs, 1);
    host_turn(h, CW_SEC(10));
    ck_assert_uint_eq(t.runs, 2);
    host_defer(h, &t.call);
    host_undefer(&t.call);
    host_undefer(&t.call);
    host_turn(h, CW_MS(1));
    ck_assert_uint_eq(t.runs, 2);
    host_close(h);
}
END_TEST

struct gate {
    struct host_inlet inlet;
    int fd;
    unsigned bytes;
};

static void enter(void *context)
{
    struct gate *g = context;
    char byte;
    g->bytes += read(g->fd, &byte, 1) == 1;
    if (g->bytes == 3) {
        host_inlet_close(&g->inlet);
    }
}

/* An inlet is called in the turn that finds it readable, in each while it stays so, and not once it is closed. */
START_TEST(inlets_are_called_while_readable)
{
    struct host *h = town_open("torus { dims = 2x2x1; coordinate = all }");
    struct gate g = {.inlet = {.fn = enter, .context = &g}};
    int ends[2];
    town_settle(h, 4);
    ck_assert_int_eq(pipe(ends), 0);
    g.fd = ends[0];
    ck_assert_int_eq(host_inlet_open(h, &g.inlet, g.fd), 0);
    host_turn(h, CW_NS(0));
    ck_assert_uint_eq(g.bytes, 0);
    ck_assert_int_eq(write(ends[1], "four", 4), 4);
    for (unsigned turn = 1; turn <= 4; turn++) {
        host_turn(h, CW_NS(0));
        ck_assert_uint_eq(g.bytes, turn < 3 ? turn : 3);
    }
    host_inlet_close(&g.inlet);
    host_close(h);
    close(ends[0]);
    close(ends[1]);
}
END_TEST

START_TEST(all_leave)
{
    struct host *h = town_open("torus { dims = 2x2x1; coordinate = all }");
    town_settle(h, 4);
    cw_time start = clock_now();
    host_leave(h);
    ck_assert(host_leaving(h) && !host_left(h));
    host_run(h);
    ck_assert(host_left(h));
    ck_assert_int_lt(cw_time_since(clock_now(), start).ns, CW_SEC(2).ns);
    host_close(h);
    h = town_open("torus { dims = 2x2x1; coordinate = all }");
    town_settle(h, 4);
    host_leave(h);
    host_leave(h); /* now */
    host_run(h);
    ck_assert(host_leaving(h) && !host_left(h));
    host_close(h);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(twenty_seven_come_together_and_rest),
    SUITE_TEST(one_dies_and_comes_back),
    SUITE_TEST(a_cable_is_cut_and_mended),
    SUITE_TEST(a_stall_that_all_share_kills_nobody),
    SUITE_TEST(deferred_calls_end_a_turn),
    SUITE_TEST(inlets_are_called_while_readable),
    SUITE_TEST(all_leave),
};
SUITE_MAIN("pump", tests)
