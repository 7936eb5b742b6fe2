/* SPDX-License-Identifier: Apache-2.0 */
#include "services/multicast/cast_stripe.h"
#include "suite.h"

#include <errno.h>

/* Every byte is in one piece of one tree, in every shape. */
START_TEST(all_bytes_once)
{
    static const cw_links shapes[] = {1, 3, 15, 63, 0x30, 0x2a};
    for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++) {
        for (uint64_t bytes = 0; bytes < 200; bytes++) {
            struct cast_stripe s;
            uint64_t sum = 0, pieces = 0, seen[4] = {0};
            ck_assert_int_eq(cast_stripe_init(&s, bytes, 8, shapes[k]), 0);
            for (uint8_t tree = 0; tree < 8; tree++) {
                ck_assert(tree >= CW_LINK_COUNT || (shapes[k] >> tree & 1) || cast_stripe_count(&s, tree) == 0);
                for (uint32_t i = 0; i < cast_stripe_count(&s, tree); i++) {
                    uint64_t piece = cast_stripe_piece(&s, tree, i);
                    ck_assert(piece < s.pieces && !(seen[piece / 64] >> piece % 64 & 1));
                    seen[piece / 64] |= UINT64_C(1) << piece % 64;
                    pieces++;
                    sum += cast_stripe_length(&s, piece);
                    ck_assert(cast_stripe_length(&s, piece) > 0);
                }
            }
            ck_assert(pieces == s.pieces && sum == bytes + CAST_TRAILER_BYTES);
        }
    }
}
END_TEST

START_TEST(impossible)
{
    struct cast_stripe s;
    ck_assert_int_eq(cast_stripe_init(&s, 1, 8, 0), -EINVAL);
    ck_assert_int_eq(cast_stripe_init(&s, 1, 0, 63), -EINVAL);
    ck_assert_int_eq(cast_stripe_init(&s, UINT64_C(1) << 50, 64, 63), -E2BIG);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(all_bytes_once), SUITE_TEST(impossible)};
SUITE_MAIN("cast_stripe", tests)
