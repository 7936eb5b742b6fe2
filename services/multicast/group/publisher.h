/* SPDX-License-Identifier: Apache-2.0 */
/*
 * publisher.h - messages of this server's clients, from publish() until everybody has them: asks the group's root who
 * the members are, hands the message to datagrams or bulk, delivers it here when this server is a member itself, and
 * reports the result.
 *
 * The publisher asks the root and then sends from its own server, over its own six links. Handed to the root, the
 * message would cross the torus once more, and all groups of one root would share the six links of that root. The
 * question is one packet each way.
 *
 * At most PUBLISHER_MOST messages and PUBLISHER_MEMORY bytes are queued. Results are reported from later upcalls.
 */
#ifndef SERVICES_MULTICAST_GROUP_PUBLISHER_H
#define SERVICES_MULTICAST_GROUP_PUBLISHER_H

#include "services/multicast/group/bulk.h"
#include "services/multicast/group/datagrams.h"
#include "services/multicast/group/membership.h"

enum { PUBLISHER_MOST = 1024, PUBLISHER_MEMORY = 32 * 1024 * 1024 };
/* A best-effort message goes to the members that a root named at most so long ago; a reliable one always asks. */
#define PUBLISHER_STALE CW_MS(100)

struct publisher;

/* What a publisher works with. The owner closes each of these after the publisher. */
struct publisher_config {
    cw_svc *s;
    const struct torus *torus;
    struct membership *membership;
    struct datagrams *datagrams;
    struct bulk *bulk; /* NULL: a message has to fit one packet */
    struct clients *clients;
};

struct publisher_order {
    const void *owner; /* for publisher_cancel() */
    struct group_name name;
    /*
     * Bit i % 8 of byte i / 8 is server i; the name is then a topic's. NULL: to the members of the group of that name.
     */
    const uint8_t *set;
    bool reliable;
    const void *bytes;
    size_t length;
    cw_multicast_done_fn done; /* may be NULL */
    void *arg;
};

/* Borrows what config points at; config itself for the call. -ENOMEM. */
CW_MUST_CHECK int publisher_open(struct publisher **out, const struct publisher_config *config);
/* Nobody is told anything. NULL is allowed. */
void publisher_close(struct publisher *p);
/*
 * Copies the order. -EINVAL: no bytes; -EMSGSIZE; -EAGAIN: the queue is full (the clients' writable() follows);
 * -ENOMEM.
 */
CW_MUST_CHECK int publisher_send(struct publisher *p, const struct publisher_order *order);
/* All messages of the owner end with -ECANCELED; their done() is called from inside this function. */
void publisher_cancel(struct publisher *p, const void *owner);
/* The service may send packets again. */
void publisher_writable(struct publisher *p);

struct publisher_counts {
    unsigned messages;
    size_t memory; /* bytes */
};
struct publisher_counts publisher_counts(const struct publisher *p);
/* A walker for CHECK_SLOW. True; stops the program when the queue and its counts do not agree ("groups G4"). */
bool publisher_audit(const struct publisher *p);

#endif
