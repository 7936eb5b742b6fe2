/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Trees with any set of servers dead: each server that can be reached at all is reached by every tree, over living
 * servers only, and without a circle.
 */
#include "keyspace/mend.h"

#include "suite.h"

#include <string.h>

enum { MOST = 125 };
static struct torus torus;
static struct trees *trees;
static uint8_t live[MOST];

static void setup(cw_dims dims)
{
    ck_assert_int_eq(torus_init(&torus, dims), 0);
    ck_assert_int_eq(trees_open(&trees, &torus), 0);
    memset(live, 1, sizeof live);
}

/* Finds the servers that can be reached at all, by a search that is too simple to be wrong. */
static void flood(bool reached[MOST])
{
    memset(reached, 0, MOST);
    reached[0] = true;
    for (bool more = true; more;) {
        more = false;
        for (cw_server o = 0; o < torus.servers; o++) {
            for (cw_links left = trees_all(trees); left != 0; left &= (cw_links)(left - 1)) {
                cw_server next = torus_neighbour(&torus, o, (cw_link)__builtin_ctz(left));
                if (reached[o] && live[next] && !reached[next]) {
                    reached[next] = more = true;
                }
            }
        }
    }
}

/* Checks the rules of mend.h, and gives how many trees share the most used link. */
static unsigned look(void)
{
    struct mend m;
    bool reached[MOST];
    uint8_t users[MOST][CW_LINK_COUNT] = {{0}};
    unsigned most = 0;
    flood(reached);
    ck_assert_int_eq(mend_make(&m, &torus, trees, live), 0);
    for (cw_link t = 0; t < CW_LINK_COUNT; t++) {
        for (cw_server o = 0; o < torus.servers; o++) {
            cw_server at = o;
            unsigned steps = 0;
            while (at != 0 && mend_parent(&m, t, at) != MEND_NO_PARENT && steps <= torus.servers) {
                at = torus_neighbour(&torus, at, mend_parent(&m, t, at));
                ck_assert(live[at]);
                steps++;
            }
            bool tree = trees_all(trees) >> t & 1;
            ck_assert_msg((at == 0 && steps < torus.servers) == (o == 0 || (tree && reached[o])),
                          "tree %u, offset %u: %u steps end at %u", t, o, steps, at);
            ck_assert(o == 0 || reached[o] || mend_parent(&m, t, o) == MEND_NO_PARENT);
            if (o != 0 && mend_parent(&m, t, o) != MEND_NO_PARENT) {
                unsigned n = ++users[o][mend_parent(&m, t, o)];
                most = n > most ? n : most;
            }
        }
    }
    mend_free(&m);
    return most;
}

START_TEST(as_the_table_has_it)
{
    struct mend m;
    setup((cw_dims){3, 4, 5});
    ck_assert_uint_eq(look(), 1);
    ck_assert_int_eq(mend_make(&m, &torus, trees, live), 0);
    for (cw_link t = 0; t < CW_LINK_COUNT; t++) {
        for (cw_server o = 1; o < torus.servers; o++) {
            ck_assert_uint_eq(mend_parent(&m, t, o), trees_parent(trees, t, o));
        }
    }
    mend_free(&m);
    trees_close(trees);
}
END_TEST

START_TEST(any_set_of_dead)
{
    static const cw_dims shapes[] = {{3, 3, 3}, {2, 3, 4}, {1, 4, 4}, {1, 1, 5}, {4, 4, 4}, {5, 5, 5}, {2, 2, 2}};
    uint64_t x = 4711;
    for (unsigned shape = 0; shape < sizeof shapes / sizeof *shapes; shape++) {
        setup(shapes[shape]);
        for (int world = 0; world < 120; world++) {
            memset(live, 1, sizeof live);
            unsigned percent = (unsigned)world % 6 * 12;
            for (cw_server o = 1; o < torus.servers; o++) {
                x = x * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
                live[o] = (x >> 33) % 100 >= percent;
            }
            look();
        }
        trees_close(trees);
    }
}
END_TEST

/*
 * One death takes a link from each neighbour. Whichever server dies, no link has more than two trees; and for most of
 * them the trees of the five lowest ranks share no link with one another.
 */
START_TEST(one_death)
{
    setup((cw_dims){3, 3, 3});
    unsigned clean = 0;
    for (cw_server dead = 1; dead < torus.servers; dead++) {
        memset(live, 1, sizeof live);
        live[dead] = 0;
        ck_assert_uint_le(look(), 2);
        struct mend m;
        ck_assert_int_eq(mend_make(&m, &torus, trees, live), 0);
        unsigned clashes = 0;
        for (cw_server o = 1; o < torus.servers; o++) {
            unsigned used = 0;
            for (cw_link t = 0; t < CW_LINK_COUNT; t++) {
                cw_link in = mend_parent(&m, t, o);
                if (m.rank[t] < 5 && in != MEND_NO_PARENT) {
                    clashes += used >> in & 1;
                    used |= 1u << in;
                }
            }
        }
        clean += clashes == 0;
        mend_free(&m);
    }
    ck_assert_msg(clean >= 20, "only %u of 26 deaths leave five whole trees", clean);
    trees_close(trees);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(as_the_table_has_it), SUITE_TEST(any_set_of_dead),
                                          SUITE_TEST(one_death)};
SUITE_MAIN("mend", tests)
