/* SPDX-License-Identifier: Apache-2.0 */
#include "kv_town.h"
#include "services/kvcache/authority.h"
#include "suite.h"

#include <string.h>

static struct fake_net *net;
static const char *key;

/* A row of five; the root of the key is server 1. */
static struct kvcache *open_row(void)
{
    net = kv_town_open(5, 0);
    key = kv_town_key(net, 1, 0);
    ck_assert_int_eq(kv_town_do(net, 0, KV_SET, key, "old"), KV_OK);
    return kv_town_cache(net, 1);
}

/* The view of server 1 changed. */
static void tell(void)
{
    cw_svc *s = net->server[1];
    s->steady_since++;
    const cw_event event = {.size = sizeof event, .kind = CW_EVENT_ROOTS, .epoch = cw_epoch(s)};
    s->table->on_event(s, s->state, &event);
}

static void see_others(bool seen)
{
    for (cw_server s = 2; s < 5; s++) {
        net->server[1]->down[s] = !seen;
    }
    tell();
}

/* A write by server 0: not done within a hold, done some time later. */
static void write_waits(void)
{
    struct kv_request r = kv_town_request(KV_SET, key, "new");
    ck_assert_int_eq(kv_town_ask(net, 0, &r), 0);
    fake_net_run(net, CW_MS(55));
    ck_assert_uint_eq(kv_town_answer.times, 0);
    fake_net_run(net, CW_MS(100));
    ck_assert_uint_eq(kv_town_answer.times, 1);
    ck_assert_int_eq(kv_town_answer.status, KV_OK);
}

START_TEST(who_comes_to_be_of_the_majority_waits)
{
    const struct kvcache *k = open_row();
    ck_assert(kv_settled(k));
    see_others(false);
    ck_assert(!kv_settled(k));
    ck_assert_int_eq(kv_town_do(net, 0, KV_SET, key, "new"), KV_NO_MAJORITY);
    see_others(true);
    ck_assert(!kv_settled(k));
    ck_assert_int_eq(kv_town_do(net, 0, KV_GET, key, NULL), KV_MISS);
    write_waits();
    ck_assert(kv_settled(k));
    ck_assert_int_eq(kv_town_do(net, 0, KV_GET, key, NULL), KV_OK);
    ck_assert_str_eq(kv_town_answer.value, "new");
    ck_assert_uint_eq(fake_net_close(net), 0);
}
END_TEST

START_TEST(a_short_absence_begins_the_wait_anew)
{
    const struct kvcache *k = open_row();
    see_others(false);
    see_others(true);
    fake_net_run(net, CW_MS(40));
    see_others(false);
    see_others(true);
    fake_net_run(net, CW_MS(40));
    ck_assert(!kv_settled(k));
    fake_net_run(net, CW_MS(40));
    ck_assert(kv_settled(k));
    ck_assert_uint_eq(fake_net_close(net), 0);
}
END_TEST

START_TEST(what_was_stored_before_is_gone)
{
    const struct kvcache *k = open_row();
    see_others(false);
    see_others(true);
    fake_net_run(net, CW_MS(200));
    ck_assert(kv_settled(k));
    ck_assert_int_eq(kv_town_do(net, 0, KV_GET, key, NULL), KV_MISS);
    ck_assert_uint_eq(fake_net_close(net), 0);
}
END_TEST

START_TEST(an_heir_waits_before_it_changes_anything)
{
    const struct kvcache *k = open_row();
    cw_key id = kv_mem_id(kv_town_cache(net, 1), KVCACHE_JOB, (const uint8_t *)key, strlen(key));
    ck_assert(kv_may_change(k, &id));
    net->server[1]->moved = cw_epoch(net->server[1]) + 1;
    tell();
    ck_assert(kv_settled(k) && !kv_may_change(k, &id));
    write_waits();
    ck_assert(kv_may_change(k, &id));
    ck_assert_uint_eq(fake_net_close(net), 0);
}
END_TEST

/* One change after the other: each has its time. */
START_TEST(changes_in_a_row)
{
    const struct kvcache *k = open_row();
    cw_key id = kv_mem_id(kv_town_cache(net, 1), KVCACHE_JOB, (const uint8_t *)key, strlen(key));
    for (unsigned i = 0; i < 5; i++) {
        net->server[1]->moved = cw_epoch(net->server[1]) + 1;
        tell();
        fake_net_run(net, CW_MS(30));
        ck_assert(!kv_may_change(k, &id));
    }
    fake_net_run(net, CW_MS(30));
    ck_assert(!kv_may_change(k, &id));
    fake_net_run(net, CW_MS(70));
    ck_assert(kv_may_change(k, &id));
    ck_assert_uint_eq(fake_net_close(net), 0);
}
END_TEST

/* ---- Servers that are missing together (kvcache rule 18) --------------------------------------------------------- */

/* Server 1 of a row loses these two from its view. */
static void lose(cw_server a, cw_server b)
{
    cw_svc *s = net->server[1];
    s->steady_since++;
    const cw_server lost[] = {a, b};
    for (unsigned i = 0; i < 2; i++) {
        const cw_event down = {.size = sizeof down,
                               .kind = CW_EVENT_SERVER_DOWN,
                               .server = cw_server_coord(s, lost[i]),
                               .epoch = cw_epoch(s)};
        s->down[lost[i]] = true;
        s->table->on_event(s, s->state, &down);
    }
    const cw_event event = {.size = sizeof event, .kind = CW_EVENT_ROOTS, .epoch = cw_epoch(s)};
    s->table->on_event(s, s->state, &event);
}

START_TEST(two_side_by_side_are_waited_for_twice)
{
    for (unsigned i = 0; i < 2; i++) {
        bool together = i == 0;
        const struct kvcache *k;
        net = kv_town_open(7, 0);
        k = kv_town_cache(net, 1);
        ck_assert_uint_eq(k->reach, 4);
        key = kv_town_key(net, 1, 0);
        cw_key id = kv_mem_id(kv_town_cache(net, 1), KVCACHE_JOB, (const uint8_t *)key, strlen(key));
        net->server[1]->moved = cw_epoch(net->server[1]) + 1;
        lose(4, together ? 5 : 6);
        ck_assert(kv_settled(k) && !kv_may_change(k, &id));
        ck_assert(kv_is_gone(k, 4) == !together);
        fake_net_run(net, CW_MS(90));
        ck_assert(kv_may_change(k, &id) == !together);
        ck_assert(kv_is_gone(k, 4) == !together);
        fake_net_run(net, CW_MS(40));
        ck_assert(kv_may_change(k, &id));
        ck_assert(kv_is_gone(k, 4) && !kv_is_gone(k, 3));
        ck_assert_uint_eq(fake_net_close(net), 0);
    }
}
END_TEST

/* What is lost side by side comes back by half: then the rest is waited for once, from now on. */
START_TEST(the_shorter_wait_counts)
{
    net = kv_town_open(7, 0);
    const struct kvcache *k = kv_town_cache(net, 1);
    lose(4, 5);
    fake_net_run(net, CW_MS(20));
    net->server[1]->down[5] = false;
    tell();
    fake_net_run(net, CW_MS(70)); /* 90 of 124 ms, but 70 of 62 */
    ck_assert(kv_is_gone(k, 4));
    ck_assert_uint_eq(fake_net_close(net), 0);
}
END_TEST

/* Of a row of eleven a server with a reach of 4 counts 5 in the end, which are less than half. */
START_TEST(who_is_far_away_does_not_count)
{
    net = kv_town_open(11, 0);
    struct kvcache *k = kv_town_cache(net, 1);
    ck_assert_uint_eq(k->reach, 6);
    k->reach = 4;
    ck_assert(kv_settled(k));
    lose(2, 10); /* 8, 9, 0, 1; and 3, 4, 5 as the fake host has it, which looks for no detour */
    ck_assert(kv_settled(k));
    lose(0, 9);
    ck_assert(cw_in_majority(net->server[1]) && !kv_settled(k));
    ck_assert_uint_eq(fake_net_close(net), 0);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(who_comes_to_be_of_the_majority_waits),
                                          SUITE_TEST(a_short_absence_begins_the_wait_anew),
                                          SUITE_TEST(what_was_stored_before_is_gone),
                                          SUITE_TEST(an_heir_waits_before_it_changes_anything),
                                          SUITE_TEST(changes_in_a_row),
                                          SUITE_TEST(two_side_by_side_are_waited_for_twice),
                                          SUITE_TEST(the_shorter_wait_counts),
                                          SUITE_TEST(who_is_far_away_does_not_count)};
SUITE_MAIN("authority", tests)
