/* SPDX-License-Identifier: Apache-2.0 */
#include "fake_net.h"

#include "keyspace/key.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_MAX_LINKS = 256 };

struct fake_flight {
    struct fake_flight *next;
    struct fake_send send;
    cw_time at;
    cw_server from, here; /* the server that sent it, and the one at which it arrives next */
    cw_link in;
    unsigned hops, waypoints_passed;
    cw_link path[PATH_MAX_LINKS];    /* taken so far */
    cw_link retrace[PATH_MAX_LINKS]; /* for an answer: taken from the end */
    unsigned retrace_left;
};

static void put_flight(struct fake_net *net, struct fake_flight *f)
{
    struct fake_flight **at = &net->flights;
    while (*at != NULL && (*at)->at.ns <= f->at.ns) {
        at = &(*at)->next;
    }
    f->next = *at;
    *at = f;
}

/* A key leads to its root in the view of the server where the packet is. */
static cw_server target_of(struct fake_net *net, const struct fake_flight *f)
{
    cw_coord root;
    if (f->waypoints_passed < f->send.options.waypoints) {
        return torus_id(&net->torus, f->send.waypoint[f->waypoints_passed]);
    }
    switch (f->send.to.kind) {
    case CW_TO_KEY:
        return cw_servers_for_key(net->server[f->here], &f->send.to.key, 1, &root) == 1 ? torus_id(&net->torus, root)
                                                                                        : f->here;
    case CW_TO_LINK:
        return torus_neighbour(&net->torus, f->from, f->send.to.link);
    default:
        return torus_id(&net->torus, f->send.to.server);
    }
}

/* Puts the flight on its next link. True: it has arrived where it was sent to. */
static bool arrives(struct fake_net *net, struct fake_flight *f)
{
    while (f->waypoints_passed < f->send.options.waypoints && target_of(net, f) == f->here) {
        f->waypoints_passed++;
    }
    return target_of(net, f) == f->here && (f->send.to.kind != CW_TO_LINK || f->hops > 0);
}

/* Adds the report of the server where a traced packet is: it leaves by that link, or is taken there. */
static void report(struct fake_net *net, struct fake_flight *f, cw_link out)
{
    cw_packet *p = f->send.packet;
    if (f->send.options.trace && p->reports < FAKE_TRACE) {
        p->trace[p->reports] = (cw_trace_hop){
            .size = sizeof(cw_trace_hop),
            .server = torus_coord(&net->torus, f->here),
            .in = f->in,
            .out = out,
            .wait_ns = 100 + p->reports,
            .queued = p->reports,
        };
        p->reports++;
    }
}

/* The first link of a shortest way; round servers that are dead, when there are any and a way is left. */
static cw_link link_towards(const struct fake_net *net, cw_server here, cw_server target)
{
    const struct torus *t = &net->torus;
    cw_links all = torus_links(t), least = torus_minimal_links(t, here, target);
    unsigned *far = net->deaths > 0 ? calloc(t->servers, sizeof *far) : NULL; /* links to the target, plus 1 */
    bool grows = far != NULL;
    if (far != NULL) {
        far[target] = 1;
    }
    for (unsigned round = 1; grows && far[here] == 0; round++) {
        grows = false;
        for (cw_server id = 0; id < t->servers; id++) {
            for (cw_link l = 0; far[id] == round && l < CW_LINK_COUNT; l++) {
                cw_server next = all & cw_links_of(l) ? torus_neighbour(t, id, l) : id;
                if (far[next] == 0 && !net->dead[next]) {
                    far[next] = round + 1;
                    grows = true;
                }
            }
        }
    }
    for (cw_link l = 0; far != NULL && far[here] > 0 && l < CW_LINK_COUNT; l++) {
        if ((all & cw_links_of(l)) && far[torus_neighbour(t, here, l)] + 1 == far[here]) {
            least = cw_links_of(l);
        }
    }
    free(far);
    return (cw_link)__builtin_ctz(least);
}

static void next_link(struct fake_net *net, struct fake_flight *f)
{
    cw_link link = f->send.to.link;
    if (f->retrace_left > 0) {
        link = cw_link_opposite(f->retrace[--f->retrace_left]);
    } else if (f->send.to.kind != CW_TO_LINK) {
        link = link_towards(net, f->here, target_of(net, f));
    }
    if (f->hops < PATH_MAX_LINKS) {
        f->path[f->hops] = link;
    }
    report(net, f, link);
    f->hops++;
    f->here = torus_neighbour(&net->torus, f->here, link);
    f->in = cw_link_opposite(link);
    f->at = cw_time_add(net->now, net->hop);
    net->crossed++;
    put_flight(net, f);
}

/* Takes the packets that the service on that server has sent meanwhile. */
static void collect(struct fake_net *net, cw_server from, const struct fake_flight *cause)
{
    for (struct fake_send send; fake_take(net->server[from], &send);) {
        if (net->lose != 0 && ++net->sends % net->lose == 0) {
            fake_free(send.packet);
            continue;
        }
        struct fake_flight *f = calloc(1, sizeof *f);
        if (f == NULL) {
            abort();
        }
        *f = (struct fake_flight){.send = send, .at = net->now, .from = from, .here = from, .in = CW_LINK_SELF};
        if (send.reply && cause != NULL && cause->send.options.record_path) {
            memcpy(f->retrace, cause->path, sizeof f->retrace);
            f->retrace_left = cause->hops;
        }
        if (arrives(net, f)) {
            put_flight(net, f);
        } else {
            next_link(net, f);
        }
    }
}

static cw_rx rx_of(struct fake_net *net, const struct fake_flight *f, bool here)
{
    return (cw_rx){
        .size = sizeof(cw_rx),
        .where = here ? CW_ARRIVED : CW_TRANSIT,
        .in = f->in,
        .hops = f->hops,
        .kind = f->send.to.kind,
        .job = f->send.to.job,
        .port = f->send.to.port,
        .key = f->send.to.key,
        .server = f->send.to.server,
        .src_job = net->server[f->from]->table->job,
        .src_process = f->from,
        .src_server = torus_coord(&net->torus, f->from),
    };
}

/* A server that is down takes nothing, and hands nothing on; a fenced one delivers no key. */
static bool is_lost(struct fake_net *net, const struct fake_flight *f)
{
    const cw_svc *s = net->server[f->here];
    bool key = f->send.to.kind == CW_TO_KEY && !f->send.reply;
    return net->dead[f->here] || (key && s->fenced && target_of(net, f) == f->here);
}

/* Takes a flight that has crossed its link. */
static void land(struct fake_net *net, struct fake_flight *f)
{
    cw_svc *s = net->server[f->here];
    if (is_lost(net, f)) {
        fake_free(f->send.packet);
        free(f);
        return;
    }
    bool here = arrives(net, f);
    cw_rx rx = rx_of(net, f, here);
    if (!here) {
        bool seen = s->table->on_path == CW_PATH_ALL || (s->table->on_path == CW_PATH_TRACED && f->send.options.trace);
        bool goes_on = !seen || fake_arrive(s, f->send.packet, &rx, NULL);
        collect(net, f->here, f);
        if (goes_on) {
            next_link(net, f);
        } else {
            free(f);
        }
        return;
    }
    report(net, f, CW_LINK_SELF);
    if (f->send.reply) {
        fake_answer(s, f->send.call, f->send.status, f->send.packet, &rx);
    } else {
        if (f->send.call != 0) {
            rx.call = fake_right(s, torus_coord(&net->torus, f->from), f->send.call);
        }
        fake_arrive(s, f->send.packet, &rx, NULL);
    }
    collect(net, f->here, f);
    free(f);
}

struct fake_net *fake_net_open(const cw_service *table, cw_dims dims)
{
    return fake_net_open_with(table, dims, NULL);
}

static cw_svc *open_one(const struct fake_net *net, cw_server id)
{
    int rc;
    cw_coord self = torus_coord(&net->torus, id);
    cw_svc *s = fake_open_at(net->table, torus_dims(&net->torus), self, net->options, net->now, &rc);
    if (s == NULL) {
        fprintf(stderr, "fake net: the service did not open: %s\n", strerror(-rc));
        abort();
    }
    return s;
}

struct fake_net *fake_net_open_with(const cw_service *table, cw_dims dims, const char *const *options)
{
    struct torus torus;
    if (torus_init(&torus, dims) != 0) {
        abort();
    }
    struct fake_net *net = calloc(1, sizeof *net + torus.servers * sizeof net->server[0]);
    if (net == NULL) {
        abort();
    }
    net->torus = torus;
    net->table = table;
    net->options = options;
    net->dead = calloc(torus.servers, sizeof *net->dead);
    if (net->dead == NULL) {
        abort();
    }
    net->hop = CW_US(1);
    for (cw_server id = 0; id < torus.servers; id++) {
        net->server[id] = open_one(net, id);
    }
    return net;
}

size_t fake_net_close(struct fake_net *net)
{
    size_t left = 0;
    for (struct fake_flight *f = net->flights; f != NULL;) {
        struct fake_flight *next = f->next;
        fake_free(f->send.packet);
        free(f);
        f = next;
    }
    for (cw_server id = 0; id < net->torus.servers; id++) {
        fake_shut(net->server[id]);
    }
    for (cw_server id = 0; id < net->torus.servers; id++) {
        left += fake_close(net->server[id]);
    }
    for (unsigned i = 0; i < net->formers; i++) {
        left += fake_close(net->former[i]);
    }
    free(net->former);
    free(net->dead);
    free(net);
    return left;
}

static void tell_all(struct fake_net *net, cw_server who, bool there)
{
    for (cw_server id = 0; id < net->torus.servers; id++) {
        if (id != who && !net->dead[id]) {
            fake_view(net->server[id], torus_coord(&net->torus, who), there);
        }
    }
}

void fake_net_down(struct fake_net *net, cw_server who)
{
    if (!net->dead[who]) {
        fake_shut(net->server[who]);
        net->dead[who] = true;
        net->deaths++;
        tell_all(net, who, false);
    }
}

void fake_net_up(struct fake_net *net, cw_server who)
{
    if (!net->dead[who]) {
        return;
    }
    net->former = realloc(net->former, (net->formers + 1) * sizeof net->former[0]); /* its packets may be on the way */
    if (net->former == NULL) {
        abort();
    }
    net->former[net->formers++] = net->server[who];
    cw_svc *s = net->server[who] = open_one(net, who);
    net->dead[who] = false;
    net->deaths--;
    for (cw_server id = 0; id < net->torus.servers; id++) {
        if (net->dead[id]) {
            s->down[id] = true;
        }
    }
    fake_moved(s); /* it has joined, and has keys */
    tell_all(net, who, true);
}

static cw_time next_wake(const struct fake_net *net, cw_server *which)
{
    cw_time first = CW_NEVER;
    for (cw_server id = 0; id < net->torus.servers; id++) {
        cw_time wake = net->dead[id] ? CW_NEVER : fake_wake(net->server[id]);
        if (cw_time_before(wake, first)) {
            first = wake;
            *which = id;
        }
    }
    return first;
}

static void set_now(struct fake_net *net, cw_time now)
{
    net->now = now;
    for (cw_server id = 0; id < net->torus.servers; id++) {
        net->server[id]->now = now;
    }
}

/* Lets the next thing happen that is due until then. False: nothing is. */
static bool happen(struct fake_net *net, cw_time end)
{
    cw_server who = 0;
    for (cw_server id = 0; id < net->torus.servers; id++) {
        collect(net, id, NULL);
    }
    cw_time wake = next_wake(net, &who);
    cw_time flight = net->flights != NULL ? net->flights->at : CW_NEVER;
    cw_time next = cw_time_min(wake, flight);
    if (!cw_time_due(next, end)) {
        return false;
    }
    set_now(net, cw_time_max(net->now, next));
    if (flight.ns <= wake.ns) {
        struct fake_flight *f = net->flights;
        net->flights = f->next;
        land(net, f);
    } else {
        fake_run(net->server[who], CW_NS(0));
    }
    return true;
}

void fake_net_run(struct fake_net *net, cw_span span)
{
    cw_time end = cw_time_add(net->now, span);
    while (happen(net, end)) {
    }
    set_now(net, end);
}

void fake_net_finish(struct fake_net *net, const struct fake_result *r)
{
    cw_time end = cw_time_add(net->now, CW_SEC(3600));
    while (!r->done && happen(net, end)) {
    }
}
