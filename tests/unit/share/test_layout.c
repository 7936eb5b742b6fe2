/* SPDX-License-Identifier: Apache-2.0 */
#include "share/layout.h"
#include "suite.h"

START_TEST(sizes)
{
    struct share_geometry g = {64, 64 << 10, 64};
    ck_assert(share_geometry_sound(&g));
    ck_assert_uint_eq(share_sub_bytes(&g), 4096 + 64 * 256);
    ck_assert_uint_eq(share_inbox_at(&g), 8192 + 128 * 32);
    ck_assert_uint_eq(share_com_bytes(&g), 8192 + 4096 + 65536);
    g.commands = 16; /* 1 KiB of completions: the inbox begins inside of a page */
    ck_assert_uint_eq(share_inbox_at(&g) % 64, 0);
    ck_assert_uint_eq(share_com_bytes(&g), 8192 + 65536 + 4096);
}
END_TEST

START_TEST(geometries_that_cannot_be_had)
{
    const struct share_geometry bad[] = {
        {8, 64 << 10, 0},  {8192, 64 << 10, 0}, {48, 64 << 10, 0}, {0, 64 << 10, 0},    {64, 8 << 10, 0},
        {64, 32 << 20, 0}, {64, 0, 0},          {64, 65 << 10, 0}, {64, 64 << 10, 513}, {64, 64 << 10, UINT32_MAX},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        SUITE_HOLDS(!share_geometry_sound(&bad[i]), "%zu", i);
    }
    ck_assert(share_geometry_sound(&(struct share_geometry){16, 16 << 10, 0}));
    ck_assert(share_geometry_sound(&(struct share_geometry){4096, 16 << 20, 512}));
}
END_TEST

/* An index may stay or go forward, up to the limit, over the wrap as well. */
START_TEST(indices)
{
    const uint32_t starts[] = {0, 1000, UINT32_MAX - 3};
    for (size_t i = 0; i < 3; i++) {
        uint32_t base = starts[i], seen = base + 2;
        SUITE_HOLDS(share_index_sound(base, seen, seen, 16), "%zu", i);
        SUITE_HOLDS(share_index_sound(base, seen, base + 16, 16), "%zu", i);
        SUITE_HOLDS(!share_index_sound(base, seen, base + 17, 16), "%zu", i);
        SUITE_HOLDS(!share_index_sound(base, seen, base + 1, 16), "%zu", i);
        SUITE_HOLDS(!share_index_sound(base, seen, base - 1, 16), "%zu", i);
        SUITE_HOLDS(!share_index_sound(base, seen, base + (UINT32_C(1) << 31), 16), "%zu", i);
    }
    ck_assert(share_position_sound(UINT64_MAX - 63, UINT64_MAX - 63, 128, 192));
    ck_assert(!share_position_sound(UINT64_MAX - 63, UINT64_MAX - 63, 192, 192));
    ck_assert(!share_position_sound(64, 128, 64, 192));
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(sizes),
    SUITE_TEST(geometries_that_cannot_be_had),
    SUITE_TEST(indices),
};
SUITE_MAIN("layout", tests)
