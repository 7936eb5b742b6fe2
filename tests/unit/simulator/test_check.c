/* SPDX-License-Identifier: Apache-2.0 */
/* The first broken invariant ends the run and says all that is needed to see it again. */
#include "simulator/check_internal.h"

#include "town.h"

START_TEST(the_first_violation_counts_and_stops)
{
    struct world_config config = town_config((cw_dims){3, 3, 3}, 42);
    config.replay = "cwsim replay this";
    struct world *w = town_open(&config);
    town_boot(w);
    check_violated(w, 7, 2, (cw_server[]){1, 13}, "%d things", 5);
    check_violated(w, 9, 0, NULL, "another");
    const struct world_violation *v = world_violation(w);
    ck_assert_ptr_nonnull(v);
    ck_assert_uint_eq(v->invariant, 7);
    ck_assert_uint_eq(v->servers, 2);
    ck_assert_int_eq(v->at.ns, world_now(w).ns);
    ck_assert_ptr_nonnull(strstr(v->text, "invariant 7 broken at 0."));
    ck_assert_ptr_nonnull(strstr(v->text, "5 things; seed 42, servers 0,0,1 1,1,1; again: cwsim replay this"));
    ck_assert_int_eq(world_run(w, cw_time_add(world_now(w), CW_MS(1))), 1);
    world_close(w);
}
END_TEST

START_TEST(a_long_text_is_cut)
{
    struct world *w = town_up((cw_dims){2, 2, 2}, 1);
    static char text[2000];
    memset(text, 'x', sizeof text - 1);
    cw_server all[] = {0, 1, 2, 3, 4, 5};
    check_violated(w, 1, 6, all, "%s", text);
    const struct world_violation *v = world_violation(w);
    ck_assert_uint_eq(strlen(v->text), WORLD_VIOLATION_TEXT - 1);
    ck_assert_uint_eq(v->servers, WORLD_VIOLATION_SERVERS);
    world_close(w);
}
END_TEST

START_TEST(a_world_is_perfect_a_while_after_the_last_disturbance)
{
    struct world *w = town_up((cw_dims){3, 3, 3}, 1);
    ck_assert(!w->check->perfect);
    town_run(w, CW_SEC(2));
    ck_assert(w->check->perfect);
    world_cable(w, 0, CW_LINK_XP, true, false);
    ck_assert(!w->check->perfect);
    town_run(w, CW_SEC(3));
    ck_assert(!w->check->perfect);
    world_cable(w, 0, CW_LINK_XP, true, true);
    town_run(w, CW_SEC(3));
    ck_assert(w->check->perfect);
    world_close(w);
}
END_TEST

START_TEST(checks_do_look)
{
    struct world *w = town_up((cw_dims){3, 3, 3}, 1);
    uint64_t before = town_totals(w).checks;
    town_run(w, CW_MS(1000));
    ck_assert_uint_ge(town_totals(w).checks - before, 2000); /* two samples a ms */
    ck_assert_uint_gt(check_bytes(w->check), 27 * 27 * sizeof(struct version));
    world_close(w);
}
END_TEST

START_TEST(checks_may_be_off)
{
    struct world_config config = town_config((cw_dims){2, 2, 2}, 1);
    config.checks_off = true;
    struct world *w = town_open(&config);
    town_boot(w);
    ck_assert_ptr_null(w->check);
    ck_assert_uint_eq(town_totals(w).checks, 0);
    ck_assert_int_eq(check_quiet(w), 0);
    world_close(w);
}
END_TEST

/* Beyond the limit a drawn share of origins is followed, each once. */
START_TEST(origins_are_followed)
{
    struct world_config config = town_config((cw_dims){4, 5, 6}, 1);
    struct world *w = town_open(&config);
    bool followed[120] = {false};
    ck_assert_uint_eq(w->check->origins, CHECK_ORIGINS);
    for (uint32_t i = 0; i < CHECK_ORIGINS; i++) {
        cw_server s = w->check->origin[i];
        ck_assert_uint_lt(s, 120);
        ck_assert(!followed[s]);
        followed[s] = true;
    }
    world_close(w);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(the_first_violation_counts_and_stops),
    SUITE_TEST(a_long_text_is_cut),
    SUITE_TEST(a_world_is_perfect_a_while_after_the_last_disturbance),
    SUITE_TEST(checks_do_look),
    SUITE_TEST(checks_may_be_off),
    SUITE_TEST(origins_are_followed),
};
SUITE_MAIN("simulator/check", tests)
