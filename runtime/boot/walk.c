/* SPDX-License-Identifier: Apache-2.0 */
#include "boot/walk.h"
#include "base/check.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { LEVELS = 5, CANDIDATES = 4, LENGTHS = CW_DIM_MAX + 1, ISLANDS_MAX = 255 };

/* Steps from the first server, which do not wrap. */
struct steps {
    int32_t by[CW_AXES];
};

struct walker {
    const struct graph *g;
    struct solution *s;
    uint32_t (*next)[CW_LINK_COUNT]; /* by direction: the server over a cable between opposite ends, or GRAPH_NONE */
    uint8_t (*trust)[CW_LINK_COUNT]; /* by direction: how many squares that cable closes */
    struct steps *at;
    uint32_t *island; /* by server: a new island begins behind a cable that closes no square; GRAPH_NONE: not reached */
    uint32_t islands;
    uint32_t *queue; /* by server * 6 + direction: the next entry of the same level */
    uint32_t head[LEVELS], tail[LEVELS];
    unsigned trust_max;
};

static int walker_make(struct walker *w, const struct graph *g, struct solution *s)
{
    size_t n = g->count;
    *w = (struct walker){.g = g, .s = s};
    w->next = malloc(n * sizeof *w->next);
    w->trust = calloc(n, sizeof *w->trust);
    w->at = calloc(n, sizeof *w->at);
    w->island = malloc(n * sizeof *w->island);
    w->queue = malloc(n * CW_LINK_COUNT * sizeof *w->queue);
    if (w->next == NULL || w->trust == NULL || w->at == NULL || w->island == NULL || w->queue == NULL) {
        return -ENOMEM;
    }
    memset(w->island, 0xff, n * sizeof *w->island);
    memset(w->next, 0xff, n * sizeof *w->next);
    memset(w->head, 0xff, sizeof w->head);
    return 0;
}

static void walker_free(struct walker *w)
{
    free(w->next);
    free(w->trust);
    free(w->at);
    free(w->island);
    free(w->queue);
}

static void find_next(struct walker *w)
{
    for (uint32_t i = 0; i < w->g->count; i++) {
        for (unsigned port = 0; port < CW_LINK_COUNT; port++) {
            unsigned direction = w->s->spot[i].direction[port];
            struct graph_end far = graph_far(w->g, i, port);
            if (direction < CW_LINK_COUNT && far.server != GRAPH_NONE && far.server != i &&
                w->s->spot[far.server].direction[far.port] == cw_link_opposite((cw_link)direction)) {
                w->next[i][direction] = far.server;
            }
        }
    }
}

static unsigned squares_closed(const struct walker *w, uint32_t u, unsigned direction)
{
    unsigned squares = 0;
    uint32_t v = w->next[u][direction];
    for (unsigned side = 0; side < CW_LINK_COUNT; side++) {
        if (side / 2 == direction / 2 || w->next[u][side] == GRAPH_NONE || w->next[v][side] == GRAPH_NONE) {
            continue;
        }
        if (w->next[w->next[u][side]][direction] == w->next[v][side]) {
            squares++;
        }
    }
    return squares;
}

static void find_trust(struct walker *w)
{
    for (uint32_t u = 0; u < w->g->count; u++) {
        for (unsigned direction = 0; direction < CW_LINK_COUNT; direction++) {
            if (w->next[u][direction] != GRAPH_NONE) {
                unsigned squares = squares_closed(w, u, direction);
                w->trust[u][direction] = (uint8_t)squares;
                w->trust_max = squares > w->trust_max ? squares : w->trust_max;
            }
        }
    }
}

static void push_cables(struct walker *w, uint32_t u)
{
    for (unsigned direction = 0; direction < CW_LINK_COUNT; direction++) {
        if (w->next[u][direction] == GRAPH_NONE) {
            continue;
        }
        uint32_t item = u * CW_LINK_COUNT + direction;
        unsigned level = w->trust[u][direction];
        w->queue[item] = GRAPH_NONE;
        if (w->head[level] == GRAPH_NONE) {
            w->head[level] = item;
        } else {
            w->queue[w->tail[level]] = item;
        }
        w->tail[level] = item;
    }
}

/* Takes the first cable of the most trusted level; GRAPH_NONE when none is left. */
static uint32_t pop_cable(struct walker *w)
{
    for (unsigned level = LEVELS; level-- > 0;) {
        uint32_t item = w->head[level];
        if (item != GRAPH_NONE) {
            w->head[level] = w->queue[item];
            return item;
        }
    }
    return GRAPH_NONE;
}

static void take_steps(struct walker *w)
{
    w->island[0] = w->islands++;
    push_cables(w, 0);
    for (uint32_t item; (item = pop_cable(w)) != GRAPH_NONE;) {
        uint32_t u = item / CW_LINK_COUNT;
        unsigned direction = item % CW_LINK_COUNT;
        uint32_t v = w->next[u][direction];
        if (w->island[v] != GRAPH_NONE) {
            continue;
        }
        w->at[v] = w->at[u];
        w->at[v].by[direction / 2] += direction % 2 == 0 ? 1 : -1;
        bool doubtful = w->trust_max > 0 && w->trust[u][direction] == 0;
        w->island[v] = doubtful ? w->islands++ : w->island[u];
        push_cables(w, v);
    }
}

/*
 * By how many steps the cable from u in that direction misses the server that it leads to: none inside the torus, the
 * length of a row where it wraps. False when there is no such cable, or u was not reached.
 */
static bool closure(const struct walker *w, uint32_t u, unsigned direction, struct steps *out)
{
    uint32_t v = w->next[u][direction];
    if (w->island[u] == GRAPH_NONE || v == GRAPH_NONE) {
        return false;
    }
    for (unsigned axis = 0; axis < CW_AXES; axis++) {
        out->by[axis] = w->at[u].by[axis] - w->at[v].by[axis];
    }
    out->by[direction / 2] += 1;
    return true;
}

struct votes {
    uint32_t of[CW_AXES][LENGTHS];
};

/* Counts for each axis how many + cables close after so many steps; a cable counts the more, the more it is trusted. */
static void count_votes(const struct walker *w, struct votes *votes)
{
    for (uint32_t u = 0; u < w->g->count; u++) {
        for (unsigned axis = 0; axis < CW_AXES; axis++) {
            struct steps c;
            if (closure(w, u, 2 * axis, &c)) {
                uint32_t length = (uint32_t)abs(c.by[axis]);
                votes->of[axis][length < LENGTHS ? length : 0] += 1u + 4u * w->trust[u][2 * axis];
            }
        }
    }
}

/*
 * The lengths with the most votes, best first. Gives how many: at least 1, as an axis without cables has the length 1.
 */
static unsigned best_lengths(const uint32_t of[LENGTHS], unsigned out[CANDIDATES])
{
    unsigned found = 0;
    for (; found < CANDIDATES; found++) {
        unsigned best = 0;
        for (unsigned length = 2; length < LENGTHS; length++) {
            bool had = false;
            for (unsigned i = 0; i < found; i++) {
                had = had || out[i] == length;
            }
            if (!had && of[length] > 0 && (best == 0 || of[length] > of[best])) {
                best = length;
            }
        }
        if (best == 0 || (found > 0 && 8 * (uint64_t)of[best] < of[out[0]])) {
            break; /* a few cables that lead elsewhere do not make a length */
        }
        out[found] = best;
    }
    if (found == 0) {
        out[found++] = 1;
    }
    return found;
}

/* The dims that most servers were told; 0,0,0 when none was told any. */
static cw_dims told(const struct graph *g)
{
    cw_dims best = {0};
    uint32_t most = 0;
    for (uint32_t i = 0; i < g->count; i++) { /* few differ: majority vote (Boyer and Moore) */
        cw_dims dims = g->server[i].expected;
        if (dims.x == 0) {
            continue;
        }
        if (most == 0) {
            best = dims;
        }
        most = dims_equal(dims, best) ? most + 1 : most - 1;
    }
    return best;
}

/*
 * The lengths with the most votes whose product is the number of servers. If there are none, servers are missing or too
 * many: then the dims that servers were told, and if they were told none, the best length of each axis.
 */
static cw_dims choose_dims(const struct walker *w, const struct votes *votes)
{
    unsigned lengths[CW_AXES][CANDIDATES], count[CW_AXES];
    for (unsigned axis = 0; axis < CW_AXES; axis++) {
        count[axis] = best_lengths(votes->of[axis], lengths[axis]);
    }
    cw_dims best = {0};
    uint64_t best_votes = 0;
    for (unsigned i = 0; i < count[0]; i++) {
        for (unsigned j = 0; j < count[1]; j++) {
            for (unsigned k = 0; k < count[2]; k++) {
                unsigned length[CW_AXES] = {lengths[0][i], lengths[1][j], lengths[2][k]};
                uint64_t sum = 1u + votes->of[0][length[0]] + votes->of[1][length[1]] + votes->of[2][length[2]];
                if ((uint64_t)length[0] * length[1] * length[2] == w->g->count && sum > best_votes) {
                    best = dims_of(length);
                    best_votes = sum;
                }
            }
        }
    }
    cw_dims expected = told(w->g);
    if (best_votes > 0 || expected.x != 0) {
        return best_votes > 0 ? best : expected;
    }
    return (cw_dims){(uint16_t)lengths[0][0], (uint16_t)lengths[1][0], (uint16_t)lengths[2][0]};
}

static int16_t shift_of(int32_t by, unsigned length)
{
    int32_t rest = by % (int32_t)length;
    rest += rest < 0 ? (int32_t)length : 0;
    return (int16_t)(2 * rest > (int32_t)length ? rest - (int32_t)length : rest);
}

/*
 * The shift with which most rows of the axis close: none in a right torus. A majority vote in one pass, counted in
 * another.
 */
static void find_shift(struct walker *w, unsigned axis)
{
    unsigned length = dims_axis(w->s->dims, axis);
    int16_t best[CW_AXES] = {0};
    uint32_t lead = 0, rows = 0, agree = 0;
    for (unsigned pass = 0; pass < 2 && length > 1; pass++) {
        for (uint32_t u = 0; u < w->g->count; u++) {
            struct steps c;
            bool vouched = w->trust_max == 0 || w->trust[u][2 * axis] > 0;
            if (!vouched || !closure(w, u, 2 * axis, &c) || (uint32_t)abs(c.by[axis]) != length) {
                continue;
            }
            int16_t shift[CW_AXES] = {0};
            for (unsigned other = 0; other < CW_AXES; other++) {
                int32_t by = c.by[axis] < 0 ? -c.by[other] : c.by[other];
                shift[other] = other == axis ? 0 : shift_of(by, dims_axis(w->s->dims, other));
            }
            bool same = memcmp(shift, best, sizeof best) == 0;
            if (pass == 1) {
                rows++;
                if (same) {
                    agree++;
                }
            } else if (lead == 0) {
                memcpy(best, shift, sizeof best);
                lead = 1;
            } else {
                lead = same ? lead + 1 : lead - 1;
            }
        }
    }
    if (2 * agree > rows) {
        memcpy(w->s->shift[axis], best, sizeof best);
    }
}

/* Numbers the tori: islands with more than half as many servers as the dims hold. */
static void number_tori(struct walker *w)
{
    uint32_t cells = dims_servers(w->s->dims), number = 0;
    if (w->islands < 2 || w->g->count < 2 * cells) {
        return;
    }
    uint32_t *size = calloc(w->islands, sizeof *size);
    if (size == NULL) {
        return; /* then they show as two servers in one place */
    }
    for (uint32_t i = 0; i < w->g->count; i++) {
        size[w->island[i] != GRAPH_NONE ? w->island[i] : 0]++;
    }
    for (uint32_t island = 1; island < w->islands; island++) {
        size[island] = 2 * size[island] > cells && number < ISLANDS_MAX ? ++number : 0;
    }
    size[0] = 0;
    for (uint32_t i = 0; i < w->g->count; i++) {
        w->s->spot[i].torus = (uint8_t)(w->island[i] != GRAPH_NONE ? size[w->island[i]] : 0);
    }
    free(size);
}

static void place_all(struct walker *w)
{
    for (uint32_t i = 0; i < w->g->count; i++) {
        struct graph_spot *spot = &w->s->spot[i];
        spot->placed = w->island[i] != GRAPH_NONE;
        unsigned at[CW_AXES];
        for (unsigned axis = 0; axis < CW_AXES; axis++) {
            int32_t length = (int32_t)dims_axis(w->s->dims, axis);
            int32_t rest = w->at[i].by[axis] % length;
            at[axis] = (unsigned)(rest < 0 ? rest + length : rest);
        }
        spot->at = spot->placed ? coord_of(at) : (cw_coord){0};
    }
}

int boot_walk(const struct graph *g, struct solution *s)
{
    CHECK(s->count == g->count && g->count > 0);
    struct walker w;
    struct votes *votes = calloc(1, sizeof *votes);
    int rc = walker_make(&w, g, s);
    if (rc == 0 && votes != NULL) {
        find_next(&w);
        find_trust(&w);
        take_steps(&w);
        count_votes(&w, votes);
        s->dims = choose_dims(&w, votes);
        for (unsigned axis = 0; axis < CW_AXES; axis++) {
            find_shift(&w, axis);
        }
        place_all(&w);
        number_tori(&w);
    }
    free(votes);
    walker_free(&w);
    return votes == NULL ? -ENOMEM : rc;
}
