/* SPDX-License-Identifier: Apache-2.0 */
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

START_TEST(every_status_has_words)
{
    for (int i = 0; i < KV_STATUSES; i++) {
        ck_assert_str_ne(kv_status_text((enum kv_status)i), "?");
    }
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(what_cannot_be_asked_is_refused),
                                          SUITE_TEST(packets_that_are_none_are_counted),
                                          SUITE_TEST(every_status_has_words)};
SUITE_MAIN("kvcache", tests)
