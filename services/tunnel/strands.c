/* SPDX-License-Identifier: Apache-2.0 */
#include "services/tunnel/strands.h"

#include "services/tunnel/mutant.h"

#include "base/check.h"
#include "base/container.h"

#include <errno.h>
#include <stdlib.h>

/* A strand in its place among all. */
struct thread {
    struct strand strand;
    struct list_node node; /* of strands.open, while anything waits */
    cw_time due;
    cw_server from;
};

struct strands_peer {
    struct lateness lateness;
    struct thread *thread[TUNNEL_STRANDS];
};

int strands_open(struct strands *s, const struct strands_config *config)
{
    *s = (struct strands){.config = *config};
    list_init(&s->open);
    s->peer = calloc(config->servers, sizeof *s->peer);
    return s->peer == NULL ? -ENOMEM : 0;
}

/* ---- What waits -------------------------------------------------------------------------------------------------- */

cw_span strands_wait(const struct strands *s, cw_server from)
{
    CHECK(from < s->config.servers);
    static const struct lateness unknown;
    const struct strands_peer *peer = s->peer[from];
    return lateness_wait(peer == NULL ? &unknown : &peer->lateness, &s->config.bounds);
}

/* Puts the thread where its time is due, or takes it out when nothing waits in it. */
static void arm(struct strands *s, struct thread *t)
{
    if (list_is_linked(&t->node)) {
        list_remove(&t->node);
    }
    if (t->strand.waiting == 0) {
        return;
    }
    t->due = cw_time_add(strand_waits_since(&t->strand), strands_wait(s, t->from));
    struct list_node *before = list_last(&s->open);
    while (before != NULL && cw_time_before(t->due, container_of(before, struct thread, node)->due)) {
        before = list_prev(&s->open, before);
    }
    if (before == NULL) {
        list_push_front(&s->open, &t->node);
    } else {
        list_insert_after(before, &t->node);
    }
}

static void deliver(struct strands *s, cw_server from, void *piece)
{
    s->config.deliver(s->config.context, from, piece);
}

/* Delivers what is in its turn. */
static void drain(struct strands *s, struct thread *t)
{
    size_t had = t->strand.bytes;
    for (void *piece; (piece = strand_pull(&t->strand)) != NULL;) {
        deliver(s, t->from, piece);
    }
    s->held -= had - t->strand.bytes;
}

static void give_up(struct strands *s, struct thread *t)
{
    uint32_t next = t->strand.next;
    strand_skip(&t->strand);
    s->counts.given_up += t->strand.next - next;
    drain(s, t);
}

static void empty(struct strands *s, struct thread *t)
{
    while (t->strand.waiting != 0) {
        give_up(s, t);
    }
    arm(s, t);
}

/* The one with most bytes: there are few in which anything waits. */
static struct thread *fullest(const struct strands *s)
{
    struct thread *most = NULL;
    for (struct list_node *n = list_first(&s->open); n != NULL; n = list_next(&s->open, n)) {
        struct thread *t = container_of(n, struct thread, node);
        most = most == NULL || t->strand.bytes > most->strand.bytes ? t : most;
    }
    return most;
}

static void keep_bounds(struct strands *s, struct thread *t)
{
    while (t->strand.bytes > STRAND_BYTES) {
        give_up(s, t);
    }
    arm(s, t);
    for (struct thread *most; s->held > s->config.memory_most && (most = fullest(s)) != NULL;) {
        give_up(s, most);
        arm(s, most);
    }
}

/* ---- What comes -------------------------------------------------------------------------------------------------- */

static struct thread *thread_of(struct strands *s, cw_server from, uint8_t strand)
{
    CHECK(from < s->config.servers && strand < TUNNEL_STRANDS);
    struct strands_peer *peer = s->peer[from];
    if (peer == NULL) {
        peer = s->peer[from] = calloc(1, sizeof *peer);
    }
    if (peer != NULL && peer->thread[strand] == NULL) {
        struct thread *t = calloc(1, sizeof *t);
        if (t != NULL) {
            t->from = from;
        }
        peer->thread[strand] = t;
    }
    return peer == NULL ? NULL : peer->thread[strand];
}

static void note_late(struct strands *s, struct thread *t, cw_span late, cw_time now)
{
    lateness_note(&s->peer[t->from]->lateness, late, now);
    if (s->config.was_late != NULL) {
        s->config.was_late(s->config.context, late);
    }
}

static void make_room(struct strands *s, struct thread *t, uint32_t number)
{
    while (t->strand.waiting != 0 && number - t->strand.next >= STRAND_WINDOW) {
        give_up(s, t);
    }
    if (number - t->strand.next >= STRAND_WINDOW) {
        uint32_t next = t->strand.next;
        strand_jump(&t->strand, number);
        s->counts.given_up += t->strand.next - next;
    }
    arm(s, t);
}

/* What became of a piece, until it is something that needs no other try. */
static enum strand_fate settle(struct strands *s, struct thread *t, const struct piece_head *head, void *piece,
                               uint32_t bytes, cw_time now, cw_span *late)
{
    for (;;) {
        enum strand_fate fate = strand_take(&t->strand, head->life, head->number, piece, bytes, now, late);
        if (fate == STRAND_AHEAD) {
            make_room(s, t, head->number);
        } else if (fate == STRAND_BORN) {
            empty(s, t);
            strand_renew(&t->strand, head->life);
        } else {
            return fate;
        }
    }
}

void strands_take(struct strands *s, cw_server from, const struct piece_head *head, void *piece, uint32_t bytes,
                  bool one_path, cw_time now)
{
    struct thread *t = thread_of(s, from, head->strand);
    cw_span late;
    if (t == NULL) {
        s->counts.in_order++; /* no memory: as if there were no order to keep */
        deliver(s, from, piece);
        return;
    }
    switch (settle(s, t, head, piece, bytes, now, &late)) {
    case STRAND_FILLS:
        s->counts.filled++;
        note_late(s, t, late, now);
        deliver(s, from, piece);
        drain(s, t);
        arm(s, t);
        return;
    case STRAND_LEAVES:
        s->counts.in_order++;
        deliver(s, from, piece);
        return;
    case STRAND_LATE:
        s->counts.late_after_all++;
        if (late.ns > 0) {
            note_late(s, t, late, now);
        }
        deliver(s, from, piece);
        return;
    case STRAND_FORMER:
        s->counts.former++;
        deliver(s, from, piece);
        return;
    case STRAND_DOUBLE:
        s->counts.doubles++;
        s->config.drop(s->config.context, piece);
        return;
    default:
        break;
    }
    s->counts.waited++;
    s->held += bytes;
    if (one_path || TUNNEL_MUTANT(GIVEN_UP_AT_ONCE)) {
        give_up(s, t);
    }
    keep_bounds(s, t);
}

/* ---- Time -------------------------------------------------------------------------------------------------------- */

cw_time strands_due(const struct strands *s)
{
    struct list_node *first = list_first(&s->open);
    return first == NULL ? CW_NEVER : container_of(first, struct thread, node)->due;
}

void strands_tick(struct strands *s, cw_time now)
{
    while (cw_time_due(strands_due(s), now) && !TUNNEL_MUTANT(NEVER_GIVEN_UP)) {
        struct thread *t = container_of(list_first(&s->open), struct thread, node);
        give_up(s, t);
        arm(s, t);
    }
}

/* The order stays: whoever is due later than that becomes due then. */
void strands_hurry(struct strands *s, cw_time by)
{
    for (struct list_node *n = list_first(&s->open); n != NULL; n = list_next(&s->open, n)) {
        struct thread *t = container_of(n, struct thread, node);
        t->due = cw_time_min(t->due, by);
    }
}

void strands_forget(struct strands *s, cw_server from)
{
    CHECK(from < s->config.servers);
    struct strands_peer *peer = s->peer[from];
    for (unsigned i = 0; peer != NULL && i < TUNNEL_STRANDS; i++) {
        if (peer->thread[i] != NULL) {
            empty(s, peer->thread[i]);
            strand_forget(&peer->thread[i]->strand);
        }
    }
    if (peer != NULL) {
        peer->lateness = (struct lateness){.known = false};
    }
}

static void drop_all(struct strands *s, struct thread *t)
{
    while (t->strand.waiting != 0) {
        strand_skip(&t->strand);
        for (void *piece; (piece = strand_pull(&t->strand)) != NULL;) {
            s->config.drop(s->config.context, piece);
        }
    }
}

void strands_close(struct strands *s)
{
    for (cw_server i = 0; s->peer != NULL && i < s->config.servers; i++) {
        for (unsigned k = 0; s->peer[i] != NULL && k < TUNNEL_STRANDS; k++) {
            if (s->peer[i]->thread[k] != NULL) {
                drop_all(s, s->peer[i]->thread[k]);
                free(s->peer[i]->thread[k]);
            }
        }
        free(s->peer[i]);
    }
    free(s->peer);
    s->peer = NULL;
}
