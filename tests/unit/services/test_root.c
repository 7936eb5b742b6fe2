/* SPDX-License-Identifier: Apache-2.0 */
#include "kv_town.h"
#include "suite.h"

static struct fake_net *net;

START_TEST(one_value_for_all)
{
    net = kv_town_open(5, 0);
    for (cw_server s = 0; s < 5; s++) {
        ck_assert_int_eq(kv_town_do(net, s, KV_SET, "key", "value"), KV_OK);
        uint64_t cas = kv_town_answer.cas;
        ck_assert_int_eq(kv_town_do(net, (s + 2) % 5, KV_GET, "key", NULL), KV_OK);
        ck_assert_str_eq(kv_town_answer.value, "value");
        ck_assert_uint_eq(kv_town_answer.cas, cas);
        ck_assert_int_eq(kv_town_do(net, (s + 3) % 5, KV_APPEND, "key", "s"), KV_OK);
        ck_assert_int_eq(kv_town_do(net, (s + 1) % 5, KV_GET, "key", NULL), KV_OK);
        ck_assert_str_eq(kv_town_answer.value, "values");
        ck_assert_int_eq(kv_town_do(net, s, KV_DELETE, "key", NULL), KV_OK);
        ck_assert_int_eq(kv_town_do(net, s, KV_GET, "key", NULL), KV_MISS);
    }
    ck_assert_uint_eq(fake_net_close(net), 0);
}
END_TEST

/* Answered before kv_do() returns; where a copy is out it cannot be. */
START_TEST(a_write_here_waits_for_nobody_but_copies)
{
    net = kv_town_open(5, 0);
    const char *key = kv_town_key(net, 2, 0);
    struct kvcache *k = kv_town_cache(net, 2);
    struct kv_request r = kv_town_request(KV_SET, key, "7");
    ck_assert_int_eq(kv_town_ask(net, 2, &r), 0);
    ck_assert(kv_town_answer.times == 1 && kv_town_answer.status == KV_OK && kv_town_answer.source == KV_FROM_HERE);
    struct kv_request step = kv_town_request(KV_INCR, key, NULL);
    step.delta = 3;
    ck_assert_int_eq(kv_town_ask(net, 2, &step), 0);
    ck_assert(kv_town_answer.times == 1 && strcmp(kv_town_answer.value, "10") == 0);
    ck_assert_uint_eq(k->count[KV_COUNT_ROOT_WRITES], 2);
    cw_key id = kv_mem_id(k, step.job, step.key, step.key_length);
    struct item_name name = kv_name(&id, &step);
    struct held_key *held = holders_get(&k->holders, &name);
    ck_assert(held != NULL && holders_register(&k->holders, held, 4, cw_now(k->svc)));
    ck_assert_int_eq(kv_town_ask(net, 2, &step), 0);
    ck_assert_uint_eq(kv_town_answer.times, 0);
    fake_net_run(net, CW_MS(50));
    ck_assert(kv_town_answer.times == 1 && strcmp(kv_town_answer.value, "13") == 0);
    ck_assert_uint_eq(k->count[KV_COUNT_DROPS], 1);
    ck_assert_uint_eq(fake_net_close(net), 0);
}
END_TEST

START_TEST(jobs_do_not_see_one_anothers_values)
{
    net = kv_town_open(3, 0);
    struct kv_request r = kv_town_request(KV_GET, "key", NULL);
    r.job = 99;
    ck_assert_int_eq(kv_town_do(net, 0, KV_SET, "key", "value"), KV_OK);
    ck_assert_int_eq(kv_town_ask(net, 1, &r), 0);
    fake_net_run(net, CW_MS(50));
    ck_assert_int_eq(kv_town_answer.status, KV_MISS);
    ck_assert_uint_eq(fake_net_close(net), 0);
}
END_TEST

START_TEST(numbers_count_once_though_packets_are_lost)
{
    net = kv_town_open(3, 0);
    const char *key = kv_town_key(net, 1, 0);
    ck_assert_int_eq(kv_town_do(net, 0, KV_SET, key, "0"), KV_OK); /* and the instance is known */
    struct kv_request r = kv_town_request(KV_INCR, key, NULL);
    r.delta = 1;
    for (unsigned i = 1; i <= 20; i++) {
        net->lose = 3 + i % 3;
        ck_assert_int_eq(kv_town_ask(net, 0, &r), 0);
        fake_net_run(net, CW_SEC(3));
        ck_assert_int_eq(kv_town_answer.status, KV_OK);
        ck_assert_int_eq(atoi(kv_town_answer.value), (int)i);
    }
    ck_assert_uint_gt(kv_town_cache(net, 1)->count[KV_COUNT_REPEATED], 0);
    ck_assert_uint_eq(fake_net_close(net), 0);
}
END_TEST

START_TEST(looks_that_are_asked_again_tell_the_same)
{
    net = kv_town_open(3, 0);
    const char *key = kv_town_key(net, 1, 0);
    const char *text = "a value of more than twenty bytes";
    for (unsigned i = 0; i < 12; i++) {
        ck_assert_int_eq(kv_town_do(net, 0, KV_SET, key, text), KV_OK);
        struct kv_request r = kv_town_request(KV_DELETE, key, NULL);
        r.meta = KV_META_STALE;
        ck_assert_int_eq(kv_town_ask(net, 0, &r), 0);
        fake_net_run(net, CW_SEC(3));
        ck_assert_int_eq(kv_town_answer.status, KV_OK);
        net->lose = 3 + i % 3;
        r = kv_town_request(KV_GET, key, NULL);
        r.meta = KV_META;
        ck_assert_int_eq(kv_town_ask(net, 0, &r), 0);
        fake_net_run(net, CW_SEC(3));
        net->lose = 0;
        ck_assert_int_eq(kv_town_answer.status, KV_OK);
        ck_assert_str_eq(kv_town_answer.value, text);
        ck_assert(kv_town_answer.marks & KV_MARK_WON); /* however often it was asked */
        ck_assert_int_eq(kv_town_ask(net, 2, &r), 0);
        fake_net_run(net, CW_SEC(3));
        ck_assert((kv_town_answer.marks & (KV_MARK_WON | KV_MARK_SENT)) == KV_MARK_SENT);
        net->lose = 3 + i % 3;
        ck_assert_int_eq(kv_town_do(net, 2, KV_GAT, key, NULL), KV_OK);
        net->lose = 0;
        ck_assert_str_eq(kv_town_answer.value, text);
    }
    ck_assert_uint_gt(kv_town_cache(net, 1)->count[KV_COUNT_REPEATED], 0);
    ck_assert_uint_eq(fake_net_close(net), 0);
}
END_TEST

START_TEST(what_moved_is_gone)
{
    net = kv_town_open(3, 0);
    const char *key = kv_town_key(net, 1, 0);
    ck_assert_int_eq(kv_town_do(net, 0, KV_SET, key, "value"), KV_OK);
    net->server[1]->steady_since = 5;
    ck_assert_int_eq(kv_town_do(net, 0, KV_GET, key, NULL), KV_MISS);
    ck_assert_uint_eq(kv_town_cache(net, 1)->count[KV_COUNT_MOVED], 1);
    ck_assert_int_eq(kv_town_do(net, 0, KV_SET, key, "value"), KV_OK);
    ck_assert_int_eq(kv_town_do(net, 0, KV_GET, key, NULL), KV_OK);
    ck_assert_uint_eq(fake_net_close(net), 0);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(one_value_for_all),
                                          SUITE_TEST(a_write_here_waits_for_nobody_but_copies),
                                          SUITE_TEST(jobs_do_not_see_one_anothers_values),
                                          SUITE_TEST(numbers_count_once_though_packets_are_lost),
                                          SUITE_TEST(looks_that_are_asked_again_tell_the_same),
                                          SUITE_TEST(what_moved_is_gone)};
SUITE_MAIN("root", tests)
