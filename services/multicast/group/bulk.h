/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bulk.h - messages in memory that do not fit one packet: over all trees, by the engine (cast/engine.h). A bulk message's label names its job and its group or topic.
 *
 * A member has the whole message in memory before it takes it: BULK_MEMORY for all that are coming.
 */
#ifndef SERVICES_MULTICAST_GROUP_BULK_H
#define SERVICES_MULTICAST_GROUP_BULK_H

#include "services/multicast/cast/engine.h"
#include "services/multicast/group/table.h"

enum {
    BULK_MEMORY = 64 * 1024 * 1024,
    BULK_AT_ONCE = 2, /* sent from here: every server on the way has places for 16 messages, of all sources */
    BULK_LABEL_HEAD = 8,
};

struct bulk;

struct bulk_hooks {
    void *context;
    /* Does anybody here want messages of that name? Asked before the first byte. */
    bool (*wants)(void *context, const struct group_name *name, bool to_group);
    /* One is there, whole. All is borrowed for the call. From an upcall of its own. */
    void (*deliver)(void *context, const struct group_name *name, bool to_group, cw_server from, const uint8_t *bytes,
                    size_t length);
};

/* How one ended at its source: status as in struct cast_result, rows ascend by server. Borrowed for the call. */
typedef void (*bulk_done_fn)(void *arg, int status, const struct cast_member *member, unsigned count);

/* Borrows all; takes the engine's bulk from then on. -ENOMEM. */
CW_MUST_CHECK int bulk_open(struct bulk **out, cw_svc *s, struct cast_engine *engine, const struct bulk_hooks *hooks);
/* After the engine was closed. NULL is allowed. */
void bulk_close(struct bulk *m);
/*
 * Sends length bytes, borrowed until done() (once, from a later upcall) or bulk_cancel(). set: the members, this server not among them.
 * -EAGAIN: too many are under way; -ENETUNREACH nobody can be reached; and what else cast_engine_send() says.
 */
CW_MUST_CHECK int bulk_send(struct bulk *m, const struct group_name *name, bool to_group, const uint8_t *set,
                            const uint8_t *bytes, size_t length, bulk_done_fn done, void *arg);
/* Ends those with that arg; their done() is not called. */
void bulk_cancel(struct bulk *m, const void *arg);

/* The label, as bytes: job (4) | flags (1), 1: a group's | 0 0 | name bytes (1) | the name. Gives its length, at most BULK_LABEL_HEAD + GROUP_NAME_MOST. */
size_t bulk_label_encode(const struct group_name *name, bool to_group, uint8_t *out);
/* -EBADMSG. */
CW_MUST_CHECK int bulk_label_decode(const uint8_t *label, size_t length, struct group_name *name, bool *to_group);

#endif
