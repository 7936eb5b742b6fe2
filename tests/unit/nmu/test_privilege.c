/* SPDX-License-Identifier: Apache-2.0 */
#include "nmu/privilege.h"
#include "rng.h"
#include "suite.h"

#include <string.h>

START_TEST(an_entry_holds_its_span_or_its_list)
{
    struct privilege p;
    ck_assert_int_eq(privilege_open(&p, 4, 4, 8), 0);
    ck_assert_uint_gt(privilege_bytes(&p), 0);
    struct privilege_entry all = {.key = privilege_key(0, 1, 2)};
    struct privilege_entry one = {.key = privilege_key(0, 1, PRIVILEGE_ANY_PORT), .spans = 1};
    *spans_replace(&p.sets, 0, 1) = (struct nmu_span){3, 5, 0};
    struct nmu_span *list = spans_replace(&p.sets, 2, 3);
    list[1] = (struct nmu_span){4, 4, 0};
    list[2] = (struct nmu_span){8, 9, 0};
    struct privilege_entry two = {.key = privilege_key(2, 1, 2), .spans = 2, .at = 1};
    privilege_add(&p, &all);
    privilege_add(&p, &one);
    privilege_add(&p, &two);
    for (cw_process i = 0; i < 12; i++) {
        ck_assert(privilege_holds(&p, 0, &all, i));
        ck_assert_int_eq(privilege_holds(&p, 0, &one, i), i >= 3 && i <= 5);
        ck_assert_int_eq(privilege_holds(&p, 2, &two, i), i == 4 || i == 8 || i == 9);
    }
    ck_assert_ptr_nonnull(privilege_find(&p, all.key));
    ck_assert_ptr_nonnull(privilege_find(&p, one.key));
    ck_assert_ptr_null(privilege_find(&p, privilege_key(1, 1, 2)));
    ck_assert_ptr_null(privilege_find(&p, privilege_key(0, 2, 1)));
    ck_assert_ptr_null(privilege_find(&p, privilege_key(0, 0, 0))); /* an empty slot is no entry */
    privilege_close(&p);
}
END_TEST

/* Domains of entries added and ended at random, against a table of bits. */
START_TEST(what_was_added_is_found_and_nothing_else)
{
    enum { HOMES = 4, JOBS = 6, PORTS = 4, LIMIT = 60 };
    for (uint64_t seed = 1; seed <= 10; seed++) {
        struct rng rng = {seed};
        bool there[HOMES][JOBS + 1][PORTS + 1] = {{{false}}};
        struct privilege p;
        ck_assert_int_eq(privilege_open(&p, LIMIT, HOMES, 1), 0);
        for (unsigned step = 0; step < 3000; step++) {
            uint32_t home = (uint32_t)rng_below(&rng, HOMES);
            if (rng_below(&rng, 20) == 0) {
                uint32_t from = 0;
                for (struct privilege_entry *e; (e = privilege_any_of(&p, home, &from)) != NULL;) {
                    privilege_remove(&p, e);
                }
                memset(there[home], 0, sizeof there[home]);
            } else if (p.used < LIMIT) {
                cw_job job = 1 + (cw_job)rng_below(&rng, JOBS);
                uint32_t port = (uint32_t)rng_below(&rng, PORTS + 1);
                if (!there[home][job][port]) {
                    there[home][job][port] = true;
                    privilege_add(&p, &(struct privilege_entry){
                                          .key = privilege_key(home, job, port < PORTS ? port : PRIVILEGE_ANY_PORT)});
                }
            }
            for (uint32_t h = 0; h < HOMES; h++) {
                for (cw_job j = 1; j <= JOBS; j++) {
                    for (uint32_t i = 0; i <= PORTS; i++) {
                        uint64_t key = privilege_key(h, j, i < PORTS ? i : PRIVILEGE_ANY_PORT);
                        const struct privilege_entry *e = privilege_find(&p, key);
                        if ((e != NULL) != there[h][j][i] || (e != NULL && e->key != key)) {
                            ck_abort_msg("seed %lu step %u: %u %u %u", (unsigned long)seed, step, h, j, i);
                        }
                    }
                }
            }
        }
        privilege_close(&p);
    }
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(an_entry_holds_its_span_or_its_list),
    SUITE_TEST(what_was_added_is_found_and_nothing_else),
};
SUITE_MAIN("privilege", tests)
