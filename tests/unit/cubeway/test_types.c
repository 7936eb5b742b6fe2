/* SPDX-License-Identifier: Apache-2.0 */
#include "cubeway/types.h"

#include "suite.h"

START_TEST(opposite_links)
{
    ck_assert_int_eq(cw_link_opposite(CW_LINK_XP), CW_LINK_XM);
    ck_assert_int_eq(cw_link_opposite(CW_LINK_YP), CW_LINK_YM);
    ck_assert_int_eq(cw_link_opposite(CW_LINK_ZP), CW_LINK_ZM);
    for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
        cw_link back = cw_link_opposite(link);
        ck_assert_int_ne(back, link);
        ck_assert_int_eq(back / 2, link / 2); /* the same axis */
        ck_assert_int_eq(cw_link_opposite(back), link);
    }
}
END_TEST

START_TEST(sets_of_links)
{
    cw_links all = CW_LINKS_NONE;
    for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
        ck_assert_int_eq(all & cw_links_of(link), 0);
        all |= cw_links_of(link);
    }
    ck_assert_int_eq(all, CW_LINKS_ALL);
    ck_assert_int_eq(CW_LINKS_ALL & cw_links_of(CW_LINK_SELF), 0);
}
END_TEST

START_TEST(sizes)
{
    ck_assert_uint_eq(sizeof(cw_coord), 3);
    ck_assert_uint_eq(sizeof(cw_key), 160 / 8);
    ck_assert_uint_gt(CW_SERVER_NONE, (cw_server)CW_DIM_MAX * CW_DIM_MAX * CW_DIM_MAX - 1);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(opposite_links), SUITE_TEST(sets_of_links), SUITE_TEST(sizes)};
SUITE_MAIN("types", tests)
