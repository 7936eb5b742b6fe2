/* SPDX-License-Identifier: Apache-2.0 */
#include "services/store/compare.h"

#include "services/store/common.h"
#include "services/store/writing.h"
#include "store_cellar.h"
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

static void put_long(struct fake_net *net, const char *name, size_t size)
{
    static uint8_t value[1 << 20];
    char line[64];
    struct store *s = store_town_of(net, 0);
    ck_assert_int_eq(upload_add(&s->uploads, 7, 0, value, size, size, net->now), 0);
    snprintf(line, sizeof line, "put %s - stage=7", name);
    store_town_must(net, 0, line, CW_STORE_OK);
}

/* What is long is given to it alone when it has room again; until then nothing is written for its sake. */
START_TEST(a_member_without_room_makes_no_writes)
{
    struct fake_net *net = store_cellar_open(3);
    cw_server member[STORE_COPIES_MOST];
    store_town_must(net, 0, "put {t} x", CW_STORE_OK);
    store_town_members(net, "{t}", member);
    store_town_hush(member[1], true);
    put_long(net, "{t}a", 1 << 20);
    put_long(net, "{t}b", 100000);
    sim_disk_room(store_cellar_disk(member[1]), 1); /* there is no room for a file of long values */
    store_town_hush(member[1], false);
    store_cellar_run(net, CW_SEC(1));
    struct store_shard *first = store_town_shard(net, member[0], "{t}");
    const struct store *s = store_town_of(net, member[0]);
    store_town_must(net, 0, "put {t}c short", CW_STORE_OK);
    uint64_t n = first->lead->n, letters = s->count[STORE_COUNT_LETTERS];
    store_cellar_run(net, CW_SEC(20));
    ck_assert_uint_eq(first->lead->lagging, 2);
    ck_assert_uint_eq(first->lead->n, n);
    ck_assert_uint_le(s->count[STORE_COUNT_LETTERS] - letters, 10);
    ck_assert_ptr_nonnull(store_town_register(net, member[1], "{t}c"));
    sim_disk_room(store_cellar_disk(member[1]), 0);
    store_cellar_run(net, CW_SEC(12));
    ck_assert_uint_eq(first->lead->lagging, 0);
    ck_assert_uint_eq(store_town_register(net, member[1], "{t}a")->value_length, 1 << 20);
    ck_assert(store_sum_equal(store_table_root(&first->acceptor.table),
                              store_table_root(&store_town_shard(net, member[1], "{t}")->acceptor.table)));
    store_cellar_close(net);
}
END_TEST

static unsigned missing(struct fake_net *net, cw_server server)
{
    char name[16];
    unsigned count = 0;
    for (unsigned i = 0; i < 40; i++) {
        snprintf(name, sizeof name, "{t}s%u", i);
        count += store_town_register(net, server, name) == NULL;
    }
    return count;
}

/* What is short it gets, wherever the long ones stand; and a newcomer is made a member in the meantime. */
START_TEST(a_member_without_room_holds_nothing_up)
{
    struct fake_net *net = store_cellar_open(3);
    cw_server member[STORE_COPIES_MOST];
    char line[40];
    store_town_must(net, 0, "put {t} x", CW_STORE_OK);
    store_town_members(net, "{t}", member);
    store_town_hush(member[1], true);
    put_long(net, "{t}a", 1 << 20);
    put_long(net, "{t}b", 100000);
    for (unsigned i = 0; i < 40; i++) {
        snprintf(line, sizeof line, "put {t}s%u v", i);
        store_town_must(net, 0, line, CW_STORE_OK);
    }
    sim_disk_room(store_cellar_disk(member[1]), 1);
    store_town_hush(member[1], false);
    struct store_shard *first = store_town_shard(net, member[0], "{t}");
    const struct store *s = store_town_of(net, member[0]);
    store_cellar_run(net, CW_SEC(5));
    ck_assert_uint_gt(missing(net, member[1]), 0); /* it waits with the first long one */
    ck_assert_uint_gt(s->hand[STORE_HAND_GIVES], 0);
    store_cellar_run(net, CW_SEC(10));
    ck_assert_uint_eq(missing(net, member[1]), 0);
    ck_assert_uint_eq(s->hand[STORE_HAND_ASKS], 0); /* which is for what is asked */
    ck_assert_uint_eq(first->lead->lagging, 2);
    fake_net_down(net, member[2]);
    first->lost[2] = true;
    store_cellar_run(net, CW_SEC(15));
    ck_assert_uint_eq(first->config.epoch, 2);
    fake_net_up(net, member[2]);
    store_cellar_close(net);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(a_member_that_missed_much_gets_it_all),
    SUITE_TEST(a_leader_that_missed_much_takes_it_all),
    SUITE_TEST(a_member_without_room_makes_no_writes),
    SUITE_TEST(a_member_without_room_holds_nothing_up),
};
SUITE_MAIN("store compare", tests)
