/* SPDX-License-Identifier: Apache-2.0 */
#include "services/reply/numbers.h"

#include "suite.h"

#include <errno.h>

START_TEST(sets)
{
    struct numbers n;
    ck_assert_int_eq(numbers_read("0-2, 12,20-26 7", 27, &n), 0);
    ck_assert_uint_eq(n.ranges, 4);
    ck_assert_uint_eq(numbers_count(&n), 12);
    static const cw_server in[] = {0, 1, 2, 7, 12, 20, 23, 26}, out[] = {3, 6, 8, 11, 13, 19, 27, CW_SERVER_NONE};
    for (unsigned i = 0; i < 8; i++) {
        SUITE_HOLDS(numbers_has(&n, in[i]) && !numbers_has(&n, out[i]), "%u", i);
    }
    ck_assert_int_eq(numbers_read(" 26 ", 27, &n), 0);
    n.ranges = 0;
    ck_assert(!numbers_has(&n, 26) && numbers_count(&n) == 0);
}
END_TEST

START_TEST(no_sets)
{
    static const char *const texts[] = {"",
                                        " ,",
                                        "27",
                                        "0-27",
                                        "3-2",
                                        "1-",
                                        "-1",
                                        "a",
                                        "1a",
                                        "1-2-3",
                                        "1;2",
                                        "99999999999999999999",
                                        "0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16"};
    struct numbers n;
    for (unsigned i = 0; i < sizeof texts / sizeof *texts; i++) {
        SUITE_HOLDS(numbers_read(texts[i], 27, &n) == -EINVAL, "'%s'", texts[i]);
    }
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(sets), SUITE_TEST(no_sets)};

int main(void)
{
    return suite_run("numbers", tests, sizeof tests / sizeof *tests);
}
