/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clients.h - the services of this server that use the multicast: which names each of them wants, and how a message
 * that has arrived is handed to it.
 *
 * This is the lower half of cubeway/multicast.h: datagrams, bulk messages and the publisher deliver through it and know
 * nothing else of the clients. The upper half, the functions that clients call, is api.h.
 *
 * At most one client of a job is attached to a server, so a name, which holds its job, leads to one client.
 */
#ifndef SERVICES_MULTICAST_GROUP_CLIENTS_H
#define SERVICES_MULTICAST_GROUP_CLIENTS_H

#include "cubeway/multicast.h"
#include "keyspace/torus.h"
#include "services/multicast/group/table.h"

/* Groups and topics of one client. */
enum { CLIENT_SUBJECTS_MOST = 1024 };

/* What a client has to do with one name: as a group's, as a topic's, or both. */
struct client_subject {
    struct group_name name;
    uint8_t group; /* GROUP_MEMBER, GROUP_KEEPER: what it is to the group of that name */
    bool listens;  /* to the topic of that name */
};

struct api;
struct api_wait;

/* One client. The members below `subject` are those of api.c. */
struct cw_multicast {
    cw_multicast *next;
    struct clients *clients;
    cw_job job;
    cw_multicast_config config;
    /* Its names, in no order. */
    struct client_subject *subject;
    unsigned count, room;

    const struct api *api;
    struct api_wait *waits;
    /* It was refused with -EAGAIN: writable() is owed to it. */
    bool refused;
};

struct clients {
    const struct torus *torus;
    cw_multicast *first;
};

/* A message that has arrived here. Everything is borrowed for the call that it is passed to. */
struct arrival {
    const struct group_name *name;
    bool to_group; /* name is a group's; else a topic's */
    bool best_effort;
    cw_server from;
    const uint8_t *bytes;
    size_t length;
};

/*
 * Attaches a service; *config is copied, and `user` only asked for its job. The caller releases *out with
 * clients_detach(). -EINVAL: an argument is missing; -EEXIST: a client of that job is attached; -ENOMEM.
 */
CW_MUST_CHECK int clients_attach(struct clients *c, const cw_svc *user, const cw_multicast_config *config,
                                 cw_multicast **out);
/* Nothing is delivered to it any more. Its names stay until clients_free(). */
void clients_detach(cw_multicast *client);
/* Frees a client that was detached. */
void clients_free(cw_multicast *client);

/* What the client has to do with the name; NULL: nothing. Borrowed until the next of these three calls. */
struct client_subject *client_find(const cw_multicast *client, const struct group_name *name);
/* The same; a subject that is nothing yet is added when there is none. -ENOSPC: CLIENT_SUBJECTS_MOST; -ENOMEM. */
CW_MUST_CHECK int client_find_or_add(cw_multicast *client, const struct group_name *name, struct client_subject **out);
/* Drops the subject when it is neither a group's nor a topic's any more. */
void client_drop_if_idle(cw_multicast *client, struct client_subject *subject);

/* Does a client here want messages to this group (of which this server is a member), or to this topic? */
bool clients_want(const struct clients *c, const struct group_name *name, bool to_group);
/* Hands the message to the client that wants it. 0; -ENOENT: no client here does. */
int clients_deliver(const struct clients *c, const struct arrival *a);
/* Asks the client of that job before a best-effort message is passed on. False: it is to stop here. */
bool clients_forward(const struct clients *c, const struct arrival *a);
/* There is room again: tells each client that was refused. */
void clients_writable(struct clients *c);

#endif
