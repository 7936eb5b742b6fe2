/* SPDX-License-Identifier: Apache-2.0 */
#include "services/store/genesis.h"

#include "services/store/common.h"
#include "store_town.h"
#include "suite.h"

START_TEST(each_server_has_its_shards)
{
    struct fake_net *net = store_town_open(4);
    for (cw_server s = 0; s < STORE_TOWN; s++) {
        const struct store *store = store_town_of(net, s);
        ck_assert_uint_eq(store->shards, 4 * STORE_SHARDS_PER_SERVER);
        for (unsigned i = 0; i < store->shards; i++) {
            const struct store_shard *shard = store->shard[i];
            SUITE_HOLDS(shard->config.member[shard->me] == s);
            for (unsigned m = 0; m < shard->config.count; m++) {
                SUITE_HOLDS(shard->config.store_id[m] == store_town_of(net, shard->config.member[m])->store_id);
            }
        }
    }
    store_town_close(net);
}
END_TEST

/* Store rule 21: it comes back with nothing, and is no member of anything; but it may ask. */
START_TEST(a_server_that_starts_again_learns_the_store)
{
    struct fake_net *net = store_town_open(3);
    cw_server member[STORE_COPIES_MOST];
    store_town_must(net, 0, "put a one", CW_STORE_OK);
    store_town_members(net, "a", member);
    fake_net_down(net, member[0]);
    fake_net_up(net, member[0]);
    ck_assert_uint_eq(store_town_of(net, member[0])->of.id, 0);
    ck_assert_str_eq(fake_text(store_town_ask(net, member[0], "get a"), 0, "value"), "one");
    ck_assert_uint_ne(store_town_of(net, member[0])->of.id, 0);
    ck_assert_uint_eq(store_town_of(net, member[0])->shards, 0);
    store_town_must(net, member[0], "put a two", CW_STORE_OK);
    store_town_close(net);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(each_server_has_its_shards),
    SUITE_TEST(a_server_that_starts_again_learns_the_store),
};
SUITE_MAIN("store genesis", tests)
