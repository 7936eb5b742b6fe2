/* SPDX-License-Identifier: Apache-2.0 */
/* What servers know, against what they knew and against the truth: planted breaches are found. */
#include "simulator/check_internal.h"

#include "town.h"

static struct world *up(void)
{
    struct world *w = town_up((cw_dims){3, 3, 3}, 1);
    town_run(w, CW_MS(200));
    return w;
}

/* Makes the check look at everything of s again. */
static void look_again(struct world *w, cw_server s)
{
    w->check->known[s].epoch = 0;
    w->check->known[s].digest = 0;
    check_view(w->check, s, false);
}

START_TEST(looking_again_finds_nothing)
{
    struct world *w = up();
    for (cw_server s = 0; s < 27; s++) {
        look_again(w, s);
    }
    check_members(w->check);
    ck_assert_ptr_null(world_violation(w));
    world_close(w);
}
END_TEST

START_TEST(a_record_that_went_back_is_found)
{
    struct world *w = up();
    w->check->known[4].version[9].seq++;
    look_again(w, 4);
    town_broken(w, 13);
    ck_assert_uint_eq(world_violation(w)->server[0], 4);
    ck_assert_uint_eq(world_violation(w)->server[1], w->check->origin[9]);
    world_close(w);
}
END_TEST

START_TEST(an_own_record_that_went_back_is_found)
{
    struct world *w = up();
    w->check->newest[4].incarnation++;
    look_again(w, 4);
    town_broken(w, 13);
    ck_assert_uint_eq(world_violation(w)->servers, 1);
    world_close(w);
}
END_TEST

/* Somebody holds a record of a dead server that is newer than all it ever made. */
START_TEST(a_record_nobody_made_is_found)
{
    struct world *w = up();
    world_kill(w, 9, false);
    w->check->newest[9] = (struct version){1, 0};
    look_again(w, 4);
    town_broken(w, 14);
    ck_assert_uint_eq(world_violation(w)->server[1], 9);
    world_close(w);
}
END_TEST

/* Where flipped bits get through and there is no cluster key, such a record may be one that a cable has made. */
START_TEST(a_record_that_a_cable_has_made)
{
    struct world *w = up();
    w->config.corrupt_passes = true;
    world_kill(w, 9, false);
    w->check->newest[9] = (struct version){1, 0};
    look_again(w, 4);
    ck_assert_ptr_null(world_violation(w));
    w->check->newest[4] = (struct version){UINT64_MAX, 0}; /* the others are looked after all the same: 13 */
    look_again(w, 4);
    town_broken(w, 13);
    world_close(w);
}
END_TEST

/* Everybody gave it up long ago, and it is said to be connected and active. */
START_TEST(a_member_that_is_missed_is_found)
{
    struct world *w = up();
    world_cable(w, 13, CW_LINK_XP, true, false);
    for (cw_link link = CW_LINK_XP; link < CW_LINK_COUNT; link++) {
        world_cable(w, 13, link, true, false);
    }
    town_run(w, CW_SEC(1)); /* 13 is out of everybody's view */
    ck_assert(!reach_has(ls_optimistic(node_linkstate(world_node(w, 12))), 13));
    ck_assert_ptr_null(world_violation(w));
    for (cw_link link = CW_LINK_XP; link < CW_LINK_COUNT; link++) { /* and is said to be connected */
        cw_server far = w->neighbours[13 * CW_LINK_COUNT + link];
        oracle_cable(&w->oracle, 13, link, true);
        oracle_cable(&w->oracle, far, cw_link_opposite(link), true);
        oracle_claims(&w->oracle, 13, link, w->oracle.incarnation[far]);
        oracle_claims(&w->oracle, far, cw_link_opposite(link), w->oracle.incarnation[13]);
    }
    oracle_active(&w->oracle, 13, true);
    check_members(w->check);
    town_broken(w, 7);
    world_close(w);
}
END_TEST

START_TEST(groups_are_the_components)
{
    struct world *w = up();
    struct check *c = w->check;
    world_kill(w, 0, false);
    check_group(c);
    unsigned members = 0;
    for (cw_server s = 1; s != CW_SERVER_NONE; s = c->next[s]) {
        members++;
    }
    ck_assert_uint_eq(c->first[1], 1);
    ck_assert_uint_eq(members, 26);
    for (cw_server s = 0; s < 27; s++) {
        ck_assert(s == 1 || c->first[s] == CW_SERVER_NONE);
    }
    world_close(w);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(looking_again_finds_nothing),
    SUITE_TEST(a_record_that_went_back_is_found),
    SUITE_TEST(an_own_record_that_went_back_is_found),
    SUITE_TEST(a_record_nobody_made_is_found),
    SUITE_TEST(a_record_that_a_cable_has_made),
    SUITE_TEST(a_member_that_is_missed_is_found),
    SUITE_TEST(groups_are_the_components),
};
SUITE_MAIN("simulator/check_views", tests)
