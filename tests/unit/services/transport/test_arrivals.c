/* SPDX-License-Identifier: Apache-2.0 */
#include "services/transport/arrivals.h"
#include "suite.h"

#include <string.h>

enum { N = 3000 };

static struct arrivals a;

START_TEST(nothing_yet)
{
    memset(&a, 0, sizeof a);
    ck_assert(!arrivals_has(&a, 0));
    ck_assert(!arrivals_has(&a, 77));
    ck_assert_uint_eq(arrivals_words(&a), 0);
}
END_TEST

/* Against an array of flags, in every order of arrival that a generator makes, across the end of the numbers. */
START_TEST(as_an_array_says)
{
    static bool came[N];
    uint32_t base = UINT32_MAX - N / 2, random = 1;
    memset(came, 0, sizeof came);
    memset(&a, 0, sizeof a);
    uint32_t newest = 0;
    for (uint32_t i = 0; i < N - 400; i++) {
        random = random * 1664525 + 1013904223;
        uint32_t n = i + (random >> 16) % 300;
        arrivals_note(&a, base + n, (cw_time){(int64_t)i});
        bool fits = n + 256 >= newest;
        newest = i == 0 || n > newest ? n : newest;
        came[n] |= fits;
        for (uint32_t back = 0; back <= 256 && back <= newest; back++) {
            ck_assert_int_eq(arrivals_has(&a, base + newest - back), came[newest - back]);
        }
        ck_assert(!arrivals_has(&a, base + newest + 1));
        ck_assert_uint_eq(a.newest, base + newest);
    }
    ck_assert(!arrivals_has(&a, base + newest - 257));
}
END_TEST

START_TEST(words_in_use)
{
    memset(&a, 0, sizeof a);
    arrivals_note(&a, 10, (cw_time){1});
    ck_assert_uint_eq(arrivals_words(&a), 0);
    arrivals_note(&a, 11, (cw_time){2});
    ck_assert_uint_eq(arrivals_words(&a), 1);
    ck_assert_uint_eq(a.word[0], 1);
    arrivals_note(&a, 11 + 64, (cw_time){3});
    ck_assert_uint_eq(arrivals_words(&a), 2);
    ck_assert_int_eq(a.at.ns, 3);
    arrivals_note(&a, 5, (cw_time){4}); /* late: the newest is still the one before */
    ck_assert_int_eq(a.at.ns, 3);
    arrivals_note(&a, 100000, (cw_time){5});
    ck_assert_uint_eq(arrivals_words(&a), 0);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(nothing_yet),
    SUITE_TEST(as_an_array_says),
    SUITE_TEST(words_in_use),
};
SUITE_MAIN("services.transport.arrivals", tests)
