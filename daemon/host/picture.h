/* SPDX-License-Identifier: Apache-2.0 */
/*
 * picture.h - what somebody who looks at the whole torus needs to know of one server: how it is, what it has done, and
 * what its links have carried. Seven small rows, which fit into one packet, so that a look at all servers costs each of
 * them one question and one answer. Nothing is counted for it that is not counted anyway.
 *
 * Called on the loop's thread, between two turns of the pump.
 */
#ifndef DAEMON_HOST_PICTURE_H
#define DAEMON_HOST_PICTURE_H

#include "daemon/host/host.h"
#include "services/inquiry/rows.h"

/*
 * How the server is: "joining" (no link has been up yet), "serving" (it may deliver packets to keys), "fenced" (it may
 * not now), or "leaving". Static. Its node must run.
 */
const char *picture_state(struct host_server *s, cw_time now);
/* How a link is: "up", "none" (an axis of one server has no cable), or how far it has come (`links`). Static. */
const char *picture_link_state(struct host_server *s, cw_link link);
/* Packets that the server has dropped, of all causes. */
uint64_t picture_drops(const struct host_server *s);
/* Packets of others that the server has passed on by its daemon. */
uint64_t picture_forwarded(struct host_server *s);

/*
 * Tells a row of the server: server now_ns (the instant of the figures, by the server's clock) state inside made
 * delivered forwarded dropped; then one for each link that exists: server link state sent_bytes (by daemon and relay)
 * bits_per_second (0: not known). Nothing for a server whose node does not run.
 */
void picture_tell(struct host_server *s, cw_time now, const struct rows_reader *out);

#endif
