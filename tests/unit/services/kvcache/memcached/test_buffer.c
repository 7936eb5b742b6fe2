/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes go out as they came in, whatever is added and taken between. */
#include "services/kvcache/memcached/buffer.h"

#include "suite.h"

#include <string.h>

START_TEST(bytes_leave_in_their_order)
{
    struct mc_buffer b = {0};
    uint8_t in = 0, out = 0;
    for (unsigned round = 0; round < 2000; round++) {
        uint8_t piece[300];
        size_t length = round * 7919 % sizeof piece;
        for (size_t i = 0; i < length; i++) {
            piece[i] = in++;
        }
        ck_assert(mc_buffer_add(&b, piece, length));
        size_t take = round * 104729 % (mc_buffer_length(&b) + 1);
        for (size_t i = 0; i < take; i++) {
            ck_assert_uint_eq(mc_buffer_bytes(&b)[i], out++);
        }
        mc_buffer_take(&b, take);
    }
    mc_buffer_drop(&b);
    ck_assert_uint_eq(mc_buffer_length(&b), 0);
}
END_TEST

START_TEST(an_empty_one_keeps_little_memory)
{
    struct mc_buffer b = {0};
    ck_assert(mc_buffer_add(&b, NULL, 0));
    ck_assert_ptr_null(b.bytes);
    uint8_t *at = mc_buffer_space(&b, 1 << 20);
    memset(at, 1, 1 << 20);
    mc_buffer_put(&b, 1 << 20);
    mc_buffer_take(&b, (1 << 20) - 1);
    ck_assert_uint_eq(mc_buffer_length(&b), 1);
    mc_buffer_take(&b, 1);
    ck_assert_uint_eq(b.room, 0);
    ck_assert(mc_buffer_add(&b, "x", 1));
    mc_buffer_take(&b, 1);
    ck_assert_uint_eq(b.room, MC_BUFFER_LEAST);
    ck_assert_ptr_null(mc_buffer_space(&b, SIZE_MAX / 2));
    mc_buffer_drop(&b);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(bytes_leave_in_their_order),
                                          SUITE_TEST(an_empty_one_keeps_little_memory)};
SUITE_MAIN("mc_buffer", tests)
