/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pkt.h - the packet buffer: one piece of memory with room in front, a reference count, and its way home.
 *
 *   [ headroom | data ... length | free ... ]   + pad zero bytes that exist only on the wire
 *              ^data
 *
 * The same structure is a frame on its way in or out (data points at the frame header) and a packet inside the node
 * (data points at the packet header): entering and leaving a node moves `data`, and copies nothing. Packets that came
 * gathered in one frame share the frame's memory: each has a descriptor of its own, whose `lender` is the frame, and
 * the frame goes home after the last of them.
 *
 * A packet has one owner at a time and belongs to one thread. pkt_writable() must hold before its bytes are changed.
 */
#ifndef CORE_QUEUE_PKT_H
#define CORE_QUEUE_PKT_H

#include "cubeway/time.h"
#include "cubeway/types.h"
#include "wire/packet.h"

enum {
    /*
     * Room for an Ethernet header, a frame header and a link tag; and so much more that the headers of frame and
     * packet, which every hop reads and writes, lie in one cache line.
     */
    PKT_HEADROOM = 88,
};

enum pkt_kind { PKT_SMALL, PKT_LARGE, PKT_SLICE };

struct pkt_home; /* where packets come from and go back to */

struct cw_packet {
    struct cw_packet *next; /* of the list that its owner keeps it in, such as a queue */
    uint8_t *data;
    uint32_t length;
    uint32_t pad;
    uint32_t room;    /* bytes of memory from data on */
    uint16_t refs;    /* no atomic: all references are one thread's */
    uint16_t back;    /* bytes of memory before data that may be written to */
    uint8_t kind;     /* enum pkt_kind */
    uint8_t marks;    /* the node's own (node_internal.h) */
    uint8_t place;    /* number of the place in whose queue it is, or in which it is held */
    cw_links links;   /* links by which it may leave */
    cw_link in;       /* link by which it came */
    uint8_t priority; /* that its sender here gave it; 0 for packets from a cable, since it is not on the wire */
    uint16_t ahead;   /* packets that were in its queue when it was put there */
    cw_server target; /* where it is going now: the next way-point, a server, or the root of its key */
    uint16_t speaker; /* who has it in hands, or, when nobody has, who sent it here; 0: it came by a cable */
    union {
        uint64_t order;          /* in a queue: counts the packets that this node has queued */
        struct cw_packet **hand; /* in a service's hands: the pointer to it in their list */
    };

    /* The rest is read by the node only when a packet arrives, is sent, or is delivered. */
    struct packet_head head; /* decoded */
    struct packet_exts exts; /* offsets of its extensions */
    cw_time queued;          /* when it was queued last; while it is held: when that began */
    struct pkt_home *home;
    struct cw_packet *lender; /* NULL: the memory is its own */
};

/* Gives one reference more. The packet is read-only to all while there is more than one. */
struct cw_packet *pkt_ref(struct cw_packet *p);
/*
 * Takes a reference. With the last one the memory goes home, and a reference to the lender goes too. NULL is allowed.
 */
void pkt_release(struct cw_packet *p);

/* True when nobody else can see the bytes of this packet. */
static inline bool pkt_writable(const struct cw_packet *p)
{
    return p->refs == 1;
}

/*
 * A home: two pools of memory (small packets, whole frames) and one of bare descriptors, with one limit on all packets.
 * The nodes of a simulator share one.
 */
struct pkt_home_config {
    uint32_t small_bytes; /* memory of a small packet, headroom included (256) */
    uint32_t large_bytes; /* memory of a full frame, headroom included (mtu + PKT_HEADROOM) */
    uint32_t packets_max; /* limit on packets out at one time, all kinds together */
};
/* -ENOMEM; *out is then untouched. */
CW_MUST_CHECK int pkt_home_open(struct pkt_home **out, const struct pkt_home_config *config);
/* Every packet must be home (CHECK). */
void pkt_home_close(struct pkt_home *home);
/* Packets that are out now. */
uint32_t pkt_home_out(const struct pkt_home *home);
/* Memory that it holds. */
size_t pkt_home_bytes(const struct pkt_home *home);
/* Length of the longest packet that it gives. */
uint32_t pkt_home_longest(const struct pkt_home *home);
/* For tests: the nth take from now on (1: the next) fails once; 0: none does. */
void pkt_home_fail_nth(struct pkt_home *home, uint32_t nth);

/* Gives a packet with `length` bytes of unspecified content behind PKT_HEADROOM bytes of room, or NULL. */
struct cw_packet *pkt_take(struct pkt_home *home, uint32_t length);
/* Gives a descriptor of these bytes inside the frame, which gains a reference, or NULL. */
struct cw_packet *pkt_slice(struct cw_packet *frame, uint32_t offset, uint32_t length);
/* Gives a copy with memory of its own (pad kept), or NULL. Borrows p. */
struct cw_packet *pkt_copy(const struct cw_packet *p);

#endif
