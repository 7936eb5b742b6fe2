/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dense.h - the engine for vectors on one server: its part in every reduction that it is a member, a vertex or the root
 * of. The service `aggregate` hands its upcalls on, and what other services ask for (cubeway/aggregate.h).
 *
 *     open        dense_open(s, &d)                       event       dense_event(d, ev)
 *     on_packet   dense_packet(d, p, rx)                  on_writable dense_writable(d)
 *     close       dense_close(d)
 */
#ifndef SERVICES_AGGREGATE_DENSE_DENSE_H
#define SERVICES_AGGREGATE_DENSE_DENSE_H

#include "cubeway/aggregate.h"

/* The job and the ports of the service. */
enum {
    AGGREGATE_JOB = 8,
    AGGREGATE_PORT_EDGE = 0,        /* blocks of vectors */
    AGGREGATE_PORT_CALL = 1,        /* everything else that reductions say */
    AGGREGATE_PORT_QUERY = 2,       /* questions to all servers (query/) */
    AGGREGATE_PORT_ORDER = 3,       /* what operators ask for (order/) */
    AGGREGATE_PORT_STREAM = 4,      /* blocks of sorted records (stream/) */
    AGGREGATE_PORT_STREAM_CALL = 5, /* everything else that their runs say */
};

struct dense;

/*
 * Borrows s until dense_close(). -E2BIG: the torus has more servers than a message has room for
 * (MESSAGE_SERVERS_MOST, 4096); -ENOMEM, or what transport_open() says.
 */
CW_MUST_CHECK int dense_open(cw_svc *s, struct dense **out);
/*
 * Ends everything with -ECANCELED, told from inside; dense_reduce() gives -ESHUTDOWN from then on. NULL is allowed.
 */
void dense_close(struct dense *d);

cw_verdict dense_packet(struct dense *d, cw_packet *p, const cw_rx *rx);
void dense_event(struct dense *d, const cw_event *ev);
void dense_writable(struct dense *d);

#define DENSE_TICKET_LEAST (INT64_C(1) << 33) /* of a reduction; others have lower ones */
/* As cw_aggregate_api's reduce() and cancel(). owner is whoever asks: dense_disown() ends all that is its own. */
CW_MUST_CHECK int64_t dense_reduce(struct dense *d, const void *owner, cw_job job, const cw_reduce *reduce,
                                   cw_reduce_done_fn done, void *arg);
int dense_cancel(struct dense *d, const void *owner, int64_t ticket);
void dense_disown(struct dense *d, const void *owner);

/* What operators see. */
struct dense_overview {
    unsigned members, vertices, roots; /* reductions in which this server is each of these */
    size_t memory;                     /* bytes of windows */
};
void dense_look(const struct dense *d, struct dense_overview *out);

enum dense_role { DENSE_IS_ROOT, DENSE_IS_MEMBER, DENSE_IS_VERTEX /* on the way of others */ };

/* One reduction, as this server knows it. Everything is borrowed for the call. */
struct dense_run {
    enum dense_role role;
    cw_coord root;
    cw_job job;       /* 0 where it is not known: on the way of others */
    const char *name; /* name_length bytes of any kind; none on the way of others */
    size_t name_length;
    cw_number type;
    cw_combine combine;
    uint64_t bytes;
    const char *state; /* for operators */
    uint32_t attempt;  /* 0: none has begun */
    /* At the root alone: what is settled, the members, and who is waited for (sets by server; waits may be empty). */
    uint64_t settled_bytes;
    const uint64_t *members, *waits; /* NULL elsewhere */
    cw_span still;                   /* since something has moved */
};
/* Calls row for each reduction that this server has to do with, its own first. */
void dense_each(const struct dense *d, void (*row)(void *context, const struct dense_run *run), void *context);

#endif
