/* SPDX-License-Identifier: Apache-2.0 */
/*
 * query.h - questions to all servers: how much is it in all, on whom is it most, how many different ones are there? The
 * service `aggregate` hands its upcalls on.
 *
 *     open        query_open(&q, s)                       event       query_event(q, ev)
 *     on_packet   query_packet(q, p, rx)                  on_writable query_writable(q)
 *     on_command  query_command(q, r, argc, argv)         close       query_close(q)
 */
#ifndef SERVICES_AGGREGATE_QUERY_QUERY_H
#define SERVICES_AGGREGATE_QUERY_QUERY_H

#include "cubeway/service.h"

enum { QUERY_JOB = 8, QUERY_PORT = 2 };

struct query;

/* Borrows s until query_close(). -E2BIG: more than 4,096 servers; -ENOMEM, or what transport_open() says. */
CW_MUST_CHECK int query_open(struct query **out, cw_svc *s);
/* Questions that were asked here are answered by the runtime (-ECANCELED). NULL is allowed. */
void query_close(struct query *q);

cw_verdict query_packet(struct query *q, cw_packet *p, const cw_rx *rx);
void query_event(struct query *q, const cw_event *ev);
void query_writable(struct query *q);

/* How many questions this server has to do with at present. */
unsigned query_under_way(const struct query *q);

/* The words "query ...": on_command()'s results. */
int query_command(struct query *q, cw_request *r, int argc, const char *const *argv);

#endif
