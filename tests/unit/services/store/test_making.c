/* SPDX-License-Identifier: Apache-2.0 */
#include "services/store/making.h"

#include "services/store/common.h"
#include "store_town.h"
#include "suite.h"

#include <string.h>

START_TEST(all_servers_or_none)
{
    struct fake_net *net = store_town_open(0);
    store_town_hush(4, true);
    const struct fake_result *r = store_town_ask(net, 0, "create memory");
    ck_assert_int_lt(r->rc, 0);
    ck_assert_ptr_nonnull(strstr(fake_text(r, 0, "error"), "1 of 9 servers did not agree, 1,1,0;"));
    for (cw_server s = 0; s < STORE_TOWN; s++) {
        ck_assert_uint_eq(store_town_of(net, s)->of.id, 0);
    }
    store_town_must(net, 0, "get a", CW_STORE_NO_STORE);
    store_town_hush(4, false);
    ck_assert_int_eq(store_town_ask(net, 5, "create memory")->rc, 0); /* the offer was taken back */
    r = store_town_ask(net, 3, "create disk");
    ck_assert_ptr_nonnull(strstr(fake_text(r, 0, "error"), "there is a store already: 'memory'"));
    store_town_close(net);
}
END_TEST

START_TEST(two_at_once_do_not_both_come_to_be)
{
    struct fake_net *net = store_town_open(0);
    static struct fake_result a, b;
    fake_command(net->server[0], "create memory", &a);
    fake_command(net->server[8], "create memory copies=4", &b);
    fake_net_finish(net, &a);
    fake_net_finish(net, &b);
    ck_assert(a.rc < 0 || b.rc < 0);
    uint64_t id = 0;
    for (cw_server s = 0; s < STORE_TOWN; s++) {
        uint64_t its = store_town_of(net, s)->of.id;
        ck_assert(its == 0 || id == 0 || its == id);
        id = its != 0 ? its : id;
    }
    store_town_close(net);
}
END_TEST

/* Server 4 hears nothing after it has agreed. */
static void hush_who_agreed(struct fake_net *net)
{
    store_town_hush(4, store_town_of(net, 4)->offered != 0);
}

static void who_missed_it(struct fake_net *net)
{
    const cw_span hop = net->hop;
    net->hop = CW_MS(2); /* so that a turn comes between what it is offered and what it is told */
    store_town_turn = hush_who_agreed;
    const struct fake_result *r = store_town_ask(net, 0, "create memory");
    store_town_turn = NULL;
    net->hop = hop;
    ck_assert_int_lt(r->rc, 0);
    ck_assert_ptr_nonnull(strstr(fake_text(r, 0, "error"), "is made, but not at all servers: 1 of 9 servers did not "
                                                           "answer, 1,1,0;"));
    store_town_hush(4, false);
    ck_assert(!store_town_of(net, 4)->joined);
}

/* It has the part that it was to have, and votes; also where it has learned of the store meanwhile. */
START_TEST(who_missed_it_is_told_by_another_create)
{
    for (int learned = 0; learned < 2; learned++) {
        struct fake_net *net = store_town_open(0);
        who_missed_it(net);
        if (learned == 1) {
            store_town_must(net, 4, "put b two", CW_STORE_OK);
            ck_assert_uint_ne(store_town_of(net, 4)->of.id, 0);
        }
        const char *error = fake_text(store_town_ask(net, 5, "create memory copies=4"), 0, "error");
        ck_assert_ptr_nonnull(strstr(error, "there is a store already: 'memory', of 3 copies"));
        store_town_hush(4, true);
        error = fake_text(store_town_ask(net, 5, "create memory"), 0, "error");
        ck_assert_ptr_nonnull(
            strstr(error, "1 of 9 servers could not be asked whether they know of it, 1,1,0: if one"));
        store_town_hush(4, false);
        const struct fake_result *r = store_town_ask(net, learned == 0 ? 5 : 4, "create memory");
        ck_assert_int_eq(r->rc, 0);
        ck_assert_int_eq(fake_int(r, 0, "new_at"), 1);
        struct store *late = store_town_of(net, 4);
        ck_assert_uint_eq(late->of.id, store_town_of(net, 0)->of.id);
        ck_assert_uint_eq(late->shards, 3 * STORE_SHARDS_PER_SERVER);
        for (unsigned i = 0; i < late->shards; i++) {
            const struct store_config *mine = &late->shard[i]->config;
            for (unsigned m = 0; m < mine->count; m++) {
                SUITE_HOLDS(mine->store_id[m] == store_town_of(net, mine->member[m])->store_id);
            }
        }
        r = store_town_ask(net, 5, "create memory");
        ck_assert_ptr_nonnull(strstr(fake_text(r, 0, "error"), "there is a store already"));
        store_town_close(net);
    }
}
END_TEST

/* It might have voted in its former life, and begins with nothing now. */
START_TEST(another_life_does_not_take_that_part)
{
    struct fake_net *net = store_town_open(0);
    who_missed_it(net);
    fake_net_down(net, 4);
    fake_net_up(net, 4);
    ck_assert_int_eq(store_town_ask(net, 5, "create memory")->rc, 0);
    const struct store *late = store_town_of(net, 4);
    ck_assert(late->joined);
    for (unsigned i = 0; i < late->shards; i++) {
        SUITE_HOLDS(late->shard[i]->config.epoch > STORE_EPOCH_FIRST || late->shard[i]->role != STORE_ROLE_MEMBER);
    }
    store_town_close(net);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(all_servers_or_none),
    SUITE_TEST(two_at_once_do_not_both_come_to_be),
    SUITE_TEST(who_missed_it_is_told_by_another_create),
    SUITE_TEST(another_life_does_not_take_that_part),
};
SUITE_MAIN("store making", tests)
