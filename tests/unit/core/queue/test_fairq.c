/* SPDX-License-Identifier: Apache-2.0 */
#include "core/queue/fairq.h"
#include "rng.h"
#include "sanitized.h"
#include "suite.h"

#include <stdbool.h>
#include <string.h>

enum { LONGEST = 9038, SHORTEST = 64 };

/* Some places with weights and habits, and what each has sent. */
struct world {
    struct fairq q;
    uint64_t background;
    uint16_t weight[FAIRQ_PLACES];
    struct rng rng;
    uint32_t shortest[FAIRQ_PLACES], longest[FAIRQ_PLACES];
    int64_t sent[FAIRQ_PLACES];
};

static void world_random(struct world *w, uint64_t seed)
{
    memset(w, 0, sizeof *w);
    w->rng.state = seed;
    fairq_init(&w->q);
    for (unsigned i = 0; i < FAIRQ_PLACES; i++) {
        bool plain = rng_below(&w->rng, 2);
        w->weight[i] = (uint16_t)(1 + rng_below(&w->rng, plain ? 10 : FAIRQ_WEIGHT_MAX));
        w->shortest[i] = SHORTEST + (uint32_t)rng_below(&w->rng, LONGEST - SHORTEST + 1);
        w->longest[i] = w->shortest[i] + (uint32_t)rng_below(&w->rng, LONGEST - w->shortest[i] + 1);
    }
}

static unsigned serve(struct world *w, uint64_t wants)
{
    unsigned i = fairq_pick(&w->q, w->background, wants);
    if (i == FAIRQ_NONE) {
        ck_assert_uint_eq(wants, 0);
        return i;
    }
    if (!(wants >> i & 1) || fairq_pick(&w->q, w->background, wants) != i) {
        ck_abort_msg("picked %u of %lx", i, (unsigned long)wants);
    }
    uint32_t bytes = w->shortest[i] + (uint32_t)rng_below(&w->rng, w->longest[i] - w->shortest[i] + 1);
    fairq_charge(&w->q, w->background, i, bytes, w->weight[i]);
    w->sent[i] += bytes;
    return i;
}

START_TEST(long_run_shares_are_the_weights)
{
    for (uint64_t seed = 1; seed <= (SANITIZED ? 5 : 30); seed++) {
        struct world w;
        world_random(&w, seed);
        uint64_t wants = rng_next(&w.rng) | 3;
        double weights = 0, bytes = 0;
        for (unsigned step = 0; step < 300000; step++) {
            serve(&w, wants);
        }
        for (unsigned i = 0; i < FAIRQ_PLACES; i++) {
            weights += wants >> i & 1 ? w.weight[i] : 0;
            bytes += (double)w.sent[i];
        }
        for (unsigned i = 0; i < FAIRQ_PLACES; i++) {
            double due = wants >> i & 1 ? bytes * w.weight[i] / weights : 0;
            double off = (double)w.sent[i] - due;
            /* One per cent, or two packets where the share itself is but a few. */
            if (off * off > due * due * 1e-4 && off * off > 4.0 * w.longest[i] * w.longest[i]) {
                ck_abort_msg("seed %lu place %u: sent %ld, due %.0f", (unsigned long)seed, i, (long)w.sent[i], due);
            }
        }
    }
}
END_TEST

/*
 * The theorem of start-time fair queueing, pair by pair: over any interval in which i and j both want the link, |sent_i
 * / w_i - sent_j / w_j| <= longest_i / w_i + longest_j / w_j. Every interval at once: the range of the difference since
 * both began.
 */
START_TEST(no_interval_is_unfair)
{
    enum { SERVICES = 6 };
    for (uint64_t seed = 1; seed <= (SANITIZED ? 10 : 60); seed++) {
        struct world w;
        world_random(&w, seed);
        int64_t least[SERVICES][SERVICES], most[SERVICES][SERVICES];
        uint64_t wants = 0, before = 0;
        unsigned restless = (unsigned)rng_below(&w.rng, 3) * 40;
        for (unsigned step = 0; step < 20000; step++) {
            if (step == 0 || (restless != 0 && rng_below(&w.rng, restless) == 0)) {
                wants = restless != 0 ? (uint32_t)rng_below(&w.rng, 1 << SERVICES) : (1 << SERVICES) - 1;
            }
            for (unsigned i = 0; i < SERVICES; i++) {
                for (unsigned j = 0; j < i; j++) {
                    uint32_t both = 1u << i | 1u << j;
                    int64_t d = w.sent[i] * w.weight[j] - w.sent[j] * w.weight[i];
                    if ((wants & both) != both) {
                        continue;
                    }
                    if ((before & both) != both) {
                        least[i][j] = most[i][j] = d;
                    }
                    least[i][j] = d < least[i][j] ? d : least[i][j];
                    most[i][j] = d > most[i][j] ? d : most[i][j];
                    int64_t bound = (int64_t)w.longest[i] * w.weight[j] + (int64_t)w.longest[j] * w.weight[i] +
                                    w.weight[i] + w.weight[j];
                    if (most[i][j] - least[i][j] > bound) {
                        ck_abort_msg("seed %lu step %u: places %u and %u", (unsigned long)seed, step, i, j);
                    }
                }
            }
            before = wants;
            serve(&w, wants);
        }
    }
}
END_TEST

START_TEST(background_waits_for_the_foreground)
{
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct world w;
        world_random(&w, seed);
        w.background = rng_next(&w.rng);
        int64_t background = 0;
        for (unsigned step = 0; step < 20000; step++) {
            uint64_t wants = (uint32_t)(rng_next(&w.rng) & rng_next(&w.rng) & rng_next(&w.rng));
            unsigned i = serve(&w, wants);
            if (i != FAIRQ_NONE && (w.background >> i & 1)) {
                ck_assert_uint_eq(wants & ~w.background, 0);
                background++;
            }
        }
        ck_assert_int_gt(background, 0);
    }
}
END_TEST

/* The clocks are set back without anybody noticing, also by one who is away meanwhile. */
START_TEST(rebasing_changes_nothing)
{
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct world a, b;
        world_random(&a, seed);
        a.background = 0xf0f0;
        b = a;
        uint64_t far = (UINT64_C(1) << 62) - (UINT64_C(1) << 34);
        for (unsigned i = 0; i < FAIRQ_PLACES; i++) {
            b.q.start[i] += far;
        }
        b.q.now[0] += far;
        b.q.now[1] += far;
        for (unsigned step = 0; step < 50000; step++) {
            uint64_t wants = rng_next(&a.rng);
            b.rng = a.rng;
            ck_assert_uint_eq(serve(&a, wants), serve(&b, wants));
        }
        ck_assert_uint_lt(b.q.now[0], far);
    }
}
END_TEST

START_TEST(a_forgotten_place_starts_level)
{
    struct world w;
    world_random(&w, 1);
    for (unsigned i = 0; i < 2; i++) {
        w.weight[i] = 1;
        w.shortest[i] = w.longest[i] = 1000;
    }
    for (unsigned step = 0; step < 100; step++) {
        serve(&w, 1);
    }
    /* A debt, or a clock of another class, does not outlive it. */
    w.q.start[1] = UINT64_C(1) << 50;
    w.q.wanted |= 2;
    fairq_forget(&w.q, 1);
    for (unsigned step = 0; step < 100; step++) {
        serve(&w, 3);
    }
    ck_assert_int_ge(w.sent[1], 49000);
    ck_assert_int_le(w.sent[1], 51000);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(long_run_shares_are_the_weights),     SUITE_TEST(no_interval_is_unfair),
    SUITE_TEST(background_waits_for_the_foreground), SUITE_TEST(rebasing_changes_nothing),
    SUITE_TEST(a_forgotten_place_starts_level),
};
SUITE_MAIN("fairq", tests)
