/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bulk.h - messages in memory that do not fit one packet: they go over all trees, by the engine (cast/engine.h). The
 * label of such a message names its job and its group or topic.
 *
 * A member has the whole message in memory before it is delivered. All messages that are coming to one server share
 * BULK_MEMORY bytes.
 */
#ifndef SERVICES_MULTICAST_GROUP_BULK_H
#define SERVICES_MULTICAST_GROUP_BULK_H

#include "services/multicast/cast/engine.h"
#include "services/multicast/group/clients.h"

enum {
    BULK_MEMORY = 64 * 1024 * 1024,
    /*
     * Messages under way from this server: each takes one of the CAST_BUSY_MOST places on every server that it passes.
     */
    BULK_AT_ONCE = 2,
    BULK_LABEL_HEAD = 8,
};

struct bulk;

/*
 * How a message ended at its source: status as in struct cast_result, rows ascending by server. Borrowed for the call.
 */
typedef void (*bulk_done_fn)(void *arg, int status, const struct cast_member *member, unsigned count);

/* Borrows everything, and registers with the engine for messages of the kind CAST_BULK. -ENOMEM. */
CW_MUST_CHECK int bulk_open(struct bulk **out, cw_svc *s, struct cast_engine *engine, const struct clients *clients);
/* After the engine was closed. NULL is allowed. */
void bulk_close(struct bulk *b);
/*
 * Sends `length` bytes, borrowed until done() (called once, from a later upcall) or bulk_cancel(). set names the
 * members; this server must not be among them. -EAGAIN: too many messages are under way; -ENETUNREACH: no member can be
 * reached; and the other errors of cast_engine_send().
 */
CW_MUST_CHECK int bulk_send(struct bulk *b, const struct group_name *name, bool to_group, const uint8_t *set,
                            const uint8_t *bytes, size_t length, bulk_done_fn done, void *arg);
/* Ends the messages with that arg; their done() is not called. */
void bulk_cancel(struct bulk *b, const void *arg);

/* A walker for CHECK_SLOW. True; stops the program when messages or memory are not counted right ("groups G5"). */
bool bulk_audit(const struct bulk *b);

/*
 * The label as bytes: job (4) | flags (1), 1: the name is a group's | 0 0 | bytes of the name (1) | the name. Gives its
 * length, at most BULK_LABEL_HEAD + GROUP_NAME_MOST.
 */
size_t bulk_label_encode(const struct group_name *name, bool to_group, uint8_t *out);
/* -EBADMSG: the bytes are no such label; the two results are then undefined. */
CW_MUST_CHECK int bulk_label_decode(const uint8_t *label, size_t length, struct group_name *name, bool *to_group);

#endif
