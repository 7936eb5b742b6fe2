/* SPDX-License-Identifier: Apache-2.0 */
#include "services/store/carry.h"

#include "services/store/ask/asker.h"
#include "services/store/common.h"
#include "store_town.h"
#include "suite.h"

#include <errno.h>
#include <string.h>

enum { LONG = CW_STORE_VALUE_MAX, MORE = 100000 };

static cw_server member[STORE_COPIES_MOST];
static uint8_t value[LONG];
static struct {
    unsigned told;
    cw_store_status status;
    size_t length;
    bool whole;
} got;

static void on_done(void *arg, const cw_store_result *result)
{
    (void)arg;
    got.told++;
    got.status = result->status;
    got.length = result->value_length;
    got.whole = result->value != NULL && memcmp(result->value, value, result->value_length) == 0;
}

static void begin(struct fake_net *net, cw_server at, cw_store_op op, size_t length)
{
    const cw_store_request r = {CW_STORE_REQUEST_INIT,  .op = op,
                                .job = STORE_JOB,       .name = "a",
                                .name_length = 1,       .value = op == CW_STORE_PUT ? value : NULL,
                                .value_length = length, .timeout = CW_SEC(20)};
    ck_assert_int_eq(store_asker_do(store_town_of(net, at), &r, on_done, NULL), 0);
}

static void wait_until_told(struct fake_net *net, unsigned times)
{
    for (unsigned i = 0; i < 30000 && got.told < times; i++) {
        fake_net_run(net, CW_MS(1));
    }
    ck_assert_uint_eq(got.told, times);
}

static void must(struct fake_net *net, cw_server at, cw_store_op op, size_t length)
{
    got.told = 0;
    begin(net, at, op, op == CW_STORE_PUT ? length : 0);
    wait_until_told(net, 1);
    ck_assert_int_eq(got.status, CW_STORE_OK);
    ck_assert(op == CW_STORE_PUT || (got.length == length && got.whole));
}

static struct fake_net *town(uint8_t salt)
{
    struct fake_net *net = store_town_open(3);
    for (size_t i = 0; i < sizeof value; i++) {
        value[i] = (uint8_t)((i * 2654435761u >> 13) + salt);
    }
    store_town_members(net, "a", member);
    return net;
}

static void holds(struct fake_net *net, cw_server at, size_t length)
{
    const struct store_register *r = store_town_register(net, at, "a");
    ck_assert_ptr_nonnull(r);
    ck_assert_uint_eq(r->value_length, length);
    ck_assert(memcmp(store_register_value(r), value, length) == 0);
}

static void close_empty(struct fake_net *net)
{
    fake_net_run(net, CW_SEC(12)); /* letters to those that hear nothing end */
    for (cw_server s = 0; s < STORE_TOWN; s++) {
        ck_assert_uint_eq(store_town_of(net, s)->hand[STORE_HAND_ASKS], 0);
        ck_assert_uint_eq(store_town_of(net, s)->hand[STORE_HAND_ITEMS], 0);
        ck_assert_uint_eq(store_town_of(net, s)->question_bytes, 0);
    }
    store_town_close(net);
}

START_TEST(the_longest_value_is_on_all_members)
{
    struct fake_net *net = town(1);
    must(net, 0, CW_STORE_PUT, LONG);
    for (unsigned m = 0; m < 3; m++) {
        holds(net, member[m], LONG);
    }
    must(net, member[1], CW_STORE_GET, LONG); /* asked as a call first */
    must(net, 8, CW_STORE_GET, LONG);
    store_town_must(net, 4, "head a", CW_STORE_OK);
    must(net, 0, CW_STORE_PUT, 0);
    must(net, 8, CW_STORE_GET, 0);
    close_empty(net);
}
END_TEST

START_TEST(who_missed_it_is_given_it)
{
    struct fake_net *net = town(2);
    must(net, member[2], CW_STORE_PUT, 10);
    store_town_hush(member[1], true);
    must(net, member[2], CW_STORE_PUT, MORE); /* that one lags now */
    ck_assert_uint_eq(store_town_register(net, member[1], "a")->value_length, 10);
    store_town_hush(member[1], false);
    fake_net_run(net, CW_SEC(12)); /* the letter that it did not hear has ended by then */
    holds(net, member[1], MORE);
    close_empty(net);
}
END_TEST

START_TEST(who_comes_to_lead_fetches_it)
{
    struct fake_net *net = town(3);
    must(net, member[2], CW_STORE_PUT, 10);
    store_town_hush(member[1], true);
    must(net, member[2], CW_STORE_PUT, MORE);
    store_town_hush(member[1], false);
    fake_net_down(net, member[0]);
    must(net, member[2], CW_STORE_GET, MORE); /* of the second one, or of the third by way of it */
    ck_assert_ptr_nonnull(store_town_shard(net, member[1], "a")->lead);
    holds(net, member[1], MORE);
    store_town_close(net);
}
END_TEST

START_TEST(a_full_hand_has_others_wait)
{
    struct fake_net *net = town(4);
    must(net, 0, CW_STORE_PUT, MORE);
    store_town_of(net, member[0])->limits.hand_max = 3 * MORE;
    got.told = 0;
    for (unsigned i = 0; i < 12; i++) {
        begin(net, i % STORE_TOWN, CW_STORE_PUT, MORE);
        begin(net, i % STORE_TOWN, CW_STORE_GET, 0);
    }
    size_t most = 0;
    for (unsigned i = 0; i < 20000 && got.told < 24; i++) {
        fake_net_run(net, CW_MS(1));
        size_t now = store_town_of(net, member[0])->hand[STORE_HAND_ASKS];
        most = now > most ? now : most;
    }
    ck_assert_uint_eq(got.told, 24);
    ck_assert_int_eq(got.status, CW_STORE_OK);
    ck_assert_uint_gt(store_town_of(net, member[0])->count[STORE_COUNT_LETTERS_HELD], 0);
    ck_assert_uint_lt(most, 6 * MORE); /* what it makes of a question that it has is not held up */
    close_empty(net);
}
END_TEST

START_TEST(an_asker_has_so_much_under_way)
{
    struct fake_net *net = town(5);
    const cw_store_request r = {CW_STORE_REQUEST_INIT, .op = CW_STORE_PUT, .job = STORE_JOB,    .name = "b",
                                .name_length = 1,      .value = value,     .value_length = LONG};
    got.told = 0;
    for (unsigned i = 0; i < STORE_ASKED_MOST / LONG; i++) {
        ck_assert_int_eq(store_asker_do(store_town_of(net, 0), &r, on_done, NULL), 0);
    }
    ck_assert_int_eq(store_asker_do(store_town_of(net, 0), &r, on_done, NULL), -ENOBUFS);
    store_town_close(net);
    ck_assert_uint_eq(got.told, STORE_ASKED_MOST / LONG); /* each is told when the service closes */
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(the_longest_value_is_on_all_members), SUITE_TEST(who_missed_it_is_given_it),
    SUITE_TEST(who_comes_to_lead_fetches_it),        SUITE_TEST(a_full_hand_has_others_wait),
    SUITE_TEST(an_asker_has_so_much_under_way),
};
SUITE_MAIN("store carry", tests)
