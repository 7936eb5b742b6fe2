/* SPDX-License-Identifier: Apache-2.0 */
#include "storage/log_record.h"
#include "suite.h"

#include <errno.h>
#include <string.h>

enum { SEED = 99, MOST = 4096 };

static struct log_record sample(void)
{
    return (struct log_record){.kind = 3,
                               .flags = LOG_MOVED,
                               .note_size = 4,
                               .name_size = 5,
                               .key = {{1, 2, 3}},
                               .space = 7,
                               .value_size = 6,
                               .note = "note",
                               .name = "name!",
                               .value = "value.",
                               .value_sum = 12345,
                               .before = 88};
}

static uint32_t sealed(const struct log_record *r, uint8_t *out)
{
    uint32_t size = log_record_size(r);
    log_record_encode(r, out);
    log_record_seal(out, size, SEED);
    return size;
}

START_TEST(what_is_written_is_read)
{
    uint8_t bytes[MOST];
    struct log_record r = sample(), back;
    uint32_t used = 0, size = sealed(&r, bytes);
    ck_assert_uint_eq(size, LOG_RECORD_HEAD + 4 + 5 + 6 + LOG_RECORD_SUM);
    ck_assert_int_eq(log_record_decode(&back, SEED, bytes, MOST, &used), 0);
    ck_assert_uint_eq(used, size);
    ck_assert_uint_eq(back.kind, 3);
    ck_assert_uint_eq(back.flags, LOG_MOVED);
    ck_assert_mem_eq(back.key.b, r.key.b, sizeof r.key.b);
    ck_assert_uint_eq(back.space, 7);
    ck_assert_uint_eq(back.value_sum, 12345);
    ck_assert_uint_eq(back.before, 88);
    ck_assert_mem_eq(back.note, "note", 4);
    ck_assert_mem_eq(back.name, "name!", 5);
    ck_assert_mem_eq(back.value, "value.", 6);
    ck_assert_int_eq(log_record_decode(&back, SEED + 1, bytes, MOST, &used), -EBADMSG);
}
END_TEST

START_TEST(a_value_elsewhere_is_a_place)
{
    uint8_t bytes[MOST];
    struct log_record r = sample(), back;
    r.flags = LOG_PLACED;
    r.before = 0;
    r.place = (struct log_place){4, 512, 6};
    uint32_t used = 0, size = sealed(&r, bytes);
    ck_assert_uint_eq(size, LOG_RECORD_HEAD + 4 + 5 + LOG_RECORD_SUM);
    ck_assert_int_eq(log_record_decode(&back, SEED, bytes, size, &used), 0);
    ck_assert_ptr_null(back.value);
    ck_assert_uint_eq(back.place.segment, 4);
    ck_assert_uint_eq(back.place.offset, 512);
    ck_assert_uint_eq(back.place.length, 6);
}
END_TEST

/* No bit can flip unseen, and no record is read that is cut short. */
START_TEST(every_bit_and_every_length_counts)
{
    uint8_t bytes[MOST];
    struct log_record r = sample(), back;
    uint32_t used = 0, size = sealed(&r, bytes);
    for (uint32_t bit = 0; bit < size * 8; bit++) {
        bytes[bit / 8] = (uint8_t)(bytes[bit / 8] ^ 1u << bit % 8);
        SUITE_HOLDS(log_record_decode(&back, SEED, bytes, size, &used) == -EBADMSG);
        bytes[bit / 8] = (uint8_t)(bytes[bit / 8] ^ 1u << bit % 8);
    }
    for (uint32_t cut = 0; cut < size; cut++) {
        SUITE_HOLDS(log_record_decode(&back, SEED, bytes, cut, &used) == -EBADMSG);
    }
}
END_TEST

/* Checksums that are right do not make nonsense right. */
START_TEST(nonsense_is_refused)
{
    uint8_t bytes[MOST];
    struct log_record r = sample(), back;
    uint32_t used = 0;
    r.flags = LOG_DROP | LOG_PLACED;
    uint32_t size = sealed(&r, bytes);
    ck_assert_int_eq(log_record_decode(&back, SEED, bytes, size, &used), -EBADMSG);
    r = sample();
    r.flags = 0; /* and yet it says which position it moved from */
    size = sealed(&r, bytes);
    ck_assert_int_eq(log_record_decode(&back, SEED, bytes, size, &used), -EBADMSG);
}
END_TEST

START_TEST(seeds_differ_by_place)
{
    ck_assert_uint_ne(log_seed(1, 2, 3), log_seed(1, 3, 2));
    ck_assert_uint_ne(log_seed(1, 2, 3), log_seed(2, 2, 3));
    ck_assert_uint_eq(log_seed(1, 2, 3), log_seed(1, 2, 3));
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(what_is_written_is_read),
    SUITE_TEST(a_value_elsewhere_is_a_place),
    SUITE_TEST(every_bit_and_every_length_counts),
    SUITE_TEST(nonsense_is_refused),
    SUITE_TEST(seeds_differ_by_place),
};
SUITE_MAIN("log_record", tests)
