/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check_relay.h - the invariants of the relay (semantics 8.1): 39 to 44, and that a relayed frame does not pass those
 * that wait for its link (23). Only in worlds that have relays; what is told here of other worlds is ignored.
 *
 * Knowledge is what a server's database holds, as a version for each origin. It has a name here, a number above 0, for
 * as long as it is not too long ago. A frame on its way carries in `order` the name of what its sender knew.
 */
#ifndef SIMULATOR_CHECK_RELAY_H
#define SIMULATOR_CHECK_RELAY_H

#include "simulator/check.h"
#include "wire/relay_state.h"

struct check_relay;

/* NULL, and 0: the world has no relays. */
CW_MUST_CHECK int check_relay_open(struct check_relay **out, struct world *w);
void check_relay_close(struct check_relay *r);

/* The node of s gives a frame to the wire: notes what it knows, and how far it has said so. */
void check_relay_sent(struct check *c, cw_server s, cw_link link, struct cw_packet *frame);
/* The node of s has published this view. Gives the name of what s knows. */
uint64_t check_relay_published(struct check *c, cw_server s, const struct relay_view *view);

/* A frame that the judge of a server has passed. */
struct check_pass {
    cw_server server;
    cw_link in, out;
    const struct relay_view *view; /* by which it was judged */
    uint64_t known;                /* what that view was made of */
    cw_time lease;                 /* of the node; 0: it has none */
    bool ended;                    /* goodbye was said in the server's name */
    cw_links passed_by;            /* links for which frames wait in user space */
};
/* frame: as it came. */
void check_relay_passed(struct check *c, const struct check_pass *pass, const struct cw_packet *frame);

/* s has just been paused. */
void check_relay_paused(struct check *c, cw_server s);

#endif
