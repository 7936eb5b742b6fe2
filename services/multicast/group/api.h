/* SPDX-License-Identifier: Apache-2.0 */
/*
 * api.h - the functions of cubeway/multicast.h: what the services of this server call. Below them are the membership
 * (joins, questions), the publisher (messages) and the clients (who wants what here).
 *
 * Each api_X() is the `X` of struct cw_multicast_api and has the contract that is written there.
 */
#ifndef SERVICES_MULTICAST_GROUP_API_H
#define SERVICES_MULTICAST_GROUP_API_H

#include "services/multicast/group/publisher.h"

/* What the functions work with. The owner opens and closes each of these, and they outlive every client. */
struct api {
    cw_svc *s;
    struct clients *clients;
    struct membership *membership;
    struct publisher *publisher;
    struct datagrams *datagrams;
};

/* `open`, with the service that the client belongs to. Borrows api. */
CW_MUST_CHECK int api_open(const struct api *api, const cw_svc *user, const cw_multicast_config *config,
                           cw_multicast **out);
void api_close(cw_multicast *client);
/* Frees a client when the multicast itself closes: nobody is told anything. */
void api_abandon(cw_multicast *client);

CW_MUST_CHECK int api_create(cw_multicast *client, const char *group, size_t length, cw_multicast_acked_fn done,
                             void *arg);
CW_MUST_CHECK int api_join(cw_multicast *client, const char *group, size_t length, cw_multicast_acked_fn done,
                           void *arg);
CW_MUST_CHECK int api_leave(cw_multicast *client, const char *group, size_t length, cw_multicast_acked_fn done,
                            void *arg);
CW_MUST_CHECK int api_listen(cw_multicast *client, const char *topic, size_t length);
CW_MUST_CHECK int api_ignore(cw_multicast *client, const char *topic, size_t length);
CW_MUST_CHECK int api_publish(cw_multicast *client, const char *group, size_t length,
                              const cw_multicast_content *content, cw_multicast_done_fn done, void *arg);
CW_MUST_CHECK int api_send(cw_multicast *client, const cw_coord *to, unsigned count, const char *topic, size_t length,
                           const cw_multicast_content *content, cw_multicast_done_fn done, void *arg);
CW_MUST_CHECK int api_members(cw_multicast *client, const char *group, size_t length, cw_multicast_members_fn done,
                              void *arg);
size_t api_packet_max(const cw_multicast *client, size_t name_length);

#endif
