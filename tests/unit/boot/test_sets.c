/* SPDX-License-Identifier: Apache-2.0 */
#include "boot/sets.h"
#include "rng.h"
#include "suite.h"

enum { COUNT = 40 };

/* Against labels that are all rewritten at every union. */
START_TEST(as_by_rewriting)
{
    struct rng r = {1};
    for (unsigned run = 0; run < 200; run++) {
        uint32_t parent[COUNT], label[COUNT];
        sets_init(parent, COUNT);
        sets_init(label, COUNT);
        for (unsigned unions = (unsigned)rng_below(&r, 50); unions > 0; unions--) {
            uint32_t a = (uint32_t)rng_below(&r, COUNT), b = (uint32_t)rng_below(&r, COUNT);
            sets_join(parent, a, b);
            uint32_t from = label[a] > label[b] ? label[a] : label[b], to = label[a] + label[b] - from;
            for (unsigned i = 0; i < COUNT; i++) {
                label[i] = label[i] == from ? to : label[i];
            }
        }
        for (uint32_t i = 0; i < COUNT; i++) {
            ck_assert_uint_eq(sets_find(parent, i), label[i]);
        }
    }
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(as_by_rewriting)};
SUITE_MAIN("sets", tests)
