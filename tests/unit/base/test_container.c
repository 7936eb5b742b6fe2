/* SPDX-License-Identifier: Apache-2.0 */
#include "base/container.h"
#include "suite.h"

struct whole {
    char first;
    int middle[3];
    long last;
};

START_TEST(finds_the_way_home_from_every_member)
{
    struct whole whole;
    const struct whole *constant = &whole;
    ck_assert_ptr_eq(container_of(&whole.first, struct whole, first), &whole);
    ck_assert_ptr_eq(container_of(&whole.middle, struct whole, middle), &whole);
    ck_assert_ptr_eq(container_of(&whole.middle[2], struct whole, middle[2]), &whole);
    ck_assert_ptr_eq(container_of_const(&constant->last, struct whole, last), &whole);
}
END_TEST

START_TEST(evaluates_its_argument_once)
{
    struct whole wholes[3];
    long *last[3] = {&wholes[0].last, &wholes[1].last, &wholes[2].last};
    long **next = last;
    for (int i = 0; i < 3; i++) {
        ck_assert_ptr_eq(container_of(*next++, struct whole, last), &wholes[i]);
    }
    ck_assert_ptr_eq(next, last + 3);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(finds_the_way_home_from_every_member),
    SUITE_TEST(evaluates_its_argument_once),
};
SUITE_MAIN("container", tests)
