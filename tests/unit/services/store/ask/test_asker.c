/* SPDX-License-Identifier: Apache-2.0 */
#include "services/store/ask/asker.h"

#include "services/store/common.h"
#include "store_town.h"
#include "suite.h"

#include <errno.h>

static cw_store_result told;
static unsigned times;

static void on_done(void *arg, const cw_store_result *r)
{
    (void)arg;
    told = *r;
    times++;
}

static int ask(struct fake_net *net, cw_store_request r)
{
    r.size = sizeof r;
    r.job = STORE_JOB;
    times = 0;
    return store_asker_do(store_town_of(net, 0), &r, on_done, NULL);
}

START_TEST(what_makes_no_sense_is_refused)
{
    static char large[CW_STORE_VALUE_MAX + 1];
    struct fake_net *net = store_town_open(3);
    ck_assert_int_eq(ask(net, (cw_store_request){.op = CW_STORE_GET}), -EINVAL);
    ck_assert_int_eq(ask(net, (cw_store_request){.op = CW_STORE_GET, .name = "a"}), -EINVAL);
    ck_assert_int_eq(ask(net, (cw_store_request){.op = CW_STORE_GET, .name = large, .name_length = 1025}), -EINVAL);
    ck_assert_int_eq(
        ask(net, (cw_store_request){.op = CW_STORE_GET, .name = "a", .name_length = 1, .conditional = true}), -EINVAL);
    ck_assert_int_eq(ask(net, (cw_store_request){.op = CW_STORE_PUT, .name = "a", .name_length = 1, .version = 3}),
                     -EINVAL);
    ck_assert_int_eq(
        ask(net,
            (cw_store_request){
                .op = CW_STORE_PUT, .name = "a", .name_length = 1, .value = large, .value_length = sizeof large}),
        -EMSGSIZE);
    ck_assert_int_eq(
        ask(net, (cw_store_request){.op = CW_STORE_DELETE, .name = "a", .name_length = 1, .ttl = CW_MS(1)}), -EINVAL);
    ck_assert_int_eq(ask(net, (cw_store_request){.op = CW_STORE_PUT,
                                                 .name = "a",
                                                 .name_length = 1,
                                                 .ttl = CW_SEC(CW_STORE_TTL_MAX_S + INT64_C(1))}),
                     -EINVAL);
    ck_assert_int_eq(ask(net, (cw_store_request){.op = 9, .name = "a", .name_length = 1}), -EINVAL);
    fake_net_run(net, CW_SEC(1));
    ck_assert_uint_eq(times, 0);
    store_town_close(net);
}
END_TEST

START_TEST(an_answer_never_comes_from_within)
{
    struct fake_net *net = store_town_open(3);
    const cw_store_request r = {.op = CW_STORE_PUT, .name = "a", .name_length = 1, .value = "v", .value_length = 1};
    ck_assert_int_eq(ask(net, r), 0);
    ck_assert_uint_eq(times, 0);
    fake_net_run(net, CW_SEC(1));
    ck_assert_uint_eq(times, 1);
    ck_assert_int_eq(told.status, CW_STORE_OK);
    store_town_close(net);
}
END_TEST

/* Store rule 23: packets are lost, and every write is done once. */
START_TEST(a_write_is_done_once_however_often_it_is_sent)
{
    struct fake_net *net = store_town_open(3);
    int64_t last = store_town_must(net, 0, "put a 0", CW_STORE_OK);
    char line[40];
    store_town_must(net, 4, "get a", CW_STORE_OK); /* by which it hears how far the shard is */
    net->lose = 5;
    for (unsigned i = 1; i < 60; i++) {
        snprintf(line, sizeof line, "cas a %lld %u", (long long)last, i);
        const struct fake_result *r = store_town_ask(net, i % 2 * 4, line);
        ck_assert_int_eq(fake_int(r, 0, "code"), CW_STORE_OK);
        last = fake_int(r, 0, "version");
    }
    net->lose = 0;
    ck_assert_str_eq(fake_text(store_town_ask(net, 3, "get a"), 0, "value"), "59");
    store_town_close(net);
}
END_TEST

START_TEST(without_members_nothing_is_done)
{
    struct fake_net *net = store_town_open(3);
    cw_server member[STORE_COPIES_MOST], asker = 0;
    store_town_members(net, "a", member);
    while (asker == member[0] || asker == member[1] || asker == member[2]) {
        asker++;
    }
    for (unsigned m = 0; m < 3; m++) {
        fake_net_down(net, member[m]);
    }
    store_town_must(net, asker, "put a one wait_ms=500", CW_STORE_NO_QUORUM);
    store_town_close(net);
}
END_TEST

/* All hear, and nobody answers: then nobody knows. */
START_TEST(silence_is_told_as_what_it_is)
{
    struct fake_net *net = store_town_open(3);
    store_town_must(net, 0, "put a one", CW_STORE_OK);
    for (cw_server s = 0; s < STORE_TOWN; s++) {
        store_town_hush(s, true);
    }
    store_town_must(net, 0, "put a two wait_ms=500", CW_STORE_UNKNOWN);
    store_town_must(net, 1, "put a two wait_ms=500",
                    CW_STORE_NO_ANSWER); /* what its asker has heard no n of is not begun */
    store_town_must(net, 0, "get a wait_ms=500", CW_STORE_NO_ANSWER);
    store_town_close(net);
}
END_TEST

/* Who has just started knows neither the leader nor how far the shard is, and its name was written often. */
START_TEST(a_new_asker_is_told_what_was_done)
{
    struct fake_net *net = store_town_open(3);
    cw_server member[STORE_COPIES_MOST];
    for (unsigned i = 0; i < 8; i++) {
        store_town_must(net, 0, "put {a} one", CW_STORE_OK);
    }
    store_town_members(net, "{a}", member);
    for (cw_server s = 1; s < STORE_TOWN; s++) {
        store_town_must(net, s, s % 2 == 0 ? "put {a} two" : "txn put {a} three", CW_STORE_OK);
    }
    for (unsigned m = 0; m < 3; m++) { /* whoever is asked first, two of them do not lead */
        fake_net_down(net, m == 0 ? 8 : 7);
        fake_net_up(net, m == 0 ? 8 : 7);
        fake_net_run(net, CW_MS(100));
        store_town_must(net, m == 0 ? 8 : 7, "txn put {a} four", CW_STORE_OK);
    }
    store_town_close(net);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(what_makes_no_sense_is_refused),
    SUITE_TEST(an_answer_never_comes_from_within),
    SUITE_TEST(a_write_is_done_once_however_often_it_is_sent),
    SUITE_TEST(without_members_nothing_is_done),
    SUITE_TEST(silence_is_told_as_what_it_is),
    SUITE_TEST(a_new_asker_is_told_what_was_done),
};
SUITE_MAIN("store asker", tests)
