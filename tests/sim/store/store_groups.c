/* SPDX-License-Identifier: Apache-2.0 */
#include "store_groups.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

struct edge {
    uint32_t from, to;
};

struct graph {
    struct edge *edge;
    size_t edges, room;
    uint32_t nodes;
};

static void join(struct graph *g, uint32_t from, uint32_t to)
{
    if (from == to) {
        return;
    }
    if (g->edges == g->room) {
        g->room = g->room > 0 ? 2 * g->room : 1024;
        g->edge = realloc(g->edge, g->room * sizeof *g->edge);
        if (g->edge == NULL) {
            abort();
        }
    }
    g->edge[g->edges++] = (struct edge){from, to};
}

static bool is_write(const struct store_event *e)
{
    return (e->kind == STORE_EVENT_PUT || e->kind == STORE_EVENT_DELETE) && e->version != 0;
}

static bool is_read(const struct store_event *e)
{
    return e->kind == STORE_EVENT_READ || e->kind == STORE_EVENT_ABSENT;
}

/* ---- By versions ------------------------------------------------------------------------------------------------- */

static int by_state(const void *a, const void *b)
{
    const struct store_event *x = *(const struct store_event *const *)a, *y = *(const struct store_event *const *)b;
    if (x->key != y->key) {
        return x->key < y->key ? -1 : 1;
    }
    if (x->version != y->version) {
        return x->version < y->version ? -1 : 1;
    }
    return is_write(y) - is_write(x);
}

/* Of one key: the events at[0..count) by version, of each state its maker first, if it is known. */
static void join_states(struct graph *g, const struct store_event *const *at, size_t count)
{
    size_t before = 0, readers = 0; /* the events of the state before, and those of them that met it */
    uint32_t maker_before = 0;
    bool any = false;
    for (size_t i = 0; i < count;) {
        size_t end = i, first = is_write(at[i]) ? i + 1 : i;
        uint32_t maker = is_write(at[i]) ? at[i]->node : g->nodes++;
        while (end < count && at[end]->version == at[i]->version) {
            end++;
        }
        if (any) {
            join(g, maker_before, maker);
        }
        for (size_t k = before; k < before + readers; k++) {
            join(g, at[k]->node, maker);
        }
        for (size_t k = first; k < end; k++) {
            join(g, maker, at[k]->node);
        }
        before = first;
        readers = end - first;
        maker_before = maker;
        any = true;
        i = end;
    }
}

/* ---- By time ----------------------------------------------------------------------------------------------------- */

static int by_time(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* The first of the times that is not before t. */
static size_t place(const int64_t *time, size_t count, int64_t t)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (time[middle] < t) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* A chain of instants, at which something ended: what ended stands before its instant, what began later behind it. */
static void join_times(struct graph *g, const struct store_event *const *at, size_t count)
{
    int64_t *time = malloc((count + 1) * sizeof *time);
    size_t times = 0;
    for (size_t i = 0; i < count; i++) {
        if (at[i]->ended != STORE_NO_END) {
            time[times++] = at[i]->ended;
        }
    }
    qsort(time, times, sizeof *time, by_time);
    const uint32_t chain = g->nodes;
    g->nodes += (uint32_t)times;
    for (size_t i = 1; i < times; i++) {
        join(g, chain + (uint32_t)i - 1, chain + (uint32_t)i);
    }
    for (size_t i = 0; i < count; i++) {
        size_t begun = place(time, times, at[i]->begun);
        if (begun > 0) {
            join(g, chain + (uint32_t)begun - 1, at[i]->node);
        }
        if (at[i]->ended != STORE_NO_END) {
            join(g, at[i]->node, chain + (uint32_t)place(time, times, at[i]->ended));
        }
    }
    free(time);
}

/* ---- Circles ----------------------------------------------------------------------------------------------------- */

static int by_from(const void *a, const void *b)
{
    const struct edge *x = a, *y = b;
    return (x->from > y->from) - (x->from < y->from);
}

/* Takes away what nothing stands before, again and again. Gives a node that is left; g->nodes: none is. */
static uint32_t circle(struct graph *g)
{
    uint32_t *open = calloc(g->nodes + 1, sizeof *open), *stack = calloc(g->nodes + 1, sizeof *stack);
    size_t *first = calloc(g->nodes + 1, sizeof *first), depth = 0, gone = 0;
    uint32_t left = g->nodes;
    qsort(g->edge, g->edges, sizeof *g->edge, by_from);
    for (size_t i = g->edges; i-- > 0;) {
        open[g->edge[i].to]++;
        first[g->edge[i].from] = i + 1;
    }
    for (uint32_t n = 0; n < g->nodes; n++) {
        if (open[n] == 0) {
            stack[depth++] = n;
        }
    }
    while (depth > 0) {
        const uint32_t n = stack[--depth];
        gone++;
        for (size_t i = first[n]; i > 0 && i <= g->edges && g->edge[i - 1].from == n; i++) {
            if (--open[g->edge[i - 1].to] == 0) {
                stack[depth++] = g->edge[i - 1].to;
            }
        }
    }
    for (uint32_t n = 0; n < g->nodes && gone < g->nodes && left == g->nodes; n++) {
        left = open[n] > 0 ? n : left;
    }
    free(open);
    free(stack);
    free(first);
    return left;
}

bool store_groups_check(const struct store_event *events, size_t count, size_t nodes, char *why, size_t room)
{
    struct graph g = {.nodes = (uint32_t)nodes};
    const struct store_event **at = malloc((count + 1) * sizeof *at);
    size_t used = 0;
    for (size_t i = 0; i < count; i++) {
        if (is_write(&events[i]) || is_read(&events[i])) {
            at[used++] = &events[i];
        }
    }
    qsort(at, used, sizeof *at, by_state);
    for (size_t i = 0; i < used;) {
        size_t end = i;
        while (end < used && at[end]->key == at[i]->key) {
            end++;
        }
        join_states(&g, at + i, end - i);
        i = end;
    }
    join_times(&g, at, used);
    const uint32_t left = circle(&g);
    for (size_t i = 0; i < used && left < g.nodes; i++) {
        if (at[i]->node == left) {
            snprintf(why, room,
                     "what names were written and met together fits no order: among it question %" PRIu32
                     ", of key %" PRIu32 " and version %" PRIu64,
                     left + 1, at[i]->key, at[i]->version);
            break;
        }
    }
    free(at);
    free(g.edge);
    return left == g.nodes;
}
