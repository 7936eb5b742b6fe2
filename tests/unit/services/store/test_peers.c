/* SPDX-License-Identifier: Apache-2.0 */
#include "services/store/peers.h"

#include "services/store/common.h"
#include "store_town.h"
#include "suite.h"

START_TEST(a_reply_to_a_former_leadership_is_nothing)
{
    struct fake_net *net = store_town_open(3);
    cw_server member[STORE_COPIES_MOST];
    store_town_must(net, 0, "put a one", CW_STORE_OK);
    store_town_members(net, "a", member);
    struct store_shard *shard = store_town_shard(net, member[0], "a");
    const struct store_item item = {.kind = STORE_ITEM_CONFIRM};
    store_peers_send_all(shard->lead, store_lead_all(shard->lead), item, 1);
    store_lead_end(shard->lead, STORE_END_DEPOSED);
    fake_net_run(net, CW_SEC(1));
    ck_assert_ptr_null(shard->lead);
    store_town_must(net, 0, "get a", CW_STORE_OK);
    store_town_close(net);
}
END_TEST

START_TEST(a_member_of_another_life_is_lost)
{
    struct fake_net *net = store_town_open(3);
    cw_server member[STORE_COPIES_MOST];
    store_town_must(net, 0, "put a one", CW_STORE_OK);
    store_town_members(net, "a", member);
    fake_net_down(net, member[1]);
    fake_net_up(net, member[1]);
    store_town_must(net, member[1], "get a", CW_STORE_OK); /* by which it learns that there is a store */
    store_town_must(net, member[0], "put a two", CW_STORE_OK);
    fake_net_run(net, CW_SEC(1));
    ck_assert(store_town_shard(net, member[0], "a")->lost[1]);
    store_town_must(net, member[0], "put a three", CW_STORE_OK);
    store_town_close(net);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(a_reply_to_a_former_leadership_is_nothing),
    SUITE_TEST(a_member_of_another_life_is_lost),
};
SUITE_MAIN("store peers", tests)
