/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wire.h - one direction of a full-duplex Ethernet link: store and forward, first in, first out.
 *
 *     on the wire      max(64, 14 + frame + 4) + 8 preamble + 12 gap bytes, ps_per_byte each (1 Gb/s: 8,000 exactly)
 *     last bit leaves  start + that;  start = the later of now and when the frame before has left
 *     arrives          last bit + propagation + the far end's delay, rounded up to whole ns; not before the frame
 *                      before has arrived
 *
 * The clock of a wire is in picoseconds so that a backlogged link sends exactly its rate, whatever the rate. The card
 * keeps `ring` frames; the node is pulled when the card has room. With ring 1: when the link is idle.
 *
 * A wire does arithmetic only: it holds no frame. What may go wrong with it is a plain value (struct wire_harm) and is
 * drawn from the wire's own stream.
 */
#ifndef SIMULATOR_WIRE_H
#define SIMULATOR_WIRE_H

#include "base/prng.h"
#include "cubeway/time.h"
#include "cubeway/types.h"
#include "scenario/cluster.h"

enum {
    WIRE_FRAME_LEAST = 64,        /* Ethernet header and check sequence included */
    WIRE_FRAME_EXTRA = 14 + 4,    /* header and check sequence */
    WIRE_GAP = 8 + 12,            /* preamble and gap between frames */
    WIRE_PAYLOAD_LEAST = 64 - 18, /* shorter ones are padded */
    WIRE_HARMED = 1,
    WIRE_DOWN = 2, /* wire.state */
};

/* One direction of a link, in one cache line. Zeroed is an idle wire. Counters are read freely. */
struct wire {
    int64_t room_ns;                /* when the card has room for one frame more */
    int64_t done_ps[WIRE_RING_MAX]; /* a ring: when each of the last frames has left */
    uint64_t bytes;                 /* sent, gaps included */
    uint32_t frames;                /* sent, modulo 2^32; also the place in the ring */
    uint32_t control_frames;        /* those among `frames` that carried no data */
    uint32_t late_ns;               /* from the last frame's leaving to its arrival */
    uint8_t state;                  /* WIRE_HARMED, WIRE_DOWN */
};

/* What became of a frame. */
enum wire_fate {
    WIRE_ARRIVES,
    WIRE_LOST,      /* injected loss */
    WIRE_CORRUPTED, /* injected: bytes change */
    WIRE_CUT,       /* the cable does not work */
    WIRE_FATES,
};
struct wire_flight {
    cw_time arrives;
    cw_time again; /* a duplicate arrives then, right behind it; CW_NEVER: none */
    enum wire_fate fate;
};

uint32_t wire_ps_per_byte(const struct wire_config *c);

/* Bytes of link time that a frame of `size` bytes behind the Ethernet header takes. */
static inline uint32_t wire_bytes(uint32_t size)
{
    uint32_t frame = size + WIRE_FRAME_EXTRA;
    return (frame < WIRE_FRAME_LEAST ? WIRE_FRAME_LEAST : frame) + WIRE_GAP;
}

/* When the card has room for one frame more: an instant not after now means at once. */
static inline cw_time wire_room_at(const struct wire *w)
{
    return (cw_time){w->room_ns};
}

/*
 * A frame of size bytes is given to a wire. Without room in the card it waits, as in the queue of the system before
 * the card: a node is not pulled then, and only a relay sends to such a wire. harm and random are read only when
 * w->state says that the wire is harmed, and may be NULL otherwise.
 */
struct wire_flight wire_send(struct wire *w, const struct wire_config *c, uint32_t ps_per_byte, uint32_t size,
                             cw_time now, const struct wire_harm *harm, struct prng *random);

const char *wire_fate_name(enum wire_fate fate);

#endif
