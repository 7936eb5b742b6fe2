/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cast_flow.h - the packets of one session: pieces when a link asks for one, probes and acknowledgements when it is time, and what comes in.
 */
#ifndef SERVICES_MULTICAST_CAST_FLOW_H
#define SERVICES_MULTICAST_CAST_FLOW_H

#include "services/multicast/cast_session.h"

/* A piece for a child behind the link, addressed; NULL: there is none now. */
cw_packet *cast_flow_next(struct cast_session *c, cw_link link);
/* The links by which children are reached that are not complete. */
cw_links cast_flow_links(const struct cast_session *c);
/* A packet of the session from a server: an OPEN, DATA or ACK. DATA's sum has been looked at. -errno: of no use, and dropped. */
int cast_flow_take(struct cast_session *c, const struct cast_head *h, cw_server from);
/* What is due: probes, acknowledgements that waited for company, the member's word to the source. */
void cast_flow_tick(struct cast_session *c);
/* A server has left the view: it sends us nothing. */
void cast_flow_gone(struct cast_session *c, cw_server server);
/* To a server's instance. Counted nowhere when it cannot be sent: whoever waits for it asks again. */
void cast_flow_send(struct cast_session *c, cw_server to, const struct cast_head *h);

#endif
