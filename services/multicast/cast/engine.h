/* SPDX-License-Identifier: Apache-2.0 */
/*
 * engine.h - all messages that a server has to do with: it sends the server's own, takes those of others, and finds
 * their sinks. Files, bulk messages and the pattern call the first half; the service's table calls the second.
 */
#ifndef SERVICES_MULTICAST_CAST_ENGINE_H
#define SERVICES_MULTICAST_CAST_ENGINE_H

#include "services/multicast/cast/session.h"
#include "services/multicast/cast/store.h"

struct cast_engine;

/* ---- For files, bulk messages, the pattern ----------------------------------------------------------------------- */

/*
 * Registers the function that accepts messages of a kind here. A member ends with -EPROTONOSUPPORT when a message is of
 * a kind that nobody has registered for.
 */
void cast_engine_kind(struct cast_engine *e, enum cast_content kind, cast_accept_fn accept, void *context);

/* How a message ended at its source. Borrowed for the call of done(). */
struct cast_result {
    uint64_t ticket;
    /*
     * 0: each member has it, or its row says why not. Else why the message ended: -ETIMEDOUT, -ECANCELED, what read()
     * gave.
     */
    int status;
    uint64_t bytes;
    cw_span took;                     /* until the last member's word */
    const struct cast_member *member; /* a row for each member, ascending by server */
    unsigned count;
    /* Pieces that the source sent more than once: by the same edge, or in a later round. */
    uint64_t repeated;
    struct cast_repeats repeats;
    uint32_t piece_bytes;
};

/* A message to send. Everything but `from` is borrowed for the call. */
struct cast_order {
    enum cast_content kind;
    uint8_t id[CAST_ID_BYTES];
    uint64_t bytes; /* at least 1 */
    const uint8_t *label;
    size_t label_bytes;     /* at most CAST_LABEL_MOST */
    const uint8_t *members; /* bit i % 8 of byte i / 8: server i; the bit of this server is ignored */
    struct cast_source from;
    /* The first round asks the members what they lack and sends nothing: for a message that may be resumed. */
    bool ask_first;
    /* Best effort: what is lacking after the first round is not sent again. */
    bool once;
    /* Called once, from a later upcall, unless cast_engine_send() failed. May be NULL. */
    void (*done)(void *context, const struct cast_result *result);
    void *context;
};

/*
 * Sends a message; *ticket names it on this server. 0: order->from was taken, and will be closed. -EINVAL: no bytes, no
 * member, or a label that is too long; -ENETUNREACH: no member can be reached; -EBUSY: CAST_BUSY_MOST messages are
 * under way from here; -EMSGSIZE: packets here are too small to name all servers; -E2BIG: too many pieces; -ENOMEM.
 */
CW_MUST_CHECK int cast_engine_send(struct cast_engine *e, const struct cast_order *order, uint64_t *ticket);
/* Ends a message of this server; done() is called with status from inside this function. -ENOENT: no such message. */
int cast_engine_cancel(struct cast_engine *e, uint64_t ticket, int status);
/* A sink, a source or an accept function that gave -EAGAIN can go on. Unknown tickets are ignored, here and below. */
void cast_engine_resume(struct cast_engine *e, uint64_t ticket);
/* The end() of a sink that gave -EINPROGRESS is done, with 0 or -errno. */
void cast_engine_ended(struct cast_engine *e, uint64_t ticket, int status);
/* Borrows a message's session until the next upcall, to show its progress. NULL: it was forgotten. */
const struct cast_session *cast_engine_look(const struct cast_engine *e, uint64_t ticket);
/* The session after `before`, for a walk over all of them; NULL gives the first. */
const struct cast_session *cast_engine_each(const struct cast_engine *e, const struct cast_session *before);

/* ---- For the service's table ------------------------------------------------------------------------------------- */

/*
 * Reads the options patience_ms and limit_ms and registers counters. -EINVAL: an option, logged; -ENOMEM;
 * torus_init()'s.
 */
CW_MUST_CHECK int cast_engine_open(struct cast_engine **out, cw_svc *s);
/* Ends every sink and every message of this server with -ESHUTDOWN. NULL is allowed. */
void cast_engine_close(struct cast_engine *e);
/* Takes a packet of head.h that came to MULTICAST_PORT; as on_packet. Its bytes are not changed. */
cw_verdict cast_engine_packet(struct cast_engine *e, const uint8_t *bytes, size_t length, const cw_rx *rx);
void cast_engine_event(struct cast_engine *e, const cw_event *ev);
cw_packet *cast_engine_next(struct cast_engine *e, cw_link link);

#endif
