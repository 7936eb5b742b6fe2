/* SPDX-License-Identifier: Apache-2.0 */
#include "services/jobs/wire.h"

#include "jobs_kit.h"
#include "suite.h"

static uint8_t bytes[4096], again[4096];
static const struct jobs_mark a_mark = {9, true, 2, 3, 0x1234567890abcdef};

/* One good frame of each kind, with what stands behind it; gives its bytes. */
static size_t sample(unsigned kind)
{
    struct jobs_frame f = {
        .kind = (uint8_t)kind,
        .cluster = KIT_CLUSTER,
        .origin = 5,
        .ticket = 6,
        .flag = true,
        .closed = true,
        .mark = a_mark,
        .count = kind == JOBS_HELLO ? 12345 : 2,
        .sum = 99,
        .first = 1,
        .last = 30,
        .offset = 100,
        .total = 140,
        .row = {.source_job = 1, .source_process = 2, .job = 3, .process = 4, .port = 5, .cause = 2, .times = 7},
        .server = 3,
        .version = 4,
        .from = 64,
        .all = 10,
        .overflow = 1,
    };
    jobs_encode(&f, bytes);
    size_t size = jobs_frame_size(kind);
    struct jobs_mark second = a_mark;
    second.job = 30;
    switch (kind) {
    case JOBS_RECORD:
        return size + kit_version(9, 1, bytes + size);
    case JOBS_PART:
        memset(bytes + size, 7, 40);
        return size + 40;
    case JOBS_SUMMARY:
        jobs_mark_put(&a_mark, bytes + size, 0);
        jobs_mark_put(&second, bytes + size, 1);
        return size + 2 * JOBS_MARK_BYTES;
    case JOBS_ROWS:
        jobs_row_put(&f.row, bytes + size, 0);
        jobs_row_put(&f.row, bytes + size, 1);
        return size + 2 * JOBS_ROW_BYTES;
    default:
        return size;
    }
}

START_TEST(there_and_back)
{
    for (unsigned kind = 1; kind < JOBS_KINDS; kind++) {
        size_t size = sample(kind);
        struct jobs_frame f;
        ck_assert_msg(jobs_decode(bytes, size, KIT_CLUSTER, &f) == JOBS_GOOD, "kind %u", kind);
        memcpy(again, bytes, size);
        jobs_encode(&f, again);
        ck_assert_int_eq(memcmp(again, bytes, size), 0);
        ck_assert_ptr_eq(f.rest, bytes + jobs_frame_size(kind));
        ck_assert_int_eq(jobs_decode(bytes, size, KIT_CLUSTER + 1, &f), JOBS_FOREIGN);
    }
    struct jobs_frame f;
    ck_assert_int_eq(jobs_decode(bytes, sample(JOBS_SUMMARY), KIT_CLUSTER, &f), JOBS_GOOD);
    ck_assert_uint_eq(jobs_mark_at(&f, 1).job, 30);
    ck_assert_int_eq(jobs_decode(bytes, sample(JOBS_ROWS), KIT_CLUSTER, &f), JOBS_GOOD);
    ck_assert_uint_eq(jobs_row_at(&f, 1).times, 7);
    ck_assert_uint_eq(jobs_frame_size(JOBS_KINDS), 0);
}
END_TEST

/* Every length, and every bit turned: refused, or written again as it is. */
START_TEST(nothing_else_is_accepted)
{
    for (unsigned kind = 1; kind < JOBS_KINDS; kind++) {
        size_t size = sample(kind);
        struct jobs_frame f;
        for (size_t cut = 0; cut < size; cut++) {
            if (jobs_decode(bytes, cut, KIT_CLUSTER, &f) == JOBS_GOOD) { /* a shorter record, or fewer bytes of one */
                ck_assert(kind == JOBS_RECORD || kind == JOBS_PART);
            }
        }
        for (size_t bit = 0; bit < 8 * size; bit++) {
            bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
            if (jobs_decode(bytes, size, KIT_CLUSTER, &f) == JOBS_GOOD) {
                memcpy(again, bytes, size);
                jobs_encode(&f, again);
                ck_assert_msg(memcmp(again, bytes, size) == 0, "kind %u, bit %zu", kind, bit);
            }
            bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
        }
    }
}
END_TEST

START_TEST(marks_are_in_one_order)
{
    /* Rising. */
    static const struct jobs_mark marks[] = {
        {9, false, 1, 1, 5}, {9, false, 1, 2, 1}, {9, false, 1, 2, 9}, {9, false, 1, 8, 0}, {9, true, 1, 3, 0},
        {9, true, 1, 4, 0},  {9, false, 2, 1, 0}, {9, false, 2, 2, 0}, {9, true, 2, 1, 0},
    };
    enum { MARKS = sizeof marks / sizeof *marks };
    for (int i = 0; i < MARKS; i++) {
        for (int k = 0; k < MARKS; k++) {
            bool fork;
            int order = jobs_mark_compare(&marks[i], &marks[k], &fork);
            ck_assert_int_eq(order, (i > k) - (i < k));
            ck_assert_int_eq(fork, (i == 1 && k == 2) || (i == 2 && k == 1));
        }
    }
}
END_TEST

START_TEST(the_mark_of_a_record)
{
    size_t size = kit_version(9, 7, bytes) - JOBS_SIGNATURE_BYTES;
    struct jobs_mark m;
    ck_assert(jobs_mark_of(bytes, size, &m));
    ck_assert_uint_eq(m.job, 9);
    ck_assert_uint_eq(m.version, 7);
    ck_assert_uint_eq(m.generation, 1);
    ck_assert(!m.destroyed);
    ck_assert(!jobs_mark_of(bytes, size - 1, &m));
    ck_assert(!jobs_mark_of(bytes, 0, &m));
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(there_and_back),
    SUITE_TEST(nothing_else_is_accepted),
    SUITE_TEST(marks_are_in_one_order),
    SUITE_TEST(the_mark_of_a_record),
};
SUITE_MAIN("wire", tests)
