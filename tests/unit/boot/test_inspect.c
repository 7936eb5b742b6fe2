/* SPDX-License-Identifier: Apache-2.0 */
#include "boot/inspect.h"
#include "boot/solve.h"
#include "boot/verify.h"
#include "suite.h"
#include "yard.h"

#include <string.h>

enum { FAULTS = 8 };

struct found {
    struct boot_fault fault[FAULTS];
    struct fault_list list;
};

static void find(const struct yard *y, struct found *found)
{
    struct solution s;
    found->list = (struct fault_list){.fault = found->fault, .max = FAULTS};
    ck_assert_int_eq(boot_solve(&y->g, &s), 0);
    ck_assert_int_eq(boot_inspect(&y->g, &s, &found->list), 0);
    ck_assert_int_eq(boot_verify(&y->g, &s) != 0, found->list.grave > 0);
    solution_free(&s);
}

/* Plain yards: server i stands at cell i, so that ids and positions are known. */
static uint32_t cell(const struct yard *y, unsigned a, unsigned b, unsigned c)
{
    return coord_cell(y->dims, (cw_coord){(uint8_t)a, (uint8_t)b, (uint8_t)c});
}

static void is_who(const struct yard *y, const struct boot_who *who, uint32_t server)
{
    ck_assert_uint_eq(who->id, y->g.server[server].id);
    ck_assert(who->placed);
    ck_assert(coord_cell(y->dims, who->at) == server);
}

START_TEST(ports_of_one_server_swapped)
{
    struct yard y = yard_make_plain((cw_dims){4, 4, 4}, true);
    struct found f;
    uint32_t a = cell(&y, 1, 1, 1), over_x = cell(&y, 2, 1, 1), over_y = cell(&y, 1, 2, 1);
    yard_swap(&y, (struct graph_end){a, CW_LINK_XP}, (struct graph_end){a, CW_LINK_YP});
    find(&y, &f);
    ck_assert_uint_eq(f.list.count, 2);
    ck_assert_uint_eq(f.fault[0].kind, BOOT_FAULT_CROSSED);
    ck_assert(f.fault[0].swapped);
    ck_assert(f.fault[1].swapped);
    is_who(&y, &f.fault[0].who, a);
    is_who(&y, &f.fault[0].far, over_y);
    is_who(&y, &f.fault[0].expected, over_x);
    is_who(&y, &f.fault[0].other, a);
    ck_assert_uint_eq(f.fault[0].other_port, CW_LINK_YP);
    yard_free(&y);
}
END_TEST

/* In a torus so small that half of its cables stand beside the wrong one. */
START_TEST(ports_swapped_in_six_servers)
{
    struct yard y = yard_make_plain((cw_dims){3, 2, 1}, true);
    struct found f;
    yard_swap(&y, (struct graph_end){0, CW_LINK_XP}, (struct graph_end){0, CW_LINK_YP});
    find(&y, &f);
    ck_assert_uint_eq(f.list.count, 2);
    ck_assert_uint_eq(f.fault[0].kind, BOOT_FAULT_CROSSED);
    ck_assert(f.fault[0].swapped);
    yard_free(&y);
}
END_TEST

START_TEST(equal_signs)
{
    struct yard y = yard_make_plain((cw_dims){4, 4, 4}, true);
    struct found f;
    uint32_t a = cell(&y, 3, 1, 1);
    yard_swap(&y, (struct graph_end){a, CW_LINK_XP}, (struct graph_end){a, CW_LINK_XM});
    find(&y, &f);
    ck_assert_uint_eq(f.list.count, 2);
    ck_assert_uint_eq(f.fault[0].kind, BOOT_FAULT_SAME_SIGN);
    ck_assert_uint_eq(f.fault[1].kind, BOOT_FAULT_SAME_SIGN);
    yard_free(&y);
}
END_TEST

START_TEST(cables_of_two_servers_swapped)
{
    struct yard y = yard_make_plain((cw_dims){4, 5, 3}, true);
    struct found f;
    uint32_t a = cell(&y, 1, 1, 1), b = cell(&y, 3, 4, 2);
    yard_swap(&y, (struct graph_end){a, CW_LINK_XP}, (struct graph_end){b, CW_LINK_XP});
    find(&y, &f);
    ck_assert_uint_eq(f.list.count, 2);
    ck_assert_uint_eq(f.fault[0].kind, BOOT_FAULT_WRONG_END);
    ck_assert(f.fault[0].swapped);
    yard_free(&y);
}
END_TEST

START_TEST(a_missing_cable_is_told_once)
{
    struct yard y = yard_make_plain((cw_dims){3, 4, 5}, true);
    struct found f;
    graph_cut(&y.g, (struct graph_end){cell(&y, 2, 3, 4), CW_LINK_ZP});
    find(&y, &f);
    ck_assert_uint_eq(f.list.count, 1);
    ck_assert_uint_eq(f.fault[0].kind, BOOT_FAULT_SILENT);
    is_who(&y, &f.fault[0].who, cell(&y, 2, 3, 0));
    is_who(&y, &f.fault[0].expected, cell(&y, 2, 3, 4));
    yard_free(&y);
}
END_TEST

/* One server is off: its place is told, and not its six cables beside. */
START_TEST(a_missing_server)
{
    struct yard y = yard_make_plain((cw_dims){3, 4, 5}, true);
    struct found f;
    uint32_t last = y.g.count - 1;
    for (uint8_t port = 0; port < CW_LINK_COUNT; port++) {
        graph_cut(&y.g, (struct graph_end){last, port});
    }
    y.g.count--;
    find(&y, &f);
    ck_assert_uint_eq(f.list.count, 2);
    ck_assert_uint_eq(f.fault[0].kind, BOOT_FAULT_COUNT);
    ck_assert_uint_eq(f.fault[0].count, 59);
    ck_assert_uint_eq(f.fault[1].kind, BOOT_FAULT_EMPTY_PLACE);
    ck_assert(coord_equal(f.fault[1].expected.at, (cw_coord){2, 3, 4}));
    yard_free(&y);
}
END_TEST

START_TEST(a_cable_back_to_its_own_server)
{
    struct yard y = yard_make_plain((cw_dims){3, 3, 3}, true);
    struct found f;
    graph_cut(&y.g, (struct graph_end){5, CW_LINK_XP});
    graph_cut(&y.g, (struct graph_end){5, CW_LINK_YP});
    graph_join(&y.g, (struct graph_end){5, CW_LINK_XP}, (struct graph_end){5, CW_LINK_YP});
    find(&y, &f);
    ck_assert_uint_eq(f.fault[0].kind, BOOT_FAULT_LOOP);
    ck_assert_uint_eq(f.list.count, 3); /* and the two ends that it left silent */
    yard_free(&y);
}
END_TEST

START_TEST(other_dims_than_told)
{
    struct yard y = yard_make_plain((cw_dims){3, 4, 5}, true);
    struct found f;
    for (uint32_t i = 0; i < y.g.count; i++) {
        y.g.server[i].expected = (cw_dims){4, 3, 5};
    }
    find(&y, &f);
    ck_assert_uint_eq(f.list.count, 1);
    ck_assert_uint_eq(f.fault[0].kind, BOOT_FAULT_DIMS);
    ck_assert(dims_equal(f.fault[0].dims, (cw_dims){4, 3, 5}));
    ck_assert(dims_equal(f.fault[0].found, y.dims));
    yard_free(&y);
}
END_TEST

START_TEST(keeps_the_first_and_counts_all)
{
    struct rng r = {1};
    struct yard y = yard_make((cw_dims){5, 5, 5}, true, &r);
    struct found f;
    for (unsigned i = 0; i < 12; i++) {
        graph_cut(&y.g, yard_end(&y, &r));
    }
    find(&y, &f);
    ck_assert_uint_eq(f.list.count, 12);
    ck_assert_uint_eq(f.fault[FAULTS - 1].kind, BOOT_FAULT_SILENT);
    yard_free(&y);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(ports_of_one_server_swapped),
    SUITE_TEST(ports_swapped_in_six_servers),
    SUITE_TEST(equal_signs),
    SUITE_TEST(cables_of_two_servers_swapped),
    SUITE_TEST(a_missing_cable_is_told_once),
    SUITE_TEST(a_missing_server),
    SUITE_TEST(a_cable_back_to_its_own_server),
    SUITE_TEST(other_dims_than_told),
    SUITE_TEST(keeps_the_first_and_counts_all),
};
SUITE_MAIN("inspect", tests)
