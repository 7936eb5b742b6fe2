/* SPDX-License-Identifier: Apache-2.0 */
#include "ag_caller.h"

#include "base/prng.h"
#include "services/aggregate/dense/dense.h"
#include "services/aggregate/dense/number.h"
#include "services/multicast/cast/head.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct caller_plan caller_plan;

const struct book_grant caller_grants[CALLER_GRANTS] = {
    {.from = AGGREGATE_JOB, .to = AGGREGATE_JOB, .port = AGGREGATE_PORT_EDGE, .all_processes = true},
    {.from = AGGREGATE_JOB, .to = AGGREGATE_JOB, .port = AGGREGATE_PORT_CALL, .all_processes = true},
    {.from = MULTICAST_JOB, .to = MULTICAST_JOB, .port = MULTICAST_PORT, .all_processes = true},
    {.from = MULTICAST_JOB, .to = MULTICAST_JOB, .port = 1, .all_processes = true},
    {.from = MULTICAST_JOB, .to = MULTICAST_JOB, .port = MULTICAST_PORT_GROUPS, .all_processes = true},
};

static uint64_t lives; /* of all instances so far */
static uint64_t life_of[CALLER_SERVERS];

/* The state of an instance. */
struct caller {
    cw_svc *s;
    cw_server self;
    uint64_t life;
    const cw_aggregate_api *api;
    cw_aggregate *aggregate;
};

uint64_t caller_life(cw_server server)
{
    return life_of[server];
}

void caller_values(const struct caller_run *run, cw_server server, uint64_t first, size_t count, void *out)
{
    size_t bytes = number_bytes(run->type), per = number_element(run->type, run->combine) / bytes;
    uint64_t mine = prng_mix(run->seed, server + 1);
    uint8_t *to = out;
    for (size_t i = 0; i < count * per; i++) {
        uint64_t word = prng_mix(mine, first * per + i);
        float small = (float)(word % 1000);
        memcpy(to + i * bytes, run->type == CW_NUMBER_FLOAT32 ? (const void *)&small : (const void *)&word, bytes);
    }
}

/* ---- A call ------------------------------------------------------------------------------------------------------ */

static void ended(void *arg, const cw_reduce_result *result)
{
    struct caller_call *c = arg;
    c->ends++;
    c->status = result->status;
    c->attempts = result->attempts;
    c->count = result->count;
    c->named = result->named;
    c->who = result->who;
    c->ended = caller_plan.now(caller_plan.context);
    for (unsigned i = 0; i < result->count; i++) {
        cw_server s = cw_server_id(c->s, result->counted[i]);
        c->counted[s / 64] |= UINT64_C(1) << s % 64;
    }
    if (caller_plan.ended != NULL) {
        caller_plan.ended(c->run, c);
    }
}

static void fill(void *context, uint64_t first, size_t count, void *elements)
{
    const struct caller_call *c = context;
    caller_values(c->run, c->self, first, count, elements);
}

static void take(void *context, uint64_t first, size_t count, const void *elements)
{
    struct caller_call *c = context;
    size_t element = number_element(c->run->type, c->run->combine);
    c->took += count * element;
    if (!c->run->forget) {
        memcpy(c->out + first * element, elements, count * element);
    }
}

/* Its vector, the root's room for the result, and the call. */
static void call(cw_svc *s, void *state, void *arg)
{
    struct caller *k = state;
    struct caller_call *c = arg;
    const struct caller_run *run = c->run;
    bool member = run->members[k->self / 64] >> k->self % 64 & 1, root = run->root == k->self;
    size_t bytes = run->elements * number_element(run->type, run->combine);
    cw_coord *list = calloc(CALLER_SERVERS, sizeof *list);
    cw_reduce r = {CW_REDUCE_INIT, .name = run->name, .name_length = strlen(run->name), .member = list};
    for (cw_server m = 0; m < CALLER_SERVERS; m++) {
        if (run->members[m / 64] >> m % 64 & 1) {
            list[r.members++] = cw_server_coord(s, m);
        }
    }
    r.root = cw_server_coord(s, run->root);
    r.type = run->type;
    r.combine = run->combine;
    r.elements = run->elements;
    r.flags = run->flags;
    r.limit = run->limit;
    r.context = c;
    bool from_root = (run->flags & CW_REDUCE_FROM_ROOT) != 0;
    bool gives = from_root ? root : member;
    if (gives && run->shared != NULL) {
        r.in = run->shared;
    } else if (gives && run->fill && !from_root) {
        r.fill = fill;
    } else if (gives) {
        c->in = malloc(bytes + 1);
        caller_values(run, k->self, 0, run->elements, c->in);
        r.in = c->in;
    }
    bool to_all = (run->flags & CW_REDUCE_TO_ALL) != 0;
    if ((root || to_all) && !(root && from_root) && run->kind == CALLER_REDUCE) {
        c->out = run->forget && !(root && to_all) ? NULL : calloc(1, bytes + 1);
        r.out = (run->fill || run->forget) && !(root && to_all) ? NULL : c->out;
        r.take = r.out == NULL ? take : NULL;
    }
    c->s = s;
    c->self = k->self;
    c->life = k->life;
    if (run->kind == CALLER_REDUCE) {
        c->ticket = k->api->reduce(k->aggregate, &r, ended, c);
    } else {
        c->out = calloc(run->kind == CALLER_ALLGATHER ? r.members : 1, bytes + 1);
        r.out = c->out;
        r.take = NULL;
        c->ticket = run->kind == CALLER_ALLGATHER ? k->api->allgather(k->aggregate, &r, ended, c)
                                                  : k->api->reduce_scatter(k->aggregate, &r, ended, c);
    }
    free(list);
}

static void cancel(cw_svc *s, void *state, void *arg)
{
    struct caller *k = state;
    struct caller_call *c = arg;
    (void)s;
    if (c->life == k->life && c->ticket > 0 && c->ends == 0) {
        (void)k->api->cancel(k->aggregate, c->ticket);
    }
}

/* ---- The instance ------------------------------------------------------------------------------------------------ */

static void begin(cw_svc *s, void *state, void *arg)
{
    struct caller *k = state;
    cw_svc *peer;
    cw_time now = caller_plan.now(caller_plan.context);
    (void)arg;
    k->api = cw_find(s, "aggregate", CW_AGGREGATE_API, &peer);
    if (k->api == NULL || k->api->open(peer, s, &k->aggregate) < 0) {
        abort();
    }
    for (unsigned i = 0; i < caller_plan.runs; i++) {
        struct caller_call *c = &caller_plan.run[i].call[k->self];
        c->run = &caller_plan.run[i];
        if (c->at.ns != INT64_MAX && cw_time_before(now, c->at)) {
            (void)cw_timer_start(s, cw_time_since(c->at, now), call, c);
            if (c->cancel.ns != INT64_MAX) {
                (void)cw_timer_start(s, cw_time_since(c->cancel, now), cancel, c);
            }
        }
    }
}

static int on_open(cw_svc *s, void *state)
{
    struct caller *k = state;
    k->s = s;
    k->self = cw_server_id(s, cw_self(s));
    k->life = life_of[k->self] = ++lives;
    return cw_timer_start(s, CW_NS(0), begin, NULL) == NULL ? -ENOMEM : 0;
}

/* What is under way ends with -ECANCELED; a server that is killed is not even asked. */
static void on_close(cw_svc *s, void *state)
{
    struct caller *k = state;
    (void)s;
    life_of[k->self] = 0;
    if (k->api != NULL) {
        k->api->close(k->aggregate);
    }
}

static cw_verdict on_packet(cw_svc *s, void *state, cw_packet *p, const cw_rx *rx)
{
    (void)s;
    (void)state;
    (void)p;
    (void)rx;
    return CW_DROP;
}

/* "call N": run N of the plan, now. */
static int on_command(cw_svc *s, void *state, cw_request *r, int argc, const char *const *argv)
{
    struct caller *k = state;
    unsigned number = argc == 2 ? (unsigned)strtoul(argv[1], NULL, 10) : CALLER_RUNS;
    (void)r;
    if (number >= caller_plan.runs || k->aggregate == NULL) {
        return -EINVAL;
    }
    struct caller_call *c = &caller_plan.run[number].call[k->self];
    c->run = &caller_plan.run[number];
    call(s, k, c);
    return 0;
}

const cw_service caller_service = {
    CW_SERVICE_INIT,
    .name = "caller",
    .version = "1",
    .job = CALLER_JOB,
    .state_size = sizeof(struct caller),
    .open = on_open,
    .close = on_close,
    .on_packet = on_packet,
    .on_command = on_command,
};
