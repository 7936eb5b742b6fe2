/* SPDX-License-Identifier: Apache-2.0 */
#include "services/aggregate/query/part.h"

#include "base/prng.h"
#include "suite.h"

#include <errno.h>
#include <string.h>

static struct part_room work;
static uint8_t a[4000], b[4000], out[SUMMARY_TOP_BYTES * 3];

/* Appends the number v for a group. */
static size_t add(uint8_t *to, size_t used, uint32_t group, uint64_t v, uint8_t of)
{
    struct summary_number n = {.of = of};
    uint8_t bytes[SUMMARY_NUMBER_BYTES];
    summary_number_add(&n, v, 1, group);
    summary_number_encode(&n, bytes);
    size_t put = part_put(group, bytes, sizeof bytes, to + used, 4000 - used);
    ck_assert_uint_gt(put, 0);
    return used + put;
}

static uint64_t sum_of(int64_t size, uint32_t group)
{
    struct part_entry e;
    union part_summary s;
    for (size_t at = 0; size > 0 && part_next(out, (size_t)size, &at, &e) == 1;) {
        if (e.group == group) {
            ck_assert_int_eq(part_decode(SUMMARY_NUMBER, e.bytes, e.length, &s), 0);
            return (uint64_t)s.number.sum;
        }
    }
    return 0;
}

static int64_t merge(size_t x, size_t y)
{
    return part_merge(SUMMARY_NUMBER, a, x, b, y, out, sizeof out, &work);
}

START_TEST(groups_meet)
{
    size_t x = add(a, 0, 1, 10, 1), y = add(b, 0, 0, 5, 1);
    x = add(a, x, 3, 30, 1);
    y = add(b, y, 3, 33, 1);
    y = add(b, y, 9, 90, 1);
    int64_t size = merge(x, y);
    ck_assert_int_eq(size, 4 * (PART_HEAD + SUMMARY_NUMBER_BYTES));
    ck_assert(sum_of(size, 0) == 5 && sum_of(size, 1) == 10 && sum_of(size, 3) == 63 && sum_of(size, 9) == 90);
    ck_assert_int_eq(merge(x, 0), (int64_t)x);
    ck_assert_int_eq(merge(0, 0), 0);
    ck_assert_int_eq(part_merge(SUMMARY_NUMBER, a, x, b, y, out, 100, &work), -EMSGSIZE);
}
END_TEST

START_TEST(what_does_not_fit)
{
    size_t x = add(a, 0, 1, 10, 1), y = add(b, 0, 1, 5, 2);
    ck_assert_int_eq(merge(x, y), -EINVAL);
    y = add(b, 0, 4, 5, 1);
    y = add(b, y, 2, 5, 1); /* groups descend */
    ck_assert_int_eq(merge(x, y), -EPROTO);
    ck_assert_int_eq(merge(x, 5), -EPROTO);
    y = add(b, 0, 7, 5, 1);
    b[PART_HEAD] = 77; /* alone in its group it is looked into, too */
    ck_assert_int_eq(merge(x, y), -EPROTO);
    ck_assert_int_eq(part_merge(SUMMARY_TOP, a, x, b, 0, out, sizeof out, &work), -EPROTO);
}
END_TEST

START_TEST(every_kind)
{
    static union part_summary s;
    static uint8_t bytes[PART_SUMMARY_MOST], one[PART_SUMMARY_MOST + PART_HEAD], two[PART_SUMMARY_MOST + PART_HEAD];
    for (unsigned kind = SUMMARY_NUMBER; kind <= SUMMARY_TOP; kind++) {
        memset(&s, 0, sizeof s);
        if (kind != SUMMARY_DISTINCT) {
            s.number.of = SUMMARY_OF_FEED; /* it is first in all of them */
        } else {
            summary_distinct_add(&s.distinct, 12345);
        }
        size_t size = part_encode((enum summary_kind)kind, &s, bytes);
        size_t x = part_put(2, bytes, size, one, sizeof one), y = part_put(2, bytes, size, two, sizeof two);
        int64_t merged = part_merge((enum summary_kind)kind, one, x, two, y, out, sizeof out, &work);
        ck_assert_int_eq(merged, (int64_t)x);
        ck_assert_mem_eq(out, one, x); /* of nothing, or the same again */
    }
    ck_assert_uint_eq(part_encode(SUMMARY_NAMES, &s, bytes), 0);
    ck_assert_int_eq(part_decode(SUMMARY_NAMES, bytes, 0, &s), -EPROTO);
    size_t x = part_put(0, (const uint8_t *)"\1\1\0\0\0\1a", 7, one, sizeof one);
    ck_assert_int_eq(part_merge(SUMMARY_NAMES, one, x, one, x, out, sizeof out, &work), (int64_t)x);
    ck_assert_uint_eq(out[PART_HEAD + 5], 2);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(groups_meet), SUITE_TEST(what_does_not_fit),
                                          SUITE_TEST(every_kind)};
SUITE_MAIN("part", tests)
