/* SPDX-License-Identifier: Apache-2.0 */
/* internal.h - the state of the service `aggregate` on one server: its engines, which its upcalls hand on to. */
#ifndef SERVICES_AGGREGATE_INTERNAL_H
#define SERVICES_AGGREGATE_INTERNAL_H

#include "services/aggregate/collect.h"

struct dense;
struct orders;
struct stream;
struct query;

/* Owns the engines from on_open() to on_close(). */
struct aggregate {
    cw_svc *s;
    struct dense *dense;
    struct orders *orders;
    struct stream *stream;
    struct query *query;
    struct collects collects;
};

#endif
