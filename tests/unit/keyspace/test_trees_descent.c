/* SPDX-License-Identifier: Apache-2.0 */
#include "keyspace/trees_build.h"
#include "suite.h"
#include "trees_check.h"

/* Axes of 1 last, as the descent wants them. */
static const unsigned shapes[][3] = {{3, 3, 3}, {2, 2, 3}, {2, 2, 2}, {3, 4, 5},
                                     {4, 4, 1}, {2, 6, 1}, {7, 1, 1}, {2, 1, 1}};
enum { SHAPES = sizeof shapes / sizeof *shapes };

static void open_descent(struct descent *d, const unsigned shape[static 3])
{
    struct torus torus;
    ck_assert_int_eq(torus_init(&torus, (cw_dims){(uint16_t)shape[0], (uint16_t)shape[1], (uint16_t)shape[2]}), 0);
    ck_assert_int_eq(descent_open(d, &torus), 0);
    descent_plant(d);
}

/* The parents make valid trees, and the children and depths kept beside them say the same. */
static struct trees_extent check_descent(const struct descent *d)
{
    uint8_t *parent = malloc((size_t)d->torus.servers * CW_LINK_COUNT);
    ck_assert_ptr_nonnull(parent);
    for (cw_server v = 0; v < d->torus.servers; v++) {
        for (unsigned t = 0; t < d->trees; t++) {
            parent[v * CW_LINK_COUNT + t] = d->parent[t][v];
        }
    }
    struct trees_extent walked = check_trees(&d->torus, parent), said = descent_extent(d);
    ck_assert_uint_eq(walked.max, said.max);
    ck_assert_uint_eq(walked.total, said.total);
    for (unsigned t = 0; t < d->trees; t++) {
        for (cw_server v = 0; v < d->torus.servers; v++) {
            unsigned children = 0;
            for (unsigned link = 0; link < d->trees; link++) {
                cw_server w = torus_neighbour(&d->torus, v, (cw_link)link);
                bool child = w != 0 && d->parent[t][w] == (link ^ 1);
                children |= (unsigned)child << link;
                ck_assert(!child || d->depth[t][w] == d->depth[t][v] + 1);
            }
            ck_assert_uint_eq(d->children[t][v], children);
        }
    }
    free(parent);
    return walked;
}

static int64_t price(const struct descent *d, int64_t depth)
{
    int64_t over = depth - (int64_t)d->tolerance;
    return over > 0 ? depth + 20 * over * over : depth;
}

static int64_t total_price(const struct descent *d)
{
    int64_t sum = 0;
    for (unsigned t = 0; t < d->trees; t++) {
        for (cw_server v = 1; v < d->torus.servers; v++) {
            sum += price(d, d->depth[t][v]);
        }
    }
    return sum;
}

START_TEST(every_sweep_leaves_valid_trees_that_cost_no_more)
{
    for (int i = 0; i < SHAPES; i++) {
        struct descent d;
        open_descent(&d, shapes[i]);
        check_descent(&d);
        int64_t before = total_price(&d);
        for (uint32_t sweep = 0; sweep < 24; sweep++) {
            bool better = descent_sweep(&d, sweep % 3 == 0 ? sweep + 1 : 0);
            int64_t after = total_price(&d);
            check_descent(&d);
            ck_assert_int_le(after, before);
            ck_assert(better || after == before);
            before = after;
        }
        descent_close(&d);
    }
}
END_TEST

/* The total price if v entered tree t by link q, or -1 when that would cut it off: by climbing from every vertex. */
static int64_t price_with(struct descent *d, unsigned t, cw_server v, unsigned q)
{
    uint8_t kept = d->parent[t][v];
    d->parent[t][v] = (uint8_t)q;
    int64_t sum = 0;
    for (cw_server u = 1; u < d->torus.servers && sum >= 0; u++) {
        unsigned hops = 0;
        for (cw_server at = u; at != 0 && hops < d->torus.servers; hops++) {
            at = torus_neighbour(&d->torus, at, d->parent[t][at]);
        }
        sum = hops == d->torus.servers ? -1 : sum + price(d, hops);
    }
    d->parent[t][v] = kept;
    return sum;
}

/* The cheapest way to give the trees from t on the links not yet used, by trying all. */
static int64_t cheapest(int64_t cost[CW_LINK_COUNT][CW_LINK_COUNT], unsigned trees, unsigned t, unsigned used)
{
    if (t >= trees || t >= CW_LINK_COUNT) {
        return 0;
    }
    int64_t least = INT64_MAX;
    for (unsigned q = 0; q < trees; q++) {
        if (!(used >> q & 1) && cost[t][q] >= 0) {
            int64_t rest = cheapest(cost, trees, t + 1, used | 1u << q);
            least = rest < INT64_MAX && cost[t][q] + rest < least ? cost[t][q] + rest : least;
        }
    }
    return least;
}

START_TEST(ends_where_no_single_vertex_can_do_better)
{
    for (int i = 0; i < SHAPES; i++) {
        struct descent d;
        open_descent(&d, shapes[i]);
        for (uint32_t round = 0; round < 3; round++) {
            if (round > 0) {
                descent_sweep(&d, round);
            }
            while (descent_sweep(&d, 0)) {
            }
            int64_t now = total_price(&d);
            for (cw_server v = 1; v < d.torus.servers; v++) {
                int64_t cost[CW_LINK_COUNT][CW_LINK_COUNT];
                for (unsigned t = 0; t < d.trees; t++) {
                    for (unsigned q = 0; q < d.trees; q++) {
                        cost[t][q] = price_with(&d, t, v, q);
                    }
                }
                ck_assert_int_eq(cheapest(cost, d.trees, 0, 0), now);
            }
        }
        descent_close(&d);
    }
}
END_TEST

/* Nothing that is worth a visit is ever left out: when the sweeps say they are done, a sweep over everything agrees. */
START_TEST(knows_what_is_stale)
{
    const unsigned large[][3] = {{8, 8, 8}, {3, 3, 40}, {2, 12, 12}, {4, 5, 6}, {20, 20, 1}};
    for (size_t i = 0; i < sizeof large / sizeof *large; i++) {
        struct descent d;
        open_descent(&d, large[i]);
        for (uint32_t round = 0; round < 24; round++) {
            if (round > 0) {
                descent_sweep(&d, round);
            }
            d.tolerance = torus_diameter(&d.torus) * (round % 3) / 2;
            descent_touch(&d);
            while (descent_sweep(&d, 0)) {
            }
            descent_touch(&d);
            ck_assert(!descent_sweep(&d, 0));
        }
        descent_close(&d);
    }
}
END_TEST

START_TEST(may_be_stopped_anywhere)
{
    struct descent d;
    open_descent(&d, (const unsigned[]){4, 5, 6});
    d.budget = 0;
    ck_assert(!descent_sweep(&d, 0));
    ck_assert_uint_eq(check_descent(&d).total, trees_closed_extent(&d.torus).total);
    for (uint32_t step = 1; step < 60; step++) {
        d.budget = d.work + 997;
        descent_sweep(&d, step % 5 == 0 ? step : 0);
        ck_assert_uint_lt(d.work, d.budget + 5000); /* one visit more at most */
        check_descent(&d);
    }
    descent_close(&d);
}
END_TEST

START_TEST(visits_the_farthest_first)
{
    struct descent d;
    open_descent(&d, (const unsigned[]){3, 4, 6});
    for (uint32_t i = 0; i + 1 < d.torus.servers; i++) {
        unsigned here = torus_distance(&d.torus, 0, d.order[i]), next = torus_distance(&d.torus, 0, d.order[i + 1]);
        ck_assert(here > next || (here == next && d.order[i] < d.order[i + 1]));
    }
    ck_assert_uint_eq(d.order[d.torus.servers - 1], 0);
    descent_close(&d);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(every_sweep_leaves_valid_trees_that_cost_no_more),
    SUITE_TEST(ends_where_no_single_vertex_can_do_better),
    SUITE_TEST(knows_what_is_stale),
    SUITE_TEST(may_be_stopped_anywhere),
    SUITE_TEST(visits_the_farthest_first),
};
SUITE_MAIN("trees_descent", tests)
