/* SPDX-License-Identifier: Apache-2.0 */
#include "services/ping/detour.h"

#include "fake_host.h"
#include "services/ping/ping.h"
#include "suite.h"

#include <errno.h>

static unsigned length_of(const cw_svc *s, const cw_coord *at, int legs)
{
    unsigned length = 0;
    cw_coord from = s->self;
    for (int i = 0; i < legs; i++) {
        length += cw_distance(s, from, at[i]);
        from = at[i];
    }
    return length;
}

START_TEST(has_the_length_that_was_asked_for)
{
    static const cw_dims shapes[] = {{10, 10, 10}, {3, 3, 3}, {8, 8, 8}, {2, 1, 1}, {1, 5, 1}, {4, 3, 2}, {256, 1, 1}};
    cw_coord at[DETOUR_LEGS_MAX];
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        cw_dims d = shapes[i];
        cw_svc *s = fake_open(&ping_service, d, (cw_coord){(uint8_t)(d.x - 1), 0, (uint8_t)(d.z / 2)});
        unsigned diameter = torus_diameter(&s->torus);
        for (unsigned hops = 1; hops <= 60; hops++) {
            int legs = detour_plan(s, hops, at);
            bool possible = hops <= diameter * DETOUR_LEGS_MAX;
            ck_assert_msg(possible ? legs == (int)((hops + diameter - 1) / diameter) && length_of(s, at, legs) == hops
                                   : legs == -ENETUNREACH,
                          "shape %zu hops %u gave %d", i, hops, legs);
        }
        ck_assert_int_eq(detour_plan(s, 0, at), -ENETUNREACH);
        fake_close(s);
    }
}
END_TEST

START_TEST(goes_by_servers_that_are_up)
{
    cw_coord at[DETOUR_LEGS_MAX];
    cw_svc *s = fake_open(&ping_service, (cw_dims){5, 5, 5}, (cw_coord){0, 0, 0});
    for (cw_server id = 1; id < s->torus.servers; id++) {
        s->down[id] = id % 3 != 0;
    }
    int legs = detour_plan(s, 15, at);
    ck_assert_int_gt(legs, 0);
    ck_assert_uint_eq(length_of(s, at, legs), 15);
    for (int i = 0; i < legs; i++) {
        ck_assert(cw_reachable(s, at[i]));
    }
    for (cw_server id = 1; id < s->torus.servers; id++) {
        s->down[id] = true;
    }
    ck_assert_int_eq(detour_plan(s, 15, at), -ENETUNREACH);
    fake_close(s);
}
END_TEST

START_TEST(a_torus_of_one_has_no_paths)
{
    cw_coord at[DETOUR_LEGS_MAX];
    cw_svc *s = fake_open(&ping_service, (cw_dims){1, 1, 1}, (cw_coord){0, 0, 0});
    ck_assert_int_eq(detour_plan(s, 1, at), -ENETUNREACH);
    fake_close(s);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(has_the_length_that_was_asked_for),
    SUITE_TEST(goes_by_servers_that_are_up),
    SUITE_TEST(a_torus_of_one_has_no_paths),
};
SUITE_MAIN("detour", tests)
