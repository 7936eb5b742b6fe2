/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pkt.h - the packet buffer: one piece of memory with room in front, a reference count, and its way home.
 *
 *   [ headroom | data ... length | free ... ]   + pad zero bytes that exist only on the wire
 *              ^data
 *
 * The same structure is a frame on its way in or out (data points at the frame header) and a packet inside the node
 * (data points at the packet header): entering and leaving a node moves `data`, never bytes. Packets that came gathered
 * in one frame share its memory: each has a descriptor of its own whose `lender` is the frame, which goes home after
 * the last of them.
 *
 * One owner at a time; a packet is handed over whole and belongs to one thread. pkt_writable() must hold before bytes
 * change.
 */
#ifndef CORE_PKT_H
#define CORE_PKT_H

#include "cubeway/time.h"
#include "cubeway/types.h"
#include "wire/packet.h"

enum {
    /*
     * Ethernet header, frame header, link tag; and so much more that the heads of frame and packet, which every hop
     * reads and writes, share a line of cache.
     */
    PKT_HEADROOM = 88,
};

enum pkt_kind { PKT_SMALL, PKT_LARGE, PKT_SLICE };

struct pkt_home; /* where packets come from and go back to */

struct cw_packet {
    struct cw_packet *next; /* for whoever holds it: queues are lists of packets */
    uint8_t *data;
    uint32_t length;
    uint32_t pad;
    uint32_t room;    /* bytes of memory from data on */
    uint16_t refs;    /* plain integer: one thread */
    uint16_t back;    /* bytes of memory before data, free to write to */
    uint8_t kind;     /* enum pkt_kind */
    uint8_t marks;    /* the node's own (node_internal.h) */
    uint8_t service;  /* index of the service whose queue it is in */
    cw_links links;   /* links it may leave by */
    cw_link in;       /* link it came by */
    uint8_t priority; /* as it was sent with here; 0 for what came by a cable: packets do not carry it */
    uint16_t ahead;   /* packets that were in its queue when it came */
    cw_server target; /* where it is going now: next way-point, server, or root of its key */
    union {
        uint64_t order;          /* in a queue: arrival order inside the node */
        struct cw_packet **hand; /* in a service's hands: what points at it in their list */
    };

    /* The rest is read by the node only when a packet arrives, is sent, or is delivered. */
    struct packet_head head; /* decoded */
    struct packet_exts exts; /* where its extensions are */
    cw_time queued;          /* when it was queued last */
    struct pkt_home *home;
    struct cw_packet *lender; /* NULL: the memory is its own */
};

/* Takes one reference more; the packet is then read-only to all until but one has been released. */
struct cw_packet *pkt_ref(struct cw_packet *p);
/* Takes a reference; the last one sends the memory home (and the lender's reference with it). NULL is allowed. */
void pkt_release(struct cw_packet *p);

/* True when nobody else can see the bytes of this packet. */
static inline bool pkt_writable(const struct cw_packet *p)
{
    return p->refs == 1;
}

/*
 * A home: two pools of memory (small packets, whole frames) and one of bare descriptors, with limits. Many nodes may
 * share one in a simulator; each node keeps its own count against its own limit.
 */
struct pkt_home_config {
    uint32_t small_bytes; /* memory of a small packet, headroom included (256) */
    uint32_t large_bytes; /* memory of a full frame, headroom included (mtu + PKT_HEADROOM) */
    uint32_t packets_max; /* limit on packets out at one time, all kinds together */
};
/* -ENOMEM; *out is then untouched. */
CW_MUST_CHECK int pkt_home_open(struct pkt_home **out, const struct pkt_home_config *config);
/* Everything must be home. */
void pkt_home_close(struct pkt_home *home);
uint32_t pkt_home_out(const struct pkt_home *home);
size_t pkt_home_bytes(const struct pkt_home *home);
/* The longest packet it gives. */
uint32_t pkt_home_longest(const struct pkt_home *home);
/* Tests: the nth take from now (1 = the next) fails once; 0 switches it off. */
void pkt_home_fail_nth(struct pkt_home *home, uint32_t nth);

/* Gives a packet with `length` bytes of unspecified content behind PKT_HEADROOM bytes of room, or NULL. */
struct cw_packet *pkt_take(struct pkt_home *home, uint32_t length);
/* Gives a descriptor of bytes inside frame (which gains a reference), or NULL. */
struct cw_packet *pkt_slice(struct cw_packet *frame, uint32_t offset, uint32_t length);
/* Gives a copy with memory of its own (pad kept), or NULL. Borrows p. */
struct cw_packet *pkt_copy(const struct cw_packet *p);

#endif
