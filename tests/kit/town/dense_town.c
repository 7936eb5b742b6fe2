/* SPDX-License-Identifier: Apache-2.0 */
#include "dense_town.h"

#include <errno.h>
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

/* ---- A multicast ------------------------------------------------------------------------------------------------- */

struct town_multicast town_multicast;
static struct fake_net *town_net;

/* A service that has opened it. */
struct cw_multicast {
    cw_svc *user;
    cw_multicast_config config;
};
static struct cw_multicast users[TOWN_SERVERS];

/* A message on its way. */
struct cast {
    struct cw_multicast *u;
    cw_server to[TOWN_SERVERS];
    unsigned count;
    cw_multicast_done_fn done;
    void *arg;
    size_t length;
    uint8_t bytes[];
};

static int mc_open(cw_svc *multicast, cw_svc *user, const cw_multicast_config *config, cw_multicast **out)
{
    (void)multicast;
    *out = &users[cw_server_id(user, cw_self(user))];
    **out = (struct cw_multicast){user, *config};
    return 0;
}

static void mc_close(cw_multicast *u)
{
    u->user = NULL;
}

static int mc_listen(cw_multicast *u, const char *topic, size_t length)
{
    (void)u;
    (void)topic;
    (void)length;
    return 0;
}

static void mc_arrive(cw_svc *s, void *state, void *arg)
{
    struct cast *c = arg;
    cw_multicast_row rows[TOWN_SERVERS];
    cw_multicast_result result = {.size = sizeof result, .members = c->count, .row = rows, .rows = c->count};
    cw_multicast_message m = {.size = sizeof m, .from = cw_self(s), .bytes = c->bytes, .length = c->length};
    (void)state;
    int failed = town_multicast.status != 0 ? town_multicast.status : -ETIMEDOUT;
    result.status = town_multicast.cancels ? -ECANCELED : 0;
    result.rows = town_multicast.cancels ? 0 : c->count;
    for (unsigned i = 0; i < result.rows; i++) {
        const struct cw_multicast *to = &users[c->to[i]];
        bool fails = (town_multicast.fail >> c->to[i] & 1) != 0;
        rows[i] = (cw_multicast_row){torus_coord(&town_net->torus, c->to[i]), fails ? failed : 0};
        if (!fails && (town_multicast.swallow >> c->to[i] & 1) == 0 && to->user != NULL) {
            to->config.deliver(to->config.context, &m);
        }
    }
    c->done(c->arg, &result);
    free(c);
}

static int mc_send(cw_multicast *u, const cw_coord *to, unsigned count, const char *topic, size_t length,
                   const cw_multicast_content *content, cw_multicast_done_fn done, void *arg)
{
    (void)topic;
    (void)length;
    if (town_multicast.busy > 0) {
        town_multicast.busy--;
        return -EAGAIN;
    }
    town_multicast.sends++;
    struct cast *c = malloc(sizeof *c + content->length);
    *c = (struct cast){.u = u, .count = count, .done = done, .arg = arg, .length = content->length};
    memcpy(c->bytes, content->bytes, content->length);
    for (unsigned i = 0; i < count; i++) {
        c->to[i] = torus_id(&town_net->torus, to[i]);
    }
    return cw_timer_start(u->user, CW_US(10), mc_arrive, c) != NULL ? 0 : -ENOMEM;
}

static const cw_multicast_api multicast_api = {
    .size = sizeof multicast_api, .open = mc_open, .close = mc_close, .listen = mc_listen, .send = mc_send};

static const void *offers(cw_svc *s, const char *name, unsigned version)
{
    (void)s;
    return strcmp(name, "multicast") == 0 && version == CW_MULTICAST_API ? &multicast_api : NULL;
}

void town_multicast_deliver(cw_server from, cw_server to, const void *bytes, size_t length)
{
    const struct cw_multicast *u = &users[to];
    const cw_multicast_message m = {
        .size = sizeof m, .from = torus_coord(&town_net->torus, from), .bytes = bytes, .length = length};
    u->config.deliver(u->config.context, &m);
}

void town_multicast_open(struct fake_net *net)
{
    town_net = net;
    town_multicast = (struct town_multicast){.fail = 0};
    fake_offers = offers;
}

/* ---- The town ---------------------------------------------------------------------------------------------------- */

struct fake_net *town_open(void)
{
    fake_offers = NULL;
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
    c->other = result->other;
    c->unlike = result->unlike;
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
    bool from_root = (plan->flags & CW_REDUCE_FROM_ROOT) != 0;
    if (from_root ? s == plan->root : plan->members >> s & 1) {
        c->in = calloc(plan->elements + 1, sizeof *c->in);
        for (uint64_t i = 0; i < plan->elements; i++) {
            c->in[i] = element(s, i);
        }
        r.in = c->in;
    }
    if (from_root ? s != plan->root : s == plan->root || (plan->flags & CW_REDUCE_TO_ALL) != 0) {
        c->out = calloc(plan->elements + 1, sizeof *c->out);
        r.out = c->out;
    }
    c->ticket = dense_reduce(town_dense(net, s), net, plan->job != 0 ? plan->job : 7, &r, ended, c);
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
