/* SPDX-License-Identifier: Apache-2.0 */
/* A client of the binary protocol is told in its own words that they are not spoken here. */
#include "services/kvcache/memcached/binary.h"

#include "base/bytes.h"
#include "suite.h"

#include <string.h>

START_TEST(the_answer_is_one_of_the_binary_protocol)
{
    /* set k: extras of 8 bytes, a key of 1, a value of 2 */
    static const uint8_t head[MC_BINARY_HEAD] = {0x80, 0x01, 0, 1, 8, 0, 0, 0, 0, 0, 0, 11, 1, 2, 3, 4, 9, 9};
    uint8_t out[MC_BINARY_MOST];
    size_t length = mc_binary_refuse(head, out);
    ck_assert_uint_eq(out[0], 0x81);            /* an answer */
    ck_assert_uint_eq(out[1], 0x01);            /* to this command */
    ck_assert_uint_eq(get_be16(out + 2), 0);    /* no key */
    ck_assert_uint_eq(out[4], 0);               /* no extras */
    ck_assert_uint_eq(out[5], 0);               /* bytes as they are */
    ck_assert_uint_eq(get_be16(out + 6), 0x81); /* unknown command */
    ck_assert_uint_eq(get_be32(out + 8), length - MC_BINARY_HEAD);
    ck_assert_int_eq(memcmp(out + 12, head + 12, 4), 0); /* by which the client knows its question */
    ck_assert_uint_eq(get_be64(out + 16), 0);
    ck_assert_uint_lt(length, sizeof out);
    out[length] = '\0';
    ck_assert_ptr_nonnull(strstr((const char *)out + MC_BINARY_HEAD, "text protocol"));
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(the_answer_is_one_of_the_binary_protocol)};
SUITE_MAIN("binary", tests)
