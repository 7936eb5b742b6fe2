/* SPDX-License-Identifier: Apache-2.0 */
#include "boot/plan.h"
#include "suite.h"

#include <string.h>

/* Every port of an axis longer than 1 is an end of exactly one cable, and cables join neighbours. */
static void check(cw_dims dims)
{
    struct torus t;
    ck_assert_int_eq(torus_init(&t, dims), 0);
    unsigned axes = (dims.x > 1) + (dims.y > 1) + (dims.z > 1);
    ck_assert_uint_eq(boot_plan_count(&t), t.servers * axes);
    uint8_t ends[64][CW_LINK_COUNT];
    memset(ends, 0, sizeof ends);
    for (uint32_t i = 0; i < boot_plan_count(&t); i++) {
        struct boot_cable c = boot_plan_cable(&t, i);
        cw_server from = torus_id(&t, c.from.server), to = torus_id(&t, c.to.server);
        ck_assert_uint_eq(from, i / axes);
        ck_assert_uint_eq(c.from.link % 2, 0);
        ck_assert_uint_eq(torus_neighbour(&t, from, c.from.link), to);
        ck_assert_uint_eq(c.to.link, cw_link_opposite(c.from.link));
        ends[from][c.from.link]++;
        ends[to][c.to.link]++;
    }
    for (uint32_t s = 0; s < t.servers; s++) {
        for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
            ck_assert_uint_eq(ends[s][link], (torus_links(&t) & cw_links_of(link)) != 0);
        }
    }
}

START_TEST(each_port_once)
{
    check((cw_dims){3, 3, 3});
    check((cw_dims){4, 2, 1});
    check((cw_dims){1, 5, 1});
    check((cw_dims){1, 1, 7});
    check((cw_dims){2, 2, 2});
    check((cw_dims){1, 1, 1});
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(each_port_once)};
SUITE_MAIN("plan", tests)
