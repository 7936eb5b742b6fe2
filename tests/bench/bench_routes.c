/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_routes.c - what news of a link costs one server of 27, 512, 4,096: taking the record, the search over the whole
 * torus, the same with one link in twenty cut, the table of the whole torus by formula, a repair of it when another
 * server dies or returns (or the search, where a repair gives up: the share is printed), and a refresh of both views.
 * Beside them two raw limits of the same run: copying the arrays that the search reads and writes, and following each
 * of their edges once in order of memory. Median of alternating rounds; the source changes from search to search.
 * Memory of one server at the end.
 */
#include "base/prng.h"
#include "linkstate/views.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ROUNDS = 9, WORK_ITEMS = 400000, SMOKE_ITEMS = 5000 };

struct bench {
    struct torus torus;
    struct arena arena;
    cw_server *neighbours;
    cw_server *order;
    cw_links *whole, *broken, *moving;
    uint8_t *copy;
    struct lsdb db;
    struct views views;
    struct routes routes, kept; /* kept: from server 0, over `moving` */
    struct repair_moves moves;
    struct prng prng;
    uint64_t repairs, repaired;
    struct record record; /* of server 0, which lists its links in turn up and not */
    cw_server from;
    cw_time now;
    uint64_t sink;
};

static size_t copy_bytes(const struct bench *b)
{
    return b->torus.servers * (CW_LINK_COUNT * sizeof(cw_server) + sizeof(cw_links) + sizeof(uint32_t));
}

static size_t layout(struct bench *b, struct arena *arena)
{
    uint32_t n = b->torus.servers;
    b->neighbours = arena_carve(arena, n * CW_LINK_COUNT, sizeof(cw_server), 64);
    b->order = arena_carve(arena, n + 1, sizeof(cw_server), 64);
    b->whole = arena_carve(arena, n, sizeof(cw_links), 64);
    b->broken = arena_carve(arena, n, sizeof(cw_links), 64);
    b->moving = arena_carve(arena, n, sizeof(cw_links), 64);
    b->copy = arena_carve(arena, copy_bytes(b), 1, 64);
    routes_init(&b->routes, n, 0, arena);
    routes_init(&b->kept, n, 0, arena);
    size_t before = arena_used(arena);
    lsdb_init(&b->db, &b->torus, b->neighbours, arena);
    views_init(&b->views, 0, n, CW_MS(60), arena);
    return arena_used(arena) - before;
}

static cw_server next_source(struct bench *b)
{
    return b->from = (b->from + 1) % b->torus.servers;
}

static void do_copy(struct bench *b)
{
    size_t table = b->torus.servers * CW_LINK_COUNT * sizeof(cw_server), n = b->torus.servers;
    memcpy(b->copy, b->neighbours, table);
    memcpy(b->copy + table, b->whole, n);
    memcpy(b->copy + table + n, b->routes.way, n * sizeof(uint32_t));
    __asm__ volatile("" : : "r"(b->copy) : "memory");
}

static void do_edges(struct bench *b)
{
    uint64_t sum = next_source(b);
    for (cw_server s = 0; s < b->torus.servers; s++) {
        for (unsigned left = b->whole[s]; left != 0; left &= left - 1) {
            cw_server to = b->neighbours[s * CW_LINK_COUNT + (unsigned)__builtin_ctz(left)];
            sum += b->routes.way[to];
        }
    }
    b->sink += sum;
}

static void do_search(struct bench *b)
{
    b->sink += routes_search(&b->routes, b->neighbours, b->whole, next_source(b), b->order);
}

static void do_search_broken(struct bench *b)
{
    b->sink += routes_search(&b->routes, b->neighbours, b->broken, next_source(b), b->order);
}

/* All links of some server come or go. */
static void do_repair(struct bench *b)
{
    cw_server s = 1 + (cw_server)prng_below(&b->prng, b->torus.servers - 1);
    cw_links moved = b->moving[s] == CW_LINKS_NONE ? b->broken[s] : b->moving[s];
    for (unsigned left = moved; left != 0; left &= left - 1) {
        cw_link link = (cw_link)__builtin_ctz(left);
        b->moving[b->neighbours[s * CW_LINK_COUNT + link]] ^= cw_links_of(cw_link_opposite(link));
    }
    b->moving[s] ^= moved;
    repair_note(&b->moves, b->neighbours, s, moved);
    bool repaired = repair_routes(&b->kept, b->neighbours, b->moving, 0, &b->moves, b->order);
    if (!repaired) {
        routes_search(&b->kept, b->neighbours, b->moving, 0, b->order);
    }
    repair_forget(&b->moves);
    b->repairs++;
    b->repaired += repaired;
}

static void do_formula(struct bench *b)
{
    routes_whole(&b->routes, &b->torus, next_source(b));
    __asm__ volatile("" : : "r"(b->routes.way) : "memory");
}

static void do_apply(struct bench *b)
{
    struct lsdb_change change;
    b->record.seq++;
    b->record.up ^= cw_links_of(CW_LINK_YP);
    b->record.neighbour[CW_LINK_YP] ^= 1;
    b->sink += lsdb_apply(&b->db, &b->record, &change);
    views_applied(&b->views, &b->db, &change);
}

/* One change and all that follows from it. Every second one makes the torus whole again. */
static void do_refresh(struct bench *b)
{
    do_apply(b);
    b->now = cw_time_add(b->now, CW_US(10));
    b->sink += views_refresh(&b->views, &b->db, b->now);
}

static const struct {
    const char *name;
    void (*run)(struct bench *b);
} works[] = {
    {"copy of the arrays", do_copy},    {"every edge once", do_edges},
    {"search, whole torus", do_search}, {"search, 5 % cut", do_search_broken},
    {"repair, 5 % cut", do_repair},     {"whole torus, formula", do_formula},
    {"record taken", do_apply},         {"record, both views", do_refresh},
};
enum { WORKS = sizeof works / sizeof *works };

static void bench_open(struct bench *b, uint16_t side)
{
    *b = (struct bench){.now = {0}};
    if (torus_init(&b->torus, (cw_dims){side, side, side}) != 0) {
        abort();
    }
    struct arena measure = arena_measure();
    size_t bytes = layout(b, &measure);
    if (arena_open(&b->arena, arena_used(&measure)) != 0) {
        abort();
    }
    layout(b, &b->arena);
    printf("%u servers: database and views %zu bytes, %.1f a server\n", b->torus.servers, bytes,
           (double)bytes / b->torus.servers);

    torus_neighbours_fill(&b->torus, b->neighbours);
    memset(b->whole, CW_LINKS_ALL, b->torus.servers);
    memset(b->broken, CW_LINKS_ALL, b->torus.servers);
    struct prng prng = prng_stream(1, 0, 0);
    for (cw_server s = 0; s < b->torus.servers; s++) {
        for (cw_link link = 0; link < CW_LINK_COUNT; link += 2) {
            if (prng_chance(&prng, 1, 20)) {
                b->broken[s] &= (cw_links)~cw_links_of(link);
                b->broken[b->neighbours[s * CW_LINK_COUNT + link]] &= (cw_links)~cw_links_of(cw_link_opposite(link));
            }
        }
        struct record r = {.incarnation = 1, .seq = 1, .origin = torus_coord(&b->torus, s), .up = CW_LINKS_ALL};
        for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
            r.neighbour[link] = 1;
        }
        struct lsdb_change change;
        if (lsdb_apply(&b->db, &r, &change) != LSDB_NEWER) {
            abort();
        }
        views_applied(&b->views, &b->db, &change);
        b->record = s == 0 ? r : b->record;
    }
    b->prng = prng;
    memcpy(b->moving, b->broken, b->torus.servers);
    repair_give_up(&b->moves);
    views_refresh(&b->views, &b->db, b->now);
}

static double ns_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void measure(struct bench *b, unsigned items)
{
    static double took[WORKS][ROUNDS];
    unsigned repeats = items / b->torus.servers + 1;
    for (unsigned round = 0; round < ROUNDS; round++) {
        for (unsigned w = 0; w < WORKS; w++) {
            double start = ns_now();
            for (unsigned i = 0; i < repeats; i++) {
                works[w].run(b);
            }
            took[w][round] = (ns_now() - start) / repeats;
        }
    }
    for (unsigned w = 0; w < WORKS; w++) {
        qsort(took[w], ROUNDS, sizeof(double), by_value);
    }
    double copy = took[0][ROUNDS / 2], edges = took[1][ROUNDS / 2];
    for (unsigned w = 0; w < WORKS; w++) {
        double ns = took[w][ROUNDS / 2];
        printf("  %-22s %9.2f us   x copy %6.2f   x edges %5.2f\n", works[w].name, ns / 1000, ns / copy, ns / edges);
    }
    printf("  repaired, not searched: %.0f %%\n", 100.0 * (double)b->repaired / (double)b->repairs);
}

int main(int argc, char **argv)
{
    bool smoke = argc > 1 && strcmp(argv[1], "--smoke") == 0;
    static const uint16_t sides[] = {3, 8, 16};
    uint64_t sink = 0;
    for (size_t i = 0; i < sizeof sides / sizeof *sides; i++) {
        struct bench b;
        bench_open(&b, sides[i]);
        measure(&b, smoke ? SMOKE_ITEMS : WORK_ITEMS);
        sink += b.sink;
        arena_close(&b.arena);
    }
    return sink == 0;
}
