/* SPDX-License-Identifier: Apache-2.0 */
#include "dense_town.h"

#include <stdlib.h>
#include <string.h>

struct town_call town_calls[TOWN_SERVERS];

struct town {
    struct dense *d;
};

static int on_open(cw_svc *s, void *state)
{
    return dense_open(s, &((struct town *)state)->d);
}

static void on_close(cw_svc *s, void *state)
{
    (void)s;
    dense_close(((struct town *)state)->d);
}

static cw_verdict on_packet(cw_svc *s, void *state, cw_packet *p, const cw_rx *rx)
{
    (void)s;
    return dense_packet(((struct town *)state)->d, p, rx);
}

static void on_event(cw_svc *s, void *state, const cw_event *ev)
{
    (void)s;
    dense_event(((struct town *)state)->d, ev);
}

static const cw_service service = {
    CW_SERVICE_INIT, .name = "town",    .version = "1",         .job = AGGREGATE_JOB, .state_size = sizeof(struct town),
    .open = on_open, .close = on_close, .on_packet = on_packet, .on_event = on_event,
};

struct fake_net *town_open(void)
{
    memset(town_calls, 0, sizeof town_calls);
    return fake_net_open(&service, (cw_dims){3, 3, 3});
}

void town_close(struct fake_net *net)
{
    (void)fake_net_close(net);
    for (cw_server s = 0; s < TOWN_SERVERS; s++) {
        free(town_calls[s].in);
        free(town_calls[s].out);
    }
    memset(town_calls, 0, sizeof town_calls);
}

struct dense *town_dense(struct fake_net *net, cw_server s)
{
    return ((struct town *)net->server[s]->state)->d;
}

static uint64_t element(cw_server s, uint64_t i)
{
    return (s + 1) * UINT64_C(1000003) + i;
}

static void ended(void *arg, const cw_reduce_result *result)
{
    struct town_call *c = arg;
    c->ends++;
    c->status = result->status;
    c->attempts = result->attempts;
    c->count = result->count;
    c->named = result->named;
    c->who = result->who;
}

int64_t town_reduce(struct fake_net *net, cw_server s, const struct town_plan *plan)
{
    struct town_call *c = &town_calls[s];
    cw_coord list[TOWN_SERVERS];
    free(c->in);
    free(c->out);
    *c = (struct town_call){.ends = 0};
    cw_reduce r = {CW_REDUCE_INIT, .name = plan->name, .name_length = strlen(plan->name), .member = list};
    for (cw_server m = 0; m < TOWN_SERVERS; m++) {
        if (plan->members >> m & 1) {
            list[r.members++] = torus_coord(&net->torus, m);
        }
    }
    r.root = torus_coord(&net->torus, plan->root);
    r.type = plan->type != 0 ? plan->type : CW_NUMBER_UINT64;
    r.combine = plan->combine != 0 ? plan->combine : CW_COMBINE_SUM;
    r.elements = plan->elements;
    r.flags = plan->flags;
    r.limit = plan->limit;
    if (plan->members >> s & 1) {
        c->in = calloc(plan->elements + 1, sizeof *c->in);
        for (uint64_t i = 0; i < plan->elements; i++) {
            c->in[i] = element(s, i);
        }
        r.in = c->in;
    }
    if (s == plan->root) {
        c->out = calloc(plan->elements + 1, sizeof *c->out);
        r.out = c->out;
    }
    c->ticket = dense_reduce(town_dense(net, s), net, 7, &r, ended, c);
    return c->ticket;
}

void town_reduce_all(struct fake_net *net, const struct town_plan *plan)
{
    for (cw_server s = 0; s < TOWN_SERVERS; s++) {
        if ((plan->members >> s & 1) || s == plan->root) {
            (void)town_reduce(net, s, plan);
        }
    }
}

bool town_right(const struct town_plan *plan, uint32_t counted)
{
    for (uint64_t i = 0; i < plan->elements; i++) {
        uint64_t sum = 0;
        for (cw_server s = 0; s < TOWN_SERVERS; s++) {
            sum += counted >> s & 1 ? element(s, i) : 0;
        }
        if (town_calls[plan->root].out[i] != sum) {
            return false;
        }
    }
    return town_calls[plan->root].count == (unsigned)__builtin_popcount(counted);
}

void town_lose(struct fake_net *net, cw_server s)
{
    for (cw_server at = 0; at < TOWN_SERVERS; at++) {
        net->server[at]->down[at == s ? (s + 1) % TOWN_SERVERS : s] = true;
    }
    const cw_event ev = {.size = sizeof ev, .kind = CW_EVENT_SERVER_DOWN, .server = torus_coord(&net->torus, s)};
    for (cw_server at = 0; at < TOWN_SERVERS; at++) {
        if (at != s) {
            dense_event(town_dense(net, at), &ev);
        }
    }
}
