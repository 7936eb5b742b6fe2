/* SPDX-License-Identifier: Apache-2.0 */
#include "keyspace/reach.h"
#include "rng.h"
#include "suite.h"

#include <string.h>

static const uint32_t sizes[] = {1, 2, 27, 63, 64, 65, 127, 128, 130, 512, 4096};
enum { SIZES = sizeof sizes / sizeof *sizes, MOST = 4096 };

/* A set and, beside it, an array of bools that is treated alike. */
struct pair {
    struct reach set;
    uint64_t memory[MOST / 64];
    bool up[MOST];
};

static void pair_open(struct pair *p, uint32_t servers)
{
    memset(p->memory, 0xa5, sizeof p->memory);
    memset(p->up, 0, sizeof p->up);
    reach_init(&p->set, servers, p->memory);
}

static void pair_check(const struct pair *p)
{
    uint32_t members = 0;
    cw_server next = reach_next(&p->set, 0);
    for (cw_server s = 0; s < p->set.servers; s++) {
        if (reach_has(&p->set, s) != p->up[s] || (p->up[s] && s != next)) {
            ck_abort_msg("%u of %u", s, p->set.servers);
        }
        if (p->up[s]) {
            members++;
            next = reach_next(&p->set, s + 1);
        }
    }
    ck_assert_uint_eq(next, CW_SERVER_NONE);
    ck_assert_uint_eq(p->set.members, members);
}

START_TEST(follows_an_array_of_bools)
{
    static struct pair p;
    struct rng rng = {1};
    for (unsigned i = 0; i < SIZES; i++) {
        pair_open(&p, sizes[i]);
        pair_check(&p);
        for (unsigned round = 0; round < 2000; round++) {
            cw_server s = (cw_server)rng_below(&rng, sizes[i]);
            bool add = rng_below(&rng, 2) == 0;
            bool changed = add ? reach_add(&p.set, s) : reach_remove(&p.set, s);
            if (changed != (p.up[s] != add)) {
                ck_abort_msg("%u of %u", s, sizes[i]);
            }
            p.up[s] = add;
        }
        pair_check(&p);
        reach_fill(&p.set);
        memset(p.up, 1, sizeof p.up);
        pair_check(&p);
        reach_clear(&p.set);
        memset(p.up, 0, sizeof p.up);
        pair_check(&p);
    }
}
END_TEST

START_TEST(stays_inside_its_memory)
{
    for (unsigned i = 0; i < SIZES; i++) {
        uint64_t memory[MOST / 64 + 1];
        size_t words = reach_bytes(sizes[i]) / sizeof *memory;
        ck_assert_uint_eq(words, (sizes[i] + 63) / 64);
        memset(memory, 0xa5, sizeof memory);
        uint64_t guard = memory[words];
        struct reach set;
        reach_init(&set, sizes[i], memory);
        reach_fill(&set);
        reach_remove(&set, sizes[i] - 1);
        ck_assert_uint_eq(memory[words], guard);
    }
}
END_TEST

START_TEST(changes_copies_and_equality)
{
    static struct pair a, b;
    struct rng rng = {2};
    for (unsigned i = 0; i < SIZES; i++) {
        pair_open(&a, sizes[i]);
        pair_open(&b, sizes[i]);
        for (unsigned round = 0; round < 50; round++) {
            struct pair *p = round % 2 == 0 ? &a : &b;
            cw_server s = (cw_server)rng_below(&rng, sizes[i]);
            reach_add(&p->set, s);
            p->up[s] = true;
            cw_server next = reach_next_change(&a.set, &b.set, 0);
            bool equal = true;
            for (s = 0; s < sizes[i]; s++) {
                if (a.up[s] != b.up[s]) {
                    ck_assert_uint_eq(next, s);
                    next = reach_next_change(&a.set, &b.set, s + 1);
                    equal = false;
                }
            }
            ck_assert_uint_eq(next, CW_SERVER_NONE);
            ck_assert(reach_equal(&a.set, &b.set) == equal);
        }
        reach_copy(&b.set, &a.set);
        memcpy(b.up, a.up, sizeof a.up);
        pair_check(&b);
        ck_assert(reach_equal(&a.set, &b.set));
        ck_assert_uint_eq(reach_next_change(&a.set, &b.set, 0), CW_SERVER_NONE);
    }
}
END_TEST

START_TEST(next_beyond_the_end)
{
    static struct pair p;
    pair_open(&p, 64);
    reach_fill(&p.set);
    ck_assert_uint_eq(reach_next(&p.set, 63), 63);
    ck_assert_uint_eq(reach_next(&p.set, 64), CW_SERVER_NONE);
    ck_assert_uint_eq(reach_next(&p.set, UINT32_MAX), CW_SERVER_NONE);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(follows_an_array_of_bools), SUITE_TEST(stays_inside_its_memory),
                                          SUITE_TEST(changes_copies_and_equality), SUITE_TEST(next_beyond_the_end)};
SUITE_MAIN("reach", tests)
