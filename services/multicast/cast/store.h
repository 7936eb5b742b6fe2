/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store.h - where the bytes of a message come from at its source, and where they go at a member: files, memory, a
 * pattern.
 *
 * A message is cut into pieces of piece_bytes bytes (the last may be shorter); piece i is the bytes from i *
 * piece_bytes on. All functions are called on the service's thread, so none of them may wait: a function that would
 * have to wait gives -EAGAIN, and calls cast_engine_resume() when it can go on.
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

/* The bytes of a message at its source. Random access: a piece may be read again, long after the first time. */
struct cast_source {
    void *context;
    /* Fills out. 0; -EAGAIN: not now; any other -errno: the message ends with it at once, for all members. */
    int (*read)(void *context, uint64_t offset, uint8_t *out, size_t length);
    /* Called once, before done(), when nothing will be read any more. May be NULL. */
    void (*close)(void *context);
};

struct cast_sink {
    void *context;
    /*
     * Takes a piece; pieces come in any order, each that is not there yet once. Borrows bytes for the call. 0; -EAGAIN:
     * not now, the piece comes again (others wait for it only as long as docs/services/multicast.md says; then this
     * member catches up by itself); any other -errno: this member ends with it, is named at the source, and goes on
     * forwarding.
     */
    int (*write)(void *context, uint64_t offset, const uint8_t *bytes, size_t length);
    /*
     * Is this piece there already, from an earlier time? Asked once for each piece, when the sink is taken. NULL: none
     * is.
     */
    bool (*has)(void *context, uint64_t piece);
    /*
     * The end: called once, and nothing is called after it. status 0: all pieces are there. The answer says whether the
     * message is whole and in its place: 0, -errno, or -EINPROGRESS (cast_engine_ended() follows). Another status: why
     * the message ended unfinished, also the error of write(); the answer does not matter.
     */
    int (*end)(void *context, int status);
};

/* A message that is new to a member. Everything is borrowed for the call. */
struct cast_offer {
    uint64_t ticket; /* names the message on this server, for cast_engine_*() */
    cw_server origin;
    uint8_t kind; /* enum cast_content */
    /* A message that may be resumed has the id of the one that broke off. */
    uint8_t id[CAST_ID_BYTES];
    uint64_t bytes, pieces;
    uint32_t piece_bytes;
    const uint8_t *label; /* what the kind needs: a name, a mode, a topic, a digest */
    size_t label_bytes;
};

/*
 * Finds the sink of a message. 0: *sink is filled in; -EAGAIN: it is being opened, and is asked for again with the next
 * OPEN or at cast_engine_resume(); any other -errno: the member ends with it, and forwards.
 */
typedef int (*cast_accept_fn)(void *context, const struct cast_offer *offer, struct cast_sink *sink);

#endif
