/* SPDX-License-Identifier: Apache-2.0 */
/* Plans that are kept: one for each source and set, made anew when the view has changed. */
#include "services/multicast/group/plans.h"

#include "fake_host.h"
#include "suite.h"

static cw_verdict no_packet(cw_svc *s, void *state, cw_packet *p, const cw_rx *rx)
{
    (void)s, (void)state, (void)p, (void)rx;
    return CW_DROP;
}

static const cw_service service = {CW_SERVICE_INIT, .name = "x", .version = "1.0", .job = 7, .on_packet = no_packet};

START_TEST(kept_and_made_anew)
{
    static const uint8_t all[2] = {0xff, 0x01}, one[2] = {2, 0};
    cw_svc *s = fake_open(&service, (cw_dims){3, 3, 1}, (cw_coord){0, 0, 0});
    struct plans p = {.s = s, .torus = &s->torus};
    const struct cast_plan *plan = plans_get(&p, 0, all);
    ck_assert_ptr_nonnull(plan);
    ck_assert_uint_gt(plan->count, 0);
    ck_assert_ptr_eq(plans_get(&p, 0, all), plan);
    ck_assert_ptr_ne(plans_get(&p, 0, one), plan);
    ck_assert_ptr_ne(plans_get(&p, 4, all), plan);
    ck_assert_ptr_eq(plans_get(&p, 0, all), plan);
    ck_assert_ptr_null(plans_get(&p, 99, all)); /* no such server */
    for (cw_server source = 0; source < PLANS_KEPT; source++) {
        ck_assert_ptr_nonnull(plans_get(&p, source, one));
    }
    ck_assert_ptr_nonnull(plans_get(&p, 0, all)); /* it had to go, and is made again */
    plans_close(&p);
    ck_assert_uint_eq(fake_close(s), 0);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(kept_and_made_anew)};
SUITE_MAIN("plans", tests)
