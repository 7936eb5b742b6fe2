/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store.h - where the bytes of a message come from at its source, and where they go to at a member. Files, memory, a pattern: each is one of these.
 *
 * A message is pieces of piece_bytes bytes (the last may be shorter); piece i is the bytes from i * piece_bytes on. All functions are called on the
 * service's thread, so none of them may wait: what has to wait says -EAGAIN and calls cast_engine_resume() when it can go on.
 */
#ifndef SERVICES_MULTICAST_CAST_STORE_H
#define SERVICES_MULTICAST_CAST_STORE_H

#include "cubeway/types.h"

enum {
    CAST_ID_BYTES = 16,
    CAST_LABEL_MOST = 320, /* bytes of a label */
};

/* What the label of a message means, and who takes it at a member (cast_engine_kind()). */
enum cast_content { CAST_PATTERN = 1, CAST_FILE = 2, CAST_BULK = 3, CAST_CONTENTS = 4 };

/* Random access: a piece may be read again, long after the first time. */
struct cast_source {
    void *context;
    /* Fills out. 0; -EAGAIN not now; any other -errno ends the message with it at once, for all. */
    int (*read)(void *context, uint64_t offset, uint8_t *out, size_t length);
    /* Once, when nothing is read any more; before done() is called. May be NULL. */
    void (*close)(void *context);
};

struct cast_sink {
    void *context;
    /*
     * A piece; pieces come in any order, each that was not there once. Borrows bytes for the call. 0; -EAGAIN: not now, it comes again (nobody else waits for it
     * longer than multicast.md says: from then on this member catches up by itself); any other -errno: this member ends with it and is named
     * at the source, and goes on forwarding.
     */
    int (*write)(void *context, uint64_t offset, const uint8_t *bytes, size_t length);
    /* Is piece i there already, from an earlier time? Asked once for each, right after the accepting. NULL: none is. */
    bool (*has)(void *context, uint64_t piece);
    /*
     * Once, unless write() had failed for good (then too, with that error). status 0: all pieces are there; the answer says whether it is whole and in its
     * place: 0, -errno, or -EINPROGRESS (cast_engine_ended() follows). Otherwise why it ended unfinished, and the answer does not matter.
     * Nothing else is called after it.
     */
    int (*end)(void *context, int status);
};

/* A message that is new to a member. Borrowed for the call. */
struct cast_offer {
    uint64_t ticket; /* names the message on this server, for cast_engine_*() */
    cw_server origin;
    uint8_t kind;              /* enum cast_content */
    uint8_t id[CAST_ID_BYTES]; /* the same bytes have the same id, if the source wants them to be resumed */
    uint64_t bytes, pieces;
    uint32_t piece_bytes;
    const uint8_t *label; /* what the kind needs to know: a name, a mode, a topic, a digest */
    size_t label_bytes;
};

/*
 * Finds the sink. 0: *sink is filled; -EAGAIN: it is being opened, and asked for again when the parent asks, or at cast_engine_resume(); any other -errno: the
 * member ends with it, and forwards.
 */
typedef int (*cast_accept_fn)(void *context, const struct cast_offer *offer, struct cast_sink *sink);

#endif
