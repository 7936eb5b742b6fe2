/* SPDX-License-Identifier: Apache-2.0 */
#include "scenario/cluster.h"
#include "suite.h"

/* The defaults that docs/simulator.md promises, and that a node would start with them. */
START_TEST(defaults)
{
    struct world_config c = world_config_default();
    ck_assert(c.dims.x == 3 && c.dims.y == 3 && c.dims.z == 3 && c.seed == 1 && c.node.mtu == 9000);
    ck_assert(c.wire.bits_per_second == UINT64_C(1000000000) && c.wire.propagation.ns == 1000 && c.wire.ring == 1);
    ck_assert(c.carrier.ns < 0 && c.cpu_queue == 1024);
    c.node.dims = c.dims;
    c.node.incarnation = 1;
    ck_assert_int_eq(node_config_check(&c.node), 0);
}
END_TEST

START_TEST(losses_have_names)
{
    for (unsigned i = 0; i < WORLD_LOSSES; i++) {
        ck_assert_str_ne(world_loss_name((enum world_loss)i), "?");
    }
    ck_assert_str_eq(world_loss_name(WORLD_LOSS_CUT), "cut");
    ck_assert_str_eq(world_loss_name(WORLD_LOSSES), "?");
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(defaults), SUITE_TEST(losses_have_names)};
SUITE_MAIN("cluster", tests)
