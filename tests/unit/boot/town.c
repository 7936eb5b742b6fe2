/* SPDX-License-Identifier: Apache-2.0 */
#include "town.h"
#include "suite.h"

#include <string.h>

enum { MTU = 1500 };

static bool before(const struct town_frame *a, const struct town_frame *b)
{
    return a->at.ns != b->at.ns ? a->at.ns < b->at.ns : a->order < b->order;
}

static void heap_push(struct town *t, struct town_frame frame)
{
    if (t->frames == t->room) {
        t->room = t->room == 0 ? 1024 : 2 * t->room;
        t->heap = realloc(t->heap, t->room * sizeof *t->heap);
    }
    uint32_t i = t->frames++;
    for (; i > 0 && before(&frame, &t->heap[(i - 1) / 2]); i = (i - 1) / 2) {
        t->heap[i] = t->heap[(i - 1) / 2];
    }
    t->heap[i] = frame;
}

static struct town_frame heap_pop(struct town *t)
{
    struct town_frame first = t->heap[0], last = t->heap[--t->frames];
    uint32_t i = 0;
    for (uint32_t child; (child = 2 * i + 1) < t->frames; i = child) {
        child += child + 1 < t->frames && before(&t->heap[child + 1], &t->heap[child]);
        if (!before(&t->heap[child], &last)) {
            break;
        }
        t->heap[i] = t->heap[child];
    }
    t->heap[i] = last;
    return first;
}

/* Server i may want to wake at another time now. */
static void note_wake(struct town *t, uint32_t i)
{
    t->wake[i] = t->server[i].boot != NULL ? boot_next_wake(t->server[i].boot) : CW_NEVER;
    for (uint32_t at = (t->leaves + i) / 2; at > 0; at /= 2) {
        uint32_t left = t->first[2 * at], right = t->first[2 * at + 1];
        t->first[at] = cw_time_before(t->wake[right], t->wake[left]) ? right : left;
    }
}

struct town town_make(struct yard *y, uint64_t seed)
{
    struct town t = {.yard = y, .chance = {seed}, .now = {1000000}, .delay_us = 200};
    t.server = calloc(y->g.count, sizeof *t.server);
    for (uint32_t i = 0; i < y->g.count; i++) {
        struct boot_config *config = &t.server[i].config;
        *config = boot_config_default();
        config->id = y->g.server[i].id;
        memcpy(config->name, y->g.server[i].name, sizeof config->name);
        memcpy(config->port, y->g.server[i].label, sizeof config->port);
        config->cluster = 7;
        config->seed = seed;
    }
    for (t.leaves = 1; t.leaves < y->g.count; t.leaves *= 2) {
    }
    t.wake = calloc(t.leaves, sizeof *t.wake);
    t.first = calloc((size_t)2 * t.leaves, sizeof *t.first);
    for (uint32_t i = 0; i < t.leaves; i++) {
        t.wake[i] = CW_NEVER;
        t.first[t.leaves + i] = i;
    }
    for (uint32_t at = t.leaves - 1; at > 0; at--) {
        t.first[at] = t.first[2 * at];
    }
    return t;
}

void town_free(struct town *t)
{
    for (uint32_t i = 0; i < t->yard->g.count; i++) {
        boot_close(t->server[i].boot);
    }
    while (t->frames > 0) {
        free(heap_pop(t).bytes);
    }
    free(t->heap);
    free(t->wake);
    free(t->first);
    free(t->server);
}

static void send_all(struct town *t, uint32_t i, cw_links links)
{
    for (uint8_t port = 0; port < CW_LINK_COUNT; port++) {
        uint8_t frame[MTU];
        for (uint32_t length; (links & 1u << port) != 0 &&
                              (length = boot_tx_pull(t->server[i].boot, port, frame, sizeof frame, t->now)) > 0;) {
            struct graph_end to = graph_far(&t->yard->g, i, port);
            t->sent++;
            if (!boot_owns(frame, length)) {
                ck_abort_msg("a frame of the bootstrap is not taken for one");
            }
            unsigned copies = 1 + (rng_below(&t->chance, 1000) < t->doubled);
            copies = to.server == GRAPH_NONE || rng_below(&t->chance, 1000) < t->loss ? 0 : copies;
            for (; copies > 0; copies--) {
                struct town_frame f = {.order = t->order++, .to = to, .length = length, .bytes = malloc(length)};
                f.at = cw_time_add(t->now, CW_US(10 + rng_below(&t->chance, (uint64_t)t->delay_us)));
                memcpy(f.bytes, frame, length);
                heap_push(t, f);
            }
        }
    }
}

void town_start(struct town *t, uint32_t i)
{
    struct town_server *s = &t->server[i];
    s->config.place = s->stored.dims.x != 0 ? &s->stored : NULL;
    ck_assert_int_eq(boot_open(&s->boot, &s->config, t->now), 0);
    send_all(t, i, boot_tick(s->boot, t->now));
}

void town_start_all(struct town *t)
{
    for (uint32_t i = 0; i < t->yard->g.count; i++) {
        town_start(t, i);
    }
}

void town_stop(struct town *t, uint32_t i)
{
    boot_close(t->server[i].boot);
    t->server[i].boot = NULL;
}

void town_replace(struct town *t, uint32_t i)
{
    town_stop(t, i);
    t->server[i].config.id = rng_next(&t->chance) | 1;
    t->server[i].stored = (struct boot_place){0};
    t->server[i].agreed = 0;
}

/* As a daemon does. */
static void after(struct town *t, uint32_t i, cw_links links)
{
    struct town_server *s = &t->server[i];
    if (boot_state(s->boot) == BOOT_AGREED && s->stored.dims.x == 0) {
        s->stored = *boot_place(s->boot);
        s->agreed++;
        links |= boot_stored(s->boot, t->now);
    }
    if (boot_state(s->boot) == BOOT_AGREED && memcmp(&s->stored, boot_place(s->boot), sizeof s->stored) != 0) {
        ck_abort_msg("a place has changed");
    }
    send_all(t, i, links);
}

/* One turn: what is due first, a frame or a wake of a server. False when nothing is before end. */
static bool step(struct town *t, cw_time end)
{
    uint32_t who = t->first[1];
    bool due = cw_time_before(t->wake[who], end);
    cw_time wake = due ? t->wake[who] : end;
    while (t->frames > 0 && !cw_time_before(wake, t->heap[0].at)) {
        struct town_frame f = heap_pop(t);
        t->now = cw_time_max(t->now, f.at);
        if (t->server[f.to.server].boot != NULL) {
            after(t, f.to.server, boot_rx(t->server[f.to.server].boot, f.to.port, f.bytes, f.length, t->now));
            note_wake(t, f.to.server);
        }
        free(f.bytes);
        if (t->frames > 0 && cw_time_before(t->wake[f.to.server], wake)) {
            return true;
        }
    }
    if (!due) {
        t->now = end;
        return false;
    }
    t->now = cw_time_max(t->now, wake);
    after(t, who, boot_tick(t->server[who].boot, t->now));
    note_wake(t, who);
    return true;
}

void town_run(struct town *t, cw_span span)
{
    cw_time end = cw_time_add(t->now, span);
    for (uint32_t i = 0; i < t->yard->g.count; i++) {
        note_wake(t, i); /* a test may have started, stopped or told servers meanwhile */
    }
    while (step(t, end)) {
    }
}

uint32_t town_count(const struct town *t, enum boot_state state)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < t->yard->g.count; i++) {
        count += t->server[i].boot != NULL && boot_state(t->server[i].boot) == state;
    }
    return count;
}

uint32_t town_run_until_agreed(struct town *t, cw_span span)
{
    cw_time end = cw_time_add(t->now, span);
    for (;;) {
        uint32_t on = 0;
        for (uint32_t i = 0; i < t->yard->g.count; i++) {
            on += t->server[i].boot != NULL;
        }
        uint32_t agreed = town_count(t, BOOT_AGREED);
        if (agreed == on || !cw_time_before(t->now, end)) {
            return agreed;
        }
        town_run(t, CW_MS(50));
    }
}

void town_check(const struct town *t)
{
    const struct graph *g = &t->yard->g;
    for (uint32_t i = 0; i < g->count; i++) {
        const struct boot_place *here = &t->server[i].stored;
        for (unsigned port = 0; port < CW_LINK_COUNT && here->dims.x != 0; port++) {
            struct graph_end far = graph_far(g, i, port);
            if (far.server == GRAPH_NONE || t->server[far.server].stored.dims.x == 0) {
                continue;
            }
            const struct boot_place *there = &t->server[far.server].stored;
            if (!dims_equal(here->dims, there->dims) || there->direction[far.port] != (here->direction[port] ^ 1) ||
                !coord_equal(coord_step(here->dims, here->self, here->direction[port]), there->self)) {
                ck_abort_msg("servers %u and %u do not fit", i, far.server);
            }
        }
        for (uint32_t j = 0; j < i && here->dims.x != 0 && g->count <= 512; j++) {
            const struct boot_place *other = &t->server[j].stored;
            if (other->dims.x != 0 && coord_equal(here->self, other->self)) {
                ck_abort_msg("servers %u and %u have one place", i, j);
            }
        }
    }
}
