/* SPDX-License-Identifier: Apache-2.0 */
#include "services/transport/segment.h"

#include "kv_town.h"
#include "suite.h"

#include <errno.h>
#include <string.h>

static void nobody(void *arg, const struct kv_result *r)
{
    (void)arg;
    (void)r;
    ck_abort();
}

START_TEST(what_cannot_be_asked_is_refused)
{
    struct fake_net *net = kv_town_open(1, 0);
    static char long_key[KV_KEY_MAX + 2];
    cw_svc *s = net->server[0];
    memset(long_key, 'k', KV_KEY_MAX + 1);
    struct kv_request r = kv_town_request(KV_GET, "", NULL);
    ck_assert_int_eq(kv_do(s, &r, nobody, NULL), -EINVAL);
    r = kv_town_request(KV_GET, long_key, NULL);
    ck_assert_int_eq(kv_do(s, &r, nobody, NULL), -EINVAL);
    r = kv_town_request(KV_GET, "key", "value");
    ck_assert_int_eq(kv_do(s, &r, nobody, NULL), -EINVAL);
    r = kv_town_request(KV_OPS, "key", NULL);
    ck_assert_int_eq(kv_do(s, &r, nobody, NULL), -EINVAL);
    r = kv_town_request(KV_SET, "key", "value");
    ck_assert_int_eq(kv_do(s, &r, NULL, NULL), -EINVAL);
    r.value_length = KV_VALUE_MAX + 1;
    ck_assert_int_eq(kv_do(s, &r, nobody, NULL), -EMSGSIZE);
    ck_assert_uint_eq(fake_net_close(net), 0);
}
END_TEST

START_TEST(packets_that_are_none_are_counted)
{
    struct fake_net *net = kv_town_open(2, 0);
    cw_svc *s = net->server[0];
    cw_verdict verdict;
    cw_rx rx = {
        .size = sizeof rx, .where = CW_ARRIVED, .kind = CW_TO_SERVER, .job = KVCACHE_JOB, .src_job = KVCACHE_JOB};
    fake_arrive(s, fake_packet(s, "no", 2, 0), &rx, &verdict); /* no call */
    rx.call = fake_right(s, cw_self(s), 1);
    if (fake_arrive(s, fake_packet(s, "no", 2, 0), &rx, &verdict)) {
        ck_assert_int_ne(verdict, CW_TAKE);
    }
    ck_assert_uint_eq(kv_town_cache(net, 0)->count[KV_COUNT_MALFORMED], 2);
    fake_net_close(net);
}
END_TEST

static uint64_t peers(struct fake_net *net)
{
    struct transport_stats stats;
    transport_stats(kv_town_cache(net, 0)->transport, &stats);
    return stats.peers;
}

/*
 * The transport remembers who says hello, by job, process and port: only those of whom there can be as many as servers
 * get so far.
 */
START_TEST(strangers_do_not_reach_the_transport)
{
    struct fake_net *net = kv_town_open(2, 0);
    cw_svc *s = net->server[0];
    uint8_t bytes[64];
    struct segment hello = {.kind = SEGMENT_HELLO, .out = 4711, .instance = 3};
    uint64_t before = peers(net), malformed = kv_town_cache(net, 0)->count[KV_COUNT_MALFORMED];
    for (unsigned i = 0; i < 100; i++) {
        cw_rx rx = {.size = sizeof rx,
                    .where = CW_ARRIVED,
                    .kind = CW_TO_SERVER,
                    .job = KVCACHE_JOB,
                    .port = KV_BULK_PORT,
                    .src_job = i % 2 == 0 ? 9 : KVCACHE_JOB,
                    .src_process = i % 2 == 0 ? 1 : 2 + i,
                    .src_server = torus_coord(&net->torus, 1)};
        hello.port = (cw_port)(1 + i);
        segment_encode(&hello, bytes);
        fake_arrive(s, fake_packet(s, bytes, segment_head(&hello), 0), &rx, NULL);
    }
    ck_assert_uint_eq(peers(net), before);
    ck_assert_uint_eq(kv_town_cache(net, 0)->count[KV_COUNT_MALFORMED], malformed + 100);
    fake_net_close(net);
}
END_TEST

START_TEST(every_status_has_words)
{
    for (int i = 0; i < KV_STATUSES; i++) {
        ck_assert_str_ne(kv_status_text((enum kv_status)i), "?");
    }
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(what_cannot_be_asked_is_refused), SUITE_TEST(packets_that_are_none_are_counted),
    SUITE_TEST(strangers_do_not_reach_the_transport), SUITE_TEST(every_status_has_words)};
SUITE_MAIN("kvcache", tests)
