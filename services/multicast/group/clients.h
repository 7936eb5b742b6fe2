/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clients.h - the services of this server that use the multicast, the groups they have joined and the topics they listen to; the functions of
 * cubeway/multicast.h.
 */
#ifndef SERVICES_MULTICAST_GROUP_CLIENTS_H
#define SERVICES_MULTICAST_GROUP_CLIENTS_H

#include "services/multicast/group/publisher.h"

enum { CLIENT_TOPICS_MOST = 1024 }; /* groups and topics of one service */

struct clients;

/* Borrows all. -ENOMEM. */
CW_MUST_CHECK int clients_open(struct clients **out, cw_svc *s, struct membership *membership,
                               struct publisher *publisher, struct datagrams *datagrams);
/* All services have closed before. NULL is allowed. */
void clients_close(struct clients *u);

/* As in cubeway/multicast.h. user: the name space is its job's; built-in commands open with the multicast's own. */
CW_MUST_CHECK int clients_attach(struct clients *u, cw_svc *user, const cw_multicast_config *config,
                                 cw_multicast **out);
void clients_detach(cw_multicast *u);
CW_MUST_CHECK int clients_create(cw_multicast *u, const char *group, size_t length, cw_multicast_acked_fn done,
                                 void *arg);
CW_MUST_CHECK int clients_join(cw_multicast *u, const char *group, size_t length, cw_multicast_acked_fn done,
                               void *arg);
CW_MUST_CHECK int clients_leave(cw_multicast *u, const char *group, size_t length, cw_multicast_acked_fn done,
                                void *arg);
CW_MUST_CHECK int clients_listen(cw_multicast *u, const char *topic, size_t length);
CW_MUST_CHECK int clients_ignore(cw_multicast *u, const char *topic, size_t length);
CW_MUST_CHECK int clients_publish(cw_multicast *u, const char *group, size_t length,
                                  const cw_multicast_content *content, cw_multicast_done_fn done, void *arg);
CW_MUST_CHECK int clients_send(cw_multicast *u, const cw_coord *to, unsigned count, const char *topic, size_t length,
                               const cw_multicast_content *content, cw_multicast_done_fn done, void *arg);
CW_MUST_CHECK int clients_members(cw_multicast *u, const char *group, size_t length, cw_multicast_members_fn done,
                                  void *arg);
size_t clients_packet_max(const cw_multicast *u, size_t name_length);

/* For datagrams, bulk and the publisher: does anybody here want it; and gives it to them: 0, or -ENOENT. */
bool clients_want(const struct clients *u, const struct group_name *name, bool to_group);
int clients_deliver(struct clients *u, const struct group_name *name, const cw_multicast_message *m);
/* False: somebody here says that it is not to be passed on. */
bool clients_forward(struct clients *u, const struct group_name *name, const cw_multicast_message *m);
/* There is room again. */
void clients_writable(struct clients *u);

#endif
