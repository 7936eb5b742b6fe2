/* SPDX-License-Identifier: Apache-2.0 */
#include "keyspace/owner.h"
#include "sanitized.h"
#include "suite.h"
#include "world.h"

enum { MOST = 4096 };

/*
 * One key under one set of failures: the list is the naive sequence without the unreachable servers (so every
 * reachable server is in it once: G1), whatever r cuts off; the root is its head.
 */
static void check_list(const struct world *w, const struct state *s, cw_server home, unsigned index, unsigned r)
{
    const cw_server *sequence = world_sequence(w, home, index);
    uint64_t route = world_route(w, home, index, 12345);
    cw_server got[MOST];
    unsigned n = owner_servers_for_key(&w->torus, route, &s->reach, r, got);
    unsigned want = 0;
    for (uint32_t p = 0; p < w->torus.servers && want < r; p++) {
        if (s->up[sequence[p]] && (want >= n || got[want++] != sequence[p])) {
            ck_abort_msg("list of home %u index %u, place %u", home, index, want);
        }
    }
    cw_server root = owner_root(&w->torus, route, &s->reach);
    cw_server wanted_root = n > 0 ? got[0] : CW_SERVER_NONE;
    if (n != want || (r > 0 && root != wanted_root) || root != owner_root_of(&w->torus, home, index, &s->reach)) {
        ck_abort_msg("list or root of home %u index %u", home, index);
    }
}

static void check_all_lists(const struct world *w, const struct state *s, unsigned r)
{
    for (cw_server home = 0; home < w->torus.servers; home++) {
        for (unsigned index = 0; index < FACET_SEQUENCES; index++) {
            check_list(w, s, home, index, r);
        }
    }
}

/* Runs visit for no failure, every single and every double failure. */
typedef void visit_fn(const struct world *w, const struct state *s, void *arg);
static void each_double_failure(const struct world *w, visit_fn *visit, void *arg)
{
    struct state s = state_open(w->torus.servers);
    visit(w, &s, arg);
    for (cw_server a = 0; a < w->torus.servers; a++) {
        state_set(&s, a, false);
        visit(w, &s, arg);
        for (cw_server b = a + 1; b < w->torus.servers; b++) {
            state_set(&s, b, false);
            visit(w, &s, arg);
            state_set(&s, b, true);
        }
        state_set(&s, a, true);
    }
    state_close(&s);
}

static void visit_lists(const struct world *w, const struct state *s, void *arg)
{
    check_all_lists(w, s, *(unsigned *)arg);
}

START_TEST(lists_under_every_double_failure)
{
    static const struct {
        uint16_t x, y, z;
        unsigned r;
    } shapes[] = {{3, 3, 3, 27}, {2, 3, 4, 24}, {4, 4, 4, 3}, {2, 2, 2, 8}, {1, 1, 8, 8}, {1, 4, 4, 16}, {1, 1, 1, 1}};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        struct world w = world_open(shapes[i].x, shapes[i].y, shapes[i].z);
        unsigned r = shapes[i].r;
        each_double_failure(&w, visit_lists, &r);
        world_close(&w);
    }
}
END_TEST

/*
 * The list after S0 leaves is the list without its head: S1 is the root, S2 takes over from both, ... down to nobody.
 */
static void check_takeover(const struct world *w, struct state *s, cw_server home, unsigned index)
{
    uint64_t route = world_route(w, home, index, 7);
    cw_server list[MOST], shorter[MOST];
    unsigned n = owner_servers_for_key(&w->torus, route, &s->reach, w->torus.servers, list);
    ck_assert_uint_eq(n, s->reach.members);
    for (unsigned gone = 0; gone < n; gone++) {
        SUITE_HOLDS(owner_is_root(&w->torus, route, &s->reach, list[gone]));
        state_set(s, list[gone], false);
        unsigned left = owner_servers_for_key(&w->torus, route, &s->reach, w->torus.servers, shorter);
        if (left != n - gone - 1 || memcmp(shorter, list + gone + 1, left * sizeof *list) != 0) {
            ck_abort_msg("home %u index %u after %u have gone", home, index, gone + 1);
        }
    }
    ck_assert_uint_eq(owner_root(&w->torus, route, &s->reach), CW_SERVER_NONE);
    for (unsigned back = 0; back < n; back++) {
        state_set(s, list[back], true);
    }
}

START_TEST(heirs_take_over_in_order)
{
    static const cw_dims shapes[] = {{3, 3, 3}, {2, 3, 4}, {4, 4, 4}, {1, 1, 8}};
    struct rng rng = {5};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        struct world w = world_open(shapes[i].x, shapes[i].y, shapes[i].z);
        struct state s = state_open(w.torus.servers);
        for (cw_server home = 0; home < w.torus.servers; home += SANITIZED ? 31 : 1) {
            for (unsigned index = 0; index < FACET_SEQUENCES; index++) {
                state_fill(&s, true);
                check_takeover(&w, &s, home, index);
                state_random(&s, &rng, 2, 3);
                check_takeover(&w, &s, home, index);
            }
        }
        state_close(&s);
        world_close(&w);
    }
}
END_TEST

/* From nobody to everybody, so that sparse sets (compared member by member) and dense ones (walked) meet. */
START_TEST(lists_under_random_failures)
{
    static const cw_dims shapes[] = {{4, 4, 4}, {5, 2, 6}, {1, 7, 9}, {8, 8, 8}};
    struct rng rng = {6};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        struct world w = world_open(shapes[i].x, shapes[i].y, shapes[i].z);
        struct state s = state_open(w.torus.servers);
        for (unsigned up = 0; up <= 64; up = up < 4 ? up + 1 : up + 6) {
            state_random(&s, &rng, up, 64);
            for (unsigned round = 0; round < (SANITIZED ? 10 : 200); round++) {
                cw_server home = (cw_server)rng_below(&rng, w.torus.servers);
                unsigned index = (unsigned)rng_below(&rng, FACET_SEQUENCES);
                check_list(&w, &s, home, index, (unsigned)rng_below(&rng, w.torus.servers + 1));
                check_list(&w, &s, home, index, UINT32_MAX);
            }
        }
        for (cw_server alone = 0; alone < w.torus.servers; alone += 5) {
            state_fill(&s, false);
            state_set(&s, alone, true);
            check_list(&w, &s, (cw_server)rng_below(&rng, w.torus.servers), alone % FACET_SEQUENCES, 3);
        }
        state_close(&s);
        world_close(&w);
    }
}
END_TEST

START_TEST(lists_at_4096_servers)
{
    static cw_server sequence[MOST];
    static const unsigned up_per_mille[] = {999, 900, 500, 100, 8, 1};
    cw_dims dims = {16, 16, 16};
    struct torus t;
    ck_assert_int_eq(torus_init(&t, dims), 0);
    struct state s = state_open(t.servers);
    struct rng rng = {7};
    for (unsigned round = 0; round < 300; round++) {
        state_random(&s, &rng, up_per_mille[round % 6], 1000);
        uint64_t route = rng_next(&rng);
        cw_server home = (cw_server)(route >> 52);
        naive_sequence(dims, home, (unsigned)((route & 0xfffffffffffff) % 48), sequence);
        cw_server got[MOST];
        unsigned n = owner_servers_for_key(&t, route, &s.reach, MOST, got);
        ck_assert_uint_eq(n, s.reach.members);
        ck_assert_uint_eq(owner_root(&t, route, &s.reach), naive_first(sequence, t.servers, s.up));
        for (unsigned p = 0, at = 0; p < n; p++, at++) {
            while (!s.up[sequence[at]]) {
                at++;
            }
            SUITE_HOLDS(got[p] == sequence[at]);
        }
        n = owner_sequence(&t, route, MOST + 9, got);
        ck_assert_uint_eq(n, t.servers);
        ck_assert(memcmp(got, sequence, sizeof got) == 0);
        ck_assert_uint_eq(owner_sequence(&t, route, 3, got), 3);
        ck_assert_uint_eq(owner_sequence(&t, route, 0, got), 0);
    }
    state_close(&s);
}
END_TEST

/* What the worst server carries, in 48ths of the share it has when nothing failed, and how far keys went. */
struct load {
    unsigned worst; /* of any set */
    unsigned sum;   /* of the worst server's load, over sets */
    unsigned sets;  /* counted, those with want_down servers down */
    unsigned want_down;
    unsigned hops;
};

static void visit_load(const struct world *w, const struct state *s, void *arg)
{
    struct load *load = arg;
    uint32_t n = w->torus.servers;
    if (n - s->reach.members != load->want_down) {
        return;
    }
    unsigned share[MOST] = {0}, most = 0;
    for (cw_server home = 0; home < n; home++) {
        for (unsigned index = 0; index < FACET_SEQUENCES; index++) {
            cw_server root = owner_root(&w->torus, world_route(w, home, index, 1), &s->reach);
            unsigned hops = root == home ? 0 : torus_distance(&w->torus, home, root);
            if (!s->up[root] || root != world_root(w, home, index, s)) {
                ck_abort_msg("root of home %u index %u", home, index);
            }
            share[root]++;
            most = share[root] > most ? share[root] : most;
            load->hops = hops > load->hops ? hops : load->hops;
        }
    }
    load->worst = most > load->worst ? most : load->worst;
    load->sum += most;
    load->sets++;
}

static struct load load_of(const struct world *w, unsigned down)
{
    struct load load = {.want_down = down};
    each_double_failure(w, visit_load, &load);
    return load;
}

/*
 * Every set of one or two failures; the sums can be done by hand. Two failures of 3x3x3: 243 pairs have a neighbour
 * in common, which takes 8/48 from each, and 108 have none. Of 4x4x4: 480 have, 192 are neighbours (8 + 2 go to one
 * server) and 1,344 neither.
 */
START_TEST(load_after_one_and_two_failures)
{
    static const struct {
        cw_dims dims;
        unsigned down, sets, worst, sum;
    } want[] = {
        {{3, 3, 3}, 1, 27, 56, 27 * 56},
        {{4, 4, 4}, 1, 64, 56, 64 * 56},
        {{3, 4, 5}, 1, 60, 56, 60 * 56},
        {{2, 3, 4}, 1, 24, 64, 24 * 64},
        {{2, 2, 2}, 1, 8, 64, 8 * 64},
        {{1, 1, 8}, 1, 8, 72, 8 * 72},
        {{1, 4, 4}, 1, 16, 60, 16 * 60},
        {{3, 3, 3}, 2, 351, 64, 243 * 64 + 108 * 56},
        {{4, 4, 4}, 2, 2016, 64, 480 * 64 + 192 * 58 + 1344 * 56},
    };
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        struct world w = world_open(want[i].dims.x, want[i].dims.y, want[i].dims.z);
        struct load load = load_of(&w, want[i].down);
        ck_assert_uint_eq(load.sets, want[i].sets);
        ck_assert_uint_eq(load.worst, want[i].worst);
        ck_assert_uint_eq(load.sum, want[i].sum);
        ck_assert_uint_eq(load.hops, 1);
        world_close(&w);
    }
}
END_TEST

START_TEST(load_after_many_failures)
{
    struct rng rng = {8};
    /* Three, then the paper's nine (figure 6c), of 27. */
    static const struct {
        unsigned down, sets, worst, hops;
        double mean, tolerance;
    } want[] = {{3, 4000, 72, 1, 1.38, 0.02}, {9, 4000, 120, 2, 1.97, 0.02}};
    struct world w = world_open(3, 3, 3);
    struct state s = state_open(w.torus.servers);
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        struct load load = {.want_down = want[i].down};
        for (unsigned set = 0; set < want[i].sets; set++) {
            state_fail(&s, &rng, want[i].down);
            visit_load(&w, &s, &load);
        }
        ck_assert_uint_le(load.worst, want[i].worst);
        ck_assert_uint_le(load.hops, want[i].hops);
        ck_assert_double_eq_tol(load.sum / 48.0 / load.sets, want[i].mean, want[i].tolerance);
    }
    state_close(&s);
    world_close(&w);
}
END_TEST

/* A whole plane of 8x8x8 goes to the two planes beside it, evenly: 1.5 times the load, one hop away. */
START_TEST(load_after_a_plane)
{
    struct world w = world_open(8, 8, 8);
    struct state s = state_open(w.torus.servers);
    unsigned share[512] = {0};
    for (cw_server i = 0; i < 64; i++) {
        state_set(&s, 3 * 64 + i, false);
    }
    for (cw_server home = 0; home < 512; home++) {
        for (unsigned index = 0; index < FACET_SEQUENCES; index++) {
            share[owner_root(&w.torus, world_route(&w, home, index, 3), &s.reach)]++;
        }
    }
    for (cw_server i = 0; i < 512; i++) {
        unsigned x = i / 64;
        ck_assert_uint_eq(share[i], x == 3 ? 0 : x == 2 || x == 4 ? 72 : 48);
    }
    state_close(&s);
    world_close(&w);
}
END_TEST

/* The index is w mod 48 by definition, at both ends of a range and anywhere in it. */
START_TEST(index_is_w_mod_48)
{
    struct rng rng = {9};
    for (unsigned i = 0; i < LARGE_SHAPES; i++) {
        struct torus t;
        ck_assert_int_eq(torus_init(&t, large_shape(i)), 0);
        for (unsigned round = 0; round < 1000; round++) {
            uint64_t route = rng_next(&rng);
            cw_server home = key_home(&t, route);
            ck_assert(owner_index(&t, route) == (route - key_first(&t, home)) % 48);
            ck_assert(owner_index(&t, key_first(&t, home)) == 0);
            ck_assert(owner_index(&t, key_last(&t, home)) == (key_last(&t, home) - key_first(&t, home)) % 48);
        }
    }
}
END_TEST

START_TEST(moved_is_a_change_of_root)
{
    struct world w = world_open(3, 3, 3);
    struct state a = state_open(27), b = state_open(27);
    struct rng rng = {10};
    for (unsigned round = 0; round < 100; round++) {
        state_random(&a, &rng, 9, 10);
        state_random(&b, &rng, 9, 10);
        for (unsigned n = 0; n < 100; n++) {
            cw_server home = (cw_server)rng_below(&rng, 27);
            unsigned index = (unsigned)rng_below(&rng, FACET_SEQUENCES);
            bool moved = owner_moved(&w.torus, world_route(&w, home, index, n), &a.reach, &b.reach);
            ck_assert(moved == (world_root(&w, home, index, &a) != world_root(&w, home, index, &b)));
        }
    }
    state_close(&a);
    state_close(&b);
    world_close(&w);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(lists_under_every_double_failure),
    SUITE_TEST(heirs_take_over_in_order),
    SUITE_TEST(lists_under_random_failures),
    SUITE_TEST(lists_at_4096_servers),
    SUITE_TEST(load_after_one_and_two_failures),
    SUITE_TEST(load_after_many_failures),
    SUITE_TEST(load_after_a_plane),
    SUITE_TEST(index_is_w_mod_48),
    SUITE_TEST(moved_is_a_change_of_root),
};
SUITE_MAIN("owner", tests)
