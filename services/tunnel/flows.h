/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flows.h - what begins on this server and waits for a link: a queue for each flow, all flows treated alike.
 *
 * Packets are put whole, as they were read, and cut when a link has room; so a packet of another flow goes between two
 * pieces of a large one. Each flow is in the round of every link that its first packet may leave by. In a round the
 * turns go by deficit round robin (Shreedhar and Varghese, 1996), byte for byte, and a flow that had nothing to send
 * comes before those that had (RFC 8290), until it has sent what a turn allows: a single small packet waits for no
 * large one.
 *
 * CoDel looks at each packet once, when its first piece is about to leave: mark() then marks it, or it is dropped. A
 * packet that waited for longer than mark_above is marked whatever CoDel says, if it can be: among many flows CoDel's
 * signals are too few for each to keep its queue short.
 * What waits is within memory_most: beyond it, packets of the flow with most bytes are dropped, oldest first.
 *
 * A packet may have longer ways beside its shortest ones. It is offered for these only while its flow has more than
 * longer_above bytes waiting, so that what the shortest ways take at once goes by them.
 *
 * Flows whose hashes are equal modulo FLOWS share a queue.
 */
#ifndef SERVICES_TUNNEL_FLOWS_H
#define SERVICES_TUNNEL_FLOWS_H

#include "services/tunnel/codel.h"

#include "base/list.h"
#include "cubeway/types.h"

#include <stddef.h>

enum { FLOWS = 1024 };

/* Which ways a link is the first one of. */
enum flow_way { FLOW_SHORTEST, FLOW_LONGER, FLOW_WAYS };

/* A packet that waits; a member of the owner's own structure. */
struct flow_packet {
    /*
     * The owner sets these: bytes that it takes in memory, and the links that it may leave by: first links of shortest
     * ways, at least one, and of longer ones, which may be none.
     */
    uint32_t bytes;
    cw_links links[FLOW_WAYS];
    /* Of the queue: */
    struct list_node node;
    cw_time since;
    uint16_t flow;
    bool begun; /* it is the first of its flow, CoDel has passed it, and a piece of it may have left */
};

enum flow_drop { FLOW_FULL, FLOW_CODEL, FLOW_NO_WAY, FLOW_CLOSED };

struct flows_config {
    /* Bytes that a flow sends in a turn: at least those of a frame. */
    uint32_t quantum;
    size_t memory_most;
    struct codel_limits codel;
    cw_span mark_above; /* 0: CoDel alone decides */
    size_t longer_above;
    /* Marks the packet, if it can be: true. */
    bool (*mark)(void *context, struct flow_packet *p);
    /* Takes a packet that is dropped. Must not call functions of this module. */
    void (*drop)(void *context, struct flow_packet *p, enum flow_drop why);
    void *context;
};

struct flows_counts {
    uint64_t put, sent, marked, dropped[FLOW_CLOSED + 1];
};

struct flow;

struct flows {
    struct flows_config config;
    struct flows_counts counts;
    struct flow *flow; /* FLOWS of them */
    /* By link: flows that had nothing to send before, and the others. */
    struct list fresh[FLOW_WAYS][CW_LINK_COUNT], round[FLOW_WAYS][CW_LINK_COUNT];
    size_t bytes;
    uint32_t packets;
};

/* Copies config. -ENOMEM. */
CW_MUST_CHECK int flows_open(struct flows *f, const struct flows_config *config);
/* What still waits is dropped, FLOW_CLOSED. */
void flows_close(struct flows *f);

/* Takes a packet of the flow with that hash. It, or another one, may be dropped before this returns. */
void flows_put(struct flows *f, uint64_t hash, struct flow_packet *p, cw_time now);

/* The links that packets wait for, as the first ones of such ways. */
cw_links flows_wanted(const struct flows *f, enum flow_way way);

/*
 * Borrows the packet whose turn it is on that link, with its first piece or its next one; NULL: none waits for the
 * link. Asked again with nothing in between, the answer is the same.
 */
struct flow_packet *flows_next(struct flows *f, enum flow_way way, cw_link link, cw_time now);

/*
 * So many bytes of the packet, which flows_next() gave, leave. Gives the packet back to the owner when all of it has
 * left.
 */
void flows_sent(struct flows *f, struct flow_packet *p, uint32_t bytes, bool all);

/*
 * The ways have changed: lets the owner set the links of each packet that waits; one that has no shortest way is
 * dropped, FLOW_NO_WAY.
 */
void flows_reroute(struct flows *f, void (*set_links)(void *context, struct flow_packet *p));

/* Bytes that wait in the queue of the flow with that hash. */
size_t flows_waiting(const struct flows *f, uint64_t hash);

/* For CHECK_SLOW: are counts, rounds and queues of one mind? */
bool flows_valid(const struct flows *f);

#endif
