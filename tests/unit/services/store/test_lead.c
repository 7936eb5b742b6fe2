/* SPDX-License-Identifier: Apache-2.0 */
#include "services/store/lead.h"

#include "services/store/serve.h"
#include "store_town.h"
#include "suite.h"

START_TEST(the_next_member_takes_over)
{
    struct fake_net *net = store_town_open(3);
    cw_server member[STORE_COPIES_MOST];
    store_town_must(net, 0, "put a one", CW_STORE_OK);
    store_town_members(net, "a", member);
    fake_net_down(net, member[0]);
    cw_server asker = member[0] == 8 ? 7 : 8;
    ck_assert_str_eq(fake_text(store_town_ask(net, asker, "get a"), 0, "value"), "one");
    store_town_must(net, asker, "put a two", CW_STORE_OK);
    fake_net_down(net, member[1]); /* one of three is no majority */
    asker = member[2];
    store_town_must(net, asker, "get a", CW_STORE_NO_QUORUM);
    store_town_close(net);
}
END_TEST

/* Store rules 4 and 5: what one member alone has may be shown once the majority has it, and then it stays. */
START_TEST(what_was_shown_once_stays)
{
    struct fake_net *net = store_town_open(3);
    cw_server member[STORE_COPIES_MOST];
    store_town_must(net, 0, "put a chosen", CW_STORE_OK);
    store_town_members(net, "a", member);
    struct store_shard *first = store_town_shard(net, member[0], "a");
    /* The leader began another write, and nobody heard of it. */
    struct store_tag tag = {first->lead->ballot, first->lead->n + 1};
    ck_assert_int_eq(store_acceptor_accept(&first->acceptor, tag.ballot, store_town_make("a", "begun", tag)), 1);
    store_lead_end(first->lead, STORE_END_DEPOSED);
    store_town_hush(member[2], true);
    ck_assert_str_eq(fake_text(store_town_ask(net, member[0], "get a"), 0, "value"), "begun");
    store_town_hush(member[2], false);
    store_town_hush(member[0], true);
    struct store_shard *second = store_town_shard(net, member[1], "a");
    ck_assert_int_eq(store_lead_begin(store_town_of(net, member[1]), second), 0);
    ck_assert_str_eq(fake_text(store_town_ask(net, member[1], "get a"), 0, "value"), "begun");
    store_town_hush(member[0], false);
    store_town_close(net);
}
END_TEST

/* Store rule 4: the leader itself may be the one that has missed a write. */
START_TEST(the_highest_tag_wins)
{
    struct fake_net *net = store_town_open(3);
    cw_server member[STORE_COPIES_MOST];
    store_town_must(net, 0, "put a one", CW_STORE_OK);
    store_town_members(net, "a", member);
    store_town_hush(member[2], true);
    store_town_must(net, 0, "put a two", CW_STORE_OK);
    store_town_must(net, 0, "put {a}b three", CW_STORE_OK); /* a name of another shard, or not: it does not matter */
    store_town_hush(member[2], false);
    store_town_hush(member[0], true);
    struct store_shard *third = store_town_shard(net, member[2], "a");
    ck_assert_int_eq(store_lead_begin(store_town_of(net, member[2]), third), 0);
    ck_assert_str_eq(fake_text(store_town_ask(net, member[2], "get a"), 0, "value"), "two");
    store_town_hush(member[0], false);
    store_town_close(net);
}
END_TEST

/* Store rule 22. */
START_TEST(versions_go_on_above_all_that_was)
{
    struct fake_net *net = store_town_open(3);
    cw_server member[STORE_COPIES_MOST];
    store_town_must(net, 0, "put a one", CW_STORE_OK);
    store_town_members(net, "a", member);
    store_town_hush(member[2], true);
    int64_t version = 0;
    for (unsigned i = 0; i < 3; i++) {
        version = store_town_must(net, 0, "put a more", CW_STORE_OK);
    }
    store_town_hush(member[2], false);
    store_town_hush(member[0], true);
    struct store_shard *third = store_town_shard(net, member[2], "a");
    ck_assert_int_eq(store_lead_begin(store_town_of(net, member[2]), third), 0);
    ck_assert_int_gt(store_town_must(net, member[2], "put a again", CW_STORE_OK), version);
    store_town_hush(member[0], false);
    store_town_close(net);
}
END_TEST

/* An idle leader has no timer. */
START_TEST(an_idle_leader_sleeps)
{
    struct fake_net *net = store_town_open(3);
    store_town_must(net, 0, "put a one", CW_STORE_OK);
    fake_net_run(net, CW_SEC(2));
    for (cw_server s = 0; s < STORE_TOWN; s++) {
        ck_assert_int_eq(fake_wake(net->server[s]).ns, CW_NEVER.ns);
    }
    store_town_close(net);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(the_next_member_takes_over), SUITE_TEST(what_was_shown_once_stays),
    SUITE_TEST(the_highest_tag_wins),       SUITE_TEST(versions_go_on_above_all_that_was),
    SUITE_TEST(an_idle_leader_sleeps),
};
SUITE_MAIN("store lead", tests)
