/* SPDX-License-Identifier: Apache-2.0 */
/*
 * publisher.h - messages of this server's services, from their publishing until everybody has them: asks the group's root for the members, gives the message to
 * datagrams or bulk, delivers it here when this server is a member, and tells the result.
 *
 * The publisher asks for the members and sends from where it is, over its own six links; given to the root the message would cross the torus once more, and
 * a group could not be faster than its root's links shared by all that it is the root of. A question is one packet each way.
 *
 * Memory: PUBLISHER_MOST messages, PUBLISHER_MEMORY bytes. What is told is told from later upcalls.
 */
#ifndef SERVICES_MULTICAST_GROUP_PUBLISHER_H
#define SERVICES_MULTICAST_GROUP_PUBLISHER_H

#include "cubeway/multicast.h"
#include "services/multicast/group/bulk.h"
#include "services/multicast/group/datagrams.h"
#include "services/multicast/group/membership.h"

enum { PUBLISHER_MOST = 1024, PUBLISHER_MEMORY = 32 * 1024 * 1024 };
#define PUBLISHER_STALE CW_MS(100) /* best effort goes to whom the root named as long ago as this */

struct publisher;

struct publisher_hooks {
    void *context;
    /* A message of this server's for itself. 0, or -ENOENT: nobody here wants it. */
    int (*deliver)(void *context, const struct group_name *name, bool to_group, bool best_effort, const uint8_t *bytes,
                   size_t length);
    /* There is room again after an -EAGAIN. */
    void (*writable)(void *context);
};

struct publisher_order {
    const void *owner; /* for publisher_cancel() */
    struct group_name name;
    const uint8_t *set; /* bit i % 8 of byte i / 8; NULL: the members of the group of that name */
    bool reliable;
    const void *bytes;
    size_t length;
    cw_multicast_done_fn done; /* may be NULL */
    void *arg;
};

/* Borrows all. bulk may be NULL: then messages fit one packet. -ENOMEM. */
CW_MUST_CHECK int publisher_open(struct publisher **out, cw_svc *s, const struct torus *torus,
                                 struct membership *membership, struct datagrams *datagrams, struct bulk *bulk,
                                 const struct publisher_hooks *hooks);
/* Nobody is told anything. Before groups, datagrams and bulk are closed. NULL is allowed. */
void publisher_close(struct publisher *b);
/* Copies. -EINVAL no bytes, -EMSGSIZE, -EAGAIN (writable() follows), -ENOMEM. */
CW_MUST_CHECK int publisher_send(struct publisher *b, const struct publisher_order *order);
/* All messages of the owner end with -ECANCELED, told from within. */
void publisher_cancel(struct publisher *b, const void *owner);
/* The service may send again. */
void publisher_writable(struct publisher *b);

struct publisher_counts {
    unsigned messages;
    size_t memory;
};
struct publisher_counts publisher_counts(const struct publisher *b);

#endif
