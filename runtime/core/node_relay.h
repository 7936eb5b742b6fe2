/* SPDX-License-Identifier: Apache-2.0 */
/*
 * node_relay.h - what a node publishes for its relay (docs/relay.md): the routes, links, jobs and lease by which the
 * judge of wire/relay.h passes frames on, past this node.
 *
 * The pump that owns the node publishes at the end of each of its turns, behind all that it sent. Between two
 * publications the node itself sees to it that its relay never goes by less than a neighbour may know: an entry that
 * has learned something, or has lost a link, clears `live` before it returns, and so before a frame can leave. Until
 * the publication all transit goes up to the node.
 *
 * With that, whenever a program looks (the simulator checks it as invariants 39 to 42):
 *   I1  `way` was made of a database that has all that the neighbours said up to `received`, and all that any neighbour
 *       can have heard from here;
 *   I2  all that this database holds had left, on every link in `out`, at or before `top` of that link.
 */
#ifndef CORE_NODE_RELAY_H
#define CORE_NODE_RELAY_H

#include "core/node.h"
#include "wire/relay_state.h"

struct node_relay_config {
    struct relay_state *state; /* borrowed until node_relay_close() */
    uint16_t ethertype;        /* of data frames */
    struct node_relay_link {
        uint32_t ifindex; /* the interface that frames leave by */
        uint32_t mac[3];  /* as in struct relay_link */
    } link[CW_LINK_COUNT];
};

/* -EALREADY; -E2BIG: the torus is too large for a relay; -ENOMEM. Nothing is live until the first publication. */
CW_MUST_CHECK int node_relay_open(struct node *n, const struct node_relay_config *config);
/* From now on nothing is relayed. Without a relay nothing happens. */
void node_relay_close(struct node *n);

/* What only the pump knows at the end of its turn. */
struct node_relay_turn {
    cw_links usable; /* links that the program is attached to, whose devices work */
    cw_links waits;  /* links for which the pump holds frames, or whose device is full */
    cw_links tapped; /* links that an operator captures */
    /*
     * By link: relay_handed() as it was before this turn received, if the sockets then gave all they had and nothing
     * waits for the link; else as before. When all that was sent will have left the device.
     */
    uint64_t taken[CW_LINK_COUNT], sent_until[CW_LINK_COUNT];
};

/*
 * Publishes what has changed; at rest that costs a comparison and at most three stores. An entry like the others: it
 * brings the views up to date, and returns the links that now have something to send. Needs a relay.
 */
cw_links node_relay_publish(struct node *n, const struct node_relay_turn *turn, cw_time now);

/* The links that frames are relayed from, by the last publication; none: there is no relay, or it stands still. */
cw_links node_relay_live(const struct node *n);
/* The place of a job's packets among those that the relay counts; RELAY_OTHERS: it has no service here. */
uint32_t node_relay_place(struct node *n, cw_job job);
/* The links for which packets wait in the node. */
cw_links node_waiting_links(const struct node *n);

#endif
