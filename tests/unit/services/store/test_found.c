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

static const struct suite_test tests[] = {
    SUITE_TEST(all_lose_their_power),
};
SUITE_MAIN("store found", tests)
