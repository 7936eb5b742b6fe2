/* SPDX-License-Identifier: Apache-2.0 */
#include "base/bytes.h"
#include "base/prng.h"
#include "suite.h"

static const uint8_t TEN[10] = {0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef, 0xfe, 0xdc};

START_TEST(loads_are_big_endian_at_any_alignment)
{
    ck_assert_uint_eq(get_be16(TEN + 1), 0x2345);
    ck_assert_uint_eq(get_be24(TEN + 1), 0x234567);
    ck_assert_uint_eq(get_be32(TEN + 1), 0x23456789);
    ck_assert_uint_eq(get_be64(TEN + 1), 0x23456789abcdeffe);
}
END_TEST

START_TEST(stores_are_big_endian_and_write_no_more)
{
    uint8_t b[10] = {0};
    put_be64(b + 1, 0x23456789abcdeffe);
    ck_assert_mem_eq(b + 1, TEN + 1, 8);
    ck_assert_int_eq(b[0], 0);
    ck_assert_int_eq(b[9], 0);
    memset(b, 0, sizeof b);
    put_be32(b + 1, 0x23456789);
    ck_assert_mem_eq(b + 1, TEN + 1, 4);
    ck_assert_int_eq(b[0], 0);
    ck_assert_int_eq(b[5], 0);
    memset(b, 0, sizeof b);
    put_be24(b + 1, 0x234567);
    ck_assert_mem_eq(b + 1, TEN + 1, 3);
    ck_assert_int_eq(b[0], 0);
    ck_assert_int_eq(b[4], 0);
    memset(b, 0, sizeof b);
    put_be16(b + 1, 0x2345);
    ck_assert_mem_eq(b + 1, TEN + 1, 2);
    ck_assert_int_eq(b[0], 0);
    ck_assert_int_eq(b[3], 0);
}
END_TEST

START_TEST(reads_in_order)
{
    struct reader r = reader_of(TEN, sizeof TEN);
    ck_assert_uint_eq(reader_u8(&r), 0x01);
    ck_assert_uint_eq(reader_be16(&r), 0x2345);
    struct reader bookmark = r;
    ck_assert_uint_eq(reader_be24(&r), 0x6789ab);
    ck_assert_uint_eq(reader_left(&r), 4);
    ck_assert_uint_eq(reader_be32(&r), 0xcdeffedc);
    ck_assert(reader_ok(&r));
    ck_assert(reader_done(&r));
    reader_skip(&bookmark, 1);
    uint8_t two[2];
    reader_copy(&bookmark, two, 2);
    ck_assert_mem_eq(two, TEN + 4, 2);
    ck_assert(reader_ok(&bookmark));
    ck_assert(!reader_done(&bookmark));
    r = reader_of(TEN, sizeof TEN);
    ck_assert_uint_eq(reader_be64(&r), 0x0123456789abcdef);
}
END_TEST

/* A field that is not all there is not read in part, and nothing after it is read either. */
START_TEST(overrun_latches)
{
    struct reader r = reader_of(TEN, 5);
    ck_assert_uint_eq(reader_be32(&r), 0x01234567);
    ck_assert_uint_eq(reader_be16(&r), 0);
    ck_assert(!reader_ok(&r));
    ck_assert(!reader_done(&r));
    ck_assert_uint_eq(reader_left(&r), 0);
    ck_assert_uint_eq(reader_u8(&r), 0);
    ck_assert_ptr_null(reader_take(&r, 0));
    ck_assert_ptr_eq(r.at, TEN + 4);
    uint8_t three[3] = {1, 2, 3};
    reader_copy(&r, three, sizeof three);
    ck_assert_int_eq(three[0], 0);
    ck_assert_int_eq(three[1], 0);
    ck_assert_int_eq(three[2], 0);
}
END_TEST

START_TEST(huge_sizes_do_not_wrap)
{
    struct reader r = reader_of(TEN, sizeof TEN);
    reader_skip(&r, 1);
    reader_skip(&r, SIZE_MAX);
    ck_assert(!reader_ok(&r));
    uint8_t b[4];
    struct writer w = writer_of(b, sizeof b);
    writer_u8(&w, 1);
    ck_assert_ptr_null(writer_take(&w, SIZE_MAX));
    ck_assert(!writer_ok(&w));
}
END_TEST

START_TEST(slices)
{
    struct reader r = reader_of(TEN, sizeof TEN);
    reader_skip(&r, 1);
    struct reader s = reader_slice(&r, 3);
    ck_assert_uint_eq(reader_be24(&s), 0x234567);
    ck_assert(reader_done(&s));
    (void)reader_u8(&s); /* the slice's overrun is not the whole's */
    ck_assert(!reader_ok(&s));
    ck_assert(reader_ok(&r));
    ck_assert_uint_eq(reader_u8(&r), 0x89);
    s = reader_slice(&r, 6);
    ck_assert(!reader_ok(&s));
    ck_assert(!reader_ok(&r));
    ck_assert_uint_eq(reader_u8(&s), 0);
}
END_TEST

START_TEST(nothing_at_all)
{
    struct reader r = reader_of(NULL, 0);
    ck_assert(reader_done(&r));
    reader_skip(&r, 0);
    reader_copy(&r, NULL, 0);
    struct reader s = reader_slice(&r, 0);
    ck_assert(reader_done(&r));
    ck_assert(reader_done(&s));
    ck_assert_uint_eq(reader_u8(&r), 0);
    ck_assert(!reader_ok(&r));
    struct writer w = writer_of(NULL, 0);
    writer_copy(&w, NULL, 0);
    writer_zeros(&w, 0);
    ck_assert(writer_ok(&w));
    writer_u8(&w, 1);
    ck_assert(!writer_ok(&w));
    ck_assert_uint_eq(writer_size(&w), 0);
}
END_TEST

START_TEST(writes_in_order)
{
    uint8_t b[24];
    memset(b, 0xee, sizeof b);
    struct writer w = writer_of(b, sizeof b);
    uint8_t *length = writer_take(&w, 2);
    ck_assert_ptr_eq(length, b);
    writer_u8(&w, 0x01);
    writer_be16(&w, 0x2345);
    writer_be24(&w, 0x6789ab);
    writer_be32(&w, 0xcdeffedc);
    writer_be64(&w, 0x0123456789abcdef);
    writer_copy(&w, TEN, 1);
    writer_zeros(&w, 2);
    put_be16(length, (uint16_t)writer_size(&w));
    static const uint8_t all[] = {0,    23,   0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef, 0xfe, 0xdc,
                                  0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef, 0x01, 0,    0,    0xee};
    ck_assert_mem_eq(b, all, sizeof all);
    ck_assert_uint_eq(writer_left(&w), 1);
    writer_be16(&w, 7);
    ck_assert(!writer_ok(&w));
    writer_u8(&w, 7); /* would have fitted */
    ck_assert_uint_eq(b[23], 0xee);
    ck_assert_uint_eq(writer_left(&w), 0);
    ck_assert_uint_eq(writer_size(&w), 23);
}
END_TEST

/* Random fields into every size of buffer: what was written whole reads back, and not one byte moves outside. */
START_TEST(round_trips_in_every_size)
{
    struct prng p = prng_stream(5, 0, 0);
    for (size_t size = 0; size <= 64; size++) {
        for (int round = 0; round < 200; round++) {
            uint8_t b[72];
            memset(b, 0x5a, sizeof b);
            struct writer w = writer_of(b, size);
            struct prng plan = prng_stream(prng_next(&p), 0, 0), replay = plan;
            size_t written = 0, fields = 0;
            for (; writer_ok(&w); fields++) {
                uint64_t v = prng_next(&plan);
                static const size_t widths[] = {1, 2, 3, 4, 8};
                size_t width = widths[v % 5];
                written = writer_size(&w);
                switch (width) {
                case 1:
                    writer_u8(&w, (uint8_t)(v >> 8));
                    break;
                case 2:
                    writer_be16(&w, (uint16_t)(v >> 8));
                    break;
                case 3:
                    writer_be24(&w, v >> 8 & 0xffffff);
                    break;
                case 4:
                    writer_be32(&w, (uint32_t)(v >> 8));
                    break;
                default:
                    writer_be64(&w, v);
                    break;
                }
            }
            for (size_t i = written; i < sizeof b; i++) {
                if (b[i] != 0x5a) {
                    ck_abort_msg("size %zu: byte %zu was touched", size, i);
                }
            }
            struct reader r = reader_of(b, written);
            for (size_t i = 0; i + 1 < fields; i++) {
                uint64_t v = prng_next(&replay);
                bool same;
                switch (v % 5) {
                case 0:
                    same = reader_u8(&r) == (uint8_t)(v >> 8);
                    break;
                case 1:
                    same = reader_be16(&r) == (uint16_t)(v >> 8);
                    break;
                case 2:
                    same = reader_be24(&r) == (v >> 8 & 0xffffff);
                    break;
                case 3:
                    same = reader_be32(&r) == (uint32_t)(v >> 8);
                    break;
                default:
                    same = reader_be64(&r) == v;
                    break;
                }
                if (!same) {
                    ck_abort_msg("size %zu: field %zu reads differently", size, i);
                }
            }
            ck_assert(reader_done(&r));
        }
    }
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(loads_are_big_endian_at_any_alignment),
    SUITE_TEST(stores_are_big_endian_and_write_no_more),
    SUITE_TEST(reads_in_order),
    SUITE_TEST(overrun_latches),
    SUITE_TEST(huge_sizes_do_not_wrap),
    SUITE_TEST(slices),
    SUITE_TEST(nothing_at_all),
    SUITE_TEST(writes_in_order),
    SUITE_TEST(round_trips_in_every_size),
};
SUITE_MAIN("bytes", tests)
