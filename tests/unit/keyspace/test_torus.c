/* SPDX-License-Identifier: Apache-2.0 */
#include "keyspace/torus.h"
#include "suite.h"

#include <errno.h>

START_TEST(refuses_bad_dims)
{
    struct torus t = {.servers = 7};
    ck_assert_int_eq(torus_init(&t, (cw_dims){0, 3, 3}), -EINVAL);
    ck_assert_int_eq(torus_init(&t, (cw_dims){3, 257, 3}), -EINVAL);
    ck_assert_uint_eq(t.servers, 7);
    ck_assert_int_eq(torus_init(&t, (cw_dims){256, 256, 256}), 0);
    ck_assert_uint_eq(t.servers, 1u << 24);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(refuses_bad_dims)};
SUITE_MAIN("torus", tests)
