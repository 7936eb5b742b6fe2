/* SPDX-License-Identifier: Apache-2.0 */
#include "services/store/entry/store.h"

#include "services/store/internal.h"
#include "store_town.h"
#include "suite.h"

#include <errno.h>

START_TEST(its_option)
{
    static const char *const good[] = {"memory_mib=2", NULL}, *const bad[] = {"memory_mib=0", NULL};
    int rc;
    cw_svc *s = fake_open_with(&store_service, (cw_dims){3, 3, 1}, (cw_coord){0, 0, 0}, good, &rc);
    ck_assert_ptr_nonnull(s);
    const struct store *store = s->state;
    ck_assert_uint_eq(store->limits.bytes_max, 2 << 20);
    ck_assert_uint_eq(fake_close(s), 0);
    ck_assert_ptr_null(fake_open_with(&store_service, (cw_dims){3, 3, 1}, (cw_coord){0, 0, 0}, bad, &rc));
    ck_assert_int_eq(rc, -EINVAL);
}
END_TEST

/* Another service on the same server asks by the exported functions. */
START_TEST(what_it_exports)
{
    const cw_store_api *api = store_service.exports;
    ck_assert_uint_eq(store_service.exports_version, CW_STORE_API);
    ck_assert_uint_eq(api->size, sizeof *api);
    struct fake_net *net = store_town_open(3);
    ck_assert_int_eq(api->run(net->server[0], NULL, NULL, NULL), -EINVAL);
    store_town_close(net);
}
END_TEST

/* It has no timer of its own, and sends nothing, while nobody asks. */
START_TEST(an_empty_store_sleeps)
{
    struct fake_net *net = store_town_open(3);
    fake_net_run(net, CW_SEC(1));
    uint64_t crossed = net->crossed;
    fake_net_run(net, CW_SEC(60));
    ck_assert_uint_eq(net->crossed, crossed);
    for (cw_server s = 0; s < STORE_TOWN; s++) {
        ck_assert_int_eq(fake_wake(net->server[s]).ns, CW_NEVER.ns);
    }
    store_town_close(net);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(its_option),
    SUITE_TEST(what_it_exports),
    SUITE_TEST(an_empty_store_sleeps),
};
SUITE_MAIN("store store", tests)
