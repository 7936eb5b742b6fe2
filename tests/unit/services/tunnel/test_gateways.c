/* SPDX-License-Identifier: Apache-2.0 */
#include "services/tunnel/gateways.h"

#include "fake_host.h"
#include "services/tunnel/tunnel.h"
#include "suite.h"

enum { FLOWS = 3000 };

static struct address_plan plan;
static struct gateways g;

static cw_svc *begin(const char *gateways)
{
    char why[ADDRESS_WHY_BYTES];
    enum address_fault fault;
    const struct address_wish wish = {.dims = {7, 1, 1}, .job = 9, .gateways = gateways};
    ck_assert_msg(address_plan_make(&plan, &wish, &fault, why) == 0, "%s", why);
    cw_svc *s = fake_open(&tunnel_service, (cw_dims){7, 1, 1}, (cw_coord){0, 0, 0});
    gateways_look(&g, s, &plan);
    return s;
}

/* In a ring of seven, servers 1 and 6 are one link away from server 0, and 3 is three. */
START_TEST(the_nearest_living_one)
{
    cw_svc *s = begin("0 1 3");
    ck_assert_uint_eq(gateways_pick(&g, 77), 1);
    s->down[1] = true;
    gateways_look(&g, s, &plan);
    ck_assert_uint_eq(gateways_pick(&g, 77), 3);
    s->down[3] = true;
    gateways_look(&g, s, &plan);
    ck_assert_uint_eq(gateways_pick(&g, 77), CW_SERVER_NONE);
    s->down[1] = s->down[3] = false;
    gateways_look(&g, s, &plan);
    ck_assert_uint_eq(gateways_pick(&g, 77), 1);
    ck_assert_uint_eq(fake_close(s), 0);
}
END_TEST

START_TEST(flows_are_spread_and_stay)
{
    cw_svc *s = begin("1 6");
    cw_server first[FLOWS];
    unsigned of_one = 0;
    for (unsigned i = 0; i < FLOWS; i++) {
        first[i] = gateways_pick(&g, i);
        of_one += first[i] == 1;
    }
    ck_assert(of_one > FLOWS * 2 / 5 && of_one < FLOWS * 3 / 5);
    ck_assert_uint_eq(fake_close(s), 0);
    /* Of three equally near ones one dies: flows of the other two stay. */
    g = (struct gateways){3, {1, 2, 3}};
    const struct gateways two = {2, {1, 3}};
    for (unsigned i = 0; i < FLOWS; i++) {
        cw_server had = gateways_pick(&g, i), has = gateways_pick(&two, i);
        SUITE_HOLDS(had == 2 ? has != 2 : has == had, "flow %u", i);
    }
}
END_TEST

START_TEST(none)
{
    cw_svc *s = begin(NULL);
    ck_assert_uint_eq(gateways_pick(&g, 1), CW_SERVER_NONE);
    ck_assert_uint_eq(fake_close(s), 0);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(the_nearest_living_one), SUITE_TEST(flows_are_spread_and_stay),
                                          SUITE_TEST(none)};
SUITE_MAIN("gateways", tests)
