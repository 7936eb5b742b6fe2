/* SPDX-License-Identifier: Apache-2.0 */
/*
 * group.h - the face of this folder: groups, the messages of services, and the operators' commands for both. The
 * service's table (multicast.c) calls nothing else here.
 */
#ifndef SERVICES_MULTICAST_GROUP_GROUP_H
#define SERVICES_MULTICAST_GROUP_GROUP_H

#include "services/multicast/group/api.h"

struct group_service;

/*
 * Opens everything below. Borrows s and engine; engine may be NULL: a message then has to fit one packet. -EINVAL: the
 * option `groups` is wrong, and the log says how; -ENOMEM; and the errors of torus_init().
 */
CW_MUST_CHECK int group_service_open(struct group_service **out, cw_svc *s, struct cast_engine *engine);
/* Nobody is told anything from now on. To be called before the engine is closed. NULL is allowed, here and below. */
void group_service_stop(struct group_service *g);
/* To be called after the engine was closed. */
void group_service_close(struct group_service *g);

/* Takes a packet that came to MULTICAST_PORT_GROUPS; as on_packet of a service. */
cw_verdict group_service_packet(struct group_service *g, cw_packet *packet, const cw_rx *rx);
void group_service_event(struct group_service *g, const cw_event *ev);
void group_service_writable(struct group_service *g);
/* Runs `group ...`: argv[0] is "group". As on_command of a service. */
int group_service_command(struct group_service *g, cw_request *r, int argc, const char *const *argv);

/* For questions about who is in a group. Borrowed until the close. */
struct membership *group_service_membership(struct group_service *g);
/* For services that open the multicast (cubeway/multicast.h). Borrowed until the close. */
const struct api *group_service_api(const struct group_service *g);

#endif
