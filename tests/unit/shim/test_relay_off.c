/* SPDX-License-Identifier: Apache-2.0 */
/* shim/relay.c as it is where CUBEWAY_RELAY is off: it says so, and leaves nothing. */
#include "shim/relay.h"

#include "suite.h"

#include <errno.h>
#include <string.h>

START_TEST(it_says_what_is_missing)
{
    struct relay *r = NULL;
    char why[RELAY_WHY_BYTES];
    ck_assert_int_eq(relay_open(&r, why), -EOPNOTSUPP);
    ck_assert_ptr_nonnull(strstr(why, "this build has no relay"));
    ck_assert_ptr_nonnull(strstr(why, "CUBEWAY_RELAY"));
    relay_close(r);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(it_says_what_is_missing),
};
SUITE_MAIN("shim/relay_off", tests)
