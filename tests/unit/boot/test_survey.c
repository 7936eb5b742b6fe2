/* SPDX-License-Identifier: Apache-2.0 */
#include "boot/survey.h"
#include "suite.h"

/* A chain 50 - 40 - 30 - 20 over ports 0 and 1, each advert put in by hand. */
static void put(struct atlas *a, uint64_t id, uint64_t left, uint64_t right, uint8_t flags)
{
    struct cabling advert = {.id = id, .version = 1, .flags = flags, .dims = {3, 3, 3}};
    advert.port[0] = (struct cabling_port){left, 1, 0};
    advert.port[1] = (struct cabling_port){right, 0, 1};
    advert.port[0].far_port = left != 0 ? 1 : 0;
    for (uint8_t i = 2; i < CW_LINK_COUNT; i++) {
        advert.port[i].label = i;
    }
    ck_assert_int_eq(atlas_put(a, &advert, 0, NULL), 1);
}

START_TEST(what_hangs_together)
{
    struct atlas a = atlas_empty(100);
    struct graph g;
    uint32_t missing;
    put(&a, 50, 0, 40, 0);
    put(&a, 40, 50, 30, 0);
    put(&a, 20, 30, 0, 0);
    put(&a, 7, 0, 0, 0); /* of nobody's acquaintance */
    ck_assert_int_eq(boot_survey(&a, 50, &g, &missing), 0);
    ck_assert_uint_eq(g.count, 2);
    ck_assert_uint_eq(missing, 1); /* 30 has not been heard of */
    graph_free(&g);
    put(&a, 30, 40, 20, 0);
    ck_assert_int_eq(boot_survey(&a, 50, &g, &missing), 0);
    ck_assert_uint_eq(g.count, 4);
    ck_assert_uint_eq(missing, 0);
    for (uint32_t i = 0; i < 4; i++) {
        ck_assert_uint_eq(g.server[i].id, 20 + 10 * i);
        ck_assert_uint_eq(boot_survey_find(&g, g.server[i].id), i);
        ck_assert_uint_eq(g.server[i].far[0].server, i < 3 ? i + 1 : GRAPH_NONE);
        ck_assert_uint_eq(g.server[i].far[1].server, i > 0 ? i - 1 : GRAPH_NONE);
    }
    ck_assert_uint_eq(boot_survey_find(&g, 7), GRAPH_NONE);
    graph_free(&g);
    atlas_clear(&a);
}
END_TEST

START_TEST(servers_with_a_place_are_the_border)
{
    struct atlas a = atlas_empty(100);
    struct graph g;
    uint32_t missing;
    put(&a, 50, 0, 40, 0);
    put(&a, 40, 50, 30, CABLING_PLACED);
    put(&a, 30, 40, 20, CABLING_PLACED);
    ck_assert_int_eq(boot_survey(&a, 50, &g, &missing), 0);
    ck_assert_uint_eq(g.count, 2);
    ck_assert_uint_eq(missing, 0); /* what it names is not our business */
    ck_assert(g.server[0].placed);
    ck_assert_int_eq(g.server[0].dims.x, 3);
    ck_assert(!g.server[1].placed);
    graph_free(&g);
    atlas_clear(&a);
}
END_TEST

START_TEST(a_cable_has_two_witnesses)
{
    struct atlas a = atlas_empty(100);
    struct graph g;
    uint32_t missing;
    put(&a, 50, 0, 40, 0);
    put(&a, 40, 0, 0, 0);
    ck_assert_int_eq(boot_survey(&a, 50, &g, &missing), 0);
    ck_assert_uint_eq(g.count, 1);
    ck_assert_uint_eq(missing, 1);
    graph_free(&g);
    atlas_clear(&a);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(what_hangs_together),
    SUITE_TEST(servers_with_a_place_are_the_border),
    SUITE_TEST(a_cable_has_two_witnesses),
};
SUITE_MAIN("survey", tests)
