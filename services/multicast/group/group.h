/* SPDX-License-Identifier: Apache-2.0 */
/*
 * group.h - groups, messages of services and what operators may do with them, put together: what the service's table has of all that.
 */
#ifndef SERVICES_MULTICAST_GROUP_GROUP_H
#define SERVICES_MULTICAST_GROUP_GROUP_H

#include "services/multicast/group/clients.h"

struct group_service;

/* Borrows all. engine may be NULL: then messages fit one packet. -EINVAL (option `groups`, logged), -ENOMEM, and what torus_init() says. */
CW_MUST_CHECK int group_service_open(struct group_service **out, cw_svc *s, struct cast_engine *engine);
/* Before the engine is closed: nobody is told of anything any more. NULL is allowed, here and below. */
void group_service_stop(struct group_service *p);
/* After the engine was closed. */
void group_service_close(struct group_service *p);

/* A packet that came to MULTICAST_PORT_GROUPS. */
cw_verdict group_service_packet(struct group_service *p, cw_packet *packet, const cw_rx *rx);
void group_service_event(struct group_service *p, const cw_event *ev);
void group_service_writable(struct group_service *p);
/* `group ...`: argv[0] is "group". As on_command. */
int group_service_command(struct group_service *p, cw_request *r, int argc, const char *const *argv);

struct membership *group_service_groups(struct group_service *p);
struct clients *group_service_clients(struct group_service *p);

#endif
