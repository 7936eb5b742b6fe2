/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trees_descent.c - the descent: at each vertex, the cheapest way to hang it and all below it into the six trees.
 */
#include "keyspace/trees_build.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
    LINKS = CW_LINK_COUNT,
    SETS = 1 << LINKS, /* of links */
    STEEP = 20,        /* weight of the square of a depth above the tolerance */
    LOOK_WORK = 16,    /* work of looking around, in steps of a subtree walk (4 ns a step where it was measured) */
    VISIT_WORK = 160,  /* work of pricing and choosing a bijection, in the same unit */
    TIE_BITS = 3,      /* a tie-break is below 2^TIE_BITS */
    TIE_SCALE = 64,    /* costs are multiplied by this, so that LINKS tie-breaks do not outweigh a cost of 1 */
};
_Static_assert(LINKS *((1 << TIE_BITS) - 1) < TIE_SCALE, "ties must not decide against the cost");

/*
 * Depths and sizes are below 2^15, so a real cost is below 20 * 2^30 * 2^15 < 2^50, and five of these are no match for
 * an illegal one; six illegal ones, scaled, stay below 2^63.
 */
static const int64_t ILLEGAL = (int64_t)1 << 54;

static void *carve(unsigned char **at, size_t bytes)
{
    void *part = *at;
    *at += (bytes + 7) / 8 * 8;
    return part;
}

/* Counting sort by distance from the root, farthest first, equal distances by offset. Borrows width as the counters. */
static void sort_far_first(struct descent *d)
{
    unsigned diameter = torus_diameter(&d->torus);
    memset(d->width, 0, (diameter + 2) * sizeof *d->width);
    for (cw_server v = 0; v < d->torus.servers; v++) {
        d->width[diameter - torus_distance(&d->torus, 0, v) + 1]++;
    }
    for (unsigned i = 1; i <= diameter; i++) {
        d->width[i] += d->width[i - 1];
    }
    for (cw_server v = 0; v < d->torus.servers; v++) {
        d->order[d->width[diameter - torus_distance(&d->torus, 0, v)]++] = (uint16_t)v;
    }
}

int descent_open(struct descent *d, const struct torus *torus)
{
    size_t n = torus->servers;
    assert(n > 1 && n <= TREES_TABLE_SERVERS);
    /* near, order, stale, parent, children, depth, queue, width; some a little longer than n, all rounded up to 8 */
    unsigned char *at = malloc(n * (12 + 2 + 1 + 6 + 6 + 12 + 2 + 4) + 32 * 8);
    if (at == NULL) {
        return -ENOMEM;
    }
    *d = (struct descent){.torus = *torus, .budget = UINT64_MAX, .memory = at};
    d->tolerance = torus_diameter(torus) + 1;
    d->width = carve(&at, (n + 2) * sizeof *d->width);
    d->near = carve(&at, n * LINKS * sizeof *d->near);
    d->order = carve(&at, n * sizeof *d->order);
    d->queue = carve(&at, (n + 1) * sizeof *d->queue);
    d->stale = carve(&at, n);
    for (unsigned t = 0; t < LINKS; t++) {
        d->parent[t] = carve(&at, n);
        d->children[t] = carve(&at, n);
        d->depth[t] = carve(&at, n * sizeof *d->depth[t]);
    }
    while (d->trees < LINKS && torus->dim[d->trees / 2] > 1) {
        d->trees++;
    }
    assert(torus_links(torus) == (1u << d->trees) - 1);
    for (cw_server v = 0; v < n; v++) {
        for (unsigned link = 0; link < LINKS; link++) {
            d->near[v * LINKS + link] = (uint16_t)torus_neighbour(torus, v, (cw_link)link);
        }
    }
    sort_far_first(d);
    return 0;
}

void descent_close(struct descent *d)
{
    free(d->memory);
    *d = (struct descent){.memory = NULL};
}

void descent_touch(struct descent *d)
{
    memset(d->stale, 1, d->torus.servers);
}

void descent_plant(struct descent *d)
{
    for (unsigned t = 0; t < d->trees; t++) {
        for (cw_server v = 0; v < d->torus.servers; v++) {
            d->parent[t][v] = trees_closed_parent(&d->torus, (cw_link)t, v);
            d->children[t][v] = 0;
            d->depth[t][v] = (uint16_t)trees_closed_depth(&d->torus, (cw_link)t, v);
        }
        for (cw_server v = 1; v < d->torus.servers; v++) {
            cw_link up = d->parent[t][v];
            d->children[t][d->near[v * LINKS + up]] |= cw_links_of(cw_link_opposite(up));
        }
    }
    descent_touch(d);
}

static unsigned lowest(unsigned set)
{
    return (unsigned)__builtin_ctz(set);
}

/* Lists the subtree of v level by level in queue and width; gives the number of levels and, in *size, of vertices. */
static unsigned list_subtree(struct descent *d, unsigned t, cw_server v, uint32_t *size)
{
    const uint8_t *children = d->children[t];
    uint16_t *queue = d->queue;
    uint32_t head = 0, tail = 1;
    unsigned levels = 0;
    queue[0] = (uint16_t)v;
    while (head < tail) {
        uint32_t end = tail;
        d->width[levels++] = end - head;
        for (; head < end; head++) {
            const uint16_t *near = &d->near[(size_t)queue[head] * LINKS];
            /*
             * Every neighbour is written and only children are kept: no branch to mispredict, which saves 20 % of a
             * build.
             */
            unsigned set = children[queue[head]];
            for (unsigned link = 0; link < LINKS; link++) {
                queue[tail] = near[link];
                tail += set >> link & 1;
            }
        }
    }
    d->work += tail;
    *size = tail;
    return levels;
}

/* True when u is in the subtree of v. Climbs only the difference of their depths. */
static bool hangs_below(const struct descent *d, unsigned t, cw_server u, cw_server v)
{
    while (d->depth[t][u] > d->depth[t][v]) {
        u = d->near[u * LINKS + d->parent[t][u]];
    }
    return u == v;
}

static int64_t excess(const struct descent *d, int depth)
{
    int64_t over = depth - (int)d->tolerance;
    return over > 0 ? STEEP * over * over : 0;
}

/* What it costs to move the subtree that was listed last from depth `from` to depth `to`; negative when it gains. */
static int64_t moving_cost(const struct descent *d, unsigned levels, uint32_t size, int from, int to)
{
    int64_t cost = (int64_t)size * (to - from);
    int deeper = to > from ? to : from;
    for (unsigned level = levels; level-- > 0 && deeper + (int)level > (int)d->tolerance;) {
        cost += d->width[level] * (excess(d, to + (int)level) - excess(d, from + (int)level));
    }
    return cost;
}

struct choice {
    int64_t cost[LINKS][LINKS]; /* [tree][link], relative to the parents as they are */
    int depth[LINKS][LINKS];    /* of the vertex, behind that link */
};

/* True when the vertex would come higher in some tree. If in none, no bijection is cheaper than the present one. */
static bool look_around(const struct descent *d, cw_server v, struct choice *choice)
{
    bool wish = false;
    for (unsigned t = 0; t < d->trees; t++) {
        for (unsigned q = 0; q < d->trees; q++) {
            choice->depth[t][q] = d->depth[t][d->near[v * LINKS + q]] + 1;
            wish |= choice->depth[t][q] < d->depth[t][v];
        }
    }
    return wish;
}

static void price_tree(struct descent *d, unsigned t, cw_server v, struct choice *choice)
{
    uint32_t size;
    unsigned levels = list_subtree(d, t, v, &size);
    int from = d->depth[t][v];
    for (unsigned q = 0; q < d->trees; q++) {
        int to = choice->depth[t][q];
        if (to > from && hangs_below(d, t, d->near[v * LINKS + q], v)) {
            choice->cost[t][q] = ILLEGAL;
        } else {
            choice->cost[t][q] = to == from ? 0 : moving_cost(d, levels, size, from, to);
        }
    }
}

/* Scales the costs and adds small numbers below them, different for every (salt, vertex, tree, link). */
static void add_ties(const struct descent *d, cw_server v, uint32_t salt, struct choice *choice)
{
    uint32_t h = (v + 1) * 2654435761u ^ salt * 0x9e3779b1u;
    for (unsigned t = 0; t < d->trees; t++) {
        h = (h ^ h >> 15) * 0x85ebca6bu;
        h ^= h >> 13;
        for (unsigned q = 0; q < d->trees; q++) {
            unsigned tie = h >> (5 * q) & ((1u << TIE_BITS) - 1);
            choice->cost[t][q] = choice->cost[t][q] * TIE_SCALE + tie;
        }
    }
}

/*
 * The cheapest bijection trees -> links, by dynamic programming over the sets of links that the first trees use
 * (2^6 sets, 3 choices on average). best[set] is what giving the links of the set to the first |set| trees costs.
 */
static void price_sets(const struct descent *d, const struct choice *choice, int64_t best[static SETS])
{
    uint8_t count[SETS];
    best[0] = 0;
    count[0] = 0;
    for (unsigned used = 1; used < 1u << d->trees; used++) {
        const int64_t *cost = choice->cost[count[used & (used - 1)]];
        int64_t least = INT64_MAX;
        for (unsigned set = used; set != 0; set &= set - 1) {
            int64_t sum = best[used & ~(set & -set)] + cost[lowest(set)];
            least = sum < least ? sum : least;
        }
        best[used] = least;
        count[used] = (uint8_t)(count[used & (used - 1)] + 1);
    }
}

/* Reads the bijection back: the link of the last tree is one whose removal explains the price. */
static void read_links(const struct descent *d, const struct choice *choice, const int64_t best[static SETS],
                       uint8_t link[static LINKS])
{
    unsigned used = (1u << d->trees) - 1;
    for (unsigned t = d->trees; t-- > 0;) {
        unsigned set = used;
        while (best[used & ~(set & -set)] + choice->cost[t][lowest(set)] != best[used]) {
            set &= set - 1;
        }
        link[t] = (uint8_t)lowest(set);
        used &= ~(set & -set);
    }
}

static void touch_path(struct descent *d, unsigned t, cw_server v)
{
    for (; v != 0; v = d->near[v * LINKS + d->parent[t][v]]) {
        d->stale[v] = 1;
    }
}

/*
 * Hangs v, with all below it, to the parent behind another link. Every vertex whose choice depends on what changed
 * becomes stale: where the subtree has another shape now (the paths to the old and to the new parent), and where a
 * neighbour has another depth. (A moved vertex has a moved neighbour, or it is v alone, which has just chosen.)
 */
static void rehang(struct descent *d, unsigned t, cw_server v, unsigned link, int depth)
{
    const uint16_t *near = &d->near[v * LINKS];
    unsigned old = d->parent[t][v];
    int shift = depth - d->depth[t][v];
    touch_path(d, t, near[old]);
    touch_path(d, t, near[link]);
    d->children[t][near[old]] &= (uint8_t)~cw_links_of(cw_link_opposite((cw_link)old));
    d->children[t][near[link]] |= cw_links_of(cw_link_opposite((cw_link)link));
    d->parent[t][v] = (uint8_t)link;
    if (shift == 0) {
        return;
    }
    uint32_t size;
    list_subtree(d, t, v, &size);
    for (uint32_t i = 0; i < size; i++) {
        cw_server u = d->queue[i];
        d->depth[t][u] = (uint16_t)(d->depth[t][u] + shift);
        for (unsigned q = 0; q < d->trees; q++) {
            d->stale[d->near[u * LINKS + q]] = 1;
        }
    }
}

/* Chooses again at v. True when the total cost fell; with a salt, also when it stayed the same. */
static bool visit(struct descent *d, cw_server v, uint32_t salt)
{
    struct choice choice;
    bool wish = look_around(d, v, &choice);
    d->work += LOOK_WORK;
    if (!wish && salt == 0) {
        return false;
    }
    d->work += VISIT_WORK;
    for (unsigned t = 0; t < d->trees; t++) {
        price_tree(d, t, v, &choice);
    }
    if (salt != 0) {
        add_ties(d, v, salt, &choice);
    }
    int64_t best[SETS];
    price_sets(d, &choice, best);
    if (best[(1u << d->trees) - 1] >= 0 && salt == 0) {
        return false;
    }
    uint8_t link[LINKS];
    read_links(d, &choice, best, link);
    for (unsigned t = 0; t < d->trees; t++) {
        if (link[t] != d->parent[t][v]) {
            rehang(d, t, v, link[t], choice.depth[t][link[t]]);
        }
    }
    return true;
}

/*
 * Two sweeps inward, one outward. Inward finds the better minima in a cube; outward carries a gain along a long
 * axis in one sweep instead of one hop a sweep.
 */
bool descent_sweep(struct descent *d, uint32_t salt)
{
    uint32_t vertices = d->torus.servers - 1; /* the order ends with the root, which has no parent to choose */
    bool outward = d->sweeps++ % 3 == 2;
    bool better = false;
    for (uint32_t i = 0; i < vertices && d->work < d->budget; i++) {
        cw_server v = d->order[outward ? vertices - 1 - i : i];
        if (salt == 0 && !d->stale[v]) {
            continue;
        }
        d->stale[v] = 0;
        better |= visit(d, v, salt);
    }
    return better && d->work < d->budget;
}

struct trees_extent descent_extent(const struct descent *d)
{
    struct trees_extent extent = {0};
    for (unsigned t = 0; t < d->trees; t++) {
        for (cw_server v = 1; v < d->torus.servers; v++) {
            unsigned depth = d->depth[t][v];
            extent.total += depth;
            extent.max = depth > extent.max ? depth : extent.max;
        }
    }
    return extent;
}
