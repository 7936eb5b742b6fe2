/* SPDX-License-Identifier: Apache-2.0 */
#include "base/check.h"
#include "boot/boot_internal.h"
#include "wire/frame.h"

#include <string.h>

/* Adverts wait so long for others, so that one frame carries many; it delays a flood at every hop. */
static const cw_span batch = CW_MS(5);

bool boot_port_waits(const struct boot *b, unsigned port)
{
    const struct boot_port *p = &b->port[port];
    return p->carrier && p->heard && (p->acks > 0 || b->atlas.unsent_count[port] > 0);
}

cw_links boot_links(const struct boot *b, cw_time now)
{
    cw_links links = CW_LINKS_NONE;
    for (unsigned i = 0; i < CW_LINK_COUNT; i++) {
        const struct boot_port *p = &b->port[i];
        bool wants = (p->carrier && p->probe_now) || (boot_port_waits(b, i) && cw_time_due(p->batch_due, now));
        links |= (cw_links)(wants << i);
    }
    return links;
}

/* True when the server that belongs at the other end of this port is alive, but not there. */
static bool is_taken(const struct boot *b, unsigned port)
{
    const struct boot_port *p = &b->port[port];
    unsigned direction = b->place.direction[port];
    if (direction >= CW_LINK_COUNT || b->config.alive == NULL || !p->heard || (p->far.flags & PROBE_PLACED) != 0) {
        return false;
    }
    return b->config.alive(b->config.alive_context, coord_step(b->place.dims, b->place.self, direction));
}

static void put_probe(const struct boot *b, unsigned port, uint8_t *bytes)
{
    const struct boot_port *p = &b->port[port];
    struct probe probe = {
        .session = p->session,
        .cluster = b->config.cluster,
        .heard = p->heard && p->strange == 0 ? p->far.session : 0,
        .id = b->config.id,
        .port = (uint8_t)port,
        .label = b->config.port[port],
    };
    memcpy(probe.name, b->config.name, sizeof probe.name);
    if (b->placed) {
        unsigned direction = b->place.direction[port];
        probe.flags = (uint8_t)(PROBE_PLACED | (is_taken(b, port) ? PROBE_TAKEN : 0));
        probe.dims = b->place.dims;
        probe.at = b->place.self;
        probe.label = direction < CW_LINK_COUNT ? (uint8_t)direction : (uint8_t)PROBE_UNLABELLED;
    }
    probe_encode(&probe, bytes);
}

/* Writes one packet with as many adverts as fit, and gives its size in bytes; 0 when there are none. */
static uint32_t put_adverts(struct boot *b, unsigned port, uint8_t *bytes, uint32_t room)
{
    struct boot_port *p = &b->port[port];
    uint32_t count = 0, index;
    if (room < CABLING_HEAD_BYTES) {
        return 0;
    }
    while (CABLING_HEAD_BYTES + (count + 1) * CABLING_ENTRY_BYTES <= room &&
           (index = atlas_next(&b->atlas, port)) != ATLAS_NONE) {
        cabling_put(&b->atlas.entry[index], bytes, count++);
    }
    return count > 0 ? cabling_finish(p->session, p->far.session, count, bytes) : 0;
}

static uint32_t put_acks(struct boot *b, unsigned port, uint8_t *bytes, uint32_t room)
{
    struct boot_port *p = &b->port[port];
    uint32_t fit = room > CABLING_HEAD_BYTES ? (room - CABLING_HEAD_BYTES) / CABLING_ACK_ENTRY_BYTES : 0;
    uint32_t count = p->acks < fit ? p->acks : fit;
    for (uint32_t i = 0; i < count; i++) {
        cabling_ack_put(&p->ack[i], bytes, i);
    }
    p->acks -= count;
    memmove(p->ack, p->ack + count, p->acks * sizeof *p->ack);
    return count > 0 ? cabling_ack_finish(p->session, p->far.session, count, bytes) : 0;
}

uint32_t boot_tx_pull(struct boot *b, unsigned port, uint8_t *frame, uint32_t room, cw_time now)
{
    CHECK(port < CW_LINK_COUNT && room >= b->config.mtu);
    struct boot_port *p = &b->port[port];
    if ((boot_links(b, now) & 1u << port) == 0) {
        return 0;
    }
    uint32_t at = FRAME_HEAD_BYTES, size;
    uint8_t packets = 0;
    if (p->probe_now) {
        put_probe(b, port, frame + at);
        at += PROBE_BYTES;
        packets++;
        p->probe_now = false;
    }
    if (p->heard && (size = put_acks(b, port, frame + at, b->config.mtu - at)) > 0) {
        at += size;
        packets++;
    }
    if (p->heard && (size = put_adverts(b, port, frame + at, b->config.mtu - at)) > 0) {
        at += size;
        packets++;
        p->resend_due = cw_time_add(now, b->config.timers.resend);
    }
    if (!boot_port_waits(b, port)) {
        p->batch_due = cw_time_add(now, batch);
    }
    struct frame_head head = {.packets = packets, .session = (uint16_t)p->session, .sequence = p->sequence++};
    frame_encode(&head, frame);
    return at;
}
