/* SPDX-License-Identifier: Apache-2.0 */
#include "services/aggregate/aggregate.h"

#include "services/aggregate/dense/dense.h"
#include "services/aggregate/dense/number.h"
#include "services/aggregate/internal.h"
#include "services/aggregate/order/orders.h"
#include "services/aggregate/query/query.h"
#include "services/aggregate/stream/stream.h"
#include "services/reply/refuse.h"
#include "services/reply/servers.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAMES = 200 };
/* Tickets of runs are their numbers above it: those of collectives are below, those of reductions beyond them all. */
#define RUN_TICKET (INT64_C(1) << 32)

_Static_assert((int)QUERY_PORT == (int)AGGREGATE_PORT_QUERY && (int)QUERY_JOB == (int)AGGREGATE_JOB, "one port");

/* A service that has opened the aggregation. */
struct cw_aggregate {
    struct aggregate *a;
    cw_job job;
    bool closing; /* what it has under way is being ended: its upcalls may begin nothing */
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
        u->closing = true;
        stream_disown(u->a->stream, u);
        collect_disown(&u->a->collects, u);
        dense_disown(u->a->dense, u);
        free(u);
    }
}

/*
 * < 0: the service may begin nothing. While it is closed, upcalls tell it of ends. Who begins again whatever has failed
 * would keep that from ending, and what began would be left behind with an owner that is gone.
 */
static int may_begin(const cw_aggregate *u)
{
    return u == NULL ? -EINVAL : u->closing ? -ESHUTDOWN : 0;
}

static int64_t api_reduce(cw_aggregate *u, const cw_reduce *reduce, cw_reduce_done_fn done, void *arg)
{
    int rc = may_begin(u);
    return rc < 0 ? rc : dense_reduce(u->a->dense, u, u->job, reduce, done, arg);
}

static int api_cancel(cw_aggregate *u, int64_t ticket)
{
    if (u != NULL && ticket > RUN_TICKET && ticket < DENSE_TICKET_LEAST) {
        return stream_end(u->a->stream, u, (uint32_t)(ticket - RUN_TICKET));
    }
    int rc = u == NULL ? -EINVAL : collect_cancel(&u->a->collects, u, ticket);
    return rc == -ENOENT ? dense_cancel(u->a->dense, u, ticket) : rc;
}

static int64_t api_reduce_scatter(cw_aggregate *u, const cw_reduce *reduce, cw_reduce_done_fn done, void *arg)
{
    int rc = may_begin(u);
    return rc < 0 ? rc : collect_begin(&u->a->collects, COLLECT_REDUCE_SCATTER, u, u->job, reduce, done, arg);
}

static int64_t api_allgather(cw_aggregate *u, const cw_reduce *reduce, cw_reduce_done_fn done, void *arg)
{
    int rc = may_begin(u);
    return rc < 0 ? rc : collect_begin(&u->a->collects, COLLECT_ALLGATHER, u, u->job, reduce, done, arg);
}

static int64_t api_run(cw_aggregate *u, const cw_run *run, cw_run_done_fn done, void *arg)
{
    int rc = may_begin(u);
    uint32_t number = rc < 0 ? 0 : orders_number(u->a->orders);
    rc = rc < 0 ? rc : stream_run(u->a->stream, u, u->job, run, done, arg, number);
    return rc < 0 ? rc : RUN_TICKET + number;
}

static int api_feed(cw_aggregate *u, const char *name, const void *bytes, size_t length, bool last, cw_fed_fn fed,
                    void *arg)
{
    int rc = may_begin(u);
    return rc < 0 ? rc : stream_give(u->a->stream, u, u->job, name, bytes, length, last, fed, arg);
}

static const cw_aggregate_api api = {
    sizeof api, api_open, api_close, api_reduce, api_cancel, api_reduce_scatter, api_allgather, api_run, api_feed,
};

/* ---- Commands ---------------------------------------------------------------------------------------------------- */

struct rows {
    struct aggregate *a;
    cw_request *r;
    bool first;
};

/* Names of servers, as many as fit. */
static void text_set(cw_svc *s, cw_request *r, const char *field, const uint64_t *set)
{
    char text[NAMES] = "";
    size_t length = 0;
    unsigned more = 0;
    for (cw_server i = 0; i < servers_of(cw_torus(s)); i++) {
        if ((set[i / 64] >> i % 64 & 1) == 0) {
            continue;
        }
        cw_coord c = cw_server_coord(s, i);
        if (length + 24 > sizeof text) {
            more++;
        } else {
            length += (size_t)snprintf(text + length, sizeof text - length, "%s%u,%u,%u", length > 0 ? " " : "", c.x,
                                       c.y, c.z);
        }
    }
    if (more > 0) {
        snprintf(text + length, sizeof text - length, " +%u", more);
    }
    cw_request_text(r, field, text);
}

static void text_name(cw_request *r, const struct dense_run *run)
{
    char text[CW_AGGREGATE_NAME_MAX * 2 + 1];
    bool plain = true;
    for (size_t i = 0; i < run->name_length; i++) {
        plain = plain && run->name[i] > ' ' && run->name[i] <= '~';
    }
    for (size_t i = 0; i < run->name_length && !plain; i++) {
        snprintf(text + 2 * i, 3, "%02x", (uint8_t)run->name[i]);
    }
    if (plain) {
        snprintf(text, sizeof text, "%.*s", (int)run->name_length, run->name_length > 0 ? run->name : "");
    }
    cw_request_text(r, "name", text);
}

static void report_run(void *context, const struct dense_run *run)
{
    static const char *const roles[] = {"root", "member", "on the way"};
    struct rows *rows = context;
    cw_request *r = rows->r;
    unsigned members = 0;
    if (!rows->first) {
        cw_request_row(r);
    }
    rows->first = false;
    cw_request_text(r, "role", roles[run->role]);
    tell_server(r, "root", run->root);
    cw_request_int(r, "job", run->job);
    text_name(r, run);
    cw_request_text(r, "operation", number_combine_name(run->combine));
    cw_request_text(r, "type", number_name(run->type));
    cw_request_text(r, "state", run->state);
    cw_request_int(r, "attempts", run->attempt);
    cw_request_int(r, "bytes", (int64_t)run->bytes);
    cw_request_int(r, "still_ns", run->still.ns);
    if (run->role != DENSE_IS_ROOT) {
        return;
    }
    for (cw_server s = 0; s < servers_of(cw_torus(rows->a->s)); s++) {
        members += (unsigned)(run->members[s / 64] >> s % 64 & 1);
    }
    cw_request_int(r, "settled_bytes", (int64_t)run->settled_bytes);
    cw_request_int(r, "members", members);
    text_set(rows->a->s, r, "waits_for", run->waits);
}

static int report_totals(struct aggregate *a, cw_request *r)
{
    struct dense_overview look;
    dense_look(a->dense, &look);
    cw_request_int(r, "members", look.members);
    cw_request_int(r, "vertices", look.vertices);
    cw_request_int(r, "roots", look.roots);
    cw_request_int(r, "memory_bytes", (int64_t)look.memory);
    struct stream_overview sorted;
    stream_look(a->stream, &sorted);
    cw_request_int(r, "sorted_tasks", sorted.tasks);
    cw_request_int(r, "sorted_vertices", sorted.junctions);
    cw_request_int(r, "sorted_roots", sorted.collectors);
    cw_request_int(r, "sorted_memory_bytes", (int64_t)sorted.memory);
    cw_request_int(r, "sorted_feeds", sorted.feeds);
    cw_request_int(r, "sorted_moved_bytes", (int64_t)sorted.moved);
    cw_request_int(r, "sorted_kept_bytes", (int64_t)sorted.kept);
    cw_request_int(r, "sorted_read_bytes", (int64_t)sorted.read);
    cw_request_int(r, "questions", query_under_way(a->query));
    return 0;
}

static int on_command(cw_svc *s, void *state, cw_request *r, int argc, const char *const *argv)
{
    struct aggregate *a = state;
    const char *word = argc >= 1 ? argv[0] : "";
    (void)s;
    if (argc == 1 && strcmp(word, "status") == 0) {
        struct rows rows = {a, r, true};
        orders_status(a->orders, r, &rows.first);
        dense_each(a->dense, report_run, &rows);
        stream_status(a->stream, r, &rows.first);
        return 0;
    }
    if (strcmp(word, "feed") == 0) {
        return stream_feed(a->stream, r, argc, argv);
    }
    if (strcmp(word, "run") == 0) {
        return stream_command(a->stream, r, argc, argv, orders_number(a->orders));
    }
    if (argc == 1 && strcmp(word, "totals") == 0) {
        return report_totals(a, r);
    }
    uint64_t number;
    if (argc == 2 && strcmp(word, "take") == 0 && words_number(argv[1], 1, UINT32_MAX, &number) == 0) {
        return stream_take(a->stream, r, (uint32_t)number);
    }
    if (argc == 2 && strcmp(word, "cancel") == 0 && words_number(argv[1], 1, UINT32_MAX, &number) == 0 &&
        stream_cancel(a->stream, (uint32_t)number) == 0) {
        return 0;
    }
    if (strcmp(word, "reduce") == 0 || strcmp(word, "check") == 0 || strcmp(word, "cancel") == 0) {
        return orders_command(a->orders, r, argc, argv);
    }
    if (strcmp(word, "query") == 0) {
        return query_command(a->query, r, argc, argv);
    }
    return refuse_request(r,
                          "there are: reduce ..., check ..., run ..., feed ..., take ID, cancel ID, query ..., status, "
                          "totals; not '%.80s'",
                          word);
}

static const cw_command commands[] = {
    {"reduce", "OP TYPE from=FILE to=SERVER:FILE|all:FILE [of=SERVER].. [without=1] [order=any|fixed] [limit_ms=N]",
     "Combine the vectors in a file of each server into one, on one server or on all."},
    {"check", "[bytes=N] [to=SERVER|all] [of=SERVER].. [without=1] [order=any|fixed] [limit_ms=N]",
     "Add vectors that every server can compute, and compare the sum with what it must be."},
    {"run",
     "from=FILE|feed:NAME to=SERVER:FILE..|each:FILE|all:FILE|- [map=MAPPER] [combine=COMBINE] [top=N] [partitions=N] "
     "[of=SERVER].. [copies=NAME] [without=1] [limit_ms=N]",
     "Sort and combine the records in a file of each server: into one file, or a part on each of several."},
    {"feed", "NAME keep_ms=N data=BASE64 feeder=N at=N [end=1]",
     "The next piece of what a program of this server hands in for a run from=feed:NAME."},
    {"take", "ID", "The next piece of the result of a run that was begun here with to=-."},
    {"cancel", "ID", "End a reduction or a run that was begun here."},
    {"query list", "[on=SERVER].. [within_ms=N]", "The counters, times and feeds of all servers."},
    {"query feed", "NAME keep_ms=N data=BASE64", "Count these lines for a feed of this server."},
    {"query", "OP SOURCE [k=N] [p=P].. [by=x|y|z|server] [on=SERVER].. [within_ms=N]",
     "Ask all servers about a source: count sum mean min max top distinct quantile histogram."},
    {"status", "",
     "The reductions and runs that this server has to do with, who is waited for, and what jobs hold here."},
    {"totals", "",
     "In how many reductions this server is a member, a vertex and the root; bytes of their windows; questions."},
    {NULL, NULL, NULL},
};

/* ---- Upcalls ----------------------------------------------------------------------------------------------------- */

static int on_open(cw_svc *s, void *state)
{
    struct aggregate *a = state;
    a->s = s;
    int rc = dense_open(s, &a->dense);
    collects_open(&a->collects, s, a->dense);
    rc = rc < 0 ? rc : orders_open(&a->orders, s, a->dense);
    rc = rc < 0 ? rc : stream_open(&a->stream, s, a->dense);
    rc = rc < 0 ? rc : query_open(&a->query, s);
    if (rc < 0) {
        stream_close(a->stream);
        orders_close(a->orders);
        dense_close(a->dense);
    }
    return rc;
}

static void on_close(cw_svc *s, void *state)
{
    struct aggregate *a = state;
    (void)s;
    stream_close(a->stream);
    query_close(a->query);
    orders_close(a->orders);
    dense_close(a->dense);
    collects_close(&a->collects);
}

static cw_verdict on_packet(cw_svc *s, void *state, cw_packet *p, const cw_rx *rx)
{
    struct aggregate *a = state;
    (void)s;
    if (rx->port == AGGREGATE_PORT_STREAM || rx->port == AGGREGATE_PORT_STREAM_CALL) {
        return stream_packet(a->stream, p, rx);
    }
    if (rx->port == AGGREGATE_PORT_QUERY) {
        return query_packet(a->query, p, rx);
    }
    return rx->port == AGGREGATE_PORT_ORDER ? orders_packet(a->orders, p, rx) : dense_packet(a->dense, p, rx);
}

static void on_event(cw_svc *s, void *state, const cw_event *ev)
{
    struct aggregate *a = state;
    (void)s;
    dense_event(a->dense, ev);
    orders_event(a->orders, ev);
    stream_event(a->stream, ev);
    query_event(a->query, ev);
}

static void on_writable(cw_svc *s, void *state)
{
    struct aggregate *a = state;
    (void)s;
    dense_writable(a->dense);
    orders_writable(a->orders);
    stream_writable(a->stream);
    query_writable(a->query);
}

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
