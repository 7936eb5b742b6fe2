/* SPDX-License-Identifier: Apache-2.0 */
/*
 * orders.h - reductions that an operator asks for: at one server, the desk, the operator says what to reduce, and the
 * desk has every member take part. The service `aggregate` hands its upcalls on.
 *
 *     open        orders_open(&o, s, dense)             event        orders_event(o, ev)
 *     on_packet   orders_packet(o, p, rx)               on_writable  orders_writable(o)
 *     close       orders_close(o), before dense_close()
 *
 * An order goes in two steps. LOOK: each member reads its file into memory and says how long it is, so that mistakes
 * are told by name before anything is sent. GO: each member calls a reduction (dense.h), lending that memory; the
 * result is written where it was wanted, and everybody answers the desk.
 *
 * Options of the service: `data`, the folder of the files; `memory`, the most bytes of vectors that are in memory at a
 * time.
 */
#ifndef SERVICES_AGGREGATE_ORDER_ORDERS_H
#define SERVICES_AGGREGATE_ORDER_ORDERS_H

#include "cubeway/service.h"

struct dense;
struct orders;

/* Borrows s and dense. -EINVAL: an option is wrong, and the log says what is right; -ENOMEM; or transport_open()'s. */
CW_MUST_CHECK int orders_open(struct orders **out, cw_svc *s, struct dense *dense);
/* Ends everything: runs are cancelled, and open requests are answered by the runtime. NULL is allowed. */
void orders_close(struct orders *o);

cw_verdict orders_packet(struct orders *o, cw_packet *p, const cw_rx *rx);
void orders_event(struct orders *o, const cw_event *ev);
void orders_writable(struct orders *o);

/* The commands `reduce`, `check` and `cancel`: on_command()'s results. */
int orders_command(struct orders *o, cw_request *r, int argc, const char *const *argv);
/* A number for an order at this server: no other one has it. */
uint32_t orders_number(struct orders *o);
/* A row for each order whose desk is here; *first says whether a row was begun before. */
void orders_status(const struct orders *o, cw_request *r, bool *first);

#endif
