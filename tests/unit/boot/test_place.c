/* SPDX-License-Identifier: Apache-2.0 */
#include "boot/place.h"
#include "suite.h"

#include <errno.h>

static int check(cw_dims dims, cw_coord self, unsigned directions)
{
    struct boot_place place = {dims, self, {0}};
    for (unsigned i = 0; i < CW_LINK_COUNT; i++) {
        place.direction[i] = (uint8_t)(directions >> (20 - 4 * i) & 0xf);
    }
    return boot_place_check(&place);
}

START_TEST(good_and_bad)
{
    ck_assert_int_eq(check((cw_dims){3, 3, 3}, (cw_coord){0, 1, 2}, 0x012345), 0);
    ck_assert_int_eq(check((cw_dims){3, 3, 3}, (cw_coord){0, 1, 2}, 0x543210), 0);
    ck_assert_int_eq(check((cw_dims){256, 2, 1}, (cw_coord){255, 1, 0}, 0x710372 ^ 0x000070), -EINVAL);
    ck_assert_int_eq(check((cw_dims){256, 2, 1}, (cw_coord){255, 1, 0}, 0x710327), 0);
    ck_assert_int_eq(check((cw_dims){1, 1, 1}, (cw_coord){0, 0, 0}, 0x777777), 0);
    ck_assert_int_eq(check((cw_dims){1, 1, 1}, (cw_coord){0, 0, 0}, 0x777776), -EINVAL); /* unknown */
    ck_assert_int_eq(check((cw_dims){3, 3, 1}, (cw_coord){0, 0, 0}, 0x012345), -EINVAL); /* a port on an axis of 1 */
    ck_assert_int_eq(check((cw_dims){3, 3, 3}, (cw_coord){0, 0, 0}, 0x012344), -EINVAL); /* twice */
    ck_assert_int_eq(check((cw_dims){3, 3, 3}, (cw_coord){0, 0, 0}, 0x012347), -EINVAL); /* one missing */
    ck_assert_int_eq(check((cw_dims){3, 3, 3}, (cw_coord){0, 3, 0}, 0x012345), -EINVAL);
    ck_assert_int_eq(check((cw_dims){0, 3, 3}, (cw_coord){0, 0, 0}, 0x012345), -EINVAL);
    ck_assert_int_eq(check((cw_dims){257, 3, 3}, (cw_coord){0, 0, 0}, 0x012345), -EINVAL);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(good_and_bad)};
SUITE_MAIN("place", tests)
