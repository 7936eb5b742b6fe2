/* SPDX-License-Identifier: Apache-2.0 */
/* Tables that are repaired, against tables that are searched, and against Floyd and Warshall's distances. */
#include "linkstate/repair.h"

#include "base/prng.h"
#include "links.h"
#include "suite.h"

struct bench {
    struct torus torus;
    struct routes repaired, searched;
    struct repair_moves moves;
    struct arena arena;
    cw_server *neighbours;
    cw_server *order;
    cw_links *links;
    uint32_t repairs, searches;
};

static void layout(struct bench *b, cw_server from, struct arena *arena)
{
    routes_init(&b->repaired, b->torus.servers, from, arena);
    routes_init(&b->searched, b->torus.servers, from, arena);
    b->neighbours = arena_carve(arena, b->torus.servers * CW_LINK_COUNT, sizeof(cw_server), sizeof(cw_server));
    b->order = arena_carve(arena, b->torus.servers + 1, sizeof(cw_server), sizeof(cw_server));
    b->links = arena_carve(arena, b->torus.servers, sizeof(cw_links), 1);
}

/* No link is up yet. */
static struct bench *bench_open(cw_dims dims, cw_server from)
{
    struct bench *b = calloc(1, sizeof *b);
    ck_assert_int_eq(torus_init(&b->torus, dims), 0);
    struct arena measure = arena_measure();
    layout(b, from, &measure);
    ck_assert_int_eq(arena_open(&b->arena, arena_used(&measure)), 0);
    layout(b, from, &b->arena);
    torus_neighbours_fill(&b->torus, b->neighbours);
    return b;
}

static void bench_close(struct bench *b)
{
    arena_close(&b->arena);
    free(b);
}

/* Both ends of a link are up, or down; it is noted when that is another state than before. */
static void set(struct bench *b, cw_server s, cw_link link, bool up)
{
    cw_server far = b->neighbours[s * CW_LINK_COUNT + link];
    cw_links bit = cw_links_of(link), back = cw_links_of(cw_link_opposite(link));
    if (!(torus_links(&b->torus) & bit) || ((b->links[s] & bit) != 0) == up) {
        return;
    }
    b->links[s] = up ? b->links[s] | bit : b->links[s] & (cw_links)~bit;
    b->links[far] = up ? b->links[far] | back : b->links[far] & (cw_links)~back;
    repair_note(&b->moves, b->neighbours, s, bit);
}

static void set_server(struct bench *b, cw_server s, bool up)
{
    for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
        set(b, s, link, up);
    }
}

/* Every link, or those that are drawn with this chance of 12. */
static void set_all(struct bench *b, struct prng *prng, unsigned chance)
{
    for (cw_server s = 0; s < b->torus.servers; s++) {
        for (cw_link link = 0; link < CW_LINK_COUNT; link += 2) {
            set(b, s, link, prng_chance(prng, chance, 12));
        }
    }
}

static bool same(const struct bench *b, const struct routes *x, const struct routes *y)
{
    return memcmp(x->way, y->way, b->torus.servers) == 0 &&
           memcmp(routes_levels(x), routes_levels(y), b->torus.servers) == 0 && x->is_deep == y->is_deep;
}

/* Repairs what has moved, or searches where that is refused; compares with a search. */
static void follow(struct bench *b, cw_server from)
{
    if (repair_routes(&b->repaired, b->neighbours, b->links, from, &b->moves, b->order)) {
        b->repairs++;
    } else {
        b->searches++;
        routes_search(&b->repaired, b->neighbours, b->links, from, b->order);
    }
    repair_forget(&b->moves);
    routes_search(&b->searched, b->neighbours, b->links, from, b->order);
    SUITE_HOLDS(same(b, &b->repaired, &b->searched), "from %u, after %u repairs", from, b->repairs);
    SUITE_HOLDS(routes_are_right(&b->repaired, b->neighbours, b->links, from), "from %u", from);
}

static void compare_with_floyd(const struct bench *b, cw_server from)
{
    static struct naive_distances naive;
    naive_distances(&b->torus, b->links, &naive);
    for (cw_server to = 0; to < b->torus.servers; to++) {
        int d = naive.d[from][to];
        SUITE_HOLDS(routes_levels(&b->repaired)[to] == (d == LINKS_FAR ? ROUTES_FAR : d), "to %u", to);
        SUITE_HOLDS(routes_next(&b->repaired, to) == naive_next(&b->torus, b->links, &naive, from, to), "to %u", to);
    }
}

/* Some links, or a server's, come or go. */
static void disturb(struct bench *b, struct prng *prng)
{
    bool up = prng_chance(prng, 1, 2);
    unsigned links = (unsigned)prng_below(prng, 4);
    if (links == 0) {
        set_server(b, (cw_server)prng_below(prng, b->torus.servers), up);
    }
    for (unsigned i = 0; i < links; i++) {
        set(b, (cw_server)prng_below(prng, b->torus.servers), (cw_link)prng_below(prng, CW_LINK_COUNT),
            prng_chance(prng, 1, 2));
    }
}

START_TEST(small_tori_by_floyd_and_warshall)
{
    static const cw_dims shapes[] = {{4, 4, 4}, {2, 4, 4}, {3, 4, 5}, {1, 8, 8}, {2, 2, 8}, {1, 1, 16}};
    struct prng prng = prng_stream(1, 0, 0);
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        for (unsigned chance = 6; chance <= 12; chance += 2) {
            struct bench *b = bench_open(shapes[i], 0);
            cw_server from = (cw_server)prng_below(&prng, b->torus.servers);
            routes_clear(&b->repaired, from);
            set_all(b, &prng, chance);
            for (unsigned round = 0; round < 40; round++) {
                follow(b, from);
                compare_with_floyd(b, from);
                disturb(b, &prng);
            }
            ck_assert_uint_gt(b->repairs, 4);
            bench_close(b);
        }
    }
}
END_TEST

START_TEST(larger_tori_by_search)
{
    static const cw_dims shapes[] = {{8, 8, 8}, {6, 7, 9}, {1, 30, 30}, {2, 16, 9}, {1, 1, 256}};
    struct prng prng = prng_stream(2, 0, 0);
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        struct bench *b = bench_open(shapes[i], 7);
        set_all(b, &prng, 12);
        for (unsigned round = 0; round < 600; round++) {
            follow(b, 7);
            disturb(b, &prng);
            if (round % 4 == 0) { /* or nothing would be left of it soon */
                set_server(b, (cw_server)prng_below(&prng, b->torus.servers), true);
            }
        }
        ck_assert_uint_gt(b->repairs, 400);
        ck_assert_uint_gt(b->searches, 0);
        bench_close(b);
    }
}
END_TEST

/* Far away a failure costs less than the room that a search has; beside us it may not, and is refused. */
START_TEST(one_server_dies_and_returns)
{
    struct prng prng = prng_stream(3, 0, 0);
    struct bench *b = bench_open((cw_dims){8, 8, 8}, 0);
    set_all(b, &prng, 12);
    follow(b, 0);
    for (cw_server s = 1; s < b->torus.servers; s++) {
        for (int up = 0; up < 2; up++) {
            set_server(b, s, up != 0);
            follow(b, 0);
        }
    }
    ck_assert_uint_gt(b->repairs, 2 * 450);
    bench_close(b);
}
END_TEST

START_TEST(nothing_has_moved)
{
    struct prng prng = prng_stream(4, 0, 0);
    struct bench *b = bench_open((cw_dims){3, 3, 3}, 5);
    set_all(b, &prng, 8);
    follow(b, 5);
    ck_assert(repair_routes(&b->repaired, b->neighbours, b->links, 5, &b->moves, b->order));
    ck_assert(same(b, &b->repaired, &b->searched));
    bench_close(b);
}
END_TEST

START_TEST(too_many_moves)
{
    struct bench *b = bench_open((cw_dims){8, 8, 8}, 0);
    for (cw_server s = 0; s < REPAIR_ENDS / 2; s++) {
        ck_assert_uint_eq(b->moves.count, 2 * s);
        repair_note(&b->moves, b->neighbours, s, cw_links_of(CW_LINK_XP));
    }
    ck_assert_uint_eq(b->moves.count, REPAIR_ENDS);
    ck_assert(repair_routes(&b->repaired, b->neighbours, b->links, 0, &b->moves, b->order));
    repair_note(&b->moves, b->neighbours, 99, cw_links_of(CW_LINK_YM));
    ck_assert(!repair_routes(&b->repaired, b->neighbours, b->links, 0, &b->moves, b->order));
    repair_note(&b->moves, b->neighbours, 99, CW_LINKS_ALL);
    ck_assert(!repair_routes(&b->repaired, b->neighbours, b->links, 0, &b->moves, b->order));
    repair_forget(&b->moves);
    repair_note(&b->moves, b->neighbours, 99, CW_LINKS_NONE);
    ck_assert_uint_eq(b->moves.count, 0);
    repair_give_up(&b->moves);
    ck_assert(!repair_routes(&b->repaired, b->neighbours, b->links, 0, &b->moves, b->order));
    bench_close(b);
}
END_TEST

/* A ring of which one link is missing is a line: the farthest server is as many links away as the line has. */
START_TEST(farther_than_levels_tell)
{
    for (unsigned length = ROUTES_DEEP - 1; length <= ROUTES_DEEP + 1; length++) {
        struct bench *b = bench_open((cw_dims){1, 1, 256}, 0);
        for (cw_server s = 0; s < length; s++) {
            set(b, s, CW_LINK_ZP, true);
        }
        routes_search(&b->repaired, b->neighbours, b->links, 0, b->order);
        ck_assert(b->repaired.is_deep == (length >= ROUTES_DEEP));
        repair_forget(&b->moves);
        set(b, length - 1, CW_LINK_ZP, false);
        follow(b, 0);
        ck_assert_uint_eq(b->repairs, length < ROUTES_DEEP);
        set(b, length - 1, CW_LINK_ZP, true);
        follow(b, 0);
        ck_assert(b->repaired.is_deep == (length >= ROUTES_DEEP));
        bench_close(b);
    }
}
END_TEST

/* What a check would not see is no check: every byte of a table, changed in every way. */
START_TEST(damage_is_seen)
{
    struct prng prng = prng_stream(5, 0, 0);
    struct bench *b = bench_open((cw_dims){3, 3, 4}, 4);
    set_all(b, &prng, 9);
    set_server(b, 20, false); /* somebody is out of reach */
    follow(b, 4);
    for (cw_server s = 0; s < b->torus.servers; s++) {
        for (unsigned bit = 0; bit < 8; bit++) {
            uint8_t *const bytes[] = {&b->repaired.way[s], &routes_levels(&b->repaired)[s]};
            for (size_t i = 0; i < sizeof bytes / sizeof *bytes; i++) {
                *bytes[i] ^= (uint8_t)(1 << bit);
                SUITE_HOLDS(!routes_are_right(&b->repaired, b->neighbours, b->links, 4), "server %u, bit %u", s, bit);
                *bytes[i] ^= (uint8_t)(1 << bit);
            }
        }
    }
    ck_assert(routes_are_right(&b->repaired, b->neighbours, b->links, 4));
    bench_close(b);
}
END_TEST

/* A link that moved and was not noted: the check sees that the table is of other links. */
START_TEST(a_move_that_was_forgotten_is_seen)
{
    struct prng prng = prng_stream(6, 0, 0);
    struct bench *b = bench_open((cw_dims){4, 4, 4}, 0);
    set_all(b, &prng, 12);
    follow(b, 0);
    set(b, 0, CW_LINK_XP, false);
    repair_forget(&b->moves);
    ck_assert(repair_routes(&b->repaired, b->neighbours, b->links, 0, &b->moves, b->order));
    ck_assert(!routes_are_right(&b->repaired, b->neighbours, b->links, 0));
    bench_close(b);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(small_tori_by_floyd_and_warshall),
    SUITE_TEST(larger_tori_by_search),
    SUITE_TEST(one_server_dies_and_returns),
    SUITE_TEST(nothing_has_moved),
    SUITE_TEST(too_many_moves),
    SUITE_TEST(farther_than_levels_tell),
    SUITE_TEST(damage_is_seen),
    SUITE_TEST(a_move_that_was_forgotten_is_seen),
};
SUITE_MAIN("repair", tests)
