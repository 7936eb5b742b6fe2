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

/*
 * The first wrote {a}x, and others, under its ballot, alone. Then the third led, with the second's promise, and wrote
 * {a}x again as it had been, alone. The second takes over with the first, and is interrupted between two fetches.
 */
static void take_over_in_part(struct fake_net *net, const cw_server *member)
{
    struct store_shard *shard[3];
    char name[20];
    for (unsigned m = 0; m < 3; m++) {
        shard[m] = store_town_shard(net, member[m], "{a}x");
    }
    struct store_tag one = {shard[0]->lead->ballot, shard[0]->lead->n};
    for (unsigned i = 0; i < 30; i++) {
        snprintf(name, sizeof name, i == 0 ? "{a}x" : "{a}o%u", i);
        one.n++;
        int rc = store_acceptor_accept(&shard[0]->acceptor, one.ballot, store_town_make(name, "begun", one));
        ck_assert_int_eq(rc, 1);
    }
    store_lead_end(shard[0]->lead, STORE_END_DEPOSED);
    struct store_ballot b = store_ballot_above(one.ballot, 1, member[2], 77);
    struct store_tag two = {b, one.n + 100};
    ck_assert_int_eq(store_acceptor_accept(&shard[2]->acceptor, b, store_town_make("{a}x", "old", two)), 1);
    ck_assert(store_acceptor_prepare(&shard[1]->acceptor, b));
    store_town_hush(member[2], true);
    ck_assert_int_eq(store_lead_begin(store_town_of(net, member[1]), shard[1]), 0);
    const struct store_lead *lead = shard[1]->lead;
    const struct store_register *r = store_town_register(net, member[1], "{a}x");
    const struct store_name x = {STORE_JOB, (const uint8_t *)"{a}x", 4};
    bool fetched = false;
    for (unsigned i = 0; i < 5000 && !fetched; i++) {
        fake_net_run(net, CW_US(100));
        fetched = store_table_find(&lead->fetched, &x) != NULL || store_town_register(net, member[1], "{a}x") != r;
    }
    ck_assert(fetched);
    ck_assert_int_eq((int)lead->phase, STORE_PHASE_COMPARING);
    store_lead_end(shard[1]->lead, STORE_END_NO_QUORUM);
}

/* Whoever takes over behind that: what it shows stays, also when the third comes and the first is gone. */
static void shows_what_stays(unsigned next)
{
    struct fake_net *net = store_town_open(3);
    cw_server member[STORE_COPIES_MOST];
    store_town_must(net, 0, "put {a}x old", CW_STORE_OK);
    store_town_members(net, "{a}x", member);
    take_over_in_part(net, member);
    struct store_shard *shard = store_town_shard(net, member[next], "{a}x");
    struct store_shard *third = store_town_shard(net, member[2], "{a}x");
    if (shard->lead == NULL) {
        ck_assert_int_eq(store_lead_begin(store_town_of(net, member[next]), shard), 0);
    }
    ck_assert_str_eq(fake_text(store_town_ask(net, member[next], "get {a}x"), 0, "value"), "begun");
    ck_assert_ptr_nonnull(shard->lead);
    store_town_hush(member[2], false);
    store_town_hush(member[0], true);
    store_lead_end(shard->lead, STORE_END_DEPOSED);
    ck_assert_int_eq(store_lead_begin(store_town_of(net, member[2]), third), 0);
    ck_assert_str_eq(fake_text(store_town_ask(net, member[2], "get {a}x"), 0, "value"), "begun");
    store_town_hush(member[0], false);
    store_town_close(net);
}

START_TEST(a_takeover_that_was_interrupted_begins_anew)
{
    shows_what_stays(1);
}
END_TEST

START_TEST(what_another_had_fetched_is_of_no_majority)
{
    shows_what_stays(0);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(the_next_member_takes_over),
    SUITE_TEST(what_was_shown_once_stays),
    SUITE_TEST(the_highest_tag_wins),
    SUITE_TEST(versions_go_on_above_all_that_was),
    SUITE_TEST(an_idle_leader_sleeps),
    SUITE_TEST(a_takeover_that_was_interrupted_begins_anew),
    SUITE_TEST(what_another_had_fetched_is_of_no_majority),
};
SUITE_MAIN("store lead", tests)
