/* SPDX-License-Identifier: Apache-2.0 */
#include "services/multicast/cast/edge.h"

#include "services/multicast/cast/mutant.h"

/*
 * The least and the most time until a probe. A probe that leaves too early costs one small packet, so the least is what
 * a busy server may need to answer, not what a wire does.
 */
static const cw_span alarm_least = CW_MS(1);
static const cw_span alarm_most = CW_MS(250);
/* After so many probes without an answer, a child that began anew, and numbers its answers anew, is believed. */
static const unsigned tries_before_anew = 5;

static cw_span alarm_after(const struct cast_edge *e)
{
    int64_t ns = alarm_least.ns + e->rtt.ns + 4 * e->rtt_varies.ns;
    for (unsigned i = 0; i < e->tries && ns < alarm_most.ns; i++) {
        ns *= 2;
    }
    return (cw_span){ns < alarm_most.ns ? ns : alarm_most.ns};
}

void cast_edge_init(struct cast_edge *e, uint32_t id, uint32_t base, cw_time now)
{
    *e = (struct cast_edge){
        .id = id, .base = base, .length = CAST_OPEN_ENDED, .alarm = now, .mark = base, .mark_at = now};
}

/* ---- What is sent ------------------------------------------------------------------------------------------------ */

/* The parent's bits, from the child's base on. */
static void bits_of(const struct cast_holding *mine, uint32_t base, uint64_t bits[2])
{
    bits[0] = mine->have[0];
    bits[1] = mine->have[1];
    if (mine->base <= base) {
        cast_bits_down(bits, base - mine->base);
        return;
    }
    uint64_t below[2], gone[2];
    uint32_t up = mine->base - base;
    cast_bits_up(bits, up);
    cast_bits_first(below, up < CAST_WINDOW ? up : CAST_WINDOW);
    uint32_t lost = mine->oldest > base ? mine->oldest - base : 0;
    cast_bits_first(gone, lost < CAST_WINDOW ? lost : CAST_WINDOW);
    bits[0] |= below[0] & ~gone[0];
    bits[1] |= below[1] & ~gone[1];
}

bool cast_edge_next(const struct cast_edge *e, const struct cast_holding *mine, uint32_t *index)
{
    if (!e->heard) {
        return false;
    }
    uint64_t bits[2];
    bits_of(mine, e->base, bits);
    bits[0] &= ~(e->have[0] | e->flying[0]);
    bits[1] &= ~(e->have[1] | e->flying[1]);
    uint32_t at = cast_bits_lowest(bits);
    *index = e->base + at;
    return at < CAST_WINDOW;
}

static void time_it(struct cast_edge *e, cw_time now)
{
    if (e->timed == 0) {
        e->timed = e->order;
        e->timed_at = now;
    }
}

uint32_t cast_edge_sent(struct cast_edge *e, uint32_t index, cw_time now)
{
    uint32_t at = index - e->base;
    e->order++;
    if (at < CAST_WINDOW) {
        e->repeated += cast_bits_has(e->sent, at);
        cast_bits_add(e->sent, at);
        cast_bits_add(e->flying, at);
        e->sent_order[index % CAST_WINDOW] = e->order;
    }
    time_it(e, now);
    /* What leaves after a long pause is not to wait for the alarm of the pause. */
    cw_time soon = cw_time_add(now, (cw_span){alarm_least.ns + e->rtt.ns + 4 * e->rtt_varies.ns});
    e->alarm = cw_time_before(soon, e->alarm) ? soon : e->alarm;
    return e->order;
}

/* ---- What is heard ----------------------------------------------------------------------------------------------- */

bool cast_edge_due(const struct cast_edge *e, cw_time now)
{
    return !cast_edge_complete(e) && !cw_time_before(now, e->alarm);
}

uint32_t cast_edge_probed(struct cast_edge *e, cw_time now)
{
    e->order += CAST_LATE;
    e->ending = false;
    e->probes++;
    e->alarm = cw_time_add(now, alarm_after(e));
    e->tries += e->tries < 16;
    if (e->tries > tries_before_anew) {
        e->serial = 0;
    }
    e->timed = 0; /* it may have been lost */
    time_it(e, now);
    return e->order;
}

/* A smoothed round trip and how much it varies, as TCP has them (RFC 6298). */
static void measure(struct cast_edge *e, cw_time now)
{
    if (e->timed == 0 || (int32_t)(e->echo - e->timed) < 0) {
        return;
    }
    int64_t took = cw_time_since(now, e->timed_at).ns, off = took - e->rtt.ns;
    if (e->rtt.ns == 0) {
        e->rtt.ns = took;
        e->rtt_varies.ns = took / 2;
    } else {
        e->rtt_varies.ns += ((off < 0 ? -off : off) - e->rtt_varies.ns) / 4;
        e->rtt.ns += off / 8;
    }
    e->timed = 0;
}

static void shift(struct cast_edge *e, uint32_t base)
{
    if (base >= e->base) {
        cast_bits_down(e->flying, base - e->base);
        cast_bits_down(e->sent, base - e->base);
    } else {
        cast_bits_up(e->flying, e->base - base);
        cast_bits_up(e->sent, e->base - base);
    }
    e->base = base;
}

/* What the child has flies no more, nor what should have come before something that did. */
static void land(struct cast_edge *e)
{
    for (unsigned word = 0; word < 2; word++) {
        e->flying[word] &= ~e->have[word];
        for (uint64_t left = e->flying[word]; left != 0; left &= left - 1) {
            uint32_t at = word * 64 + (uint32_t)__builtin_ctzll(left);
            if ((int32_t)(e->echo - e->sent_order[(e->base + at) % CAST_WINDOW]) >= CAST_LATE &&
                !CAST_MUTANT(NO_REPEAT)) {
                e->flying[word] &= ~(left & -left);
            }
        }
    }
}

bool cast_edge_acked(struct cast_edge *e, const struct cast_head *ack, cw_time now)
{
    if (ack->edge != e->id || ack->serial < e->serial || ack->index > e->length ||
        (int32_t)(e->order - ack->order) < 0) {
        return false;
    }
    e->heard = true;
    e->serial = ack->serial;
    e->knows = CAST_MUTANT(KEEPS_ALL) ? e->length : ack->length;
    shift(e, ack->index);
    e->have[0] = ack->have[0];
    e->have[1] = ack->have[1];
    e->echo = (int32_t)(ack->order - e->echo) > 0 ? ack->order : e->echo;
    land(e);
    measure(e, now);
    e->tries = 0;
    if (!e->ending || e->knows == e->length) {
        e->ending = false;
        e->alarm = cw_time_add(now, alarm_after(e));
    }
    return true;
}

void cast_edge_ends(struct cast_edge *e, uint32_t length, cw_time now)
{
    if (e->length != length) {
        e->length = length;
        e->alarm = now;
        e->ending = true;
    }
}

bool cast_edge_watch(struct cast_edge *e, uint32_t whole, cw_span patience, cw_time now)
{
    uint32_t moved = e->base - e->mark;
    if (e->out || (e->heard && e->base >= whole) || (e->heard && moved >= CAST_PACE)) {
        e->mark = e->base; /* also when the base went back */
        e->mark_at = now;
        return false;
    }
    if (cw_time_since(now, e->mark_at).ns < patience.ns + patience.ns / 8 * e->height) {
        return false;
    }
    e->out = true;
    return true;
}
