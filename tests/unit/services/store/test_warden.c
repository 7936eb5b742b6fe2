/* SPDX-License-Identifier: Apache-2.0 */
#include "services/store/warden.h"

#include "store_town.h"
#include "suite.h"

static void have_limits(struct fake_net *net, cw_span away)
{
    for (cw_server s = 0; s < STORE_TOWN; s++) {
        store_town_of(net, s)->limits.away = away;
    }
}

/* How many of the town's servers are members of the name's shard, and hold its value? */
static unsigned copies(struct fake_net *net, const char *name)
{
    unsigned count = 0;
    for (cw_server s = 0; s < STORE_TOWN; s++) {
        const struct store_shard *shard = net->server[s] != NULL ? store_town_shard(net, s, name) : NULL;
        count += shard != NULL && shard->role == STORE_ROLE_MEMBER && store_town_register(net, s, name) != NULL;
    }
    return count;
}

/* Another life of the same server takes the place of the former one; then the others may go. */
START_TEST(another_life_takes_the_place)
{
    struct fake_net *net = store_town_open(3);
    cw_server member[STORE_COPIES_MOST];
    store_town_must(net, 0, "put a one", CW_STORE_OK);
    store_town_members(net, "a", member);
    fake_net_down(net, member[0]);
    fake_net_run(net, CW_MS(500));
    fake_net_up(net, member[0]);
    fake_net_run(net, CW_SEC(20));
    ck_assert_uint_eq(copies(net, "a"), 3);
    fake_net_down(net, member[1]);
    fake_net_run(net, CW_MS(500));
    ck_assert_str_eq(fake_text(store_town_ask(net, member[0], "get a"), 0, "value"), "one");
    store_town_must(net, member[0], "put a two", CW_STORE_OK);
    store_town_close(net);
}
END_TEST

/* Also when it was away for longer than others wait before they look: its return is what they look at next. */
START_TEST(another_life_after_a_while)
{
    struct fake_net *net = store_town_open(3);
    cw_server member[STORE_COPIES_MOST];
    store_town_must(net, 0, "put a one", CW_STORE_OK);
    store_town_members(net, "a", member);
    fake_net_down(net, member[1]);
    fake_net_run(net, CW_SEC(5));
    ck_assert_uint_eq(copies(net, "a"), 2);
    fake_net_up(net, member[1]);
    fake_net_run(net, CW_MS(1));
    ck_assert_uint_ge(store_warden_status(store_town_of(net, member[0])).copies_missing, 1);
    fake_net_run(net, CW_SEC(10));
    ck_assert_uint_eq(copies(net, "a"), 3);
    ck_assert_uint_eq(store_warden_status(store_town_of(net, member[0])).copies_missing, 0);
    store_town_close(net);
}
END_TEST

START_TEST(who_is_away_for_long_is_replaced)
{
    struct fake_net *net = store_town_open(3);
    cw_server member[STORE_COPIES_MOST];
    have_limits(net, CW_SEC(5));
    store_town_must(net, 0, "put a one", CW_STORE_OK);
    store_town_members(net, "a", member);
    fake_net_down(net, member[2]);
    fake_net_run(net, CW_SEC(3));
    const struct store_shard *first = store_town_shard(net, member[0], "a");
    ck_assert_uint_eq(first->config.epoch, 1);
    struct store_warden_status status = store_warden_status(store_town_of(net, member[0]));
    ck_assert_uint_ge(status.copies_missing, 1);
    ck_assert_uint_ge(status.replacing, 1);
    fake_net_run(net, CW_SEC(20));
    ck_assert_uint_eq(first->config.epoch, 2);
    ck_assert_uint_eq(first->config.member[0], member[0]);
    ck_assert_uint_eq(first->config.member[1], member[1]);
    ck_assert_uint_eq(store_config_place(&first->config, member[2]), 3);
    ck_assert_uint_eq(store_warden_status(store_town_of(net, member[0])).copies_missing, 0);
    cw_server asker = first->config.member[2];
    fake_net_down(net, member[0]); /* the newcomer counts for the majority */
    fake_net_run(net, CW_MS(500));
    ck_assert_str_eq(fake_text(store_town_ask(net, asker, "get a"), 0, "value"), "one");
    fake_net_up(net, member[2]); /* it is no member any more, and asks as anybody */
    fake_net_run(net, CW_SEC(1));
    ck_assert_str_eq(fake_text(store_town_ask(net, member[2], "get a"), 0, "value"), "one");
    store_town_close(net);
}
END_TEST

/* All being well again, nobody has a timer. */
START_TEST(afterwards_all_sleep)
{
    struct fake_net *net = store_town_open(3);
    store_town_must(net, 0, "put a one", CW_STORE_OK);
    fake_net_down(net, 4);
    fake_net_run(net, CW_MS(500));
    fake_net_up(net, 4);
    fake_net_run(net, CW_SEC(60));
    for (cw_server s = 0; s < STORE_TOWN; s++) {
        ck_assert_int_eq(fake_wake(net->server[s]).ns, CW_NEVER.ns);
    }
    store_town_close(net);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(another_life_takes_the_place),
    SUITE_TEST(another_life_after_a_while),
    SUITE_TEST(who_is_away_for_long_is_replaced),
    SUITE_TEST(afterwards_all_sleep),
};
SUITE_MAIN("store warden", tests)
