/* SPDX-License-Identifier: Apache-2.0 */
#include "services/s3/protocol/buffer.h"

#include "suite.h"

START_TEST(grows_and_ends_in_a_nul)
{
    struct s3_buffer b = {0};
    for (unsigned i = 0; i < 1000; i++) {
        s3_buffer_text(&b, "ab");
        s3_buffer_number(&b, i % 10);
    }
    ck_assert_uint_eq(b.length, 3000);
    ck_assert_mem_eq(b.bytes + 2996, "8ab9", 5);
    s3_buffer_clear(&b);
    s3_buffer_number(&b, UINT64_MAX);
    ck_assert_str_eq(b.bytes, "18446744073709551615");
    s3_buffer_drop(&b);
    ck_assert_ptr_null(b.bytes);
}
END_TEST

START_TEST(what_is_too_long_fails_for_good)
{
    struct s3_buffer b = {.most = 5};
    s3_buffer_text(&b, "abcde");
    ck_assert(!b.failed);
    s3_buffer_text(&b, "f");
    ck_assert(b.failed);
    s3_buffer_add(&b, NULL, 0);
    ck_assert(b.failed);
    ck_assert_str_eq(b.bytes, "abcde");
    s3_buffer_clear(&b);
    s3_buffer_text(&b, "xyz");
    ck_assert(!b.failed);
    ck_assert_str_eq(b.bytes, "xyz");
    s3_buffer_drop(&b);
    ck_assert_uint_eq(b.most, 5);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(grows_and_ends_in_a_nul),
                                          SUITE_TEST(what_is_too_long_fails_for_good)};
SUITE_MAIN("buffer", tests)
