/* SPDX-License-Identifier: Apache-2.0 */
/*
 * engine.h - all messages that a server has to do with: sends its own, takes those of others, finds their sinks. The service's table calls the
 * second half; who sends and receives (files, bulk, the pattern) calls the first.
 */
#ifndef SERVICES_MULTICAST_CAST_ENGINE_H
#define SERVICES_MULTICAST_CAST_ENGINE_H

#include "services/multicast/cast/session.h"
#include "services/multicast/cast/store.h"

struct cast_engine;

/* ---- For files, bulk, the pattern -------------------------------------------------------------------------------- */

/* Who takes messages of a kind here; of a kind without anybody a member ends with -EPROTONOSUPPORT. */
void cast_engine_kind(struct cast_engine *e, enum cast_content kind, cast_accept_fn accept, void *context);

/* How a message ended at its source. Borrowed for the call of done(). */
struct cast_result {
    uint64_t ticket;
    int status; /* 0: every member has it or was told why not; -ETIMEDOUT, -ECANCELED, what read() said */
    uint64_t bytes;
    cw_span took;                     /* until the last member's word */
    const struct cast_member *member; /* a row for each member, ascending by server */
    unsigned count;
    uint64_t repeated; /* pieces the source sent more than once by the same tree edge, or in a further round */
};

/* A message to send. All but the source is borrowed for the call. */
struct cast_order {
    enum cast_content kind;
    uint8_t id[CAST_ID_BYTES];
    uint64_t bytes; /* at least 1 */
    const uint8_t *label;
    size_t label_bytes;     /* at most CAST_LABEL_MOST */
    const uint8_t *members; /* bit i % 8 of byte i / 8: server i; the source's own is ignored */
    struct cast_source from;
    bool ask_first; /* members say what they lack before anything is sent: for what may be resumed */
    bool once;      /* best effort: one round, and what is lacking then is not sent again */
    /* Once, unless cast_engine_send() failed; from a later upcall. May be NULL. */
    void (*done)(void *context, const struct cast_result *result);
    void *context;
};

/*
 * Takes order->from when it gives 0 (and then closes it); *ticket names the message. -EINVAL no bytes, no member, a label too long; -ENETUNREACH: no member can be
 * reached; -EBUSY too many at once; -EMSGSIZE packets here are too small to name all servers; -ENOMEM; -E2BIG.
 */
CW_MUST_CHECK int cast_engine_send(struct cast_engine *e, const struct cast_order *order, uint64_t *ticket);
/* Ends a message that was sent from here: done() is called with status from inside. -ENOENT: there is none. */
int cast_engine_cancel(struct cast_engine *e, uint64_t ticket, int status);
/* A sink or source that said -EAGAIN can go on. Unknown tickets are ignored, here and below. */
void cast_engine_resume(struct cast_engine *e, uint64_t ticket);
/* The end() that said -EINPROGRESS is done: 0, or -errno. */
void cast_engine_ended(struct cast_engine *e, uint64_t ticket, int status);
/* Borrows a message's state until the next upcall, to show its progress; NULL: it is forgotten. */
const struct cast_session *cast_engine_look(const struct cast_engine *e, uint64_t ticket);
/* All of them, one after the other: NULL gives the first. */
const struct cast_session *cast_engine_each(const struct cast_engine *e, const struct cast_session *before);

/* ---- For the service's table -------------------------------------------------------------------------------------- */

/* -ENOMEM, and what torus_init() says. Registers its counters. */
CW_MUST_CHECK int cast_engine_open(struct cast_engine **out, cw_svc *s);
/* Ends everything: sinks with -ECANCELED, sends with -ESHUTDOWN. NULL is allowed. */
void cast_engine_close(struct cast_engine *e);
/* A packet of one of the kinds of cast/head.h; its bytes are changed by nobody. */
cw_verdict cast_engine_packet(struct cast_engine *e, const uint8_t *bytes, size_t length, const cw_rx *rx);
void cast_engine_event(struct cast_engine *e, const cw_event *ev);
cw_packet *cast_engine_next(struct cast_engine *e, cw_link link);

#endif
