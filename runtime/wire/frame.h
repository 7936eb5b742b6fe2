/* SPDX-License-Identifier: Apache-2.0 */
/*
 * frame.h - what crosses a cable behind the 14 bytes of the Ethernet header: one head, 1..255 packets, padding.
 *
 *  0  version:4 =2   flags:4          packets:8          session:16
 *  4  link sequence:16                control position:16
 *  8  [counter:64   tag:128]          only with flag FRAME_TAGGED
 *     packets, each with its length:16 at its byte 2; then padding
 *
 * A frame is accepted or refused as a whole: frame_decode() walks over the lengths of all packets, so that frame_next()
 * cannot fail. What the packets say is for packet_decode() and the control decoders. Bytes behind the last packet are
 * padding and are not looked at, because network cards pad with anything. No function here allocates, copies packets or
 * keeps state.
 */
#ifndef WIRE_FRAME_H
#define WIRE_FRAME_H

#include "cubeway/types.h"
#include "wire/limits.h"
#include "wire/reason.h"

/* Where the fields are: for programs that cannot use frame_decode() (XDP), and for tests. */
enum frame_at {
    FRAME_AT_VERSION = 0, /* high half: version; low half: flags */
    FRAME_AT_PACKETS = 1,
    FRAME_AT_SESSION = 2,
    FRAME_AT_SEQUENCE = 4,
    FRAME_AT_POSITION = 6,
    FRAME_AT_COUNTER = 8,
    FRAME_AT_TAG = 16,
};

enum frame_flag {
    FRAME_TAGGED = 0x1,
    /*
     * The kernel of the neighbour passed these data packets on, past its daemon: the frame is no sign that the daemon
     * lives, it carries no control, and its link sequence is 0 and means nothing.
     */
    FRAME_RELAYED = 0x2,
};

struct frame_head {
    uint8_t flags;     /* set of enum frame_flag */
    uint8_t packets;   /* 1..FRAME_PACKETS_MAX */
    uint16_t session;  /* the low bits of the sender's session on this link */
    uint16_t sequence; /* counts the frames that the daemon itself sent on the link; 0 with FRAME_RELAYED */
    uint16_t position; /* the low bits of the number of the last control-stream item sent on the link */
    uint64_t counter;  /* 0 without FRAME_TAGGED */
    uint8_t tag[16];   /* 0 without FRAME_TAGGED */
};

/* A walk over the packets of a frame. */
struct frame_walk {
    uint32_t at;   /* offset of the next packet from the start of the frame head; behind the last: of the padding */
    uint32_t left; /* packets that have not been seen yet */
};

/* One packet of a frame. */
struct frame_slice {
    uint32_t at;   /* offset from the start of the frame head */
    uint32_t size; /* of the packet, CONTROL_HEAD_BYTES..PACKET_BYTES_MAX */
};

/*
 * Reads the head of the frame bytes[0, size), walks over all packets, and sets *walk to the first one. WIRE_OK, or the
 * reason why not; then *head and *walk are untouched. A packet that is shorter than CONTROL_HEAD_BYTES is
 * WIRE_BAD_LENGTH, one that does not end inside the frame is WIRE_TRUNCATED, a frame without packets is WIRE_BAD_VALUE,
 * and one that is relayed and has a link sequence is WIRE_RESERVED.
 */
CW_MUST_CHECK enum wire_reason frame_decode(const uint8_t *bytes, size_t size, struct frame_head *head,
                                            struct frame_walk *walk);

/*
 * Gives the next packet of a frame that frame_decode() accepted, with the same bytes. False when there is none; *slice
 * is then untouched.
 */
bool frame_next(const uint8_t *bytes, struct frame_walk *walk, struct frame_slice *slice);

/*
 * The lane that a frame belongs to. A control frame is one whose first packet is a control packet other than a goodbye:
 * a hello, a stream, or one of the bootstrap's. On Ethernet it has an EtherType of its own. All other frames are data,
 * also those that cannot be understood. Goodbyes are data, because what was sent before a goodbye must be delivered
 * before it. A node never puts control and data into one frame.
 */
enum frame_lane { FRAME_DATA, FRAME_CONTROL };
enum frame_lane frame_lane(const uint8_t *bytes, size_t size);

/* The size of the head alone, in bytes: FRAME_HEAD_BYTES, and FRAME_TAG_BYTES more when it is tagged. */
static inline uint32_t frame_head_bytes(unsigned flags)
{
    return flags & FRAME_TAGGED ? FRAME_HEAD_BYTES + FRAME_TAG_BYTES : FRAME_HEAD_BYTES;
}

/*
 * Writes frame_head_bytes(head->flags) bytes and gives their number. A head with no packet, with an unknown flag, or
 * relayed with a sequence is our own bug (CHECK).
 */
uint32_t frame_encode(const struct frame_head *head, uint8_t *out);

/*
 * A frame that is being filled. The plan only does the arithmetic, so that the pump may copy packets to the offsets
 * that it is given, or send the head and the packets as an iovec without copying:
 *
 *     frame_open(&plan, mtu, flags);
 *     while ((packet = next(link)) != NULL && frame_fits(&plan, packet->size)) {
 *         at = frame_add(&plan, packet->size);
 *         ... copy the packet to buffer + at, or add it to the iovec ...
 *     }
 *     ... a packet that did not fit opens the next frame ...
 *     head.flags = plan.flags;
 *     head.packets = plan.packets;
 *     frame_encode(&head, buffer);
 *     ... send plan.size bytes ...
 *
 * The tag, when there is one, covers the 16 bytes of the head before it and all packets, but not the padding: encode
 * the head with a tag of zeros, compute the tag, then write its 16 bytes at FRAME_AT_TAG.
 */
struct frame_plan {
    uint32_t mtu;    /* bytes that may follow the Ethernet header */
    uint32_t size;   /* bytes so far, the head included */
    uint8_t packets; /* packets so far */
    uint8_t flags;
};

/* Makes *plan an empty frame. mtu must hold the head and the largest packet that will be sent on the link. */
static inline void frame_open(struct frame_plan *plan, uint32_t mtu, unsigned flags)
{
    *plan = (struct frame_plan){.mtu = mtu, .size = frame_head_bytes(flags), .flags = (uint8_t)flags};
}

/* The size of the largest packet that may still be added; 0 when none may. */
static inline uint32_t frame_room(const struct frame_plan *plan)
{
    return plan->packets < FRAME_PACKETS_MAX && plan->size < plan->mtu ? plan->mtu - plan->size : 0;
}

/* True when a packet of that size may be added. */
static inline bool frame_fits(const struct frame_plan *plan, uint32_t packet_size)
{
    return packet_size <= frame_room(plan);
}

/* Adds a packet, which must fit (CHECK), and gives its offset from the start of the frame head. */
uint32_t frame_add(struct frame_plan *plan, uint32_t packet_size);

#endif
