/* SPDX-License-Identifier: Apache-2.0 */
/* All values of a job dropped, everywhere. */
#include "kv_town.h"
#include "services/kvcache/flush.h"
#include "suite.h"

#include <errno.h>

static struct fake_net *net;

static struct {
    unsigned times;
    struct flush_result result;
} heard;

static void flushed(void *arg, const struct flush_result *result)
{
    (void)arg;
    heard.times++;
    heard.result = *result;
}

static int begin(cw_server at, cw_job job)
{
    heard.times = 0;
    return flush_begin(kv_town_cache(net, at), job, flushed, NULL);
}

static enum kv_status flush(cw_server at)
{
    ck_assert_int_eq(begin(at, KVCACHE_JOB), 0);
    fake_net_run(net, CW_SEC(3));
    ck_assert_uint_eq(heard.times, 1);
    return heard.result.status;
}

static size_t values(cw_server at)
{
    return kv_town_cache(net, at)->values.count;
}

START_TEST(all_values_of_the_job_go_and_no_others)
{
    net = kv_town_open(5, 0);
    struct kv_request other = kv_town_request(KV_SET, "key", "theirs");
    other.job = 99;
    ck_assert_int_eq(kv_town_ask(net, 0, &other), 0);
    fake_net_run(net, CW_SEC(1));
    for (cw_server s = 0; s < 5; s++) {
        ck_assert_int_eq(kv_town_do(net, 0, KV_SET, kv_town_key(net, s, 0), "value"), KV_OK);
    }
    ck_assert_int_eq(flush(2), KV_OK);
    ck_assert_uint_eq(heard.result.answered, 5);
    for (cw_server s = 0; s < 5; s++) {
        ck_assert_int_eq(kv_town_do(net, 1, KV_GET, kv_town_key(net, s, 0), NULL), KV_MISS);
        ck_assert_int_eq(kv_town_do(net, 1, KV_ADD, kv_town_key(net, s, 0), "new"), KV_OK);
    }
    other = kv_town_request(KV_GET, "key", NULL);
    other.job = 99;
    ck_assert_int_eq(kv_town_ask(net, 0, &other), 0);
    fake_net_run(net, CW_SEC(1));
    ck_assert_str_eq(kv_town_answer.value, "theirs");
    for (cw_server s = 0; s < 5; s++) {
        ck_assert_int_eq(kv_town_do(net, 1, KV_GET, kv_town_key(net, s, 0), NULL), KV_OK);
    }
    ck_assert_uint_eq(fake_net_close(net), 0);
}
END_TEST

START_TEST(memory_comes_back)
{
    net = kv_town_open(3, 0);
    for (unsigned i = 0; i < 300; i++) {
        ck_assert_int_eq(kv_town_do(net, 0, KV_SET, kv_town_key(net, i % 3, i / 3), "value"), KV_OK);
    }
    ck_assert_uint_eq(values(0) + values(1) + values(2), 300);
    ck_assert_int_eq(flush(0), KV_OK);
    ck_assert_uint_eq(values(0) + values(1) + values(2), 0);
    ck_assert_uint_eq(kv_town_cache(net, 1)->cuts, 0);
    ck_assert_uint_eq(fake_net_close(net), 0);
}
END_TEST

START_TEST(copies_go_too)
{
    net = kv_town_open(9, 8);
    unsigned copies = 0;
    for (unsigned i = 0; i < 40; i++) {
        const char *key = kv_town_key(net, 4, i);
        ck_assert_int_eq(kv_town_do(net, 4, KV_SET, key, "value"), KV_OK);
        for (cw_server s = 0; s < 9; s++) {
            ck_assert_int_eq(kv_town_do(net, s, KV_GET, key, NULL), KV_OK);
            copies += kv_town_answer.source == KV_FROM_COPY;
        }
    }
    ck_assert_uint_gt(copies, 0);
    uint32_t before = kv_town_cache(net, 0)->generation;
    ck_assert_int_eq(flush(7), KV_OK);
    ck_assert_uint_eq(kv_town_cache(net, 0)->generation, before + 1);
    for (cw_server s = 0; s < 9; s++) {
        ck_assert_uint_eq(kv_town_cache(net, s)->copies.count, 0);
        for (unsigned i = 0; i < 40; i++) {
            ck_assert_int_eq(kv_town_do(net, s, KV_GET, kv_town_key(net, 4, i), NULL), KV_MISS);
        }
    }
    ck_assert_uint_eq(fake_net_close(net), 0);
}
END_TEST

START_TEST(what_was_asked_before_is_not_kept)
{
    net = kv_town_open(9, 8);
    struct kvcache *k = kv_town_cache(net, 0);
    /* A copy that arrives after the new generation began is of the former. */
    for (unsigned i = 0; i < 40; i++) {
        const char *key = kv_town_key(net, 4, i);
        ck_assert_int_eq(kv_town_do(net, 4, KV_SET, key, "value"), KV_OK);
        struct kv_request r = kv_town_request(KV_GET, key, NULL);
        size_t before = k->copies.count;
        ck_assert_int_eq(kv_town_ask(net, 0, &r), 0);
        for (cw_server s = 0; s < 9; s++) {
            kv_town_cache(net, s)->generation++;
        }
        fake_net_run(net, CW_MS(50));
        ck_assert_int_eq(kv_town_answer.status, KV_OK);
        ck_assert_uint_le(k->copies.count, before);
    }
    ck_assert_uint_eq(fake_net_close(net), 0);
}
END_TEST

START_TEST(lost_packets_are_sent_again)
{
    net = kv_town_open(5, 0);
    for (unsigned i = 3; i < 7; i++) {
        ck_assert_int_eq(kv_town_do(net, 0, KV_SET, "key", "value"), KV_OK);
        net->lose = i;
        ck_assert_int_eq(flush(1), KV_OK);
        net->lose = 0;
        ck_assert_int_eq(kv_town_do(net, 3, KV_GET, "key", NULL), KV_MISS);
    }
    ck_assert_uint_eq(fake_net_close(net), 0);
}
END_TEST

START_TEST(an_ask_that_comes_twice_cuts_once)
{
    net = kv_town_open(3, 0);
    struct kvcache *k = kv_town_cache(net, 1);
    const char *key = kv_town_key(net, 1, 0);
    struct asker asker = {.kind = ASKER_HERE, .server = 2};
    struct kv_ask ask = {.kind = KV_ASK_CUT, .from = 77, .number = 5};
    ask.r.job = KVCACHE_JOB;
    ck_assert_int_eq(kv_town_do(net, 0, KV_SET, key, "before"), KV_OK);
    flush_take(k, &asker, &ask);
    ck_assert_int_eq(kv_town_do(net, 0, KV_GET, key, NULL), KV_MISS);
    ck_assert_int_eq(kv_town_do(net, 0, KV_SET, key, "after"), KV_OK);
    flush_take(k, &asker, &ask);
    ask.number = 4;
    flush_take(k, &asker, &ask);
    ck_assert_int_eq(kv_town_do(net, 0, KV_GET, key, NULL), KV_OK);
    ask.from = 78; /* another life of the asker */
    flush_take(k, &asker, &ask);
    ck_assert_int_eq(kv_town_do(net, 0, KV_GET, key, NULL), KV_MISS);
    ck_assert_uint_eq(fake_net_close(net), 0);
}
END_TEST

START_TEST(who_does_not_answer_is_told_of)
{
    net = kv_town_open(5, 0);
    net->lose = 1; /* everything */
    ck_assert_int_eq(flush(1), KV_TIMED_OUT);
    ck_assert_uint_eq(heard.result.answered, 1);
    ck_assert_uint_eq(heard.result.missing, 4);
    ck_assert_uint_eq(heard.result.first, 0);
    net->lose = 0;
    ck_assert_int_eq(flush(1), KV_OK);
    ck_assert_uint_eq(fake_net_close(net), 0);
}
END_TEST

START_TEST(more_jobs_than_are_remembered)
{
    net = kv_town_open(1, 0);
    struct kvcache *k = kv_town_cache(net, 0);
    ck_assert_int_eq(kv_town_do(net, 0, KV_SET, "key", "value"), KV_OK);
    for (cw_job job = 100; job < 100 + KV_CUTS_MOST; job++) {
        ck_assert_int_eq(begin(0, job), 0);
        ck_assert(heard.times == 1 && heard.result.status == KV_OK); /* alone: at once */
    }
    ck_assert_uint_eq(k->cuts, KV_CUTS_MOST);
    ck_assert_int_eq(kv_town_do(net, 0, KV_GET, "key", NULL), KV_OK);
    ck_assert_int_eq(begin(0, 99), 0);
    ck_assert_uint_eq(k->cuts, 1);
    ck_assert_int_eq(kv_town_do(net, 0, KV_GET, "key", NULL), KV_MISS); /* any value may be lost */
    ck_assert_uint_eq(fake_net_close(net), 0);
}
END_TEST

static void told(void *arg, const struct kv_result *r)
{
    *(enum kv_status *)arg = r->status;
}

START_TEST(others_ask_by_the_exports)
{
    net = kv_town_open(3, 0);
    enum kv_status status = KV_STATUSES;
    const struct kvcache_api *api = kvcache_service.exports;
    ck_assert_int_eq(kv_town_do(net, 0, KV_SET, "key", "value"), KV_OK);
    ck_assert_int_eq(api->flush(net->server[1], KV_EVERY_JOB, told, &status), -EINVAL);
    ck_assert_int_eq(api->flush(net->server[1], KVCACHE_JOB, told, &status), 0);
    fake_net_run(net, CW_SEC(1));
    ck_assert_int_eq(status, KV_OK);
    ck_assert_int_eq(kv_town_do(net, 0, KV_GET, "key", NULL), KV_MISS);
    status = KV_STATUSES;
    net->lose = 1;
    ck_assert_int_eq(api->flush(net->server[1], KVCACHE_JOB, told, &status), 0);
    ck_assert_uint_eq(fake_net_close(net), 0);
    ck_assert_int_eq(status, KV_UNKNOWN); /* the service closed under it */
}
END_TEST

/*
 * An instance that was loaded into a running server takes writes as soon as all have dropped their copies, and else
 * when those are too old.
 */
START_TEST(a_late_instance_asks_for_all_copies)
{
    net = fake_net_open(&kvcache_service, (cw_dims){5, 1, 1});
    fake_net_run(net, CW_MS(200));
    const char *key = kv_town_key(net, 1, 0);
    ck_assert_int_eq(kv_town_do(net, 0, KV_SET, key, "value"), KV_OK);
    for (cw_server s = 0; s < 5; s++) {
        ck_assert_uint_eq(kv_town_cache(net, s)->generation, 5); /* each asked */
    }
    ck_assert_uint_eq(fake_net_close(net), 0);
    net = fake_net_open(&kvcache_service, (cw_dims){5, 1, 1});
    net->lose = 1;
    fake_net_run(net, CW_SEC(5));
    net->lose = 0;
    key = kv_town_key(net, 1, 0);
    struct kv_request r = kv_town_request(KV_SET, key, "value");
    ck_assert_int_eq(kv_town_ask(net, 1, &r), 0);
    ck_assert_uint_eq(kv_town_answer.times, 0);
    fake_net_run(net, CW_MS(200));
    ck_assert_int_eq(kv_town_answer.status, KV_OK);
    ck_assert_uint_eq(fake_net_close(net), 0);
    net = fake_net_open(&kvcache_service, (cw_dims){5, 1, 1});
    net->lose = 1;
    fake_net_run(net, CW_MS(11100));
    ck_assert_int_eq(kv_town_ask(net, 1, &r), 0);
    ck_assert_uint_eq(kv_town_answer.times, 1);
    ck_assert_uint_eq(fake_net_close(net), 0);
}
END_TEST

static int open_lapsed(cw_svc *s, void *state)
{
    s->fenced = true;
    return kvcache_service.open(s, state);
}

/* The lease lapsed a moment before it was loaded: what an instance before it gave away is out there all the same. */
START_TEST(a_late_instance_without_a_lease_asks_too)
{
    cw_service late = kvcache_service;
    late.open = open_lapsed;
    net = fake_net_open(&late, (cw_dims){5, 1, 1});
    const char *key = kv_town_key(net, 1, 0);
    struct kvcache *k = kv_town_cache(net, 0);
    struct kv_request r = kv_town_request(KV_SET, key, "new");
    cw_key id = kv_mem_id(k, r.job, r.key, r.key_length);
    struct item_name name = kv_name(&id, &r);
    for (cw_server s = 0; s < 5; s++) {
        net->server[s]->fenced = false;
    }
    net->lose = 1;
    fake_net_run(net, CW_MS(500));
    struct item *copy = items_new(&k->copies, &name, 3);
    ck_assert_ptr_nonnull(copy);
    memcpy(item_value(copy), "old", 3);
    copy->epoch = cw_epoch(k->svc);
    copy->stamp = k->generation;
    copy->expires = cw_time_add(cw_now(k->svc), CW_MS(KV_AGE_MOST_MS));
    items_place(&k->copies, copy, cw_now(k->svc));
    ck_assert_int_eq(kv_town_do(net, 0, KV_GET, key, NULL), KV_OK);
    ck_assert_str_eq(kv_town_answer.value, "old");
    ck_assert_int_eq(kv_town_ask(net, 1, &r), 0);
    fake_net_run(net, CW_MS(200));
    ck_assert_uint_eq(kv_town_answer.times, 0);
    net->lose = 0;
    fake_net_run(net, CW_MS(300));
    ck_assert_uint_eq(kv_town_answer.times, 1);
    ck_assert_int_eq(kv_town_answer.status, KV_OK);
    ck_assert_int_eq(kv_town_do(net, 0, KV_GET, key, NULL), KV_OK);
    ck_assert_str_eq(kv_town_answer.value, "new");
    ck_assert_uint_eq(fake_net_close(net), 0);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(a_late_instance_without_a_lease_asks_too),
                                          SUITE_TEST(all_values_of_the_job_go_and_no_others),
                                          SUITE_TEST(memory_comes_back),
                                          SUITE_TEST(copies_go_too),
                                          SUITE_TEST(what_was_asked_before_is_not_kept),
                                          SUITE_TEST(lost_packets_are_sent_again),
                                          SUITE_TEST(an_ask_that_comes_twice_cuts_once),
                                          SUITE_TEST(who_does_not_answer_is_told_of),
                                          SUITE_TEST(more_jobs_than_are_remembered),
                                          SUITE_TEST(a_late_instance_asks_for_all_copies),
                                          SUITE_TEST(others_ask_by_the_exports)};
SUITE_MAIN("flush", tests)
