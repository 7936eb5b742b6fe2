/* SPDX-License-Identifier: Apache-2.0 */
#include "kv_town.h"
#include "suite.h"

#include <errno.h>

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

static struct held_key *hold(cw_server root, const char *key, cw_server holder)
{
    struct kvcache *k = kv_town_cache(net, root);
    struct kv_request r = kv_town_request(KV_GET, key, NULL);
    cw_key id = kv_mem_id(k, r.job, r.key, r.key_length);
    struct item_name name = kv_name(&id, &r);
    struct held_key *held = holders_get(&k->holders, &name);
    ck_assert(held != NULL && holders_register(&k->holders, held, holder, cw_now(k->svc)));
    return held;
}

static size_t waiting(cw_server s)
{
    size_t keys = 0;
    struct list *list = &kv_town_cache(net, s)->waiting;
    for (struct list_node *n = list_first(list); n != NULL; n = list_next(list, n)) {
        keys++;
    }
    return keys;
}

/*
 * In view, and says nothing: writes end at their time, and are done again when no copy can be as old as what is known
 * of it.
 */
START_TEST(a_mute_holder_stops_nobody_for_ever)
{
    for (cw_server asks = 1; asks < 3; asks++) {
        net = kv_town_open(5, 0);
        const char *key = kv_town_key(net, 2, 0);
        struct kvcache *k = kv_town_cache(net, 2);
        ck_assert_int_eq(kv_town_do(net, asks, KV_SET, key, "old"), KV_OK);
        hold(2, key, 4);
        net->server[4]->refuse = -EAGAIN; /* its answers do not leave */
        struct kv_request r = kv_town_request(KV_SET, key, "new");
        cw_time begun = cw_now(k->svc);
        ck_assert_int_eq(kv_town_ask(net, asks, &r), 0);
        fake_net_run(net, CW_MS(1900));
        ck_assert_uint_eq(kv_town_answer.times, 0);
        ck_assert_uint_eq(waiting(2), 1);
        fake_net_run(net, CW_MS(120));
        ck_assert_uint_eq(kv_town_answer.times, 1);
        ck_assert_int_eq(kv_town_answer.status, asks == 2 ? KV_TIMED_OUT : KV_UNKNOWN);
        ck_assert_uint_eq(k->waiting_bytes, 0);
        ck_assert_uint_eq(waiting(2), 0);
        ck_assert_int_eq(kv_town_do(net, 0, KV_GET, key, NULL), KV_OK);
        ck_assert_str_eq(kv_town_answer.value, "old"); /* and it is not done later */
        while (cw_time_since(cw_now(k->svc), begun).ns < CW_MS(10500).ns) {
            fake_net_run(net, CW_MS(50));
        }
        ck_assert_int_eq(kv_town_ask(net, asks, &r), 0);
        fake_net_run(net, CW_MS(400));
        ck_assert_uint_eq(kv_town_answer.times, 0);
        fake_net_run(net, CW_MS(300));
        ck_assert_uint_eq(kv_town_answer.times, 1);
        ck_assert_int_eq(kv_town_answer.status, KV_OK);
        ck_assert_uint_eq(k->holders.count, 0);
        ck_assert_uint_eq(fake_net_close(net), 0);
    }
}
END_TEST

static unsigned ended, timed_out;

static void ends(void *arg, const struct kv_result *r)
{
    (void)arg;
    ended++;
    timed_out += r->status == KV_TIMED_OUT;
}

START_TEST(writes_that_wait_are_bounded)
{
    static char value[1024 * 1024];
    net = kv_town_open(3, 0);
    const char *key = kv_town_key(net, 0, 0);
    struct kvcache *k = kv_town_cache(net, 0);
    const struct held_key *held = hold(0, key, 2);
    net->server[2]->refuse = -EAGAIN;
    struct kv_request r = kv_town_request(KV_SET, key, NULL);
    for (unsigned i = 0; i < KV_WAITING_MOST + 100; i++) {
        ck_assert_int_eq(kv_do(net->server[0], &r, ends, NULL), 0);
    }
    ck_assert_uint_eq(held->write_count, KV_WAITING_MOST);
    fake_net_run(net, CW_MS(2050));
    ck_assert_uint_eq(ended, KV_WAITING_MOST + 100);
    ck_assert_uint_eq(timed_out, ended);
    ck_assert_uint_eq(k->waiting_bytes, 0);
    r.value = (const uint8_t *)value;
    r.value_length = sizeof value;
    held = hold(0, key, 2);
    for (unsigned i = 0; i < 20; i++) {
        ck_assert_int_eq(kv_do(net->server[0], &r, ends, NULL), 0);
    }
    ck_assert_uint_eq(held->write_count, 15);
    ck_assert_uint_eq(k->waiting_bytes, held->write_bytes);
    ck_assert_uint_le(held->write_bytes, KV_WAITING_BYTES_MOST);
    fake_net_run(net, CW_MS(2050));
    ck_assert_uint_eq(k->waiting_bytes, 0);
    ck_assert_uint_eq(fake_net_close(net), 0);
}
END_TEST

/* Asked for by a packet and then by the transport, and all the same once. */
START_TEST(a_large_value_is_used_once)
{
    static char large[20001];
    memset(large, 'x', sizeof large - 1);
    net = kv_town_open(3, 0);
    const char *key = kv_town_key(net, 1, 0);
    struct kvcache *k = kv_town_cache(net, 1);
    ck_assert_int_eq(kv_town_do(net, 0, KV_SET, key, large), KV_OK);
    struct kv_request r = kv_town_request(KV_GET, key, NULL);
    cw_key id = kv_mem_id(k, r.job, r.key, r.key_length);
    struct item_name name = kv_name(&id, &r);
    const struct item *i = items_look(&k->values, &name);
    ck_assert(i != NULL && i->uses == 0);
    r.meta = KV_META_TIMES;
    for (unsigned n = 1; n < 3; n++) {
        ck_assert_int_eq(kv_town_ask(net, 0, &r), 0);
        fake_net_run(net, CW_MS(50));
        ck_assert_int_eq(kv_town_answer.status, KV_OK);
        ck_assert_uint_eq(kv_town_answer.length, sizeof large - 1);
        ck_assert_uint_eq(kv_town_answer.marks & KV_MARK_FETCHED, n == 1 ? 0 : KV_MARK_FETCHED); /* before that */
        ck_assert_uint_eq(i->uses, n);
        ck_assert_uint_eq(k->count[KV_COUNT_ROOT_GETS], n);
    }
    ck_assert_uint_eq(fake_net_close(net), 0);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(a_large_value_is_used_once),
                                          SUITE_TEST(a_mute_holder_stops_nobody_for_ever),
                                          SUITE_TEST(writes_that_wait_are_bounded),
                                          SUITE_TEST(one_value_for_all),
                                          SUITE_TEST(a_write_here_waits_for_nobody_but_copies),
                                          SUITE_TEST(jobs_do_not_see_one_anothers_values),
                                          SUITE_TEST(numbers_count_once_though_packets_are_lost),
                                          SUITE_TEST(looks_that_are_asked_again_tell_the_same),
                                          SUITE_TEST(what_moved_is_gone)};
SUITE_MAIN("root", tests)
