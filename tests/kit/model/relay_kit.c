/* SPDX-License-Identifier: Apache-2.0 */
#include "relay_kit.h"

#include "base/bytes.h"

#include <string.h>

/* --- drawing ------------------------------------------------------------------------------------------------------ */

static bool one_in(struct dice *d, unsigned n)
{
    return dice_below(d, n) == 0;
}

/* Most of the six links. */
static uint32_t draw_links(struct dice *d)
{
    uint32_t less = one_in(d, 4) ? (uint32_t)dice_word(d) & 0x3f : 0;
    return 0x3f & ~less;
}

static uint64_t draw_instant(struct dice *d, uint64_t now)
{
    return now - RELAY_KIT_FAR + dice_below(d, 3) * RELAY_KIT_FAR;
}

static void draw_view(struct dice *d, struct relay_view *view)
{
    for (unsigned axis = 0; axis < 3; axis++) {
        view->dims[axis] = 1 + dice_below(d, 16);
    }
    view->servers = view->dims[0] * view->dims[1] * view->dims[2];
    view->in = draw_links(d);
    view->out = draw_links(d);
    for (unsigned i = 0; i < RELAY_LINKS; i++) {
        uint64_t word = dice_word(d), more = dice_word(d);
        view->link[i] = (struct relay_link){
            .ifindex = 1 + i,
            .session = (uint16_t)word,
            .peer = (uint16_t)(word >> 16),
            .top = (uint16_t)(word >> 32),
            .received = (uint16_t)(word >> 48),
            .mtu = one_in(d, 8) ? (uint16_t)(100 + dice_below(d, 300)) : 9000,
            .mac = {(uint32_t)more, (uint32_t)(more >> 32), (uint32_t)more ^ 0x55aa},
        };
    }
    for (unsigned i = 0; i < view->servers; i++) {
        uint64_t word = dice_word(d);
        view->way[i] = (uint8_t)((word & 0x3f) | ((word >> 8) % 8 != 0 ? RELAY_WAY_HOME : 0));
        view->way[i] = (uint8_t)((word >> 16) % 16 == 0 ? view->way[i] & RELAY_WAY_HOME : view->way[i]);
    }
}

static uint32_t draw_job(struct dice *d)
{
    return one_in(d, 2) ? 1 + dice_below(d, 40) : 1000 + dice_below(d, 60);
}

static void draw_jobs(struct dice *d, struct relay_state *state)
{
    for (unsigned i = 0; i < 60; i++) {
        uint32_t job = draw_job(d), at = relay_job_at(job) + dice_below(d, RELAY_JOB_TRIES);
        uint32_t place = one_in(d, 8) ? RELAY_UP : 1 + dice_below(d, RELAY_PLACES - 1);
        state->job[at % RELAY_JOBS] = relay_job_entry(job, place);
    }
    state->others_up = one_in(d, 4);
}

void relay_kit_state(struct dice *d, struct relay_state *state, uint64_t now)
{
    memset(state, 0, sizeof *state);
    state->gen = dice_below(d, 1000);
    state->live = draw_links(d);
    state->lease = one_in(d, 16) ? now - RELAY_KIT_FAR : now + RELAY_KIT_FAR;
    state->waits = one_in(d, 2) ? 0 : 0x3f & (uint32_t)dice_word(d);
    state->tapped = one_in(d, 4) ? 1u << dice_below(d, 6) : 0;
    state->ethertype = one_in(d, 16) ? 0x9000 : WIRE_ETHERTYPE;
    for (unsigned i = 0; i < RELAY_LINKS; i++) {
        struct relay_queue *queue = &state->queue[i];
        queue->handed = dice_below(d, 100);
        queue->taken = queue->handed - one_in(d, 6);
        queue->sent_until = draw_instant(d, now);
        queue->relayed_until = draw_instant(d, now);
        queue->ns_per_kib = one_in(d, 2) ? 0 : 1 + dice_below(d, 200000);
        queue->slack = dice_below(d, 4) * RELAY_KIT_FAR - RELAY_KIT_FAR / 2;
        queue->slack = (int64_t)queue->slack < 0 ? 0 : queue->slack;
    }
    draw_jobs(d, state);
    draw_view(d, &state->view[0]);
    draw_view(d, &state->view[1]);
}

/* A frame that qualifies as far as its own bytes and the link that it came by say. */
static void draw_good(struct dice *d, const struct relay_view *view, struct relay_kit_frame *frame)
{
    uint8_t *head = frame->bytes + RELAY_AT_FRAME, *packet = frame->bytes + RELAY_AT_PACKET;
    const struct relay_link *link = &view->link[frame->in];
    uint32_t length = PACKET_HEAD_BYTES + dice_below(d, 200);
    bool key = one_in(d, 2), relayed = one_in(d, 2);
    uint64_t word = dice_word(d);
    frame->size = frame->here = RELAY_AT_PACKET + length + (one_in(d, 2) ? 0 : dice_below(d, 30));
    put_be16(frame->bytes + RELAY_AT_ETHERTYPE, WIRE_ETHERTYPE);
    head[FRAME_AT_VERSION] = (uint8_t)(WIRE_VERSION_NOW << 4 | (relayed ? FRAME_RELAYED : 0));
    head[FRAME_AT_PACKETS] = 1;
    put_be16(head + FRAME_AT_SESSION, link->peer);
    put_be16(head + FRAME_AT_SEQUENCE, relayed ? 0 : (uint16_t)word);
    put_be16(head + FRAME_AT_POSITION, (uint16_t)(link->received - dice_below(d, 3)));
    packet[PACKET_AT_KIND] = (uint8_t)(WIRE_VERSION_NOW << 4 | (key ? PACKET_KEY : PACKET_SERVER));
    packet[PACKET_AT_FLAGS] = (uint8_t)(word >> 16 & ~(uint64_t)PACKET_FLAGS_HOP);
    put_be16(packet + PACKET_AT_LENGTH, (uint16_t)length);
    packet[PACKET_AT_HOP_LIMIT] = (uint8_t)(1 + dice_below(d, 200));
    packet[PACKET_AT_HOPS] = (uint8_t)dice_below(d, 256u - packet[PACKET_AT_HOP_LIMIT]);
    put_be32(packet + PACKET_AT_JOB, draw_job(d));
    for (unsigned axis = 0; axis < 3; axis++) {
        packet[PACKET_AT_SOURCE + axis] = (uint8_t)dice_below(d, view->dims[axis]);
        if (!key) {
            packet[PACKET_AT_DESTINATION + axis] = (uint8_t)dice_below(d, view->dims[axis]);
        }
    }
}

/* Changes something that may make the frame one that does not qualify. */
static void draw_fault(struct dice *d, const struct relay_view *view, struct relay_kit_frame *frame)
{
    uint8_t *head = frame->bytes + RELAY_AT_FRAME, *packet = frame->bytes + RELAY_AT_PACKET;
    unsigned axis = dice_below(d, 3);
    switch (dice_below(d, 14)) {
    case 0:
        frame->here = dice_below(d, RELAY_HEADS_BYTES + 2);
        frame->here = frame->here < frame->size ? frame->here : frame->size;
        break;
    case 1:
        put_be16(frame->bytes + RELAY_AT_ETHERTYPE, 0x9000);
        break;
    case 2:
        head[FRAME_AT_VERSION] ^= (uint8_t)(1u << dice_below(d, 8));
        break;
    case 3:
        head[FRAME_AT_PACKETS] = (uint8_t)dice_below(d, 4);
        break;
    case 4:
        packet[PACKET_AT_KIND] ^= (uint8_t)(1u << dice_below(d, 8));
        break;
    case 5:
        packet[PACKET_AT_FLAGS] ^= (uint8_t)(1u << dice_below(d, 8));
        break;
    case 6:
        put_be16(packet + PACKET_AT_LENGTH, (uint16_t)dice_below(d, one_in(d, 2) ? 64 : 400));
        break;
    case 7:
        packet[PACKET_AT_SOURCE + axis] = (uint8_t)(view->dims[axis] + dice_below(d, 2));
        break;
    case 8:
        packet[PACKET_AT_DESTINATION + axis] = (uint8_t)(view->dims[axis] + dice_below(d, 200));
        break;
    case 9:
        packet[PACKET_AT_HOP_LIMIT] = (uint8_t)(one_in(d, 2) ? 0 : 255 - packet[PACKET_AT_HOPS] + dice_below(d, 2));
        break;
    case 10:
        put_be16(head + FRAME_AT_SESSION, (uint16_t)(get_be16(head + FRAME_AT_SESSION) ^ 1u << dice_below(d, 16)));
        break;
    case 11:
        put_be16(head + FRAME_AT_POSITION, (uint16_t)(view->link[frame->in].received + dice_below(d, 3)));
        break;
    case 12:
        put_be16(head + FRAME_AT_POSITION, (uint16_t)(view->link[frame->in].received + 0x7ffe + dice_below(d, 4)));
        break;
    default:
        put_be32(packet + PACKET_AT_JOB, one_in(d, 2) ? 0 : (uint32_t)dice_word(d));
        break;
    }
}

void relay_kit_frame(struct dice *d, const struct relay_state *state, struct relay_kit_frame *frame)
{
    const struct relay_view *view = &state->view[state->gen & 1];
    memset(frame, 0, sizeof *frame);
    for (unsigned i = 0; i < RELAY_KIT_FRAME; i += 8) {
        put_be64(frame->bytes + i, dice_word(d));
    }
    frame->in = dice_below(d, CW_LINK_COUNT);
    draw_good(d, view, frame);
    if (one_in(d, 3)) {
        draw_fault(d, view, frame);
    }
}

/* --- the reference ------------------------------------------------------------------------------------------------ */

static uint32_t reference_place(const struct relay_state *s, uint32_t job)
{
    for (unsigned k = 0; k < 4 && job != 0; k++) {
        uint64_t entry = s->job[(relay_job_at(job) + k) % 128];
        if (entry >> 32 == job) {
            return (uint32_t)entry;
        }
    }
    return job < 1024 || s->others_up ? RELAY_UP : RELAY_OTHERS;
}

static bool reference_free(const struct relay_state *s, unsigned link, uint64_t now)
{
    const struct relay_queue *q = &s->queue[link];
    unsigned __int128 left = (q->sent_until > now ? q->sent_until - now : 0);
    left += q->relayed_until > now ? q->relayed_until - now : 0;
    return !(s->waits & 1u << link) && q->handed == q->taken && (q->ns_per_kib == 0 || left <= q->slack);
}

static enum relay_reason reference(struct relay_state *s, const struct relay_kit_frame *f, uint64_t now,
                                   struct relay_verdict *out)
{
    const uint8_t *e = f->bytes, *h = e + 14, *p = e + 22;
    const struct relay_view *v = &s->view[s->gen % 2];
    if (f->here < 54) {
        return RELAY_SHORT;
    } else if (get_be16(e + 12) != s->ethertype) {
        return RELAY_OTHER;
    } else if ((h[0] != 0x20 && h[0] != 0x22) || h[1] != 1 || (h[0] == 0x22 && get_be16(h + 4) != 0)) {
        return RELAY_SHAPE;
    }
    bool key = p[0] == 0x21;
    unsigned length = get_be16(p + 2);
    if ((!key && p[0] != 0x22) || (p[1] & 0x38) || length < 32 || length + 22 > f->size || p[20] >= v->dims[0] ||
        p[21] >= v->dims[1] || p[22] >= v->dims[2]) {
        return RELAY_KIND;
    } else if (p[4] == 0 || p[4] + p[5] > 255) {
        return RELAY_HOPS;
    } else if (now >= s->lease) {
        return RELAY_LEASE;
    } else if (!(s->live & v->in & ~s->tapped & 1u << f->in)) {
        return RELAY_LINK;
    } else if (get_be16(h + 2) != v->link[f->in].peer) {
        return RELAY_SESSION;
    } else if (position16_before(v->link[f->in].received, get_be16(h + 6))) {
        return RELAY_GATE;
    }
    out->place = reference_place(s, get_be32(p + 8));
    if (out->place == RELAY_UP) {
        return RELAY_JOB;
    }
    unsigned home = (unsigned)((unsigned __int128)get_be64(p + 24) * v->servers >> 64);
    bool inside = p[24] < v->dims[0] && p[25] < v->dims[1] && p[26] < v->dims[2];
    unsigned to = key ? home : (p[24] * v->dims[1] + p[25]) * v->dims[2] + p[26];
    if ((!key && !inside) || (key && !(v->way[to] & 0x40)) || (v->way[to] & 0x3f) == 0) {
        return RELAY_HERE;
    }
    unsigned ways = v->way[to] & 0x3f;
    ways = (ways & ~(1u << f->in)) == 0 ? ways : ways & ~(1u << f->in);
    ways &= v->out & s->live & ~s->tapped;
    uint32_t flow = get_be24(p + 20) ^ get_be32(p + 8) ^ get_be32(p + 24) ^ get_be32(p + 28);
    unsigned first = (flow * 0x9e3779b1u >> 16) * 6 >> 16;
    enum relay_reason reason = RELAY_ROUTE;
    for (unsigned i = first; i < first + 6; i++) {
        bool leads = (ways & 1u << i % 6) && f->size - 14 <= v->link[i % 6].mtu;
        if (leads && reference_free(s, i % 6, now)) {
            out->out = i % 6;
            return RELAY_PASSED;
        }
        out->out = leads && reason == RELAY_ROUTE ? i % 6 : out->out;
        reason = leads ? RELAY_FULL : reason;
    }
    s->queue[out->out].handed += reason == RELAY_FULL;
    return reason;
}

struct relay_verdict relay_kit_judge(struct relay_state *s, struct relay_kit_frame *f, uint64_t now)
{
    struct relay_verdict verdict = {0};
    verdict.reason = reference(s, f, now, &verdict);
    if (verdict.reason != RELAY_PASSED) {
        return verdict;
    }
    const struct relay_link *link = &s->view[s->gen % 2].link[verdict.out];
    struct relay_queue *queue = &s->queue[verdict.out];
    if (queue->ns_per_kib != 0) {
        queue->relayed_until = queue->relayed_until < now ? now : queue->relayed_until;
        queue->relayed_until += (f->size + 24) * queue->ns_per_kib / 1024;
    }
    memcpy(f->bytes, link->mac, 12);
    f->bytes[14] = 0x22;
    put_be16(f->bytes + 16, link->session);
    put_be16(f->bytes + 18, 0);
    put_be16(f->bytes + 20, link->top);
    f->bytes[26]--;
    f->bytes[27]++;
    verdict.ifindex = link->ifindex;
    return verdict;
}
