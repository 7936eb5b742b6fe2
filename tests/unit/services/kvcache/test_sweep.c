/* SPDX-License-Identifier: Apache-2.0 */
#include "kv_town.h"
#include "services/kvcache/sweep.h"
#include "suite.h"

static struct fake_net *net;
static struct kvcache *k;

/* One server with a value of each of some jobs. */
static void open_with_jobs(unsigned jobs)
{
    net = kv_town_open(1, 0);
    k = kv_town_cache(net, 0);
    for (unsigned i = 0; i < jobs; i++) {
        struct kv_request r = kv_town_request(KV_SET, "key", "value");
        r.job = 100 + i;
        ck_assert_int_eq(kv_town_ask(net, 0, &r), 0);
        ck_assert_int_eq(kv_town_answer.status, KV_OK);
    }
}

static enum kv_status get(cw_job job)
{
    struct kv_request r = kv_town_request(KV_GET, "key", NULL);
    r.job = job;
    ck_assert_int_eq(kv_town_ask(net, 0, &r), 0);
    ck_assert_uint_eq(kv_town_answer.times, 1);
    return kv_town_answer.status;
}

START_TEST(what_was_cut_is_gone_at_once_and_its_memory_soon)
{
    open_with_jobs(3);
    sweep_cut(k, 101);
    ck_assert_uint_eq(k->values.count, 3);
    ck_assert_int_eq(get(100), KV_OK);
    ck_assert_int_eq(get(101), KV_MISS);
    ck_assert_int_eq(get(102), KV_OK);
    sweep_cut(k, 102);
    ck_assert_uint_eq(k->values.count, 2);
    fake_net_run(net, CW_MS(10));
    ck_assert_uint_eq(k->values.count, 1);
    ck_assert_uint_eq(k->cuts, 0);
    ck_assert_uint_eq(fake_net_close(net), 0);
}
END_TEST

START_TEST(what_is_stored_after_a_cut_stays)
{
    open_with_jobs(1);
    sweep_cut(k, 100);
    struct kv_request r = kv_town_request(KV_SET, "key", "later");
    r.job = 100;
    ck_assert_int_eq(kv_town_ask(net, 0, &r), 0);
    fake_net_run(net, CW_MS(10));
    ck_assert_int_eq(get(100), KV_OK);
    ck_assert_uint_eq(fake_net_close(net), 0);
}
END_TEST

/* Values may be lost at any time: when there are too many cuts to remember, all jobs are cut. */
START_TEST(one_cut_more_than_there_is_room_for_cuts_all)
{
    open_with_jobs(KV_CUTS_MOST + 2);
    for (cw_job job = 100; job < 100 + KV_CUTS_MOST; job++) {
        sweep_cut(k, job);
    }
    ck_assert_int_eq(get(100 + KV_CUTS_MOST + 1), KV_OK);
    sweep_cut(k, 100 + KV_CUTS_MOST);
    ck_assert_uint_eq(k->cuts, 1);
    for (cw_job job = 100; job < 100 + KV_CUTS_MOST + 2; job++) {
        ck_assert_int_eq(get(job), KV_MISS);
    }
    ck_assert_uint_eq(fake_net_close(net), 0);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(what_was_cut_is_gone_at_once_and_its_memory_soon),
                                          SUITE_TEST(what_is_stored_after_a_cut_stays),
                                          SUITE_TEST(one_cut_more_than_there_is_room_for_cuts_all)};
SUITE_MAIN("sweep", tests)
