/* SPDX-License-Identifier: Apache-2.0 */
#include "dense_town.h"
#include "suite.h"

#include <errno.h>
#include <string.h>

static struct fake_net *net;

static uint64_t counter(cw_server s, const char *name)
{
    for (unsigned i = 0; i < net->server[s]->counters; i++) {
        if (strcmp(net->server[s]->counter[i].name, name) == 0) {
            return net->server[s]->counter[i].value;
        }
    }
    return UINT64_MAX;
}

START_TEST(counts)
{
    const struct town_plan plan = {.name = "a", .root = 2, .members = 7, .elements = 5000};
    net = town_open();
    town_reduce_all(net, &plan);
    fake_net_run(net, CW_MS(100));
    ck_assert(town_right(&plan, 7));
    ck_assert_uint_eq(counter(2, "begun"), 1);
    ck_assert_uint_eq(counter(2, "done"), 1);
    ck_assert_uint_eq(counter(2, "attempts"), 1);
    ck_assert_uint_eq(counter(2, "voided"), 0);
    ck_assert_uint_gt(counter(2, "blocks"), 0);
    ck_assert_uint_eq(counter(1, "malformed"), 0);
    town_close(net);
}
END_TEST

/* Words of a root that are not the root's are refused: a run is named after the server that gave it out. */
START_TEST(forged)
{
    struct message m = {.kind = MESSAGE_END, .run = {5, 77, 1}, .attempt = 1, .servers = TOWN_SERVERS};
    const struct town_plan plan = {.name = "a", .root = 5, .members = 2, .elements = 3};
    net = town_open();
    m.ticket = (uint32_t)town_reduce(net, 1, &plan);
    ck_assert_int_eq(dense_say(town_dense(net, 4), 1, &m), 0);
    fake_net_run(net, CW_MS(20));
    ck_assert_uint_eq(town_calls[1].ends, 0);
    ck_assert_int_eq(dense_say(town_dense(net, 5), 1, &m), 0);
    fake_net_run(net, CW_MS(20));
    ck_assert_uint_eq(town_calls[1].ends, 1);
    town_close(net);
}
END_TEST

/* What server 4 says to server 1, and how often server 1 has refused something since. */
static unsigned refused_of(const struct message *m, const char *as)
{
    uint64_t before = counter(1, as);
    ck_assert_int_eq(dense_say(town_dense(net, 4), 1, m), 0);
    fake_net_run(net, CW_MS(20));
    return (unsigned)(counter(1, as) - before);
}

/* Forged messages and stale ones are counted, each once. */
START_TEST(forged_and_stale_are_counted)
{
    static const enum message_kind of_the_root[] = {MESSAGE_ANNOUNCE, MESSAGE_END, MESSAGE_HOLD};
    struct message m = {.run = {5, 77, 1}, .attempt = 1, .servers = TOWN_SERVERS, .ticket = 9, .pieces = 1};
    m.spec = (struct spec){CW_NUMBER_UINT8, CW_COMBINE_SUM, 0, 10};
    m.each = 10;
    m.window = m.ahead = 4;
    m.members[0] = 1 << 1;
    net = town_open();
    for (size_t i = 0; i < sizeof of_the_root / sizeof *of_the_root; i++) {
        m.kind = of_the_root[i];
        SUITE_HOLDS(refused_of(&m, "refused") == 1, "kind %d", m.kind);
    }
    m.kind = MESSAGE_VOID; /* to the root alone */
    ck_assert_uint_eq(refused_of(&m, "refused"), 1);
    m.kind = MESSAGE_PROBE; /* from the root or to it */
    ck_assert_uint_eq(refused_of(&m, "refused"), 1);
    m.run.root = 4;
    ck_assert_uint_eq(refused_of(&m, "stale"), 1); /* there is no such run */
    m.kind = MESSAGE_ANNOUNCE;
    ck_assert_uint_eq(refused_of(&m, "stale"), 1); /* nor such a call */
    m.dead[0] = 1 << 1;
    ck_assert_uint_eq(refused_of(&m, "refused"), 1); /* to a dead server */
    m.kind = MESSAGE_DEAL;
    ck_assert_uint_eq(refused_of(&m, "stale"), 1);
    m.kind = MESSAGE_VOID;
    m.run.root = 1;
    ck_assert_uint_eq(refused_of(&m, "stale"), 1);
    ck_assert_uint_eq(counter(1, "malformed"), 0);
    town_close(net);
}
END_TEST

/* A vertex whose root does not know the run any more finds out by itself. */
START_TEST(forgotten)
{
    struct message m = {.kind = MESSAGE_ANNOUNCE, .run = {5, 77, 1}, .attempt = 1, .servers = TOWN_SERVERS};
    struct dense_overview look;
    m.spec = (struct spec){CW_NUMBER_UINT8, CW_COMBINE_SUM, 0, 10};
    m.each = 10;
    m.window = m.ahead = 4;
    m.members[0] = 1 << 3;
    net = town_open();
    ck_assert_int_eq(dense_say(town_dense(net, 5), 4, &m), 0);
    fake_net_run(net, CW_MS(100));
    dense_look(town_dense(net, 4), &look);
    ck_assert_uint_eq(look.vertices, 1);
    fake_net_run(net, CW_MS(700));
    dense_look(town_dense(net, 4), &look);
    ck_assert_uint_eq(look.vertices, 0);
    ck_assert_uint_eq(look.memory, 0);
    town_close(net);
}
END_TEST

/* Closed in the middle: callers are told, and nothing stays behind (a sanitizer looks). */
START_TEST(closed)
{
    const struct town_plan plan = {.name = "a", .root = 2, .members = 0xffff, .elements = 200003};
    net = town_open();
    town_reduce_all(net, &plan);
    fake_net_run(net, CW_US(60));
    ck_assert_uint_gt(counter(2, "attempts"), 0);
    dense_disown(town_dense(net, 2), net);
    ck_assert_int_eq(town_calls[2].status, -ECANCELED);
    dense_disown(town_dense(net, 3), net);
    ck_assert_uint_eq(town_calls[3].ends, 1);
    town_close(net);
    dense_close(NULL);
}
END_TEST

static int refused;

static int open_large(cw_svc *s, void *state)
{
    struct dense *d;
    (void)state;
    refused = dense_open(s, &d);
    return refused;
}

/* A message names servers by a set of 4,096 bits. */
START_TEST(too_many_servers)
{
    static const cw_service large = {CW_SERVICE_INIT, .name = "large", .job = AGGREGATE_JOB, .open = open_large};
    int rc;
    ck_assert_ptr_null(fake_open_with(&large, (cw_dims){17, 16, 16}, (cw_coord){0, 0, 0}, NULL, &rc));
    ck_assert_int_eq(rc, -E2BIG);
    ck_assert_int_eq(refused, -E2BIG);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(counts),    SUITE_TEST(forged), SUITE_TEST(forged_and_stale_are_counted),
    SUITE_TEST(forgotten), SUITE_TEST(closed), SUITE_TEST(too_many_servers)};
SUITE_MAIN("dense", tests)
