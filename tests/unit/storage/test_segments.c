/* SPDX-License-Identifier: Apache-2.0 */
#include "storage/disk.h"
#include "storage/segments.h"
#include "suite.h"

enum { SIZE = 4096, BLOCK = 512 };

static struct segments some(bool meta, uint32_t count)
{
    struct segments all;
    segments_open(&all, meta, SIZE, BLOCK);
    for (uint32_t i = 0; i < count; i++) {
        segments_add(&all)->state = SEGMENT_FREE;
    }
    return all;
}

START_TEST(room_is_taken_in_order_and_padded)
{
    struct segments all = some(true, 2);
    uint32_t offset;
    ck_assert(segments_has_room(&all, SIZE, 1));
    ck_assert(!segments_has_room(&all, SIZE, 2));
    ck_assert_uint_eq(segments_take(&all, 1, 0, &offset), 1);
    ck_assert_uint_eq(offset, 0);
    ck_assert_uint_eq(segments_take(&all, 513, 1, &offset), 1);
    ck_assert_uint_eq(offset, 512);
    ck_assert_uint_eq(segments_take(&all, SIZE, 2, &offset), 2);
    ck_assert_int_eq(segments_at(&all, 1)->state, SEGMENT_FULL);
    ck_assert_uint_eq(segments_at(&all, 1)->last, 2);
    ck_assert_uint_eq(segments_take(&all, 1, 3, &offset), 0);
    ck_assert(!segments_has_room(&all, 1, 0));
    segments_close(&all);
}
END_TEST

START_TEST(a_segment_is_used_again_when_all_let_go_of_it)
{
    struct segments all = some(true, 2);
    uint32_t offset;
    (void)segments_take(&all, SIZE, 0, &offset);
    segments_live(&all, 1, 100, true);
    (void)segments_take(&all, SIZE, 7, &offset);
    ck_assert_uint_eq(segments_sparse(&all, 50, 7), 1);
    ck_assert_uint_eq(segments_sparse(&all, 50, 6), 0); /* no checkpoint covers it yet */
    ck_assert_uint_eq(segments_sparse(&all, 1, 7), 0);
    ck_assert(!segments_recycle(&all, 7));
    segments_live(&all, 1, 100, false);
    segments_at(&all, 1)->pins = 1;
    ck_assert(!segments_recycle(&all, 7));
    segments_at(&all, 1)->pins = 0;
    ck_assert(!segments_recycle(&all, 6));
    ck_assert(segments_recycle(&all, 7));
    ck_assert_uint_eq(segments_free(&all), 1);
    segments_close(&all);
}
END_TEST

START_TEST(a_head_of_values_ends_or_begins_anew)
{
    struct segments all = some(false, 1);
    uint32_t offset;
    (void)segments_take(&all, SIZE - BLOCK, 0, &offset);
    segments_live(&all, 1, 3 * BLOCK, true);
    segments_close_head(&all, 30);
    ck_assert_uint_eq(all.head, 1); /* too much is alive */
    segments_live(&all, 1, 3 * BLOCK, false);
    segments_at(&all, 1)->pins = 1;
    (void)segments_recycle(&all, 0);
    ck_assert_uint_eq(segments_at(&all, 1)->used, SIZE - BLOCK);
    segments_at(&all, 1)->pins = 0;
    (void)segments_recycle(&all, 0);
    ck_assert_uint_eq(segments_at(&all, 1)->used, 0); /* nothing is alive, and nobody reads */
    (void)segments_take(&all, BLOCK, 0, &offset);
    segments_live(&all, 1, BLOCK, true);
    segments_close_head(&all, 30);
    ck_assert_uint_eq(all.head, 1); /* there is much to fill */
    (void)segments_take(&all, SIZE - 2 * BLOCK, 0, &offset);
    segments_close_head(&all, 30);
    ck_assert_uint_eq(all.head, 0);
    ck_assert_uint_eq(segments_sparse(&all, 30, 0), 1);
    segments_close(&all);
}
END_TEST

START_TEST(names)
{
    char name[DISK_NAME_BYTES];
    segments_name(true, 123, name);
    ck_assert_str_eq(name, "meta-000123.seg");
    ck_assert_uint_eq(segments_number(true, name), 123);
    ck_assert_uint_eq(segments_number(false, name), 0);
    ck_assert_uint_eq(segments_number(true, "meta-00012x.seg"), 0);
    ck_assert_uint_eq(segments_number(true, "meta-000123.seg~"), 0);
    ck_assert_uint_eq(segments_number(false, "blob-000001.seg"), 1);
}
END_TEST

START_TEST(more_dead_than_alive_is_our_mistake)
{
    struct segments all = some(false, 1);
    segments_live(&all, 1, 1, false);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(room_is_taken_in_order_and_padded),     SUITE_TEST(a_segment_is_used_again_when_all_let_go_of_it),
    SUITE_TEST(a_head_of_values_ends_or_begins_anew),  SUITE_TEST(names),
    SUITE_ABORTS(more_dead_than_alive_is_our_mistake),
};
SUITE_MAIN("segments", tests)
