/* SPDX-License-Identifier: Apache-2.0 */
#include "services/transport/pattern.h"
#include "suite.h"

#include <string.h>

/* As it is defined. */
static uint8_t byte_of(uint64_t place)
{
    return (uint8_t)(place ^ place >> 8 ^ place >> 16);
}

START_TEST(every_place_and_length)
{
    static const uint64_t from[] = {0, 1, 7, 8, 255, 65531, 0xfffff9, UINT64_C(0x123456789b)};
    uint8_t out[704];
    for (unsigned f = 0; f < sizeof from / sizeof *from; f++) {
        for (size_t length = 0; length < 700; length += length < 40 ? 1 : 33) {
            memset(out, 0xee, sizeof out);
            pattern_fill(from[f], out, length);
            for (size_t i = 0; i < length; i++) {
                ck_assert_uint_eq(out[i], byte_of(from[f] + i));
            }
            ck_assert_uint_eq(out[length], 0xee);
            ck_assert_uint_eq(pattern_wrong(from[f], out, length), 0);
        }
    }
}
END_TEST

START_TEST(every_wrong_byte_counts)
{
    uint8_t out[41];
    for (size_t i = 0; i < sizeof out; i++) {
        pattern_fill(3, out, sizeof out);
        out[i] ^= 0x10;
        ck_assert_uint_eq(pattern_wrong(3, out, sizeof out), 1);
        out[(i + 9) % sizeof out] ^= 1;
        ck_assert_uint_eq(pattern_wrong(3, out, sizeof out), 2);
    }
    pattern_fill(3, out, sizeof out);
    ck_assert_uint_gt(pattern_wrong(4, out, sizeof out), 30); /* shifted by one */
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(every_place_and_length), SUITE_TEST(every_wrong_byte_counts)};
SUITE_MAIN("services.transport.pattern", tests)
