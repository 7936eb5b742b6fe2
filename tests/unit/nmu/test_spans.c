/* SPDX-License-Identifier: Apache-2.0 */
#include "nmu/spans.h"
#include "rng.h"
#include "suite.h"

#include <string.h>

START_TEST(a_search_finds_the_span_or_nothing)
{
    static const struct nmu_span list[] = {{2, 2, 0}, {4, 7, 0}, {8, 8, 0}, {20, 30, 0}, {UINT32_MAX, UINT32_MAX, 0}};
    for (uint32_t count = 0; count <= 5; count++) {
        for (cw_process p = 0; p < 40; p++) {
            const struct nmu_span *want = NULL;
            for (uint32_t i = 0; i < count; i++) {
                want = p >= list[i].first && p <= list[i].last ? &list[i] : want;
            }
            ck_assert_ptr_eq(spans_search(list, count, p), want);
        }
    }
    ck_assert_ptr_eq(spans_search(list, 5, UINT32_MAX), &list[4]);
    ck_assert_ptr_null(spans_search(list, 5, UINT32_MAX - 1));
}
END_TEST

/* Lists that come, change and go at random, against an array for each owner. */
START_TEST(lists_keep_what_was_written)
{
    enum { OWNERS = 7, LIMIT = 40 };
    struct nmu_span plain[OWNERS][LIMIT];
    uint32_t length[OWNERS] = {0}, used = 0;
    struct rng rng = {5};
    struct spans s;
    ck_assert_int_eq(spans_open(&s, LIMIT, OWNERS), 0);
    ck_assert_uint_ge(spans_bytes(&s), LIMIT * sizeof(struct nmu_span));
    for (unsigned step = 0; step < 20000; step++) {
        uint32_t owner = (uint32_t)rng_below(&rng, OWNERS), count = (uint32_t)rng_below(&rng, 16);
        bool fits = used - length[owner] + count <= LIMIT;
        if (spans_fit(&s, owner, count) != fits) {
            ck_abort_msg("step %u: fit", step);
        }
        if (!fits) {
            continue;
        }
        struct nmu_span *list = spans_replace(&s, owner, count);
        for (uint32_t i = 0; i < count; i++) {
            list[i] = plain[owner][i] = (struct nmu_span){(cw_process)rng_next(&rng), step, owner};
        }
        used = used - length[owner] + count;
        length[owner] = count;
        for (uint32_t o = 0; o < OWNERS; o++) {
            if (s.list[o].count != length[o] ||
                memcmp(spans_of(&s, o), plain[o], length[o] * sizeof plain[o][0]) != 0) {
                ck_abort_msg("step %u: the list of %u", step, o);
            }
        }
    }
    spans_close(&s);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(a_search_finds_the_span_or_nothing),
    SUITE_TEST(lists_keep_what_was_written),
};
SUITE_MAIN("spans", tests)
