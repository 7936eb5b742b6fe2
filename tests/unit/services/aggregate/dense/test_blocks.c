/* SPDX-License-Identifier: Apache-2.0 */
#include "services/aggregate/dense/blocks.h"

#include "suite.h"

#include <errno.h>

/* All elements are in a block, once, in order. */
START_TEST(every_element_once)
{
    static const uint64_t elements[] = {0, 1, 2, 2047, 2048, 2049, 7919, 104729, 187500000};
    for (unsigned i = 0; i < sizeof elements / sizeof *elements; i++) {
        for (unsigned depth = 0; depth < 30; depth += 5) {
            struct blocks b;
            ck_assert_int_eq(blocks_make(&b, elements[i], 4, depth, 8950), 0);
            uint64_t sum = 0;
            for (uint32_t k = 0; k < b.count; k++) {
                SUITE_HOLDS(blocks_first(&b, k) == sum);
                SUITE_HOLDS(blocks_elements(&b, k) >= 1);
                sum += blocks_elements(&b, k);
            }
            ck_assert_uint_eq(sum, elements[i]);
        }
    }
}
END_TEST

START_TEST(lengths)
{
    struct blocks b;
    ck_assert_int_eq(blocks_make(&b, 187500000, 4, 5, 8950), 0); /* 750 MB */
    ck_assert_uint_eq(blocks_longest(&b), 32 * 1024);
    ck_assert_int_eq(blocks_make(&b, 4250000, 4, 5, 8950), 0); /* 17 MB / 850 */
    ck_assert_uint_eq(b.count, 852);                           /* each tree has equally many */
    ck_assert_uint_eq(blocks_longest(&b), 19956);
    ck_assert_int_eq(blocks_make(&b, 187500000, 4, 5, 1450), 0); /* 16 packets at most, with what is added to each */
    ck_assert_uint_le(blocks_longest(&b), 14 * 1450);
    ck_assert_uint_ge(blocks_longest(&b), 14 * 1440);
    ck_assert_int_eq(blocks_make(&b, 100000, 4, 13, 8950), 0); /* too few to be made equal */
    ck_assert_uint_eq(blocks_longest(&b), 15 * 1024);
    ck_assert_int_eq(blocks_make(&b, 1000000, 4, 13, 8950), 0);
    ck_assert_uint_eq(blocks_longest(&b), 15152);
    ck_assert_int_eq(blocks_make(&b, 3, 16, 13, 8950), 0);
    ck_assert_uint_eq(blocks_longest(&b), 48);
    ck_assert_uint_eq(b.count, 1);
    ck_assert_int_eq(blocks_make(&b, 0, 8, 1, 8950), 0);
    ck_assert_uint_eq(b.count, 0);
    ck_assert_uint_eq(blocks_longest(&b), 0);
}
END_TEST

START_TEST(limits)
{
    struct blocks b;
    ck_assert_int_eq(blocks_make(&b, BLOCKS_VECTOR_MOST / 4, 4, 0, 8950), 0);
    ck_assert_uint_eq(b.count, BLOCKS_MOST);
    ck_assert_int_eq(blocks_make(&b, BLOCKS_VECTOR_MOST / 4 + 1, 4, 0, 8950), -EFBIG);
    ck_assert_int_eq(blocks_make(&b, UINT64_MAX, 16, 0, 8950), -EFBIG);
    ck_assert_int_eq(blocks_make(&b, 1, 0, 0, 8950), -EINVAL);
    ck_assert_int_eq(blocks_make(&b, 1, 17, 0, 8950), -EINVAL);
    ck_assert_int_eq(blocks_read(&b, 10, 4, 0), -EPROTO);
    ck_assert_int_eq(blocks_read(&b, 10, 4, 64 * 1024 / 4 + 1), -EPROTO);
    ck_assert_int_eq(blocks_read(&b, BLOCKS_MOST + 1, 4, 1), -EPROTO);
    ck_assert_int_eq(blocks_read(&b, UINT64_MAX, 4, 1), -EPROTO);
    ck_assert_int_eq(blocks_read(&b, 10, 4, 3), 0);
    ck_assert_uint_eq(b.count, 4);
    ck_assert_uint_eq(blocks_elements(&b, 3), 1);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(every_element_once), SUITE_TEST(lengths), SUITE_TEST(limits)};
SUITE_MAIN("blocks", tests)
