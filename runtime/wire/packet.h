/* SPDX-License-Identifier: Apache-2.0 */
/*
 * packet.h - the head of a data packet: 32 bytes, then extensions, then payload.
 *
 *  0  version:4 =2   kind:4           flags:8            length:16
 *  4  hop limit:8    hops:8           port:16
 *  8  destination job:32
 * 12  source job:32
 * 16  source process:32
 * 20  source server x:8 y:8 z:8       extension words:8
 * 24  destination:64                  kind key: routing bits; else x:8 y:8 z:8 0:8 process:32
 * 32  extensions, payload
 *
 * packet_decode() is the only way in, and it checks everything, extensions included: whoever has its results may read
 * and change the packet by the functions of this file and of extension.h without another test. There is no unchecked
 * way that would be faster: without extensions it is a dozen loads, as many comparisons and no loop (about 5 ns).
 *
 * A server that forwards a packet changes it in place, by packet_hop() and the ext_ functions. A forwarder that cannot
 * run this code (an XDP program) needs to know: every packet has its length at byte 2; a data packet has its hop limit
 * at byte 4, its destination job at 8 and its destination at 24, whatever extensions it has. Such a forwarder may
 * forward packets whose flags have none of PACKET_FLAGS_HOP by doing what packet_hop() does, and must pass up all
 * others.
 *
 * The functions of this file borrow the bytes for the call and keep nothing; any thread that owns the bytes may call
 * them.
 */
#ifndef WIRE_PACKET_H
#define WIRE_PACKET_H

#include "wire/extension.h"

enum packet_at {
    PACKET_AT_KIND = 0, /* high half: version, low half: kind */
    PACKET_AT_FLAGS = PACKET_AT_KIND + 1,
    PACKET_AT_LENGTH = PACKET_AT_FLAGS + 1,
    PACKET_AT_HOP_LIMIT = PACKET_AT_LENGTH + 2,
    PACKET_AT_HOPS = PACKET_AT_HOP_LIMIT + 1,
    PACKET_AT_PORT = PACKET_AT_HOPS + 1,
    PACKET_AT_JOB = PACKET_AT_PORT + 2,
    PACKET_AT_SOURCE_JOB = PACKET_AT_JOB + 4,
    PACKET_AT_SOURCE_PROCESS = PACKET_AT_SOURCE_JOB + 4,
    PACKET_AT_SOURCE = PACKET_AT_SOURCE_PROCESS + 4,
    PACKET_AT_EXT_WORDS = PACKET_AT_SOURCE + 3,
    PACKET_AT_DESTINATION = PACKET_AT_EXT_WORDS + 1,
    PACKET_AT_EXTENSIONS = PACKET_AT_DESTINATION + 8,
};

enum packet_kind {
    PACKET_KEY = 1,     /* to whoever owns the key */
    PACKET_SERVER = 2,  /* to a process on a server */
    PACKET_LINK = 3,    /* to a process on the neighbour: one hop, not routed */
    PACKET_CONTROL = 4, /* between daemons: not for packet_decode() but for control_decode() */
};

static inline unsigned packet_flag(enum ext_type type)
{
    return 1u << type;
}

enum packet_flags {
    /* The packet waited too long in a queue on its way. Any server may set the flag; none clears it. No extension. */
    PACKET_MARK = 0x80,
    /* Extensions that each server on the way changes or goes by: PATH, TRACE, WAYPOINTS. */
    PACKET_FLAGS_HOP = 1 << EXT_PATH | 1 << EXT_TRACE | 1 << EXT_WAYPOINTS,
};

struct packet_head {
    uint8_t kind;      /* PACKET_KEY, _SERVER, _LINK */
    uint8_t flags;     /* packet_flag() of each extension below EXT_TYPES that the packet has; PACKET_MARK */
    uint16_t length;   /* of the whole packet, in bytes */
    uint8_t hop_limit; /* how many links it may still cross */
    uint8_t hops;      /* how many it has crossed; hop_limit + hops is the budget it began with, 1..255 (LINK: 1) */
    cw_port port;      /* port of the destination job */
    cw_job job;        /* destination job */
    cw_job source_job; /* who sent it: stamped by the sender's NMU */
    cw_process source_process;
    cw_coord source;
    uint8_t ext_words; /* 0..255 */
    union {
        uint64_t key; /* kind key: the 64 routing bits */
        struct {      /* kinds server and link */
            cw_coord server;
            cw_process process;
        };
    } to;
};

/* The offset of each extension from the first byte of the packet; 0 for one that the packet does not have. */
struct packet_exts {
    uint16_t at[EXT_TYPES];
};

/*
 * WIRE_OK when packet_encode() may write this head; otherwise the reason, which is the one that packet_decode() would
 * give for its bytes. For heads that are filled in from what a client says.
 */
CW_MUST_CHECK enum wire_reason packet_judge(const struct packet_head *head);

/*
 * Reads the packet bytes[0, size): size is exactly the packet, as frame_next() gives it. WIRE_OK fills *head and *exts;
 * on any other reason they are untouched. WIRE_BAD_KIND for control packets too.
 */
CW_MUST_CHECK enum wire_reason packet_decode(const uint8_t *bytes, size_t size, struct packet_head *head,
                                             struct packet_exts *exts);

/*
 * Writes PACKET_HEAD_BYTES. A head that packet_judge() refuses is our own bug (CHECK). extension.h writes extensions.
 */
void packet_encode(const struct packet_head *head, uint8_t *out);

/* The kind of a packet of one byte or more, to choose a decoder by: 0..15, which that decoder judges. */
static inline unsigned packet_kind_of(const uint8_t *bytes)
{
    return bytes[PACKET_AT_KIND] & 0xfu;
}

/* How many bytes stand before the payload. */
static inline uint32_t packet_head_bytes(const struct packet_head *head)
{
    return PACKET_HEAD_BYTES + (uint32_t)head->ext_words * EXT_WORD_BYTES;
}

/* The packet's extension of that type; NULL when it has none. O(1). */
static inline uint8_t *packet_ext(uint8_t *packet, const struct packet_exts *exts, enum ext_type type)
{
    return exts->at[type] ? packet + exts->at[type] : NULL;
}

/*
 * Counts one more link, in place: for whoever puts the packet on a cable. False when the hop limit is used up; nothing
 * has changed then.
 */
static inline bool packet_hop(uint8_t *packet)
{
    if (packet[PACKET_AT_HOP_LIMIT] == 0) {
        return false;
    }
    packet[PACKET_AT_HOP_LIMIT]--;
    packet[PACKET_AT_HOPS]++;
    return true;
}

#endif
