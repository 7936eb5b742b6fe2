/* SPDX-License-Identifier: Apache-2.0 */
#include "storage/log_group.h"
#include "suite.h"

#include <errno.h>

enum { OFFSET = 4096 };

static const struct log_group sample = {
    .class_id = 1, .store_id = 2, .position = 3, .synced = 2, .segment = 5, .length = 10, .records = 1, .sum = 77};

START_TEST(what_is_written_is_read)
{
    uint8_t bytes[LOG_GROUP_HEAD];
    struct log_group back;
    log_group_encode(&sample, OFFSET, bytes);
    ck_assert_int_eq(log_group_decode(&back, 1, 2, 5, OFFSET, bytes), 0);
    ck_assert_uint_eq(back.position, 3);
    ck_assert_uint_eq(back.synced, 2);
    ck_assert_uint_eq(back.length, 10);
    ck_assert_uint_eq(back.records, 1);
    ck_assert_uint_eq(back.sum, 77);
}
END_TEST

START_TEST(it_counts_only_where_and_for_whom_it_was_written)
{
    uint8_t bytes[LOG_GROUP_HEAD];
    struct log_group back;
    log_group_encode(&sample, OFFSET, bytes);
    ck_assert_int_eq(log_group_decode(&back, 9, 2, 5, OFFSET, bytes), -EBADMSG);
    ck_assert_int_eq(log_group_decode(&back, 1, 9, 5, OFFSET, bytes), -EBADMSG);
    ck_assert_int_eq(log_group_decode(&back, 1, 2, 6, OFFSET, bytes), -EBADMSG);
    ck_assert_int_eq(log_group_decode(&back, 1, 2, 5, OFFSET + 512, bytes), -EBADMSG);
    for (unsigned bit = 0; bit < 8 * LOG_GROUP_HEAD; bit++) {
        bytes[bit / 8] = (uint8_t)(bytes[bit / 8] ^ 1u << bit % 8);
        SUITE_HOLDS(log_group_decode(&back, 1, 2, 5, OFFSET, bytes) == -EBADMSG);
        bytes[bit / 8] = (uint8_t)(bytes[bit / 8] ^ 1u << bit % 8);
    }
}
END_TEST

START_TEST(the_sum_of_the_records_knows_place_and_position)
{
    static const uint8_t records[10] = "some bytes";
    struct log_group other = sample;
    other.position++;
    ck_assert_uint_eq(log_group_sum(&sample, OFFSET, records), log_group_sum(&sample, OFFSET, records));
    ck_assert_uint_ne(log_group_sum(&sample, OFFSET, records), log_group_sum(&sample, 0, records));
    ck_assert_uint_ne(log_group_sum(&sample, OFFSET, records), log_group_sum(&other, OFFSET, records));
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(what_is_written_is_read),
    SUITE_TEST(it_counts_only_where_and_for_whom_it_was_written),
    SUITE_TEST(the_sum_of_the_records_knows_place_and_position),
};
SUITE_MAIN("log_group", tests)
