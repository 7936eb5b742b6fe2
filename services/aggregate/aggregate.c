/* SPDX-License-Identifier: Apache-2.0 */
#include "services/aggregate/aggregate.h"

#include "services/aggregate/dense/dense.h"
#include "services/reply/refuse.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The state of the service. */
struct aggregate {
    cw_svc *s;
    struct dense *dense;
};

/* A service that has opened the aggregation. */
struct cw_aggregate {
    struct aggregate *a;
    cw_job job;
};

/* ---- For other services ------------------------------------------------------------------------------------------ */

static int api_open(cw_svc *aggregate, cw_svc *user, cw_aggregate **out)
{
    if (aggregate == NULL || user == NULL || out == NULL) {
        return -EINVAL;
    }
    cw_aggregate *u = malloc(sizeof *u);
    if (u == NULL) {
        return -ENOMEM;
    }
    *u = (cw_aggregate){.a = cw_state(aggregate), .job = cw_job_of(user)};
    *out = u;
    return 0;
}

static void api_close(cw_aggregate *u)
{
    if (u != NULL) {
        dense_disown(u->a->dense, u);
        free(u);
    }
}

static int64_t api_reduce(cw_aggregate *u, const cw_reduce *reduce, cw_reduce_done_fn done, void *arg)
{
    return u == NULL ? -EINVAL : dense_reduce(u->a->dense, u, u->job, reduce, done, arg);
}

static int api_cancel(cw_aggregate *u, int64_t ticket)
{
    return u == NULL ? -EINVAL : dense_cancel(u->a->dense, u, ticket);
}

static const cw_aggregate_api api = {sizeof api, api_open, api_close, api_reduce, api_cancel};

/* ---- Upcalls ----------------------------------------------------------------------------------------------------- */

static int on_open(cw_svc *s, void *state)
{
    struct aggregate *a = state;
    a->s = s;
    return dense_open(s, &a->dense);
}

static void on_close(cw_svc *s, void *state)
{
    struct aggregate *a = state;
    (void)s;
    dense_close(a->dense);
}

static cw_verdict on_packet(cw_svc *s, void *state, cw_packet *p, const cw_rx *rx)
{
    struct aggregate *a = state;
    (void)s;
    return dense_packet(a->dense, p, rx);
}

static void on_event(cw_svc *s, void *state, const cw_event *ev)
{
    struct aggregate *a = state;
    (void)s;
    dense_event(a->dense, ev);
}

static void on_writable(cw_svc *s, void *state)
{
    struct aggregate *a = state;
    (void)s;
    dense_writable(a->dense);
}

static int on_command(cw_svc *s, void *state, cw_request *r, int argc, const char *const *argv)
{
    struct aggregate *a = state;
    struct dense_overview look;
    (void)s;
    if (argc != 1 || strcmp(argv[0], "status") != 0) {
        return refuse_request(r, "the one command is status");
    }
    dense_look(a->dense, &look);
    cw_request_int(r, "members", look.members);
    cw_request_int(r, "vertices", look.vertices);
    cw_request_int(r, "roots", look.roots);
    cw_request_int(r, "memory_bytes", (int64_t)look.memory);
    return 0;
}

static const cw_command commands[] = {
    {"status", "", "In how many reductions this server is a member, a vertex and the root; bytes of their windows."},
    {NULL, NULL, NULL},
};

const cw_service aggregate_service = {
    CW_SERVICE_INIT,
    .name = "aggregate",
    .version = "1",
    .job = AGGREGATE_JOB,
    .state_size = sizeof(struct aggregate),
    .open = on_open,
    .close = on_close,
    .on_packet = on_packet,
    .on_event = on_event,
    .on_command = on_command,
    .on_writable = on_writable,
    .exports = &api,
    .exports_version = CW_AGGREGATE_API,
    .commands = commands,
};
