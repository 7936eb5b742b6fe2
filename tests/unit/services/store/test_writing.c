/* SPDX-License-Identifier: Apache-2.0 */
#include "services/store/writing.h"

#include "services/store/common.h"
#include "store_town.h"
#include "suite.h"

static cw_server member[STORE_COPIES_MOST];

/* A shard of four whose leader is the only one that hears anything. */
static struct store_lead *lonely(struct fake_net *net)
{
    store_town_must(net, 0, "put a one", CW_STORE_OK);
    ck_assert_uint_eq(store_town_members(net, "a", member), 4);
    for (unsigned m = 1; m < 4; m++) {
        store_town_hush(member[m], true);
    }
    return store_town_shard(net, member[0], "a")->lead;
}

/* Store rule 3. */
START_TEST(an_answer_counts_once)
{
    struct fake_net *net = store_town_open(4);
    struct store_lead *lead = lonely(net);
    ck_assert_ptr_nonnull(lead);
    struct store_tag tag = store_writing_tag(lead);
    lead->lagging = 14; /* nobody is waited for */
    ck_assert_int_eq(store_writing_begin(lead, store_town_make("a", "two", tag), NULL, NULL), 0);
    store_writing_accepted(lead, 1, tag.n);
    store_writing_accepted(lead, 1, tag.n);
    ck_assert_uint_eq(lead->write_count, 1);
    store_writing_accepted(lead, 2, tag.n);
    ck_assert_uint_eq(lead->write_count, 0);
    store_town_close(net);
}
END_TEST

/* The slow one is waited for as long as the limit says, and is given what it has missed when it is back. */
START_TEST(a_silent_member_lags_and_is_caught_up)
{
    struct fake_net *net = store_town_open(3);
    store_town_must(net, 0, "put a one", CW_STORE_OK);
    store_town_members(net, "a", member);
    store_town_hush(member[2], true);
    cw_time begun = net->now;
    store_town_must(net, 0, "put a two", CW_STORE_OK);
    cw_span slow = store_town_of(net, 0)->limits.slow;
    ck_assert_int_ge(cw_time_since(net->now, begun).ns, slow.ns);
    begun = net->now;
    store_town_must(net, 0, "put a three", CW_STORE_OK); /* it is not waited for any more */
    ck_assert_int_lt(cw_time_since(net->now, begun).ns, slow.ns);
    store_town_hush(member[2], false);
    fake_net_run(net, CW_SEC(1));
    const struct store_shard *shards[] = {store_town_shard(net, member[0], "a"), store_town_shard(net, member[2], "a")};
    ck_assert_uint_eq(shards[0]->lead->lagging, 0);
    ck_assert(
        store_sum_equal(store_table_root(&shards[0]->acceptor.table), store_table_root(&shards[1]->acceptor.table)));
    ck_assert_uint_eq(store_town_register(net, member[2], "a")->value_length, 5);
    store_town_close(net);
}
END_TEST

/* Store rule 35: not before its time, and soon then; and what is put over it stays. */
START_TEST(a_value_goes_by_itself)
{
    struct fake_net *net = store_town_open(3);
    int64_t put = store_town_must(net, 0, "put a one ttl_ms=500", CW_STORE_OK);
    store_town_must(net, 0, "put b one ttl_ms=500", CW_STORE_OK);
    store_town_members(net, "a", member);
    fake_net_run(net, CW_MS(450));
    store_town_must(net, 3, "get a", CW_STORE_OK);
    store_town_must(net, 3, "put b two", CW_STORE_OK);
    fake_net_run(net, CW_MS(100));
    store_town_must(net, 3, "get a", CW_STORE_NOT_FOUND);
    for (unsigned m = 0; m < 3; m++) {
        ck_assert(store_town_register(net, member[m], "a")->deleted);
        ck_assert_int_gt((int64_t)store_town_register(net, member[m], "a")->version, put);
    }
    fake_net_run(net, CW_SEC(1));
    store_town_must(net, 3, "get b", CW_STORE_OK);
    store_town_must(net, 3, "insert a two ttl_ms=100", CW_STORE_OK);
    fake_net_run(net, CW_MS(200));
    store_town_must(net, 3, "get a", CW_STORE_NOT_FOUND);
    store_town_close(net);
}
END_TEST

/* Whoever comes to lead counts anew, also where the one before is back with its timer. */
START_TEST(a_new_leader_counts_anew)
{
    struct fake_net *net = store_town_open(3);
    store_town_must(net, 0, "put a one ttl_ms=500", CW_STORE_OK);
    store_town_members(net, "a", member);
    fake_net_run(net, CW_MS(300));
    store_town_hush(member[0], true);
    ck_assert_int_eq(store_lead_begin(store_town_of(net, member[1]), store_town_shard(net, member[1], "a")), 0);
    fake_net_run(net, CW_MS(450));
    ck_assert(!store_town_register(net, member[1], "a")->deleted);
    store_town_hush(member[0], false);
    fake_net_run(net, CW_MS(200));
    ck_assert(store_town_register(net, member[1], "a")->deleted);
    store_town_must(net, member[1], "get a", CW_STORE_NOT_FOUND);
    store_town_close(net);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(an_answer_counts_once),
    SUITE_TEST(a_silent_member_lags_and_is_caught_up),
    SUITE_TEST(a_value_goes_by_itself),
    SUITE_TEST(a_new_leader_counts_anew),
};
SUITE_MAIN("store writing", tests)
