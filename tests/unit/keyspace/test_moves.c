/* SPDX-License-Identifier: Apache-2.0 */
#include "keyspace/moves.h"
#include "keyspace/owner.h"
#include "sanitized.h"
#include "suite.h"
#include "world.h"

/* What moves_between() reported: for each (home, index) how often, and the last entry. */
struct seen {
    const struct torus *torus;
    uint8_t *count;
    struct moves_entry *entry;
    unsigned total;
};

static int note(void *arg, const struct moves_entry *entry)
{
    struct seen *seen = arg;
    if (entry->home >= seen->torus->servers || entry->index >= FACET_SEQUENCES) {
        ck_abort_msg("home %u index %u", entry->home, entry->index);
    }
    size_t row = (size_t)entry->home * FACET_SEQUENCES + entry->index;
    seen->count[row]++;
    seen->entry[row] = *entry;
    seen->total++;
    return 0;
}

/* Exactly the groups whose naive root differs, each once, with both roots; returns how many. */
static unsigned check_moves(const struct world *w, const struct state *before, const struct state *after)
{
    size_t rows = (size_t)w->torus.servers * FACET_SEQUENCES;
    struct seen seen = {.torus = &w->torus, .count = calloc(rows, 1), .entry = malloc(rows * sizeof *seen.entry)};
    ck_assert_int_eq(moves_between(&w->torus, &before->reach, &after->reach, note, &seen), 0);
    for (size_t row = 0; row < rows; row++) {
        cw_server home = (cw_server)(row / FACET_SEQUENCES);
        unsigned index = (unsigned)(row % FACET_SEQUENCES);
        cw_server from = world_root(w, home, index, before), to = world_root(w, home, index, after);
        if (seen.count[row] != (from != to) ||
            (from != to && (seen.entry[row].from != from || seen.entry[row].to != to))) {
            ck_abort_msg("%ux%ux%u: home %u index %u, %u -> %u, reported %u times", w->torus.dim[0], w->torus.dim[1],
                         w->torus.dim[2], home, index, from, to, seen.count[row]);
        }
    }
    free(seen.count);
    free(seen.entry);
    return seen.total;
}

/*
 * One failure and one return, then a second, everywhere: 48 groups move for a lone one, at most those of both for
 * two.
 */
START_TEST(single_and_double_failures)
{
    static const cw_dims shapes[] = {{3, 3, 3}, {2, 3, 4}, {4, 4, 4}, {2, 2, 2}, {1, 1, 8}, {1, 4, 4}};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        struct world w = world_open(shapes[i].x, shapes[i].y, shapes[i].z);
        struct state full = state_open(w.torus.servers), one = state_open(w.torus.servers);
        struct state two = state_open(w.torus.servers);
        for (cw_server a = 0; a < w.torus.servers; a += SANITIZED ? 23 : 3) {
            state_set(&one, a, false);
            state_set(&two, a, false);
            ck_assert_uint_eq(check_moves(&w, &full, &one), FACET_SEQUENCES);
            ck_assert_uint_eq(check_moves(&w, &one, &full), FACET_SEQUENCES);
            for (cw_server b = a + 1; b < w.torus.servers; b++) {
                state_set(&two, b, false);
                unsigned moved = check_moves(&w, &one, &two);
                ck_assert(moved >= FACET_SEQUENCES);
                ck_assert(moved <= 2 * FACET_SEQUENCES);
                ck_assert_uint_eq(check_moves(&w, &two, &one), moved);
                ck_assert_uint_eq(check_moves(&w, &full, &two), 2 * FACET_SEQUENCES);
                check_moves(&w, &two, &full);
                state_set(&two, b, true);
            }
            state_set(&one, a, true);
            state_set(&two, a, true);
        }
        state_close(&two);
        state_close(&one);
        state_close(&full);
        world_close(&w);
    }
}
END_TEST

/* Any two sets, from nobody to everybody, for every small shape; a third of the shapes under a sanitizer. */
START_TEST(arbitrary_sets)
{
    static const unsigned up_of_16[] = {0, 1, 3, 8, 13, 15, 16};
    enum { DENSITIES = sizeof up_of_16 / sizeof *up_of_16 };
    struct rng rng = {11};
    for (unsigned i = 0; i < SMALL_SHAPES; i += SANITIZED ? 3 : 1) {
        cw_dims d = small_shape(i);
        struct world w = world_open(d.x, d.y, d.z);
        struct state a = state_open(w.torus.servers), b = state_open(w.torus.servers);
        for (unsigned pair = 0; pair<DENSITIES * DENSITIES; pair += w.torus.servers> 64 ? 3 : 1) {
            state_random(&a, &rng, up_of_16[pair / DENSITIES], 16);
            state_random(&b, &rng, up_of_16[pair % DENSITIES], 16);
            check_moves(&w, &a, &b);
        }
        state_close(&b);
        state_close(&a);
        world_close(&w);
    }
}
END_TEST

/* Big holes with one change at their rim and one in the middle: the search must go several levels back. */
START_TEST(changes_around_holes)
{
    static const cw_dims shapes[] = {{6, 6, 6}, {8, 8, 8}, {2, 5, 9}, {1, 9, 9}, {1, 1, 40}};
    struct rng rng = {12};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        struct world w = world_open(shapes[i].x, shapes[i].y, shapes[i].z);
        struct state a = state_open(w.torus.servers), b = state_open(w.torus.servers);
        for (unsigned radius = 1; radius <= torus_diameter(&w.torus); radius++) {
            cw_server centre = (cw_server)rng_below(&rng, w.torus.servers);
            for (cw_server s = 0; s < w.torus.servers; s++) {
                bool up = torus_distance(&w.torus, centre, s) > radius;
                state_set(&a, s, up);
                state_set(&b, s, up);
            }
            cw_server change = (cw_server)rng_below(&rng, w.torus.servers);
            state_set(&b, change, !b.up[change]);
            check_moves(&w, &a, &b);
            check_moves(&w, &b, &a);
            state_set(&b, centre, true);
            check_moves(&w, &a, &b);
            check_moves(&w, &b, &a);
        }
        state_close(&b);
        state_close(&a);
        world_close(&w);
    }
}
END_TEST

struct stop {
    unsigned calls, at;
};

static int stop_at(void *arg, const struct moves_entry *entry)
{
    struct stop *stop = arg;
    (void)entry;
    return ++stop->calls == stop->at ? -7 : 0;
}

START_TEST(the_callback_can_end_it)
{
    struct world w = world_open(3, 3, 3);
    struct state a = state_open(27), b = state_open(27);
    state_set(&b, 13, false);
    state_set(&b, 20, false);
    for (unsigned at = 1; at <= 96; at++) {
        struct stop stop = {.at = at};
        ck_assert_int_eq(moves_between(&w.torus, &a.reach, &b.reach, stop_at, &stop), -7);
        ck_assert_uint_eq(stop.calls, at);
    }
    struct stop never = {.at = 0};
    ck_assert_int_eq(moves_between(&w.torus, &a.reach, &b.reach, stop_at, &never), 0);
    ck_assert_uint_eq(never.calls, 96);
    state_close(&b);
    state_close(&a);
    world_close(&w);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(single_and_double_failures), SUITE_TEST(arbitrary_sets),
                                          SUITE_TEST(changes_around_holes), SUITE_TEST(the_callback_can_end_it)};
SUITE_MAIN("moves", tests)
