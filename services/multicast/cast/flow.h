/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flow.h - the packets of one session: pieces when a link asks for one, probes and acknowledgements when it is time, what comes in, and a member's word
 * to the source.
 */
#ifndef SERVICES_MULTICAST_CAST_FLOW_H
#define SERVICES_MULTICAST_CAST_FLOW_H

#include "services/multicast/cast/session.h"

/* A piece for a child behind the link, addressed; NULL: there is none now. */
cw_packet *cast_flow_next(struct cast_session *c, cw_link link);
/* The links by which children are reached that are not complete; of one tree, or of all (CW_LINK_COUNT). */
cw_links cast_flow_links(const struct cast_session *c, uint8_t tree);
/*
 * An OPEN, DATA or ACK of this session and round from a server. DATA's sum has been looked at. -errno: of no use, and dropped.
 */
int cast_flow_take(struct cast_session *c, const struct cast_head *h, cw_server from);
/* The source has heard DONE, or the LACK that begins with `first`. */
void cast_flow_confirmed(struct cast_session *c, uint32_t first);
/* What is due: probes, acknowledgements that waited for company, the member's word to the source, children that are too slow. */
void cast_flow_tick(struct cast_session *c);
/* A server has left the view: it sends us nothing. */
void cast_flow_gone(struct cast_session *c, cw_server server);
/* To a server's instance. Counted nowhere when it cannot be sent: whoever waits for it asks again. */
void cast_flow_send(struct cast_session *c, cw_server to, const struct cast_head *h);
/* So too without a session. */
void cast_flow_reply(cw_svc *s, cw_server to, const struct cast_head *h);

#endif
