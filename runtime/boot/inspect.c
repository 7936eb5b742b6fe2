/* SPDX-License-Identifier: Apache-2.0 */
#include "boot/inspect.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct inspector {
    const struct graph *g;
    const struct solution *s;
    struct fault_list *list;
    bool running;      /* some server has a place */
    uint32_t tori;     /* how many */
    uint32_t cells;    /* places in each */
    uint32_t *held_by; /* [torus * cells + cell]: the server there, or GRAPH_NONE */
};

void fault_add(struct fault_list *list, const struct boot_fault *fault)
{
    if (list->count < list->max) {
        list->fault[list->count] = *fault;
    }
    list->count++;
    if (!fault->tells_only) {
        list->grave++;
    }
}

struct boot_who graph_who(const struct graph *g, const struct solution *s, uint32_t server)
{
    struct boot_who who = {.id = g->server[server].id};
    memcpy(who.name, g->server[server].name, sizeof who.name);
    if (server < s->count && s->dims.x != 0) {
        who.placed = s->spot[server].placed;
        who.at = s->spot[server].at;
    } else if (g->server[server].placed) {
        who.placed = true;
        who.at = g->server[server].at;
    }
    return who;
}

static uint32_t holder(const struct inspector *k, unsigned torus, cw_coord at)
{
    return k->held_by[torus * k->cells + coord_cell(k->s->dims, at)];
}

/* The end that a port should be cabled to; its server is GRAPH_NONE when nobody stands there or has such a port. */
static struct graph_end expected_end(const struct inspector *k, struct graph_end end)
{
    const struct graph_spot *spot = &k->s->spot[end.server];
    struct graph_end none = {GRAPH_NONE, 0};
    unsigned direction = spot->direction[end.port];
    if (!spot->placed || direction >= CW_LINK_COUNT || dims_axis(k->s->dims, direction / 2) == 1) {
        return none;
    }
    uint32_t server = holder(k, spot->torus, coord_step(k->s->dims, spot->at, direction));
    if (server == GRAPH_NONE) {
        return none;
    }
    for (uint8_t port = 0; port < CW_LINK_COUNT; port++) {
        if (k->s->spot[server].direction[port] == cw_link_opposite((cw_link)direction)) {
            return (struct graph_end){server, port};
        }
    }
    return none;
}

static bool same_end(struct graph_end a, struct graph_end b)
{
    return a.server != GRAPH_NONE && a.server == b.server && a.port == b.port;
}

/* Fills who, port, direction and what is expected there. */
static struct boot_fault fault_of(const struct inspector *k, uint8_t kind, struct graph_end end)
{
    const struct graph_spot *spot = &k->s->spot[end.server];
    struct boot_fault fault = {.kind = kind, .port = end.port, .direction = spot->direction[end.port]};
    fault.who = graph_who(k->g, k->s, end.server);
    struct graph_end expected = expected_end(k, end);
    if (expected.server != GRAPH_NONE) {
        fault.expected = graph_who(k->g, k->s, expected.server);
    } else if (spot->placed && fault.direction < CW_LINK_COUNT) {
        fault.expected.at = coord_step(k->s->dims, spot->at, fault.direction);
        fault.expected.placed = true;
    }
    return fault;
}

static uint8_t kind_of_cable(const struct inspector *k, struct graph_end a, struct graph_end b)
{
    unsigned from = k->s->spot[a.server].direction[a.port], to = k->s->spot[b.server].direction[b.port];
    if (a.server == b.server) {
        return BOOT_FAULT_LOOP;
    }
    if (from >= CW_LINK_COUNT || to >= CW_LINK_COUNT || dims_axis(k->s->dims, from / 2) == 1 ||
        dims_axis(k->s->dims, to / 2) == 1) {
        return BOOT_FAULT_SPARE;
    }
    if (from == to) {
        return BOOT_FAULT_SAME_SIGN;
    }
    return from / 2 != to / 2 ? BOOT_FAULT_CROSSED : BOOT_FAULT_WRONG_END;
}

static void inspect_cable(struct inspector *k, struct graph_end a)
{
    struct graph_end b = graph_far(k->g, a.server, a.port);
    struct graph_end expected = expected_end(k, a);
    if (same_end(expected, b) && same_end(expected_end(k, b), a)) {
        return;
    }
    struct boot_fault fault = fault_of(k, kind_of_cable(k, a, b), a);
    fault.far = graph_who(k->g, k->s, b.server);
    fault.far_port = b.port;
    fault.far_direction = k->s->spot[b.server].direction[b.port];
    if (expected.server != GRAPH_NONE) {
        struct graph_end instead = graph_far(k->g, expected.server, expected.port);
        if (instead.server != GRAPH_NONE && same_end(expected_end(k, b), instead)) {
            fault.swapped = true;
            fault.other = graph_who(k->g, k->s, instead.server);
            fault.other_port = instead.port;
        }
    }
    fault_add(k->list, &fault);
}

static void inspect_silent(struct inspector *k, struct graph_end a)
{
    const struct graph_spot *spot = &k->s->spot[a.server];
    unsigned direction = spot->direction[a.port];
    const struct graph_server *server = &k->g->server[a.server];
    bool idle = direction >= CW_LINK_COUNT || dims_axis(k->s->dims, direction / 2) == 1;
    if (server->label[a.port] == BOOT_ABSENT || direction == BOOT_ABSENT || server->placed ||
        (idle && (k->running || server->expected.x != 0))) {
        return; /* nobody has said that there should be a cable */
    }
    struct graph_end expected = expected_end(k, a);
    if (spot->placed && direction < CW_LINK_COUNT &&
        holder(k, spot->torus, coord_step(k->s->dims, spot->at, direction)) == GRAPH_NONE && !k->running) {
        return; /* that place is listed as one without a server */
    }
    if (expected.server != GRAPH_NONE && graph_far(k->g, expected.server, expected.port).server == GRAPH_NONE &&
        !k->g->server[expected.server].placed && expected.server < a.server) {
        return; /* the other end of the missing cable lists it */
    }
    struct boot_fault fault = fault_of(k, BOOT_FAULT_SILENT, a);
    fault.tells_only = k->running;
    fault_add(k->list, &fault);
}

static int find_holders(struct inspector *k)
{
    size_t size = (size_t)k->cells * k->tori;
    k->held_by = malloc(size * sizeof *k->held_by);
    if (k->held_by == NULL) {
        return -ENOMEM;
    }
    memset(k->held_by, 0xff, size * sizeof *k->held_by);
    for (uint32_t i = 0; i < k->g->count; i++) {
        const struct graph_spot *spot = &k->s->spot[i];
        if (!spot->placed) {
            continue;
        }
        uint32_t *held_by = &k->held_by[spot->torus * k->cells + coord_cell(k->s->dims, spot->at)];
        if (*held_by == GRAPH_NONE) {
            *held_by = i;
        } else {
            struct boot_fault fault = {.kind = BOOT_FAULT_SAME_PLACE};
            fault.who = graph_who(k->g, k->s, *held_by);
            fault.far = graph_who(k->g, k->s, i);
            fault_add(k->list, &fault);
        }
    }
    return 0;
}

static void inspect_twists(struct inspector *k)
{
    for (uint8_t axis = 0; axis < CW_AXES; axis++) {
        const int16_t *shift = k->s->shift[axis];
        if (shift[0] == 0 && shift[1] == 0 && shift[2] == 0) {
            continue;
        }
        struct boot_fault fault = {.kind = BOOT_FAULT_TWISTED, .direction = (uint8_t)(2 * axis), .dims = k->s->dims};
        memcpy(fault.shift, shift, sizeof fault.shift);
        fault.count = k->cells / dims_axis(k->s->dims, axis);
        fault_add(k->list, &fault);
    }
}

/* Faults of the whole torus: what servers were told, how many servers there are, twists. */
static void inspect_whole(struct inspector *k)
{
    const struct graph *g = k->g;
    for (uint32_t i = 0; i < g->count; i++) {
        cw_dims wanted = g->server[i].placed ? g->server[i].dims : g->server[i].expected;
        if (wanted.x != 0 && !dims_equal(wanted, k->s->dims)) {
            struct boot_fault fault = {.kind = BOOT_FAULT_DIMS, .dims = wanted, .who = graph_who(g, k->s, i)};
            fault.found = k->s->dims;
            fault_add(k->list, &fault);
            break; /* one is enough: in a big torus all servers would say the same */
        }
    }
    if (k->tori > 1) {
        struct boot_fault fault = {.kind = BOOT_FAULT_JOINED, .dims = k->s->dims, .count = k->tori};
        fault_add(k->list, &fault);
    } else if (g->count != k->cells && !k->running) {
        struct boot_fault fault = {.kind = BOOT_FAULT_COUNT, .dims = k->s->dims, .count = g->count};
        fault_add(k->list, &fault);
    }
    inspect_twists(k);
}

static void inspect_places(struct inspector *k)
{
    if (k->running) {
        return;
    }
    for (uint32_t cell = 0; cell < k->cells; cell++) {
        if (k->held_by[cell] == GRAPH_NONE) {
            struct boot_fault fault = {.kind = BOOT_FAULT_EMPTY_PLACE};
            cw_dims dims = k->s->dims;
            fault.expected.at = (cw_coord){(uint8_t)(cell / dims.z / dims.y), (uint8_t)(cell / dims.z % dims.y),
                                           (uint8_t)(cell % dims.z)};
            fault.expected.placed = true;
            fault_add(k->list, &fault);
        }
    }
}

int boot_inspect(const struct graph *g, const struct solution *s, struct fault_list *list)
{
    struct inspector k = {.g = g, .s = s, .list = list};
    for (uint32_t i = 0; i < g->count; i++) {
        k.running = k.running || g->server[i].placed;
    }
    if (s->dims.x == 0) {
        struct boot_fault fault = {.kind = BOOT_FAULT_SHAPE, .count = g->count};
        fault_add(list, &fault);
        return 0;
    }
    for (uint32_t i = 0; i < g->count; i++) {
        k.tori = s->spot[i].torus + 1u > k.tori ? s->spot[i].torus + 1u : k.tori;
    }
    k.cells = dims_servers(s->dims);
    inspect_whole(&k);
    int rc = find_holders(&k);
    if (rc != 0) {
        return rc;
    }
    for (uint32_t i = 0; i < g->count; i++) {
        for (uint8_t port = 0; port < CW_LINK_COUNT; port++) {
            if (graph_is_first(g, i, port)) {
                inspect_cable(&k, (struct graph_end){i, port});
            }
        }
    }
    inspect_places(&k);
    for (uint32_t i = 0; i < g->count; i++) {
        for (uint8_t port = 0; port < CW_LINK_COUNT; port++) {
            if (graph_far(g, i, port).server == GRAPH_NONE) {
                inspect_silent(&k, (struct graph_end){i, port});
            }
        }
    }
    free(k.held_by);
    return 0;
}
