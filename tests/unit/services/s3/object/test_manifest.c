/* SPDX-License-Identifier: Apache-2.0 */
#include "services/s3/object/manifest.h"

#include "suite.h"

#include <string.h>

static struct s3_buffer out;

static void write_one(bool inlined)
{
    static const struct s3_lot lots[] = {{{1}, 10, 4}, {{2}, 3, 5}};
    struct s3_manifest m = {.etag = {{0xab}, 2}, .changed_s = 1369353600, .size = 13, .metas = 2};
    m.meta[0] = (struct s3_meta){"Content-Type", "image/jpeg"};
    m.meta[1] = (struct s3_meta){"x-amz-meta-a", ""};
    m.bytes = inlined ? (const uint8_t *)"thirteen byte" : NULL;
    m.lots = inlined ? 0 : 2;
    s3_buffer_clear(&out);
    s3_manifest_write(&m, lots, &out);
    ck_assert(!out.failed);
}

static bool read_bytes(size_t length, struct s3_manifest *m)
{
    return s3_manifest_read((const uint8_t *)out.bytes, length, m);
}

START_TEST(reads_what_it_wrote)
{
    struct s3_manifest m;
    for (unsigned inlined = 0; inlined < 2; inlined++) {
        write_one(inlined == 1);
        ck_assert(read_bytes(out.length, &m));
        ck_assert_uint_eq(m.size, 13);
        ck_assert_uint_eq(m.etag.parts, 2);
        ck_assert_uint_eq(m.etag.md5[0], 0xab);
        ck_assert_int_eq(m.changed_s, 1369353600);
        ck_assert_str_eq(s3_manifest_meta(&m, "content-type"), "image/jpeg");
        ck_assert_str_eq(s3_manifest_meta(&m, "X-Amz-Meta-A"), "");
        ck_assert_ptr_null(s3_manifest_meta(&m, "x"));
        if (inlined == 1) {
            ck_assert_mem_eq(m.bytes, "thirteen byte", 13);
        } else {
            struct s3_lot lot = s3_manifest_lot(&m, 1);
            ck_assert_uint_eq(lot.id[0], 2);
            ck_assert_uint_eq(lot.size, 3);
            ck_assert_uint_eq(lot.chunk, 5);
        }
        for (size_t length = 0; length < out.length; length++) {
            SUITE_HOLDS(!read_bytes(length, &m), "%zu", length);
        }
    }
    s3_buffer_drop(&out);
}
END_TEST

START_TEST(a_changed_byte_stays_in_bounds)
{
    struct s3_manifest m;
    write_one(false);
    for (size_t i = 0; i < out.length; i++) {
        for (unsigned bit = 0; bit < 8; bit++) {
            out.bytes[i] ^= (char)(1 << bit);
            if (read_bytes(out.length, &m)) {
                uint64_t sum = 0;
                for (uint32_t lot = 0; lot < m.lots; lot++) {
                    sum += s3_manifest_lot(&m, lot).size;
                }
                SUITE_HOLDS(m.lots == 0 || sum == m.size, "byte %zu", i);
            }
            out.bytes[i] ^= (char)(1 << bit);
        }
    }
    s3_buffer_drop(&out);
}
END_TEST

START_TEST(chunks_of_a_lot)
{
    const struct s3_lot lot = {{0}, 10, 4}, even = {{0}, 8, 4};
    ck_assert_uint_eq(s3_lot_chunks(&lot), 3);
    ck_assert_uint_eq(s3_lot_chunk(&lot, 1), 4);
    ck_assert_uint_eq(s3_lot_chunk(&lot, 2), 2);
    ck_assert_uint_eq(s3_lot_chunks(&even), 2);
    ck_assert_uint_eq(s3_lot_chunk(&even, 1), 4);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(reads_what_it_wrote), SUITE_TEST(a_changed_byte_stays_in_bounds),
                                          SUITE_TEST(chunks_of_a_lot)};
SUITE_MAIN("manifest", tests)
