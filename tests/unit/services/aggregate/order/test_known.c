/* SPDX-License-Identifier: Apache-2.0 */
#include "services/aggregate/order/known.h"

#include "suite.h"

#include <string.h>

enum { N = 100, SERVERS = 70 };

static void add(uint64_t *sum, cw_server server)
{
    uint64_t v[N];
    known_fill(server, 0, N, v);
    for (unsigned i = 0; i < N; i++) {
        sum[i] += v[i];
    }
}

START_TEST(sums)
{
    uint64_t sum[N] = {0}, set[2] = {UINT64_C(1) << 3 | 1, 1};
    add(sum, 0);
    add(sum, 3);
    add(sum, 64);
    ck_assert_uint_eq(known_wrong(set, SERVERS, sum, N), 0);
    set[0] |= 2; /* one who is not in it */
    ck_assert_uint_eq(known_wrong(set, SERVERS, sum, N), N);
    add(sum, 1);
    ck_assert_uint_eq(known_wrong(set, SERVERS, sum, N), 0);
    add(sum, 3); /* one who is in it twice */
    ck_assert_uint_eq(known_wrong(set, SERVERS, sum, N), N);
}
END_TEST

START_TEST(one_element)
{
    uint64_t sum[N] = {0};
    const uint64_t set[1] = {1 << 5};
    add(sum, 5);
    sum[17]++;
    ck_assert_uint_eq(known_wrong(set, 27, sum, N), 1);
}
END_TEST

/* A piece is what the whole has there. */
START_TEST(pieces)
{
    uint64_t whole[N], piece[N / 2];
    known_fill(9, 0, N, whole);
    known_fill(9, N / 2, N / 2, piece);
    ck_assert(memcmp(whole + N / 2, piece, sizeof piece) == 0);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(sums), SUITE_TEST(one_element), SUITE_TEST(pieces)};
SUITE_MAIN("known", tests)
