/* SPDX-License-Identifier: Apache-2.0 */
/*
 * transit.h - the relay of this server (docs/relay.md): loaded while there are rights, told by the node of each turn,
 * and asked by operators.
 *
 * Opened once links are, and before the watcher, which inherits what it needs. Without a relay all works as it does
 * without this file; transit_why() says what is missing. A torus inside one process has none.
 */
#ifndef DAEMON_MACHINE_TRANSIT_H
#define DAEMON_MACHINE_TRANSIT_H

#include "core/node.h"
#include "daemon/config/config.h"
#include "shim/shim.h"

enum { TRANSIT_WHY = 512 };

struct transit;
struct log;
struct relay_state;

/*
 * Loads the relay and attaches it to every link that can have one, as config.transit says, and logs by one line what
 * came of it (not with transit = user), and by one more each link that is left out where others have a relay.
 *
 * 0: *out is there, with a relay or with none. -errno and why: transit = kernel, and there is no relay; or -ENOMEM.
 * Borrows the shims for the call, and the log (NULL: none) until transit_close().
 */
CW_MUST_CHECK int transit_open(struct transit **out, const struct daemon_config *config,
                               struct shim *const shims[static CW_LINK_COUNT], struct log *log,
                               char why[static TRANSIT_WHY]);
/* Takes the transit; call it when goodbyes have left. NULL is allowed. */
void transit_close(struct transit *t);
/* How many links have a relay. */
unsigned transit_links(const struct transit *t);
/* Borrows what the program reads, for the watcher, until transit_close(); NULL: there is no program. */
struct relay_state *transit_state(struct transit *t);
/* Why there is no relay at all, in one sentence; "": there is one. */
const char *transit_missing(const struct transit *t);

/*
 * The node has opened: it publishes from now on. A torus that was not known before (place = auto) may turn out to be
 * too large; then there is no relay, also with transit = kernel, and the log says so. t may be NULL in all calls from
 * here on.
 */
void transit_begin(struct transit *t, struct node *n);
/*
 * A turn begins, before frames are received. True: frames were handed up that wait in some socket, so that all links
 * are to be received from.
 */
bool transit_turn(struct transit *t);
/* The link's carrier has changed; its interface may be another one, and then the log says that its relay is gone. */
void transit_carrier(struct transit *t, cw_link link, bool carrier);
/* A frame of so many bytes was given to the link's device. */
void transit_sent(struct transit *t, cw_link link, uint32_t bytes, cw_time now);
/*
 * The turn ends, behind all that was sent. waits: links for which the pump holds frames, or whose device is full;
 * drained: the sockets gave no more. Returns the links that have something to send.
 */
struct transit_turn {
    cw_links waits, tapped;
    bool drained;
};
cw_links transit_publish(struct transit *t, struct node *n, const struct transit_turn *turn, cw_time now);

/* ---- Operators --------------------------------------------------------------------------------------------------- */

/* From now on nothing is relayed, or what can be is again. It takes effect with the next turn. */
void transit_switch(struct transit *t, bool on);
bool transit_is_on(const struct transit *t);
/* "kernel": transit that comes by the link is relayed; else why not, in one sentence. Static or borrowed. */
const char *transit_why(const struct transit *t, const struct node *n, cw_link link);
/*
 * What was relayed since the start, by service and by the link that it left by; how many frames went up to the daemon,
 * by reason; and how many frames the devices of links with a relay dropped behind relay and daemon. The kernel may take
 * long to say the latter, so a thread asks it, at most once a second, and only after a call: a call shows what was
 * found after a former one, 0 at first.
 *
 * name: of the service ("others": of all jobs without a service here), the link, or the reason; bytes are those of
 * frames without the Ethernet header, 0 for TRANSIT_UP and TRANSIT_LOST. Without a relay nobody is called.
 */
enum transit_kind { TRANSIT_SERVICE, TRANSIT_LINK, TRANSIT_UP, TRANSIT_LOST };
typedef void transit_visit_fn(void *context, enum transit_kind kind, const char *name, uint64_t packets,
                              uint64_t bytes);
void transit_counts(struct transit *t, struct node *n, transit_visit_fn *visit, void *context);

#endif
