/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flow.h - the packets of one session: pieces when a link asks for one; probes, acknowledgements and a member's reports
 * when they are due; and everything that comes in.
 */
#ifndef SERVICES_MULTICAST_CAST_FLOW_H
#define SERVICES_MULTICAST_CAST_FLOW_H

#include "services/multicast/cast/session.h"

/* Gives a piece for a child that is reached by the link, already addressed. NULL: there is none now. */
cw_packet *cast_flow_next(struct cast_session *c, cw_link link);
/* The links to children that are not complete, of one tree or (CW_LINK_COUNT) of all. */
cw_links cast_flow_links(const struct cast_session *c, uint8_t tree);
/*
 * Takes an OPEN, DATA or ACK of this session's round. The caller has checked the sum of DATA. -errno: the packet was of
 * no use and changed nothing that matters.
 */
int cast_flow_take(struct cast_session *c, const struct cast_head *h, cw_server from);
/* The source has confirmed our DONE, or the LACK that begins with the piece `first`. */
void cast_flow_confirmed(struct cast_session *c, uint32_t first);
/*
 * Does what is due: probes, acknowledgements that waited to be sent together, the member's report to the source; and
 * puts out children that are too slow.
 */
void cast_flow_tick(struct cast_session *c);
/* A server has left the view: it is no upstream any more. */
void cast_flow_gone(struct cast_session *c, cw_server server);

#endif
