/* SPDX-License-Identifier: Apache-2.0 */
#include "services/store/hearing.h"

#include "store_cellar.h"
#include "suite.h"

#include <string.h>

START_TEST(an_older_disk_is_found_out)
{
    struct fake_net *net = store_cellar_open(3);
    cw_server member[STORE_COPIES_MOST];
    store_town_must(net, 0, "put a one", CW_STORE_OK);
    store_town_members(net, "a", member);
    struct sim_disk *older = sim_disk_copy(store_cellar_disk(member[1]));
    store_town_must(net, 0, "put a two", CW_STORE_OK);
    fake_net_down(net, member[1]);
    store_cellar_replace(member[1], older);
    fake_net_up(net, member[1]);
    store_cellar_run(net, CW_SEC(3));
    ck_assert_int_eq(store_town_of(net, member[1])->health, STORE_DEAD);
    ck_assert_ptr_nonnull(strstr(net->server[member[1]]->logged, "older than what server"));
    ck_assert_str_eq(fake_text(store_town_ask(net, member[1], "get a"), 0, "value"), "two");
    store_cellar_close(net);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(an_older_disk_is_found_out),
};
SUITE_MAIN("store hearing", tests)
