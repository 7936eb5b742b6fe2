/* SPDX-License-Identifier: Apache-2.0 */
#include "base/check.h"
#include "boot/boot_internal.h"
#include "boot/survey.h"
#include "wire/frame.h"
#include "wire/packet.h"

#include <string.h>

bool boot_owns(const uint8_t *frame, uint32_t length)
{
    uint32_t at = FRAME_HEAD_BYTES;
    if (length < FRAME_HEAD_BYTES || frame[FRAME_AT_VERSION] >> 4 != WIRE_VERSION_NOW) {
        return false;
    }
    at += (frame[FRAME_AT_VERSION] & FRAME_TAGGED) != 0 ? FRAME_TAG_BYTES : 0;
    return length >= at + CONTROL_HEAD_BYTES && (frame[at] & 0xf) == PACKET_CONTROL && frame[at + 1] >= CONTROL_PROBE &&
           frame[at + 1] <= CONTROL_CABLING_ACK;
}

void boot_lose(struct boot *b, unsigned port)
{
    struct boot_port *p = &b->port[port];
    p->heard = p->both_ways = false;
    p->strange = 0;
    p->acks = 0;
    p->resend_due = CW_NEVER;
    atlas_owe_none(&b->atlas, port);
}

/* 0 when the probe is that of a neighbour in this torus; otherwise the kind of fault. */
static uint8_t strangeness(const struct boot *b, const struct probe *probe)
{
    if (probe->cluster != b->config.cluster) {
        return BOOT_FAULT_CLUSTER;
    }
    if (probe->id != b->config.id) {
        bool no_part = (probe->flags & PROBE_PLACED) != 0 && probe->label == PROBE_UNLABELLED;
        return no_part ? BOOT_FAULT_WRONG_PLACE : 0;
    }
    return probe->session == b->port[probe->port].session ? BOOT_FAULT_LOOP : BOOT_FAULT_SAME_ID;
}

/*
 * True when the cable goes elsewhere now, or when something else is wrong with it. What the neighbour says of its own
 * place does not matter here: its advert has that.
 */
static bool differs(const struct boot_port *before, const struct boot_port *now)
{
    return before->heard != now->heard || before->both_ways != now->both_ways || before->strange != now->strange ||
           before->far.id != now->far.id || before->far.port != now->far.port ||
           ((before->far.flags ^ now->far.flags) & PROBE_TAKEN) != 0;
}

static void take_probe(struct boot *b, unsigned port, const struct probe *probe, cw_time now)
{
    struct boot_port *p = &b->port[port];
    bool was_fed = p->heard && boot_port_is_fed(b, port);
    bool fresh = !p->heard || p->far.session != probe->session || p->far.id != probe->id;
    struct boot_port before = {.heard = p->heard, .both_ways = p->both_ways, .strange = p->strange, .far = p->far};
    if (fresh) {
        boot_lose(b, port);
        was_fed = false;
        p->probe_now = p->carrier;
    }
    p->heard = true;
    p->heard_at = now;
    p->far = *probe;
    p->strange = strangeness(b, probe);
    p->both_ways = probe->heard == p->session;
    if (differs(&before, p)) {
        b->advert_stale = true;
        if (!b->placed) {
            boot_graph_changed(b, now);
        }
    }
    bool fed = boot_port_is_fed(b, port);
    if (fed && !was_fed) {
        atlas_owe_all(&b->atlas, port);
    } else if (!fed && was_fed) {
        atlas_owe_none(&b->atlas, port);
    }
}

/* True when the server has taken the place that our solution gives it, which changes nothing here. */
static bool took_its_place(const struct boot *b, const struct cabling *held, const struct cabling *advert)
{
    uint32_t i = b->digest != 0 ? boot_survey_find(&b->graph, advert->id) : GRAPH_NONE;
    if (advert->flags != CABLING_PLACED || i == GRAPH_NONE || !dims_equal(advert->dims, b->solution.dims) ||
        !coord_equal(advert->at, b->solution.spot[i].at)) {
        return false;
    }
    for (unsigned port = 0; port < CW_LINK_COUNT; port++) {
        unsigned direction = b->solution.spot[i].direction[port];
        bool same = held->port[port].far_id == advert->port[port].far_id &&
                    held->port[port].far_port == advert->port[port].far_port;
        if (!same ||
            (direction < CW_LINK_COUNT && advert->port[port].far_id != 0 && advert->port[port].label != direction)) {
            return false;
        }
    }
    return true;
}

static void take_advert(struct boot *b, unsigned port, const struct cabling *advert, cw_time now)
{
    struct boot_port *p = &b->port[port];
    if (p->acks < BOOT_ACKS_MAX) { /* otherwise the advert comes again, and is acknowledged then */
        p->ack[p->acks++] = (struct cabling_ack){advert->id, advert->version};
    }
    if (advert->id == b->config.id) { /* ours, of a former life: our next version must be newer */
        bool same = advert->version == b->advert.version && boot_same_advert(advert, &b->advert) &&
                    advert->solution == b->advert.solution;
        if (advert->version >= b->advert.version && advert->version < UINT32_MAX && !same) {
            b->advert.version = advert->version;
            b->advert_stale = true;
        }
        return;
    }
    if (b->placed) {
        return;
    }
    cw_links owed = 0;
    for (unsigned other = 0; other < CW_LINK_COUNT; other++) {
        owed |= (cw_links)((other != port && boot_port_is_fed(b, other)) << other);
    }
    struct cabling held;
    int rc = atlas_put(&b->atlas, advert, owed, &held);
    if (rc == 0 &&
        (held.version > advert->version || !boot_same_advert(&held, advert) || held.solution != advert->solution)) {
        /* That server has restarted. Sending it its old advert makes its next version newer. */
        atlas_owe(&b->atlas, atlas_find(&b->atlas, advert->id), port);
    }
    if (rc != 1) {
        return;
    }
    b->recount = true;
    if (!boot_same_advert(&held, advert) && !took_its_place(b, &held, advert)) {
        boot_graph_changed(b, now);
    }
}

static bool is_of_the_neighbour(const struct boot_port *p, const struct cabling_list *list)
{
    return p->heard && p->strange == 0 && list->session == p->far.session && list->heard == p->session;
}

/* False when the packet does not have the right format. */
static bool take_packet(struct boot *b, unsigned port, const uint8_t *bytes, size_t size, cw_time now)
{
    struct control_head head;
    struct cabling_list list;
    if (control_decode(bytes, size, &head) != WIRE_OK) {
        return false;
    }
    if (head.type == CONTROL_PROBE) {
        struct probe probe;
        if (probe_decode(bytes, size, &probe) != WIRE_OK) {
            return false;
        }
        take_probe(b, port, &probe, now);
        return true;
    }
    if (head.type == CONTROL_CABLING && cabling_decode(bytes, size, &list) == WIRE_OK) {
        for (uint32_t i = 0; i < list.count && is_of_the_neighbour(&b->port[port], &list); i++) {
            struct cabling advert = cabling_get(&list, i);
            take_advert(b, port, &advert, now);
        }
        return true;
    }
    if (head.type == CONTROL_CABLING_ACK && cabling_ack_decode(bytes, size, &list) == WIRE_OK) {
        for (uint32_t i = 0; i < list.count && is_of_the_neighbour(&b->port[port], &list); i++) {
            struct cabling_ack ack = cabling_ack_get(&list, i);
            atlas_acked(&b->atlas, port, ack.id, ack.version);
        }
        return true;
    }
    return false;
}

cw_links boot_rx(struct boot *b, unsigned port, const uint8_t *frame, uint32_t length, cw_time now)
{
    CHECK(port < CW_LINK_COUNT);
    struct frame_head head;
    struct frame_walk walk;
    struct frame_slice slice;
    if (frame_decode(frame, length, &head, &walk) != WIRE_OK || (head.flags & FRAME_RELAYED)) {
        b->refused_frames++;
        return boot_links(b, now);
    }
    bool good = true;
    while (b->config.port[port] != BOOT_ABSENT && frame_next(frame, &walk, &slice)) {
        good = take_packet(b, port, frame + slice.at, slice.size, now) && good;
    }
    if (!good) {
        b->refused_frames++;
    }
    boot_announce(b, now);
    return boot_links(b, now);
}

cw_links boot_carrier(struct boot *b, unsigned port, bool up, cw_time now)
{
    CHECK(port < CW_LINK_COUNT);
    struct boot_port *p = &b->port[port];
    up = up && b->config.port[port] != BOOT_ABSENT;
    if (up != p->carrier) {
        p->carrier = up;
        p->probe_due = now;
        p->probe_now = up;
        if (p->heard) {
            boot_lose(b, port);
            b->advert_stale = true;
            if (!b->placed) {
                boot_graph_changed(b, now);
            }
        }
    }
    boot_announce(b, now);
    return boot_links(b, now);
}
