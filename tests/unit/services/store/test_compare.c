/* SPDX-License-Identifier: Apache-2.0 */
#include "services/store/compare.h"

#include "services/store/common.h"
#include "services/store/writing.h"
#include "store_town.h"
#include "suite.h"

/* Many names of one shard: they share a tag. */
START_TEST(a_member_that_missed_much_gets_it_all)
{
    struct fake_net *net = store_town_open(3);
    cw_server member[STORE_COPIES_MOST];
    char line[64];
    store_town_must(net, 0, "put {t} x", CW_STORE_OK);
    store_town_members(net, "{t}", member);
    store_town_hush(member[1], true);
    for (unsigned i = 0; i < 300; i++) {
        snprintf(line, sizeof line, "put {t}%u value", i);
        store_town_must(net, 0, line, CW_STORE_OK);
    }
    /* What it alone has was never chosen. */
    struct store_shard *shard = store_town_shard(net, member[1], "{t}"),
                       *first = store_town_shard(net, member[0], "{t}");
    struct store_tag tag = {shard->acceptor.promised, 2};
    ck_assert_int_eq(store_acceptor_accept(&shard->acceptor, tag.ballot, store_town_make("{t}alone", "x", tag)), 1);
    store_town_hush(member[1], false);
    fake_net_run(net, CW_SEC(10));
    ck_assert_uint_eq(first->lead->lagging, 0);
    ck_assert(store_sum_equal(store_table_root(&shard->acceptor.table), store_table_root(&first->acceptor.table)));
    ck_assert(store_town_register(net, member[1], "{t}alone")->deleted);
    store_town_close(net);
}
END_TEST

/* Another leader that has nothing finds all of it by the sums. */
START_TEST(a_leader_that_missed_much_takes_it_all)
{
    struct fake_net *net = store_town_open(3);
    cw_server member[STORE_COPIES_MOST];
    char line[64];
    store_town_must(net, 0, "put {t} x", CW_STORE_OK);
    store_town_members(net, "{t}", member);
    store_town_hush(member[1], true);
    for (unsigned i = 0; i < 100; i++) {
        snprintf(line, sizeof line, "put {t}%u value", i);
        store_town_must(net, 0, line, CW_STORE_OK);
    }
    store_town_hush(member[1], false);
    fake_net_down(net, member[0]);
    struct store *s = store_town_of(net, member[1]);
    struct store_shard *shard = store_town_shard(net, member[1], "{t}");
    if (shard->lead == NULL) {
        ck_assert_int_eq(store_lead_begin(s, shard), 0);
    }
    for (unsigned i = 0; i < 100; i++) {
        snprintf(line, sizeof line, "get {t}%u", i);
        store_town_must(net, member[1], line, CW_STORE_OK);
    }
    store_town_close(net);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(a_member_that_missed_much_gets_it_all),
    SUITE_TEST(a_leader_that_missed_much_takes_it_all),
};
SUITE_MAIN("store compare", tests)
