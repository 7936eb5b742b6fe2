/* SPDX-License-Identifier: Apache-2.0 */
#include "boot/squares.h"
#include "base/check.h"
#include "boot/sets.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { CLASSES_MAX = 6 };

struct squares {
    const struct graph *g;
    const uint8_t *doubtful;
    struct solution *s;
    uint32_t *class_of; /* sets of cables; a cable's number is that of its first end, server * 6 + port */
    uint32_t *layer_of; /* sets of servers */
    uint32_t *cables;   /* of each class: how many; later, of each layer: its number */
    uint16_t *position[CW_AXES];
    uint16_t *layer;
};

/* An axis: one class of cables, or two classes that form a ring of 4. */
struct axis {
    uint32_t class_of[2]; /* the second is GRAPH_NONE, except on a ring of 4 */
    unsigned length;
    uint32_t first; /* the origin's neighbour on this axis with the smallest number */
    uint16_t *position;
};

static struct graph_end far_end(const struct squares *q, uint32_t server, unsigned port)
{
    if (q->doubtful != NULL && q->doubtful[server * CW_LINK_COUNT + port] != 0) {
        return (struct graph_end){GRAPH_NONE, 0};
    }
    struct graph_end far = graph_far(q->g, server, port);
    return far.server != server ? far : (struct graph_end){GRAPH_NONE, 0};
}

static uint32_t cable_number(const struct squares *q, uint32_t server, unsigned port)
{
    struct graph_end far = graph_far(q->g, server, port);
    bool first = graph_is_first(q->g, server, port);
    return first ? server * CW_LINK_COUNT + port : far.server * CW_LINK_COUNT + far.port;
}

static uint32_t class_at(const struct squares *q, uint32_t server, unsigned port)
{
    return sets_find(q->class_of, cable_number(q, server, port));
}

static bool adjacent(const struct squares *q, uint32_t a, uint32_t b)
{
    for (unsigned port = 0; port < CW_LINK_COUNT; port++) {
        if (far_end(q, a, port).server == b) {
            return true;
        }
    }
    return false;
}

/* How many common neighbours a and b have beside u; *corner becomes one of them. */
static unsigned corners(const struct squares *q, uint32_t u, uint32_t a, uint32_t b, uint32_t *corner)
{
    unsigned found = 0;
    *corner = GRAPH_NONE;
    for (unsigned port = 0; port < CW_LINK_COUNT; port++) {
        uint32_t w = far_end(q, a, port).server;
        if (w != GRAPH_NONE && w != u && w != b && w != *corner && adjacent(q, w, b)) {
            *corner = w;
            found++;
        }
    }
    return found;
}

static void join_parallel(struct squares *q, uint32_t cable, uint32_t from, uint32_t to)
{
    for (unsigned port = 0; port < CW_LINK_COUNT; port++) {
        if (far_end(q, from, port).server == to) {
            sets_join(q->class_of, cable, cable_number(q, from, port));
        }
    }
}

/*
 * Sorts the cables of u into classes. A cable that spans a square with all others but one is in one row with that one.
 */
static void classify_at(struct squares *q, uint32_t u)
{
    uint8_t straight[CW_LINK_COUNT] = {0}, last[CW_LINK_COUNT] = {0};
    bool whole = true;
    for (unsigned port = 0; port < CW_LINK_COUNT; port++) {
        whole = whole && (graph_far(q->g, u, port).server == GRAPH_NONE || far_end(q, u, port).server != GRAPH_NONE);
        for (unsigned other = port + 1; other < CW_LINK_COUNT; other++) {
            uint32_t a = far_end(q, u, port).server, b = far_end(q, u, other).server, w;
            if (a == GRAPH_NONE || b == GRAPH_NONE) {
                continue;
            }
            uint32_t first = cable_number(q, u, port), second = cable_number(q, u, other);
            if (a == b) {
                sets_join(q->class_of, first, second);
                straight[port] = straight[other] = CW_LINK_COUNT;
                continue;
            }
            unsigned found = corners(q, u, a, b, &w);
            if (found == 1) {
                join_parallel(q, first, b, w);
                join_parallel(q, second, a, w);
            } else if (found == 0) {
                straight[port]++;
                straight[other]++;
                last[port] = (uint8_t)other;
                last[other] = (uint8_t)port;
            }
        }
    }
    for (unsigned port = 0; port < CW_LINK_COUNT && whole; port++) {
        if (straight[port] == 1 && straight[last[port]] == 1) {
            sets_join(q->class_of, cable_number(q, u, port), cable_number(q, u, last[port]));
        }
    }
}

/* The smallest neighbour of the first server over cables of a class; GRAPH_NONE when there is none. */
static uint32_t first_neighbour(const struct squares *q, uint32_t class_of)
{
    uint32_t least = GRAPH_NONE;
    for (unsigned port = 0; port < CW_LINK_COUNT; port++) {
        uint32_t far = far_end(q, 0, port).server;
        if (far != GRAPH_NONE && class_at(q, 0, port) == class_of && far < least) {
            least = far;
        }
    }
    return least;
}

static void add_axis(struct axis *axes, unsigned at, const struct axis *axis)
{
    while (at > 0 && axes[at - 1].first > axis->first) {
        axes[at] = axes[at - 1];
        at--;
    }
    axes[at] = *axis;
}

/*
 * Finds the classes with as many cables as an axis has: one for every server on a ring, one for every two servers in
 * each half of a ring of 4. Gives the number of axes; -EDOM when they are not those of a torus.
 */
static int find_axes(struct squares *q, struct axis axes[CW_AXES])
{
    uint32_t n = q->g->count;
    struct axis half[CLASSES_MAX];
    unsigned whole = 0, halves = 0;
    memset(q->cables, 0, (size_t)n * CW_LINK_COUNT * sizeof *q->cables);
    for (uint32_t i = 0; i < n; i++) {
        for (unsigned port = 0; port < CW_LINK_COUNT; port++) {
            if (far_end(q, i, port).server != GRAPH_NONE && graph_is_first(q->g, i, port)) {
                q->cables[class_at(q, i, port)]++;
            }
        }
    }
    for (uint32_t cable = 0; cable < n * CW_LINK_COUNT; cable++) {
        uint64_t count = q->cables[cable];
        if (8 * count < 3 * (uint64_t)n) {
            continue;
        }
        struct axis axis = {.class_of = {cable, GRAPH_NONE}, .first = first_neighbour(q, cable)};
        bool ring = 3 * count > 2 * (uint64_t)n;
        if (ring ? whole == CW_AXES : halves == CLASSES_MAX) {
            return -EDOM;
        }
        if (ring) {
            add_axis(axes, whole++, &axis);
        } else {
            add_axis(half, halves++, &axis);
        }
    }
    if (halves % 2 != 0 || whole + halves / 2 > CW_AXES || whole + halves == 0) {
        return -EDOM;
    }
    for (unsigned i = 0; i < halves; i += 2) {
        struct axis axis = {.class_of = {half[i].class_of[0], half[i + 1].class_of[0]}, .first = half[i].first};
        add_axis(axes, whole++, &axis);
    }
    return (int)whole;
}

static bool of_main_class(const struct axis *axes, unsigned count, uint32_t class_of)
{
    for (unsigned i = 0; i < count; i++) {
        if (axes[i].class_of[0] == class_of || axes[i].class_of[1] == class_of) {
            return true;
        }
    }
    return false;
}

/*
 * Finds the layers, which are connected without the cables of one class, and numbers them in q->layer: the first
 * server's is 0. Gives how many there are.
 */
static uint32_t cut_layers(struct squares *q, const struct axis *axes, unsigned count, uint32_t class_of)
{
    uint32_t n = q->g->count, layers = 0;
    sets_init(q->layer_of, n);
    for (uint32_t i = 0; i < n; i++) {
        for (unsigned port = 0; port < CW_LINK_COUNT; port++) {
            uint32_t far = far_end(q, i, port).server;
            if (far == GRAPH_NONE || !graph_is_first(q->g, i, port)) {
                continue;
            }
            uint32_t of = class_at(q, i, port);
            if (of != class_of && of_main_class(axes, count, of)) {
                sets_join(q->layer_of, i, far);
            }
        }
    }
    for (uint32_t i = 0; i < n; i++) { /* the representative is the smallest member, so it comes first */
        uint32_t speaker = sets_find(q->layer_of, i);
        if (speaker == i) {
            q->cables[i] = layers++;
        }
        q->layer[i] = (uint16_t)q->cables[speaker];
    }
    return layers;
}

/* Orders the layers of a ring, from the first server's towards that of its first neighbour, and fills position[]. */
static int order_layers(struct squares *q, struct axis *axis, uint32_t layers)
{
    uint32_t beside[CW_DIM_MAX][2];
    uint16_t order[CW_DIM_MAX];
    if (layers < 2 || layers > CW_DIM_MAX || axis->first == GRAPH_NONE) {
        return -EDOM;
    }
    memset(beside, 0xff, sizeof beside);
    for (uint32_t i = 0; i < q->g->count; i++) {
        for (unsigned port = 0; port < CW_LINK_COUNT; port++) {
            uint32_t far = far_end(q, i, port).server;
            if (far == GRAPH_NONE || class_at(q, i, port) != axis->class_of[0]) {
                continue;
            }
            uint32_t *pair = beside[q->layer[i]], other = q->layer[far];
            if (other == q->layer[i] ||
                (pair[0] != GRAPH_NONE && pair[1] != GRAPH_NONE && pair[0] != other && pair[1] != other)) {
                return -EDOM;
            }
            if (pair[0] == GRAPH_NONE || pair[0] == other) {
                pair[0] = other;
            } else {
                pair[1] = other;
            }
        }
    }
    memset(order, 0xff, sizeof order);
    uint32_t before = 0, at = q->layer[axis->first], steps = 1;
    order[0] = 0;
    for (; at != 0 && at != GRAPH_NONE && order[at] == UINT16_MAX; steps++) {
        order[at] = (uint16_t)steps;
        uint32_t next = beside[at][0] == before ? beside[at][1] : beside[at][0];
        if (layers == 2) {
            next = 0;
        }
        before = at;
        at = next;
    }
    if (at != 0 || steps != layers) {
        return -EDOM;
    }
    for (uint32_t i = 0; i < q->g->count; i++) {
        axis->position[i] = order[q->layer[i]];
    }
    axis->length = layers;
    return 0;
}

/* Orders a ring of 4 that consists of two classes. Each class is a bit of the position: 00, 01, 11, 10. */
static int order_bits(struct squares *q, const struct axis *axes, unsigned count, struct axis *axis)
{
    for (unsigned bit = 0; bit < 2; bit++) {
        if (cut_layers(q, axes, count, axis->class_of[bit]) != 2) {
            return -EDOM;
        }
        for (uint32_t i = 0; i < q->g->count; i++) {
            axis->position[i] = (uint16_t)((bit == 0 ? 0 : axis->position[i]) | q->layer[i] << bit);
        }
    }
    for (uint32_t i = 0; i < q->g->count; i++) {
        axis->position[i] ^= axis->position[i] >> 1 & 1; /* turns 00, 01, 11, 10 into 0, 1, 2, 3 */
    }
    axis->length = 4;
    return 0;
}

static int place_axes(struct squares *q, struct axis *axes, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        axes[i].position = q->position[i];
        int rc = axes[i].class_of[1] != GRAPH_NONE
                     ? order_bits(q, axes, count, &axes[i])
                     : order_layers(q, &axes[i], cut_layers(q, axes, count, axes[i].class_of[0]));
        if (rc != 0) {
            return rc;
        }
    }
    return 0;
}

/* The dims that servers were told, according to the first one that was told any; otherwise 0,0,0. */
static cw_dims told(const struct graph *g)
{
    for (uint32_t i = 0; i < g->count; i++) {
        if (g->server[i].expected.x != 0) {
            return g->server[i].expected;
        }
    }
    return (cw_dims){0};
}

/*
 * Names the axes, in name[i] for axes[i]: so that they fit the dims that were told, or if they cannot, the longest x.
 */
static void name_axes(const struct squares *q, const struct axis *axes, unsigned count, unsigned name[CW_AXES])
{
    static const uint8_t orders[6][CW_AXES] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    cw_dims dims = told(q->g);
    for (unsigned o = 0; o < 6; o++) {
        bool fits = true;
        for (unsigned i = 0; i < CW_AXES; i++) {
            fits = fits && dims_axis(dims, orders[o][i]) == (i < count ? axes[i].length : 1);
        }
        if (fits) {
            for (unsigned i = 0; i < CW_AXES; i++) {
                name[i] = orders[o][i];
            }
            return;
        }
    }
    for (unsigned i = 0; i < count; i++) {
        name[i] = 0;
        for (unsigned j = 0; j < count; j++) {
            if (axes[j].length > axes[i].length || (axes[j].length == axes[i].length && j < i)) {
                name[i]++;
            }
        }
    }
}

/* On a ring of 2, seen from its first layer, the cable at the lower port is +. True when this is that cable. */
static bool lower_of_two(const struct squares *q, uint32_t u, unsigned port)
{
    struct graph_end far = far_end(q, u, port);
    for (unsigned other = 0; other < port; other++) {
        if (far_end(q, u, other).server == far.server) {
            return false;
        }
    }
    return true;
}

static unsigned direction_of(const struct squares *q, const struct axis *axes, unsigned count,
                             const unsigned name[CW_AXES], uint32_t u, unsigned port)
{
    struct graph_end far = far_end(q, u, port);
    if (far.server == GRAPH_NONE) {
        return BOOT_UNLABELLED;
    }
    uint32_t class_of = class_at(q, u, port);
    for (unsigned i = 0; i < count; i++) {
        if (axes[i].class_of[0] != class_of && axes[i].class_of[1] != class_of) {
            continue;
        }
        unsigned from = axes[i].position[u], to = axes[i].position[far.server];
        if (axes[i].length == 2 && from != to) {
            bool lower = from == 0 ? lower_of_two(q, u, port) : lower_of_two(q, far.server, far.port);
            return 2 * name[i] + (lower == (from == 0) ? 0 : 1);
        }
        bool plus = to == (from + 1) % axes[i].length;
        bool minus = from == (to + 1) % axes[i].length;
        return plus || minus ? 2 * name[i] + (plus ? 0 : 1) : BOOT_UNLABELLED;
    }
    return BOOT_UNLABELLED;
}

/* Gives the directions that are left to the ports that have none, in order. */
static void fill_left_over(const struct squares *q, uint32_t u, unsigned wanted)
{
    struct graph_spot *spot = &q->s->spot[u];
    unsigned left = wanted;
    for (unsigned port = 0; port < CW_LINK_COUNT; port++) {
        if (spot->direction[port] < CW_LINK_COUNT) {
            bool twice = (left & 1u << spot->direction[port]) == 0;
            left &= ~(1u << spot->direction[port]);
            spot->direction[port] = twice ? BOOT_UNLABELLED : spot->direction[port];
        }
    }
    for (unsigned pass = 0; pass < 2; pass++) { /* ports with a cable first: a silent one may belong to no axis */
        for (unsigned port = 0; port < CW_LINK_COUNT && left != 0; port++) {
            bool cabled = graph_far(q->g, u, port).server != GRAPH_NONE;
            if (spot->direction[port] == BOOT_UNLABELLED && cabled == (pass == 0)) {
                spot->direction[port] = (uint8_t)__builtin_ctz(left);
                left &= left - 1;
            }
        }
    }
}

static void give_directions(struct squares *q, const struct axis *axes, unsigned count)
{
    unsigned name[CW_AXES] = {0}, wanted = 0;
    name_axes(q, axes, count, name);
    for (unsigned i = 0; i < count; i++) {
        wanted |= 3u << 2 * name[i];
    }
    for (uint32_t u = 0; u < q->g->count; u++) {
        for (unsigned port = 0; port < CW_LINK_COUNT; port++) {
            bool absent = q->g->server[u].label[port] == BOOT_ABSENT;
            q->s->spot[u].direction[port] =
                (uint8_t)(absent ? (unsigned)BOOT_ABSENT : direction_of(q, axes, count, name, u, port));
        }
        fill_left_over(q, u, wanted);
    }
}

static void squares_free(struct squares *q)
{
    free(q->class_of);
    free(q->layer_of);
    free(q->cables);
    free(q->layer);
    for (unsigned axis = 0; axis < CW_AXES; axis++) {
        free(q->position[axis]);
    }
}

static int squares_make(struct squares *q)
{
    size_t n = q->g->count;
    q->class_of = malloc(n * CW_LINK_COUNT * sizeof *q->class_of);
    q->layer_of = malloc(n * sizeof *q->layer_of);
    q->cables = malloc(n * CW_LINK_COUNT * sizeof *q->cables);
    q->layer = malloc(n * sizeof *q->layer);
    bool good = q->class_of != NULL && q->layer_of != NULL && q->cables != NULL && q->layer != NULL;
    for (unsigned axis = 0; axis < CW_AXES; axis++) {
        q->position[axis] = malloc(n * sizeof *q->position[axis]);
        good = good && q->position[axis] != NULL;
    }
    return good ? 0 : -ENOMEM;
}

int squares_directions(const struct graph *g, const uint8_t *doubtful, struct solution *s)
{
    CHECK(s->count == g->count && g->count > 0);
    struct squares q = {.g = g, .doubtful = doubtful, .s = s};
    struct axis axes[CW_AXES] = {{{0}, 0, 0, NULL}};
    int rc = squares_make(&q);
    if (rc == 0) {
        sets_init(q.class_of, g->count * CW_LINK_COUNT);
        for (uint32_t u = 0; u < g->count; u++) {
            classify_at(&q, u);
        }
        rc = find_axes(&q, axes);
    }
    unsigned count = rc > 0 ? (unsigned)rc : 0;
    rc = rc > 0 ? place_axes(&q, axes, count) : rc;
    if (rc == 0 && count > 0) {
        give_directions(&q, axes, count);
    }
    squares_free(&q);
    return rc;
}

unsigned squares_count(const struct graph *g, uint32_t server, unsigned port)
{
    const struct squares q = {.g = g};
    unsigned spanned = 0;
    uint32_t a = far_end(&q, server, port).server, w;
    for (unsigned other = 0; other < CW_LINK_COUNT && a != GRAPH_NONE; other++) {
        uint32_t b = far_end(&q, server, other).server;
        if (other != port && b != GRAPH_NONE && b != a && corners(&q, server, a, b, &w) == 1) {
            spanned++;
        }
    }
    return spanned;
}
