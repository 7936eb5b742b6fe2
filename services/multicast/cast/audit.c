/* SPDX-License-Identifier: Apache-2.0 */
#include "services/multicast/cast/audit.h"

#include "base/check.h"

#include <stdio.h>
#include <string.h>

enum { WHO = 96 };

/* "server 3, message 8000000000000001 of server 0" */
static const char *who(char text[static WHO], const struct cast_session *c)
{
    snprintf(text, WHO, "server %u, message %016llx of server %u", (unsigned)c->self, (unsigned long long)c->number,
             (unsigned)c->origin);
    return text;
}
#define WHO_OF(c) who((char[WHO]){0}, c)

static uint32_t bits_in(const uint8_t *bits, uint32_t pieces)
{
    uint32_t sum = 0, bytes = pieces / 8 + 1, i = 0;
    for (uint64_t word; i + sizeof word <= bytes; i += (uint32_t)sizeof word) {
        memcpy(&word, bits + i, sizeof word);
        sum += (uint32_t)__builtin_popcountll(word);
    }
    for (; i < bytes; i++) {
        sum += (uint32_t)__builtin_popcount(bits[i]);
    }
    return sum;
}

static void audit_receiver(const struct cast_session *c)
{
    const struct cast_receiver *r = &c->in.receiver;
    CHECK_RULE(r->here <= r->count, "multicast A2: pieces of this session are among those that are here", WHO_OF(c));
    if (r->got != NULL) {
        CHECK_RULE(r->count == bits_in(r->got, r->cut.pieces), "multicast A2: a receiver counts its pieces right",
                   WHO_OF(c));
        CHECK_RULE(r->state == CAST_RECEIVING || r->status != 0 || r->count == r->cut.pieces,
                   "multicast A2: a message that ended well is complete", WHO_OF(c));
    }
}

static void audit_source(const struct cast_session *c)
{
    const struct cast_sending *o = &c->out;
    CHECK_RULE(o->stripe.left == bits_in(o->stripe.want, o->stripe.pieces),
               "multicast A3: the source counts right what is still to be assigned", WHO_OF(c));
    CHECK_RULE(o->made_count == bits_in(o->made, c->cut.pieces), "multicast A3: the source counts right what it read",
               WHO_OF(c));
    for (unsigned tree = 0; tree < CW_LINK_COUNT; tree++) {
        const struct cast_lane *lane = &o->stripe.lane[tree];
        CHECK_RULE(lane->base <= lane->next && lane->next - lane->base <= CAST_SPREAD,
                   "multicast A3: a tree has at most CAST_SPREAD pieces under way", WHO_OF(c));
    }
}

static void audit_members(const struct cast_session *c)
{
    const struct cast_members *b = &c->out.members;
    unsigned waiting = 0;
    for (unsigned i = 0; i < b->count; i++) {
        const struct cast_member *m = &b->member[i];
        waiting += m->state == CAST_WAITING;
        CHECK_RULE(i == 0 || m->server > b->member[i - 1].server, "multicast A6: members ascend", WHO_OF(c));
        CHECK_RULE(m->state != CAST_HAS || m->status == 0, "multicast A6: who has everything has status 0", WHO_OF(c));
        CHECK_RULE(m->state != CAST_LOST || m->status < 0, "multicast A6: who is lost has a reason", WHO_OF(c));
    }
    CHECK_RULE(b->waiting == waiting, "multicast A6: the members that wait are counted right", WHO_OF(c));
}

static void audit_tree(const struct cast_session *c, uint8_t tree)
{
    const struct cast_tree *t = &c->tree[tree];
    for (unsigned half = 0; half < 2; half++) {
        for (uint64_t left = t->ring.have[half]; left != 0; left &= left - 1) {
            uint32_t i = half * 64 + (uint32_t)__builtin_ctzll(left);
            CHECK_RULE(cast_ring_has(&t->ring, t->ring.base + i),
                       "multicast A4: a ring holds each piece that it says it has", WHO_OF(c));
        }
        CHECK_RULE((t->owed[half] & ~t->ring.have[half]) == 0, "multicast A4: what the sink is owed is in the ring",
                   WHO_OF(c));
    }
}

static void audit_edge(const struct cast_session *c, const struct cast_edge *e)
{
    const struct cast_tree *t = &c->tree[e->tree];
    uint32_t end = c->source ? c->out.stripe.lane[e->tree].next : t->ring.base + CAST_WINDOW;
    CHECK_RULE((e->flying[0] & ~e->sent[0]) == 0 && (e->flying[1] & ~e->sent[1]) == 0,
               "multicast A5: what may still come to a child was sent to it", WHO_OF(c));
    uint32_t flies = e->flying[1] != 0   ? 128 - (uint32_t)__builtin_clzll(e->flying[1])
                     : e->flying[0] != 0 ? 64 - (uint32_t)__builtin_clzll(e->flying[0])
                                         : 0; /* the bits up to the highest that is set */
    CHECK_RULE(flies == 0 || e->base + flies <= end,
               "multicast A5: what may still come to a child lies within its parent's window", WHO_OF(c));
    CHECK_RULE((int32_t)(e->order - e->echo) >= 0, "multicast A5: a child has seen no more than was sent to it",
               WHO_OF(c));
}

bool cast_audit_session(const struct cast_session *c)
{
    CHECK_RULE(!c->source || !c->in.accepted, "multicast A7: a session is its source's or a member's", WHO_OF(c));
    CHECK_RULE(c->source || c->ended == (c->in.accepted && c->in.receiver.state == CAST_ENDED),
               "multicast A7: a member's session has ended when its receiver has", WHO_OF(c));
    if (c->in.accepted) {
        audit_receiver(c);
    }
    if (c->source) {
        audit_source(c);
        audit_members(c);
    }
    for (uint8_t tree = 0; tree < CW_LINK_COUNT && !c->source; tree++) {
        audit_tree(c, tree);
    }
    for (unsigned i = 0; i < c->edges; i++) {
        audit_edge(c, &c->edge[i]);
    }
    return true;
}

bool cast_audit_table(const struct cast_session_table *t)
{
    unsigned count = 0;
    for (const struct cast_session *c = t->first; c != NULL; c = c->next) {
        count++;
        CHECK_RULE(c->ticket >= 1 && c->ticket <= t->tickets, "multicast A1: a ticket was given out", WHO_OF(c));
        for (const struct cast_session *other = c->next; other != NULL; other = other->next) {
            CHECK_RULE(other->ticket != c->ticket, "multicast A1: no ticket is given twice", WHO_OF(c));
            CHECK_RULE(other->origin != c->origin || other->number != c->number,
                       "multicast A1: a message has one session", WHO_OF(c));
        }
        (void)cast_audit_session(c);
    }
    CHECK_RULE(count == t->count && count <= CAST_SESSIONS_MOST, "multicast A1: table and count of sessions agree",
               t->first != NULL ? WHO_OF(t->first) : "no message");
    return true;
}
