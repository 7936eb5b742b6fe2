/* SPDX-License-Identifier: Apache-2.0 */
#include "linkstate/routes.h"

#include "base/prng.h"
#include "links.h"
#include "suite.h"

struct table {
    struct torus torus;
    struct routes routes;
    struct arena arena;
    cw_server *neighbours;
    cw_server *order;
    cw_links *links;
};

static void layout(struct table *t, struct arena *arena)
{
    routes_init(&t->routes, t->torus.servers, 0, arena);
    t->neighbours = arena_carve(arena, t->torus.servers * CW_LINK_COUNT, sizeof(cw_server), sizeof(cw_server));
    t->order = arena_carve(arena, t->torus.servers + 1, sizeof(cw_server), sizeof(cw_server));
    t->links = arena_carve(arena, t->torus.servers, sizeof(cw_links), 1);
}

static struct table *table_open(cw_dims dims)
{
    struct table *t = calloc(1, sizeof *t);
    ck_assert_int_eq(torus_init(&t->torus, dims), 0);
    struct arena measure = arena_measure();
    layout(t, &measure);
    ck_assert_int_eq(arena_open(&t->arena, arena_used(&measure)), 0);
    layout(t, &t->arena);
    ck_assert(arena_is_full(&t->arena));
    torus_neighbours_fill(&t->torus, t->neighbours);
    return t;
}

static void table_close(struct table *t)
{
    arena_close(&t->arena);
    free(t);
}

static uint32_t search(struct table *t, cw_server from)
{
    return routes_search(&t->routes, t->neighbours, t->links, from, t->order);
}

static uint32_t hops_to(const struct table *t, cw_server s)
{
    return routes_hops(&t->routes, t->neighbours, t->links, s);
}

static void set_both(struct table *t, cw_server s, cw_link link)
{
    t->links[s] |= cw_links_of(link);
    t->links[t->neighbours[s * CW_LINK_COUNT + link]] |= cw_links_of(cw_link_opposite(link));
}

static const cw_dims shapes[] = {{1, 1, 1}, {2, 1, 1}, {1, 2, 4}, {2, 2, 2}, {3, 3, 3},
                                 {4, 4, 4}, {2, 3, 4}, {5, 1, 3}, {1, 1, 7}};

START_TEST(whole_torus_by_search_and_by_formula)
{
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        struct table *t = table_open(shapes[i]);
        memset(t->links, torus_links(&t->torus), t->torus.servers);
        for (cw_server from = 0; from < t->torus.servers; from++) {
            for (int formula = 0; formula < 2; formula++) {
                if (formula) {
                    routes_whole(&t->routes, &t->torus, from);
                } else {
                    ck_assert_uint_eq(search(t, from), t->torus.servers);
                }
                for (cw_server to = 0; to < t->torus.servers; to++) {
                    if (routes_next(&t->routes, to) != torus_minimal_links(&t->torus, from, to) ||
                        hops_to(t, to) != torus_distance(&t->torus, from, to)) {
                        ck_abort_msg("shape %zu, %s: %u to %u", i, formula ? "formula" : "search", from, to);
                    }
                }
            }
        }
        table_close(t);
    }
}
END_TEST

/* order: everybody but the source, once, never nearer than the one before. */
static void check_order(const struct table *t, cw_server from, uint32_t count)
{
    uint32_t reached = 0;
    for (cw_server s = 0; s < t->torus.servers; s++) {
        reached += hops_to(t, s) != ROUTES_UNREACHABLE;
    }
    ck_assert_uint_eq(count, reached);
    bool seen[LINKS_SERVERS_MAX] = {[0] = false};
    for (uint32_t i = 0; i < count - 1; i++) {
        cw_server s = t->order[i];
        ck_assert(s != from && !seen[s] && hops_to(t, s) != ROUTES_UNREACHABLE);
        ck_assert(i == 0 || hops_to(t, t->order[i - 1]) <= hops_to(t, s));
        seen[s] = true;
    }
}

static void compare_with_floyd(struct table *t, struct naive_distances *naive)
{
    naive_distances(&t->torus, t->links, naive);
    for (cw_server from = 0; from < t->torus.servers; from++) {
        check_order(t, from, search(t, from));
        for (cw_server to = 0; to < t->torus.servers; to++) {
            int d = naive->d[from][to];
            unsigned hops = d == LINKS_FAR ? ROUTES_UNREACHABLE : (unsigned)d;
            if (hops_to(t, to) != hops ||
                routes_next(&t->routes, to) != naive_next(&t->torus, t->links, naive, from, to)) {
                ck_abort_msg("%u to %u: %u hops by %#x, not %u by %#x", from, to, hops_to(t, to),
                             routes_next(&t->routes, to), hops, naive_next(&t->torus, t->links, naive, from, to));
            }
        }
    }
}

START_TEST(broken_tori_by_floyd_and_warshall)
{
    static struct naive_distances naive;
    struct prng prng = prng_stream(1, 0, 0);
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        struct table *t = table_open(shapes[i]);
        for (unsigned round = 0; round < 40; round++) {
            unsigned alive = 2 + round % 10; /* of 12 links: from islands to nearly whole */
            memset(t->links, 0, t->torus.servers);
            for (cw_server s = 0; s < t->torus.servers; s++) {
                for (cw_link link = 0; link < CW_LINK_COUNT; link += 2) {
                    if ((torus_links(&t->torus) & cw_links_of(link)) && prng_chance(&prng, alive, 12)) {
                        set_both(t, s, link);
                    }
                }
            }
            compare_with_floyd(t, &naive);
        }
        table_close(t);
    }
}
END_TEST

START_TEST(ties_are_kept)
{
    /* Two cables to one neighbour; and half way round a ring of four. */
    struct table *t = table_open((cw_dims){2, 4, 1});
    memset(t->links, 0x0f, t->torus.servers);
    search(t, 0);
    ck_assert_uint_eq(routes_next(&t->routes, 4), 0x03);
    ck_assert_uint_eq(routes_next(&t->routes, 2), 0x0c);
    ck_assert_uint_eq(routes_next(&t->routes, 6), 0x0f);
    /* One cable cut: the other carries all. */
    t->links[0] &= (cw_links)~0x01;
    t->links[4] &= (cw_links)~0x02;
    search(t, 0);
    ck_assert_uint_eq(routes_next(&t->routes, 4), 0x02);
    ck_assert_uint_eq(routes_next(&t->routes, 2), 0x0c);
    table_close(t);
}
END_TEST

START_TEST(nothing_of_the_last_search_is_left)
{
    struct table *t = table_open((cw_dims){3, 3, 3});
    memset(t->links, 0x3f, t->torus.servers);
    search(t, 5);
    memset(t->links, 0, t->torus.servers);
    ck_assert_uint_eq(search(t, 7), 1);
    for (cw_server s = 0; s < t->torus.servers; s++) {
        ck_assert_uint_eq(routes_next(&t->routes, s), CW_LINKS_NONE);
        ck_assert_uint_eq(hops_to(t, s), s == 7 ? 0 : ROUTES_UNREACHABLE);
    }
    table_close(t);
}
END_TEST

/* A snake through a whole plane, up one column and down the next, and one step off it. */
START_TEST(a_way_of_65536_hops)
{
    struct table *t = table_open((cw_dims){2, 256, 256});
    for (unsigned step = 0; step < 65536; step++) {
        unsigned y = step / 256, z = step % 256;
        bool down = y % 2 != 0;
        cw_link along = down ? CW_LINK_ZM : CW_LINK_ZP;
        set_both(t, y * 256 + (down ? 255 - z : z), z < 255 ? along : y < 255 ? CW_LINK_YP : CW_LINK_XP);
    }
    ck_assert_uint_eq(search(t, 0), 65537);
    uint32_t far = t->order[65535];
    ck_assert_uint_eq(hops_to(t, far), 65536);
    ck_assert_uint_eq(hops_to(t, t->order[65533]), 65534);
    ck_assert_uint_eq(hops_to(t, t->order[65532]), 65533);
    ck_assert_uint_eq(routes_next(&t->routes, far), cw_links_of(CW_LINK_ZP));
    table_close(t);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(whole_torus_by_search_and_by_formula),
    SUITE_TEST(broken_tori_by_floyd_and_warshall),
    SUITE_TEST(ties_are_kept),
    SUITE_TEST(nothing_of_the_last_search_is_left),
    SUITE_TEST(a_way_of_65536_hops),
};
SUITE_MAIN("routes", tests)
