/* SPDX-License-Identifier: Apache-2.0 */
/*
 * outbox.h - messages of this server's services, from their publishing until everybody has them: asks the group's root for the members, gives the message to
 * notes or bulk, delivers it here when this server is a member, and tells the result.
 *
 * The publisher asks for the members and sends from where it is, over its own six links; given to the root the message would cross the torus once more, and
 * a group could not be faster than its root's links shared by all that it is the root of. A question is one packet each way.
 *
 * Memory: OUTBOX_MOST messages, OUTBOX_MEMORY bytes. What is told is told from later upcalls.
 */
#ifndef SERVICES_MULTICAST_GROUP_OUTBOX_H
#define SERVICES_MULTICAST_GROUP_OUTBOX_H

#include "cubeway/multicast.h"
#include "services/multicast/group/bulk.h"
#include "services/multicast/group/groups.h"
#include "services/multicast/group/notes.h"

enum { OUTBOX_MOST = 1024, OUTBOX_MEMORY = 32 * 1024 * 1024 };
#define OUTBOX_STALE CW_MS(100) /* best effort goes to whom the root named as long ago as this */

struct outbox;

struct outbox_hooks {
    void *context;
    /* A message of this server's for itself. 0, or -ENOENT: nobody here wants it. */
    int (*deliver)(void *context, const struct group_name *name, bool to_group, bool best_effort, const uint8_t *bytes,
                   size_t length);
    /* There is room again after an -EAGAIN. */
    void (*writable)(void *context);
};

struct outbox_order {
    const void *owner; /* for outbox_cancel() */
    struct group_name name;
    const uint8_t *set; /* bit i % 8 of byte i / 8; NULL: the members of the group of that name */
    bool reliable;
    const void *bytes;
    size_t length;
    cw_multicast_done_fn done; /* may be NULL */
    void *arg;
};

/* Borrows all. bulk may be NULL: then messages fit one packet. -ENOMEM. */
CW_MUST_CHECK int outbox_open(struct outbox **out, cw_svc *s, const struct torus *torus, struct groups *groups,
                              struct notes *notes, struct bulk *bulk, const struct outbox_hooks *hooks);
/* Nobody is told anything. Before groups, notes and bulk are closed. NULL is allowed. */
void outbox_close(struct outbox *b);
/* Copies. -EINVAL no bytes, -EMSGSIZE, -EAGAIN (writable() follows), -ENOMEM. */
CW_MUST_CHECK int outbox_send(struct outbox *b, const struct outbox_order *order);
/* All messages of the owner end with -ECANCELED, told from within. */
void outbox_cancel(struct outbox *b, const void *owner);
/* The service may send again. */
void outbox_writable(struct outbox *b);

struct outbox_counts {
    unsigned messages;
    size_t memory;
};
struct outbox_counts outbox_counts(const struct outbox *b);

#endif
