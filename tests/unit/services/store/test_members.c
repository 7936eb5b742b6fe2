/* SPDX-License-Identifier: Apache-2.0 */
#include "services/store/members.h"

#include "store_town.h"
#include "suite.h"

static struct store_config next_of(const struct store_shard *shard, unsigned place, cw_server server, uint64_t id)
{
    struct store_config c = shard->config;
    c.epoch++;
    c.member[place] = server;
    c.store_id[place] = id;
    return c;
}

/* Who is not in it forgets what it holds; who stays keeps it. */
START_TEST(a_decided_config_is_followed)
{
    struct fake_net *net = store_town_open(3);
    cw_server member[STORE_COPIES_MOST];
    store_town_must(net, 0, "put a one", CW_STORE_OK);
    store_town_members(net, "a", member);
    struct store_shard *first = store_town_shard(net, member[0], "a"), *third = store_town_shard(net, member[2], "a");
    struct store_config next = next_of(first, 2, 8, 5);
    store_members_follow(store_town_of(net, member[0]), first, &next);
    store_members_follow(store_town_of(net, member[2]), third, &next);
    ck_assert_int_eq(first->role, STORE_ROLE_MEMBER);
    ck_assert_ptr_null(first->lead);
    ck_assert_uint_eq(first->acceptor.table.registers, 1);
    ck_assert_int_eq(third->role, STORE_ROLE_LEFT);
    ck_assert_uint_eq(third->acceptor.table.registers, 0);
    ck_assert_uint_eq(store_town_of(net, member[2])->registers, 0);
    struct store_config older = third->config;
    older.epoch--;
    store_members_follow(store_town_of(net, member[2]), third, &older); /* it knows better */
    ck_assert_uint_eq(third->config.epoch, 2);
    store_town_close(net);
}
END_TEST

START_TEST(shards_are_found_by_their_numbers)
{
    struct fake_net *net = store_town_open(3);
    struct store *s = store_town_of(net, 0);
    unsigned before = s->shards;
    for (uint32_t n = STORE_TOWN * STORE_SHARDS_PER_SERVER; n-- > 0;) {
        ck_assert_ptr_nonnull(store_members_shard(s, n));
    }
    ck_assert_uint_gt(s->shards, before);
    ck_assert_uint_eq(s->shards, STORE_TOWN * STORE_SHARDS_PER_SERVER);
    for (uint32_t n = 0; n < s->shards; n++) {
        SUITE_HOLDS(store_shard_find(s, n)->number == n);
    }
    ck_assert_ptr_null(store_shard_find(s, s->shards));
    store_town_close(net);
}
END_TEST

/* A leader above the one that had it sealed wrote: nothing was decided. */
START_TEST(a_seal_is_void_once_another_has_written)
{
    struct store_shard shard = {.seal = {.ballot = {7, 1}}};
    store_members_unseal(&shard, (struct store_ballot){7, 1});
    ck_assert(!store_ballot_is_none(shard.seal.ballot));
    store_members_unseal(&shard, (struct store_ballot){7, 2});
    ck_assert(store_ballot_is_none(shard.seal.ballot));
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(a_decided_config_is_followed),
    SUITE_TEST(shards_are_found_by_their_numbers),
    SUITE_TEST(a_seal_is_void_once_another_has_written),
};
SUITE_MAIN("store members", tests)
