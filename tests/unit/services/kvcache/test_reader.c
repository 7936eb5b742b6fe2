/* SPDX-License-Identifier: Apache-2.0 */
#include "kv_town.h"
#include "services/kvcache/reader.h"
#include "suite.h"

#include <errno.h>

static struct fake_net *net;

START_TEST(a_write_without_an_answer_is_unknown)
{
    net = kv_town_open(3, 0);
    const char *key = kv_town_key(net, 1, 0);
    net->lose = 1;
    ck_assert_int_eq(kv_town_do(net, 0, KV_SET, key, "value"), KV_TIMED_OUT); /* it never left: nobody was found */
    ck_assert_int_eq(kv_town_do(net, 0, KV_GET, key, NULL), KV_TIMED_OUT);
    net->lose = 0;
    ck_assert_int_eq(kv_town_do(net, 0, KV_SET, key, "value"), KV_OK);
    net->lose = 1;
    ck_assert_int_eq(kv_town_do(net, 0, KV_SET, key, "value"), KV_UNKNOWN);
    ck_assert_uint_eq(fake_net_close(net), 0);
}
END_TEST

/* The first write to a server is asked again as any other, and done once. */
START_TEST(the_first_write_is_repeated_too)
{
    for (unsigned lose = 3; lose < 8; lose++) {
        net = kv_town_open(3, 0);
        const char *key = kv_town_key(net, 1, 0);
        struct kv_request r = kv_town_request(KV_INCR, key, NULL);
        r.create = true;
        r.initial = 1;
        r.delta = 1;
        net->lose = lose;
        ck_assert_int_eq(kv_town_ask(net, 0, &r), 0);
        fake_net_run(net, CW_SEC(3));
        ck_assert_uint_eq(kv_town_answer.times, 1);
        ck_assert_int_eq(kv_town_answer.status, KV_OK);
        ck_assert_str_eq(kv_town_answer.value, "1");
        ck_assert_uint_eq(fake_net_close(net), 0);
    }
}
END_TEST

START_TEST(the_minority_stores_nothing)
{
    net = kv_town_open(3, 0);
    net->server[0]->down[1] = net->server[0]->down[2] = true;
    ck_assert_int_eq(kv_town_do(net, 0, KV_SET, "key", "value"), KV_NO_MAJORITY);
    ck_assert_int_eq(kv_town_do(net, 0, KV_GET, "key", NULL), KV_MISS);
    ck_assert_uint_eq(fake_net_close(net), 0);
}
END_TEST

START_TEST(without_a_privilege_it_is_denied)
{
    net = kv_town_open(3, 0);
    const char *key = kv_town_key(net, 1, 0);
    net->server[0]->refuse = -EACCES;
    ck_assert_int_eq(kv_town_do(net, 0, KV_SET, key, "value"), KV_DENIED);
    ck_assert_int_eq(kv_town_do(net, 0, KV_GET, key, NULL), KV_DENIED);
    ck_assert_uint_eq(fake_net_close(net), 0);
}
END_TEST

/* Its answer to a write that is under way, at a server that was written to before. */
static enum kv_status after(int status, bool doubt)
{
    net = kv_town_open(3, 0);
    const char *key = kv_town_key(net, 1, 0);
    struct kvcache *k = kv_town_cache(net, 0);
    struct kv_request r = kv_town_request(KV_SET, key, "value");
    ck_assert_int_eq(kv_town_do(net, 0, KV_SET, key, "value"), KV_OK);
    net->lose = 1;
    ck_assert_int_eq(kv_town_ask(net, 0, &r), 0);
    struct question *q = container_of(list_first(&k->writes), struct question, node);
    q->doubt = doubt;
    rpc_cancel(q);
    q->finished = false;
    reader_replied(q, status, NULL, CW_SERVER_NONE);
    if (kv_town_answer.times == 0) {
        ck_assert_int_eq(q->doubt, status != -ENOENT || doubt);
        net->lose = 0;
        fake_net_run(net, CW_SEC(3));
    }
    ck_assert_uint_eq(kv_town_answer.times, 1);
    enum kv_status end = kv_town_answer.status;
    ck_assert_uint_eq(fake_net_close(net), 0);
    return end;
}

START_TEST(what_was_refused_is_not_in_doubt)
{
    ck_assert_int_eq(after(-EACCES, false), KV_DENIED);
    ck_assert_int_eq(after(-EACCES, true), KV_UNKNOWN);
    ck_assert_int_eq(after(-ECANCELED, false), KV_UNKNOWN);
    ck_assert_int_eq(after(-ENOENT, false), KV_OK); /* asked again */
    ck_assert_int_eq(after(-EBADMSG, false), KV_OK);
    ck_assert_int_eq(after(-ETIMEDOUT, false), KV_OK);
}
END_TEST

static void ends(void *arg, const struct kv_result *r)
{
    (void)r;
    ++*(unsigned *)arg;
}

START_TEST(what_is_under_way_is_bounded_in_bytes)
{
    static uint8_t large[KV_VALUE_MAX];
    unsigned asked = 0, ended = 0;
    net = kv_town_open(3, 0);
    struct kvcache *k = kv_town_cache(net, 0);
    struct kv_request r = kv_town_request(KV_SET, kv_town_key(net, 1, 0), NULL);
    net->lose = 1;
    r.value = large;
    r.value_length = sizeof large;
    while (kv_do(net->server[0], &r, ends, &ended) == 0) {
        asked++;
    }
    ck_assert_uint_eq(asked, 63);
    ck_assert_int_eq(kv_do(net->server[0], &r, ends, &ended), -ENOBUFS);
    r.value_length = 100;
    ck_assert_int_eq(kv_do(net->server[0], &r, ends, &ended), 0); /* that much fits */
    fake_net_run(net, CW_MS(2500));
    ck_assert_uint_eq(ended, asked + 1);
    ck_assert_uint_eq(k->question_bytes, 0);
    ck_assert_uint_eq(k->question_count, 0);
    ck_assert_uint_eq(fake_net_close(net), 0);
}
END_TEST

static unsigned order[2], told;

static void notes(void *arg, const struct kv_result *r)
{
    (void)r;
    order[told++] = *(unsigned *)arg;
}

/* What it is told may be gone with the first question that another asks. */
START_TEST(who_fetches_is_told_before_who_joined_it)
{
    static unsigned first = 1, second = 2;
    net = kv_town_open(3, 0);
    struct kvcache *k = kv_town_cache(net, 0);
    struct kv_request r = kv_town_request(KV_GET, kv_town_key(net, 1, 0), NULL);
    net->lose = 1;
    ck_assert_int_eq(kv_do(net->server[0], &r, notes, &first), 0);
    ck_assert_int_eq(kv_do(net->server[0], &r, notes, &second), 0);
    struct list_node *n = list_first(&k->questions);
    struct question *q = container_of(n, struct question, node);
    struct question *joined = container_of(list_next(&k->questions, n), struct question, node);
    rpc_cancel(joined);
    joined->finished = false;
    joined->follows = true;
    joined->until = cw_now(k->svc);
    list_push_back(&q->followers, &joined->fetch);
    struct kv_answer answer = {.state = KV_DONE, .status = KV_OK, .value = (const uint8_t *)"v", .length = 1};
    reader_answer(q, &answer);
    ck_assert_uint_eq(told, 2);
    ck_assert(order[0] == first && order[1] == second);
    ck_assert_uint_eq(fake_net_close(net), 0);
}
END_TEST

START_TEST(who_waits_when_it_closes_is_told)
{
    net = kv_town_open(3, 0);
    for (unsigned known = 0; known < 2; known++) {
        net = known ? kv_town_open(3, 0) : net;
        struct kv_request r = kv_town_request(KV_SET, kv_town_key(net, 1, 0), "value");
        if (known) {
            ck_assert_int_eq(kv_town_do(net, 0, KV_SET, kv_town_key(net, 1, 0), "value"), KV_OK);
        }
        ck_assert_int_eq(kv_town_ask(net, 0, &r), 0);
        ck_assert_uint_eq(kv_town_answer.times, 0);
        fake_net_close(net);
        ck_assert_uint_eq(kv_town_answer.times, 1);
        ck_assert_int_eq(kv_town_answer.status, known ? KV_UNKNOWN : KV_TIMED_OUT); /* only its name was asked for */
    }
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(a_write_without_an_answer_is_unknown),  SUITE_TEST(the_first_write_is_repeated_too),
    SUITE_TEST(the_minority_stores_nothing),           SUITE_TEST(without_a_privilege_it_is_denied),
    SUITE_TEST(who_waits_when_it_closes_is_told),      SUITE_TEST(who_fetches_is_told_before_who_joined_it),
    SUITE_TEST(what_is_under_way_is_bounded_in_bytes), SUITE_TEST(what_was_refused_is_not_in_doubt)};
SUITE_MAIN("reader", tests)
