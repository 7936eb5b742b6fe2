/* SPDX-License-Identifier: Apache-2.0 */
/*
 * node_relay.c - the relay is told: what the node knows becomes a publication (wire/relay_publish.h).
 */
#include "core/node_internal.h"

#include "base/check.h"
#include "wire/relay_publish.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct node_relay {
    struct relay_writer writer;
    struct node_relay_config config;
    struct relay_news news;   /* that was published last; `view` and `jobs` are NULL */
    struct relay_draft draft; /* the view that was published last */
    cw_links live;            /* in the published value now */
    uint64_t learned;         /* ls_digest() of the database that the routes were made of */
    uint64_t services, came;  /* node.services and node.services_came that the jobs were made of */
    uint8_t way[RELAY_SERVERS];
};

int node_relay_open(struct node *n, const struct node_relay_config *config)
{
    if (n->relay != NULL) {
        return -EALREADY;
    }
    if (!relay_torus_fits(n->config.dims)) {
        return -E2BIG;
    }
    struct node_relay *r = calloc(1, sizeof *r);
    if (r == NULL) {
        return -ENOMEM;
    }
    r->config = *config;
    r->came = UINT64_MAX;
    relay_writer_open(&r->writer, config->state, config->ethertype);
    n->relay = r;
    return 0;
}

void node_relay_close(struct node *n)
{
    if (n->relay != NULL) {
        relay_stop(n->relay->writer.state);
        free(n->relay);
        n->relay = NULL;
    }
}

void node_relay_note(struct node *n)
{
    struct node_relay *r = n->relay;
    if ((r->live == CW_LINKS_NONE && r->news.lease == 0) || RELAY_MUTANT(CUT_LATE)) {
        return;
    }
    struct ls_transit now;
    ls_transit(n->ls, &now);
    if (now.live == CW_LINKS_NONE) { /* fenced, or parting */
        relay_stop(r->writer.state);
        r->news.lease = 0;
        r->live = CW_LINKS_NONE;
    } else if (ls_digest(n->ls) != r->learned || (r->live & ~now.live) != 0) {
        relay_cut(r->writer.state, CW_LINKS_ALL);
        r->live = CW_LINKS_NONE;
    }
}

/* The links by which each server is nearest, for all servers. */
static void draw_ways(struct node *n, uint8_t *way)
{
    const struct reach *committed = ls_committed(n->ls);
    for (cw_server s = 0; s < n->torus.servers; s++) {
        way[s] = (uint8_t)(ls_next_hops(n->ls, s) | (reach_has(committed, s) ? RELAY_WAY_HOME : 0));
    }
}

/* Draws the view of now; true when it is another than the one that was published last. */
static bool draw_view(struct node *n, const struct ls_transit *now)
{
    struct node_relay *r = n->relay;
    struct relay_draft draft;
    memset(&draft, 0, sizeof draft); /* with its padding, since it is compared as bytes */
    draft.dims = n->config.dims;
    draft.in = now->live;
    draft.out = now->out;
    draft.way = r->way;
    draft.way_epoch = ls_routes_epoch(n->ls) + 1;
    for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
        const struct node_relay_link *config = &r->config.link[link];
        const struct ls_transit_link *from = &now->link[link];
        struct relay_link *to = &draft.link[link];
        to->ifindex = config->ifindex;
        to->session = from->session;
        to->peer = from->peer;
        to->top = from->top;
        to->received = from->received;
        to->mtu = n->config.mtu;
        memcpy(to->mac, config->mac, sizeof to->mac);
    }
    if (draft.way_epoch != r->draft.way_epoch && !(RELAY_MUTANT(RECEIVED_FIRST) && r->draft.way_epoch % 2 == 0)) {
        draw_ways(n, r->way);
    }
    bool moved = memcmp(&draft, &r->draft, sizeof draft) != 0;
    r->draft = draft;
    return moved;
}

/* Lists the jobs of the services here; returns how many. A service that looks at traced transit alone has its place. */
static uint32_t list_jobs(const struct node *n, struct relay_job job[static NODE_SERVICES])
{
    uint32_t count = 0;
    uint64_t all = n->services;
    for (struct cw_svc *svc; (svc = node_next_service(n, &all)) != NULL;) {
        job[count++] = (struct relay_job){
            .job = svc->job,
            .place = svc->on_path == CW_PATH_ALL ? RELAY_UP : svc->main.number,
        };
    }
    return count;
}

/* Are they the numbers that were published last, but for a lease that has grown? */
static bool only_lease_moved(const struct node_relay *r, const struct relay_news *news)
{
    const struct relay_news *was = &r->news;
    return news->view == NULL && news->jobs == NULL && news->live == was->live && news->live == r->live &&
           news->waits == was->waits && news->tapped == was->tapped && news->lease >= was->lease &&
           memcmp(news->taken, was->taken, sizeof was->taken) == 0 &&
           memcmp(news->sent_until, was->sent_until, sizeof was->sent_until) == 0;
}

cw_links node_relay_publish(struct node *n, const struct node_relay_turn *turn, cw_time now)
{
    struct node_relay *r = n->relay;
    struct ls_transit links;
    struct relay_job job[NODE_SERVICES];
    struct relay_jobs jobs = {.job = job};
    CHECK(r != NULL);
    node_enter(n, now);
    if (!RELAY_MUTANT(NO_SYNC)) {
        node_sync(n); /* views are lazy, and data that is relayed asks for none */
    }
    if (n->local.head != NULL) {
        node_run_local(n); /* before it is said what waits */
    }
    ls_transit(n->ls, &links);
    links.live &= turn->usable;
    links.out &= turn->usable & (cw_links)~turn->waits;
    struct relay_news news = {
        .lease = links.live != CW_LINKS_NONE && links.lease.ns > 0 ? (uint64_t)links.lease.ns : 0,
        .live = links.live,
        .waits = n->wanted | turn->waits,
        .tapped = turn->tapped,
    };
    memcpy(news.taken, turn->taken, sizeof news.taken);
    memcpy(news.sent_until, turn->sent_until, sizeof news.sent_until);
    news.view = draw_view(n, &links) ? &r->draft : NULL;
    if (r->services != n->services || r->came != n->services_came) {
        r->services = n->services;
        r->came = n->services_came;
        jobs.count = list_jobs(n, job);
        news.jobs = &jobs;
    }
    if (!only_lease_moved(r, &news)) {
        relay_publish(&r->writer, &news);
    } else if (news.lease > r->news.lease) {
        RELAY_WRITE(r->writer.state->lease, news.lease);
    }
    news.view = NULL;
    news.jobs = NULL;
    r->news = news;
    r->live = news.live;
    r->learned = ls_digest(n->ls);
    return node_leave_entry(n);
}

cw_links node_relay_live(const struct node *n)
{
    return n->relay != NULL ? n->relay->live : CW_LINKS_NONE;
}

uint32_t node_relay_place(struct node *n, cw_job job)
{
    const struct cw_svc *svc = node_service_of(n, job);
    return svc != NULL ? svc->main.number : RELAY_OTHERS;
}

cw_links node_waiting_links(const struct node *n)
{
    return n->wanted;
}
