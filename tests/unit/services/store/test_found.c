/* SPDX-License-Identifier: Apache-2.0 */
#include "services/store/found.h"

#include "store_cellar.h"
#include "suite.h"

START_TEST(all_lose_their_power)
{
    struct fake_net *net = store_cellar_open(3);
    char line[40];
    for (unsigned i = 0; i < 20; i++) {
        snprintf(line, sizeof line, "put name%u value%u", i, i);
        store_town_must(net, i % STORE_TOWN, line, CW_STORE_OK);
    }
    store_town_must(net, 3, "delete name5", CW_STORE_OK);
    for (cw_server s = 0; s < STORE_TOWN; s++) {
        fake_net_down(net, s);
        store_cellar_crash(s);
    }
    for (cw_server s = 0; s < STORE_TOWN; s++) {
        fake_net_up(net, s);
    }
    store_cellar_run(net, CW_SEC(3));
    for (unsigned i = 0; i < 20; i++) {
        snprintf(line, sizeof line, "get name%u", i);
        store_town_must(net, (i + 4) % STORE_TOWN, line, i == 5 ? CW_STORE_NOT_FOUND : CW_STORE_OK);
    }
    store_cellar_close(net);
}
END_TEST

/* Store rule 21: a member that cannot read all that it had written does not vote as if it had not. */
START_TEST(what_a_later_release_wrote)
{
    struct fake_net *net = store_cellar_open(3);
    struct store *s = store_town_of(net, 0);
    const uint8_t later[] = {STORE_FOUND_VERSION + 7, 1, 2, 3}, cut[] = {STORE_FOUND_VERSION, 1, 2, 3};
    ck_assert_uint_eq(s->found_strange, 0);
    store_found(s, STORE_FOUND_REGISTER, later, sizeof later);
    store_found(s, STORE_FOUND_REGISTER, cut, sizeof cut);
    store_found(s, STORE_FOUND_CLASS, cut, sizeof cut);
    store_found(s, STORE_FOUND_SHARD, later, sizeof later);
    ck_assert_uint_eq(s->found_strange, 4);
    store_cellar_close(net);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(what_a_later_release_wrote),
    SUITE_TEST(all_lose_their_power),
};
SUITE_MAIN("store found", tests)
