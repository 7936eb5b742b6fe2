/* SPDX-License-Identifier: Apache-2.0 */
#include "services/store/held/ballot.h"

#include "suite.h"

START_TEST(ballots_are_ordered)
{
    struct store_ballot none = {0, 0}, a = store_ballot_above(none, 1, 5, 7), b = store_ballot_above(a, 1, 3, 1),
                        c = store_ballot_above(a, 1, 4, 1);
    ck_assert(store_ballot_is_none(none));
    ck_assert_int_lt(store_ballot_compare(none, a), 0);
    ck_assert_int_lt(store_ballot_compare(a, b), 0);
    ck_assert_int_lt(store_ballot_compare(b, c), 0); /* of one counter, the greater server's */
    ck_assert_int_eq(store_ballot_compare(b, b), 0);
    ck_assert_uint_eq(store_ballot_server(c), 4);
    ck_assert_uint_eq(a.high >> 32, STORE_EPOCH_FIRST);
}
END_TEST

/* Store rule 29: two lives of one server have different ballots. */
START_TEST(a_ballot_is_of_one_boot)
{
    struct store_ballot none = {0, 0}, one = store_ballot_above(none, 1, 5, 7),
                        other = store_ballot_above(none, 1, 5, 8);
    ck_assert_int_ne(store_ballot_compare(one, other), 0);
    ck_assert_uint_eq(store_ballot_server(store_ballot_above(none, 1, 5, UINT64_MAX)), 5);
}
END_TEST

START_TEST(tags_are_ordered_by_ballot_first)
{
    struct store_ballot none = {0, 0}, a = store_ballot_above(none, 1, 1, 1), b = store_ballot_above(a, 1, 1, 1);
    ck_assert_int_lt(store_tag_compare((struct store_tag){a, 9}, (struct store_tag){b, 1}), 0);
    ck_assert_int_lt(store_tag_compare((struct store_tag){a, 8}, (struct store_tag){a, 9}), 0);
    ck_assert_int_eq(store_tag_compare((struct store_tag){a, 9}, (struct store_tag){a, 9}), 0);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(ballots_are_ordered),
    SUITE_TEST(a_ballot_is_of_one_boot),
    SUITE_TEST(tags_are_ordered_by_ballot_first),
};
SUITE_MAIN("store ballot", tests)
