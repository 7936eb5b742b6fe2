/* SPDX-License-Identifier: Apache-2.0 */
/* nodes.c - the node of a server: begun with its services, ended, and in one process failed and restored on order. */
#include "daemon/host/internal.h"

#include "base/prng.h"
#include "cubeway/version.h"
#include "daemon/files/job_host.h"
#include "daemon/host/events.h"
#include "daemon/machine/transit.h"
#include "nmu/book.h"
#include "services/builtin.h"
#include "shim/clock.h"
#include "shim/pair.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/random.h>

enum {
    /* Room in a server's NMU: pages of it that no record needs are never touched. */
    NMU_JOBS = 1024,
    NMU_GRANTS = 16384,
};

/* ---- What nodes ask of us ---------------------------------------------------------------------------------------- */

static void on_packet(void *context, const struct node *n, enum node_point point, const struct cw_packet *p,
                      cw_drop cause, cw_time now)
{
    struct host *h = context;
    if (h->watch != NULL) {
        struct host_server *s = host_find(h, torus_coord(&h->torus, node_self(n)));
        h->watch(h->watch_context, s, point, p, cause, now);
    }
}

static void on_offload(void *context, struct node *n, void (*work)(void *), void *arg, uint64_t ticket, cw_span cost)
{
    struct pump_server *s = context;
    (void)n;
    (void)cost;
    offload_give(s->face.host->offload, work, arg, s, ticket);
}

/* Of the machine: a torus inside one process may hold the time of its nodes. */
static int64_t on_read(void *context)
{
    (void)context;
    return clock_system_ns();
}

/* The grants of built-in services: known as soon as the number of servers is. */
static int open_book(struct host *h)
{
    if (h->book != NULL) {
        return 0;
    }
    int rc = book_open(&h->book, h->torus.servers);
    return rc < 0 ? rc : builtin_jobs(h->book);
}

/* The record of a job, from the job file before the built-in ones: an operator may decide otherwise. */
static const uint8_t *on_record(void *context, cw_job job, size_t *size)
{
    struct host *h = context;
    const uint8_t *record = h->jobs != NULL ? job_host_record(h->jobs, job, size) : NULL;
    return record != NULL ? record : book_record(h->book, job, size);
}

static struct node_config config_of(const struct pump_server *s, uint64_t incarnation)
{
    const struct host *h = s->face.host;
    struct node_config config = node_config_default();
    config.dims = torus_dims(&h->torus);
    config.self = s->face.self;
    config.cluster = h->config.cluster;
    config.config_hash = h->config_hash;
    config.incarnation = incarnation;
    config.alone = h->config.alone;
    config.mtu = (uint16_t)h->mtu;
    config.queue_packets = h->config.queue_packets;
    config.queue_bytes = h->config.queue_bytes;
    config.hold_bytes = h->config.hold_bytes;
    config.bits_per_second = h->bits_per_second;
    config.nmu_jobs = NMU_JOBS;
    config.nmu_grants = NMU_GRANTS;
    config.strict = h->config.strict;
    config.timers = h->config.timers;
    about_fill(&config.about, CW_VERSION, h->build);
    return config;
}

/* A secret of this life of the server: what can be guessed seals nothing. */
static int draw_seal(const struct host *h, struct siphash_key *out)
{
    bool drawn = !h->config.seal_tables || getrandom(out, sizeof *out, 0) == sizeof *out;
    return drawn ? 0 : -EIO;
}

static int open_node(struct pump_server *s, uint64_t incarnation)
{
    struct host *h = s->face.host;
    struct prng seeds = prng_stream(h->seed, s->face.index, incarnation);
    struct siphash_key seal;
    int rc = draw_seal(h, &seal);
    const struct node_config config = config_of(s, incarnation);
    const struct node_env env = {
        .packets = h->packets,
        .neighbours = h->neighbours,
        .seed = prng_next(&seeds),
        .watch = {.context = h,
                  .deaf = 1u << NODE_QUEUED | 1u << NODE_DELIVERED,
                  .packet = on_packet,
                  .log = viewlog_service},
        .offload = on_offload,
        .offload_context = s,
        .option = host_option,
        .option_context = h,
        .objects = h->object,
        .records = {h, on_record},
        .seal = h->config.seal_tables ? &seal : NULL,
        .mark = h->mark,
        /* A neighbour is silent for `dead` when an upcall takes as long as that, and the hellos before it are late. */
        .meter = {h, on_read, viewlog_slow, {h->config.timers.dead.ns / 2}},
    };
    rc = rc < 0 ? rc : node_open(&s->face.node, &config, &env);
    if (rc < 0) {
        s->face.node = NULL;
        return rc;
    }
    s->seen_memory = calloc(1, reach_bytes(h->torus.servers));
    s->left_us = calloc(h->torus.servers, sizeof *s->left_us);
    if (s->seen_memory != NULL) { /* without it events tell of no views */
        reach_init(&s->seen, h->torus.servers, s->seen_memory);
        (void)reach_add(&s->seen, torus_id(&h->torus, s->face.self));
    }
    s->incarnation = incarnation;
    s->notes = 0;
    viewlog_begin(s);
    return 0;
}

int host_start_node(struct pump_server *s, uint64_t incarnation)
{
    struct host *h = s->face.host;
    CHECK(s->face.node == NULL);
    int rc = open_book(h);
    rc = rc < 0 ? rc : open_node(s, incarnation);
    rc = rc < 0 ? rc : host_add_services(h, s->face.node, clock_now());
    if (rc < 0) {
        host_end_node(s);
        return rc;
    }
    transit_begin(h->transit, s->face.node);
    for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
        struct host_link *l = &s->face.link[link];
        l->carrier = l->shim != NULL && shim_carrier(l->shim);
        if (l->carrier) {
            s->owed |= node_carrier(s->face.node, link, true, clock_now());
        }
    }
    s->readable = s->changed = CW_LINKS_ALL;
    host_activate(s);
    return 0;
}

void host_end_node(struct pump_server *s)
{
    if (s->face.node == NULL) {
        return;
    }
    node_end_offloads(s->face.node); /* or what is done would start more */
    offload_drain(s->face.host->offload);
    host_collect_all(s->face.host);
    for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
        host_drop_held(&s->pump[link]);
    }
    node_close(s->face.node, clock_now());
    s->face.node = NULL;
    free(s->seen_memory);
    s->seen_memory = NULL;
    free(s->left_us);
    s->left_us = NULL;
    s->face.host->full -= s->viewlog.full;
    s->viewlog.full = false;
}

int host_fail(struct host_server *s)
{
    if (s->host->config.place != CONFIG_WHOLE) {
        return -EOPNOTSUPP;
    }
    if (s->node == NULL) {
        return -EALREADY;
    }
    struct ended *ended = &host_pump_server(s)->ended;
    ended->life[ended->count % ENDED_KEPT] = ls_incarnation(node_linkstate(s->node));
    ended->at[ended->count++ % ENDED_KEPT] = host_now(s->host);
    events_add(s->host->events, &s->self, "view", "taken out by an order (cwctl fail)");
    host_end_node(host_pump_server(s));
    host_after(s, CW_LINKS_NONE);
    return 0;
}

int host_restore(struct host_server *s)
{
    if (s->host->config.place != CONFIG_WHOLE) {
        return -EOPNOTSUPP;
    }
    if (s->node != NULL) {
        return -EALREADY;
    }
    struct pump_server *p = host_pump_server(s);
    events_add(s->host->events, &s->self, "view", "brought back by an order (cwctl restore)");
    return host_start_node(p, p->incarnation + 1);
}

int host_cut(struct host_server *s, cw_link link, bool cut)
{
    struct host *h = s->host;
    if (h->config.place != CONFIG_WHOLE) {
        return -EOPNOTSUPP;
    }
    if (link >= CW_LINK_COUNT || s->link[link].shim == NULL) {
        return -ENODEV;
    }
    return pair_cut(host_pump_server(s)->pair[link], cut) ? 0 : -EALREADY;
}
