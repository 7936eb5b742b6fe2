/* SPDX-License-Identifier: Apache-2.0 */
#include "keyspace/owner.h"
#include "linkstate/changes.h"
#include "rng.h"
#include "sanitized.h"
#include "suite.h"

#include <stdlib.h>

enum { EPOCHS = 160, KEYS = 30 };

/* The roots of all keys at every epoch, kept whole: what "moved since" means, word by word. */
static bool moved_by_history(cw_server (*root)[KEYS], unsigned now, unsigned since, unsigned key)
{
    for (unsigned e = since; e < now; e++) {
        if (root[e][key] != root[e + 1][key]) {
            return true;
        }
    }
    return false;
}

/* At each epoch some servers come or go, one or many at once; every key is asked about every epoch before. */
static void exact_on(cw_dims dims, uint64_t seed)
{
    struct torus t;
    struct rng rng = {seed};
    struct changes c;
    static cw_server root[EPOCHS + 1][KEYS];
    uint64_t route[KEYS];
    uint32_t noted = 0, first_of[EPOCHS + 2] = {0};
    ck_assert_int_eq(torus_init(&t, dims), 0);
    struct reach up;
    reach_init(&up, t.servers, malloc(reach_bytes(t.servers)));
    reach_fill(&up);
    changes_init(&c, 0);
    for (unsigned k = 0; k < KEYS; k++) {
        route[k] = rng_next(&rng);
        root[0][k] = owner_root(&t, route[k], &up);
    }
    for (unsigned e = 1; e <= EPOCHS; e++) {
        unsigned many = rng_below(&rng, 8) == 0 ? 1 + (unsigned)rng_below(&rng, t.servers) : 1;
        first_of[e] = noted;
        cw_server s = (cw_server)rng_below(&rng, t.servers);
        for (unsigned i = 0; i < many; i++, s = (s + 1) % t.servers) {
            if (!reach_add(&up, s) && up.members > 1) {
                reach_remove(&up, s);
            } else if (up.members == 1 && reach_has(&up, s)) {
                continue; /* the last one stays */
            }
            changes_note(&c, e, s);
            noted++;
        }
        first_of[e + 1] = noted;
        for (unsigned k = 0; k < KEYS; k++) {
            root[e][k] = owner_root(&t, route[k], &up);
        }
        for (unsigned since = 0; since <= e; since++) {
            /* Some change after `since` has been pushed out of the ring. */
            bool forgotten = noted > CHANGES_MAX && first_of[since + 1] < noted - CHANGES_MAX;
            for (unsigned k = 0; k < KEYS; k++) {
                bool said = changes_moved(&c, &t, route[k], root[e][k], since);
                bool is = forgotten || moved_by_history(root, e, since, k);
                if (said != is) {
                    ck_abort_msg("seed %lu: epoch %u since %u key %u: said %d", (unsigned long)seed, e, since, k, said);
                }
            }
        }
    }
    free(up.word);
}

START_TEST(moved_is_exact)
{
    static const cw_dims shapes[] = {{1, 1, 2}, {1, 2, 4}, {2, 2, 2}, {3, 3, 3}, {2, 3, 4}, {4, 4, 4}, {5, 1, 3}};
    for (unsigned i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        for (uint64_t seed = 1; seed <= (SANITIZED ? 1 : 3); seed++) {
            exact_on(shapes[i], seed * 100 + i);
        }
    }
}
END_TEST

START_TEST(without_a_root_everything_moved)
{
    struct torus t;
    struct changes c;
    ck_assert_int_eq(torus_init(&t, (cw_dims){2, 2, 2}), 0);
    changes_init(&c, 10);
    ck_assert(!changes_moved(&c, &t, 5, CW_SERVER_NONE, 10));
    ck_assert(changes_moved(&c, &t, 5, CW_SERVER_NONE, 9)); /* before it began */
    changes_note(&c, 11, 0);
    ck_assert(changes_moved(&c, &t, 5, CW_SERVER_NONE, 10));
    ck_assert(!changes_moved(&c, &t, 5, CW_SERVER_NONE, 11));
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(moved_is_exact),
    SUITE_TEST(without_a_root_everything_moved),
};
SUITE_MAIN("changes", tests)
