/* SPDX-License-Identifier: Apache-2.0 */
/*
 * group.h - groups, messages of services and what operators may do with them, put together: what the service's table has of all that.
 */
#ifndef SERVICES_MULTICAST_GROUP_GROUP_H
#define SERVICES_MULTICAST_GROUP_GROUP_H

#include "services/multicast/group/clients.h"

struct post;

/* Borrows all. engine may be NULL: then messages fit one packet. -EINVAL (option `groups`, logged), -ENOMEM, and what torus_init() says. */
CW_MUST_CHECK int post_open(struct post **out, cw_svc *s, struct cast_engine *engine);
/* Before the engine is closed: nobody is told of anything any more. NULL is allowed, here and below. */
void post_stop(struct post *p);
/* After the engine was closed. */
void post_close(struct post *p);

/* A packet that came to MULTICAST_PORT_GROUPS. */
cw_verdict post_packet(struct post *p, cw_packet *packet, const cw_rx *rx);
void post_event(struct post *p, const cw_event *ev);
void post_writable(struct post *p);
/* `group ...`: argv[0] is "group". As on_command. */
int post_command(struct post *p, cw_request *r, int argc, const char *const *argv);

struct groups *post_groups(struct post *p);
struct clients *post_clients(struct post *p);

#endif
