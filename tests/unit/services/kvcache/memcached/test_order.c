/* SPDX-License-Identifier: Apache-2.0 */
/* Answers stand in the order of the commands, whatever the order in which the cache gives them. */
#include "services/kvcache/memcached/order.h"

#include "mc_talk.h"
#include "suite.h"

START_TEST(answers_wait_for_those_before)
{
    struct talk t;
    talk_open(&t);
    say(&t, "set a 0 0 1\r\n1\r\nset b 0 0 1\r\n2\r\nset c 0 0 1\r\n3\r\n");
    (void)hear(&t);
    t.cache.deferred = true;
    say(&t, "get a b nope c\r\nmn\r\n");
    ck_assert_uint_eq(t.cache.waits, 4);
    ck_assert_str_eq(hear(&t), "");
    standin_answer(&t.cache, 3); /* c */
    standin_answer(&t.cache, 1); /* b */
    ck_assert_str_eq(hear(&t), "");
    ck_assert_uint_gt(t.hub.answers, 0);
    standin_answer(&t.cache, 0); /* a */
    ck_assert_str_eq(hear(&t), "VALUE a 0 1\r\n1\r\nVALUE b 0 1\r\n2\r\n");
    standin_answer(&t.cache, 0);
    ck_assert_str_eq(hear(&t), "VALUE c 0 1\r\n3\r\nEND\r\nMN\r\n");
    ck_assert_uint_eq(t.hub.answers, 0);
    ck_assert_uint_eq(t.readied, 4);
    talk_close(&t);
}
END_TEST

START_TEST(a_key_sees_its_commands_in_their_order)
{
    struct talk t;
    talk_open(&t);
    t.cache.deferred = true;
    say(&t, "set a 0 0 1\r\n1\r\nset b 0 0 1\r\n2\r\nget a\r\n");
    ck_assert_uint_eq(t.cache.waits, 2); /* b does not wait for a, the look at a does */
    ck_assert(!mc_session_wants(t.session));
    standin_answer(&t.cache, 1);
    mc_session_resume(t.session);
    ck_assert_uint_eq(t.cache.waits, 1);
    standin_answer(&t.cache, 0);
    mc_session_resume(t.session);
    ck_assert_uint_eq(t.cache.waits, 1);
    standin_answer_all(&t.cache);
    ck_assert_str_eq(hear(&t), "STORED\r\nSTORED\r\nVALUE a 0 1\r\n1\r\nEND\r\n");
    say(&t, "get a\r\nget a\r\ndelete a\r\nget b\r\n");
    ck_assert_uint_eq(t.cache.waits, 2); /* looks pass one another, the delete waits */
    standin_answer_all(&t.cache);
    mc_session_resume(t.session);
    standin_answer_all(&t.cache);
    ck_assert_str_eq(hear(&t),
                     "VALUE a 0 1\r\n1\r\nEND\r\nVALUE a 0 1\r\n1\r\nEND\r\nDELETED\r\nVALUE b 0 1\r\n2\r\nEND\r\n");
    talk_close(&t);
}
END_TEST

START_TEST(nothing_passes_a_flush)
{
    struct talk t;
    talk_open(&t);
    t.cache.deferred = true;
    say(&t, "set a 0 0 1\r\n1\r\nflush_all\r\nget a\r\n");
    ck_assert_uint_eq(t.cache.waits, 1);
    for (int i = 0; i < 3; i++) {
        standin_answer_all(&t.cache);
        mc_session_resume(t.session);
    }
    ck_assert_str_eq(hear(&t), "STORED\r\nOK\r\nEND\r\n");
    talk_close(&t);
}
END_TEST

START_TEST(so_many_are_under_way)
{
    struct talk t;
    talk_open(&t);
    t.cache.deferred = true;
    char line[4096] = "get";
    for (unsigned i = 0; i < 200; i++) {
        snprintf(line + strlen(line), 16, " k%u", i);
    }
    strcat(line, "\r\n");
    say(&t, line);
    ck_assert_uint_eq(t.cache.waits, MC_WINDOW);
    unsigned asked = 0;
    while (t.cache.waits > 0) {
        standin_answer(&t.cache, 0);
        mc_session_resume(t.session);
        ck_assert_uint_le(t.cache.waits, MC_WINDOW);
        asked++;
    }
    ck_assert_uint_eq(asked, 200);
    ck_assert_str_eq(hear(&t), "END\r\n");
    t.hub.answers = t.config.memory + 1; /* too many bytes are on their way: one at a time */
    say(&t, "get a b c\r\n");
    ck_assert_uint_eq(t.cache.waits, 1);
    t.hub.answers = 0;
    talk_close(&t);
}
END_TEST

/*
 * Values of any length may come: no more are asked for at once than memory is for, by clients that have one under way.
 */
START_TEST(all_clients_share_what_is_under_way)
{
    struct talk t;
    talk_open(&t);
    t.cache.deferred = true;
    t.config.memory = 3 * KV_VALUE_MAX;
    say(&t, "get a b c d e\r\n");
    ck_assert_uint_eq(t.cache.waits, 3);
    ck_assert_uint_eq(t.hub.under_way, 3);
    struct mc_session *other = mc_session_open(&t.hub, &t);
    mc_session_feed(other, (const uint8_t *)"get f g\r\n", 9);
    ck_assert_uint_eq(t.cache.waits, 4); /* one is always allowed */
    ck_assert(!mc_session_wants(other));
    standin_answer_all(&t.cache);
    ck_assert_uint_eq(t.hub.under_way, 0);
    mc_session_resume(t.session);
    mc_session_resume(other);
    ck_assert_uint_eq(t.cache.waits, 3); /* d, e and g */
    standin_answer_all(&t.cache);
    ck_assert_str_eq(hear(&t), "END\r\n");
    mc_session_close(other);
    talk_close(&t);
}
END_TEST

START_TEST(a_client_that_left_is_not_told)
{
    struct talk t;
    talk_open(&t);
    t.cache.deferred = true;
    say(&t, "get a b\r\nset c 0 0 1\r\n1\r\n");
    mc_session_close(t.session);
    t.session = NULL;
    ck_assert_uint_eq(t.hub.sessions, 1);
    standin_answer_all(&t.cache);
    ck_assert_uint_eq(t.hub.sessions, 0);
    ck_assert_uint_eq(t.gone, 1);
    ck_assert_uint_eq(t.readied, 0);
    ck_assert_uint_eq(t.hub.answers, 0);
    talk_close(&t);
}
END_TEST

static struct mc_slot *asked[8];
static unsigned asks;

static int never_now(void *context, const struct kv_request *r, kv_done_fn done, void *arg)
{
    (void)context, (void)r;
    ck_assert_ptr_eq((void *)done, (void *)order_done);
    asked[asks++] = arg;
    return 0;
}

static const struct kv_result good = {.status = KV_OK, .value = (const uint8_t *)"v", .value_length = 1};
static const struct kv_result too_much = {.status = KV_OK, .value = (const uint8_t *)"v", .value_length = SIZE_MAX / 2};

/* An answer is lost for want of memory: the next one would be taken for it. */
static void lose(unsigned lost)
{
    struct talk t;
    talk_open(&t);
    asks = 0;
    t.hub.run = never_now;
    say(&t, "get a\r\nget b\r\nget c\r\nget d\r\n");
    ck_assert_uint_eq(asks, 4);
    order_done(asked[0], &good);
    order_done(asked[lost], &too_much);
    ck_assert_uint_eq(t.readied, 2);
    ck_assert(!mc_session_wants(t.session)); /* so that the gateway lets it end */
    for (unsigned i = 1; i < 4; i++) {
        if (i != lost) {
            order_done(asked[i], &good);
        }
    }
    ck_assert(mc_session_over(t.session));
    mc_session_resume(t.session);
    mc_session_feed(t.session, (const uint8_t *)"mn\r\nget e\r\n", 11);
    ck_assert_uint_eq(asks, 4);
    ck_assert_str_eq(hear(&t), "VALUE a 0 1\r\nv\r\nEND\r\n");
    ck_assert(mc_session_over(t.session));
    ck_assert_uint_eq(t.hub.answers, 0);
    talk_close(&t);
}

START_TEST(nothing_is_said_behind_an_answer_that_is_lost)
{
    lose(1);
    lose(2); /* while it waited for another */
    lose(3);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(answers_wait_for_those_before),
                                          SUITE_TEST(a_key_sees_its_commands_in_their_order),
                                          SUITE_TEST(nothing_passes_a_flush),
                                          SUITE_TEST(so_many_are_under_way),
                                          SUITE_TEST(all_clients_share_what_is_under_way),
                                          SUITE_TEST(a_client_that_left_is_not_told),
                                          SUITE_TEST(nothing_is_said_behind_an_answer_that_is_lost)};
SUITE_MAIN("mc_order", tests)
