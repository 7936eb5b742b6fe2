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

static const struct suite_test tests[] = {
    SUITE_TEST(all_servers_or_none),
    SUITE_TEST(two_at_once_do_not_both_come_to_be),
};
SUITE_MAIN("store making", tests)
