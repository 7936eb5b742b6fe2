/* SPDX-License-Identifier: Apache-2.0 */
#include "services/multicast/group/group.h"

#include "services/multicast/cast/head.h"
#include "services/multicast/group/command.h"
#include "services/reply/metrics.h"

#include <errno.h>
#include <stdlib.h>

struct group_service {
    cw_svc *s;
    struct torus torus;
    struct clients clients;
    struct membership *membership;
    struct datagrams *datagrams;
    struct bulk *bulk;
    struct publisher *publisher;
    struct api api;
    struct group_command *command;
    cw_counter *malformed;
};

/* ---- The service's upcalls --------------------------------------------------------------------------------------- */

cw_verdict group_service_packet(struct group_service *g, cw_packet *packet, const cw_rx *rx)
{
    struct group_head h;
    size_t length;
    const uint8_t *bytes = cw_packet_data(packet, &length);
    if (rx->src_job != MULTICAST_JOB || rx->src_process >= g->torus.servers ||
        group_head_decode(bytes, length, &h) < 0) {
        cw_counter_add(g->malformed, 1);
        return CW_DROP;
    }
    if (h.kind == GROUP_ANNOUNCE || h.kind == GROUP_MEMBERS) {
        return membership_packet(g->membership, packet, &h, rx) ? CW_TAKE : CW_FORWARD;
    }
    int rc = datagrams_packet(g->datagrams, &h, rx);
    (void)rc; /* counted there */
    return CW_FORWARD;
}

void group_service_event(struct group_service *g, const cw_event *ev)
{
    membership_event(g->membership, ev);
    datagrams_event(g->datagrams);
}

void group_service_writable(struct group_service *g)
{
    publisher_writable(g->publisher);
}

int group_service_command(struct group_service *g, cw_request *r, int argc, const char *const *argv)
{
    return group_command_run(g->command, r, argc, argv);
}

struct membership *group_service_membership(struct group_service *g)
{
    return g->membership;
}

const struct api *group_service_api(const struct group_service *g)
{
    return &g->api;
}

/* ---- Life -------------------------------------------------------------------------------------------------------- */

static int open_publisher(struct group_service *g)
{
    const struct publisher_config config = {.s = g->s,
                                            .torus = &g->torus,
                                            .membership = g->membership,
                                            .datagrams = g->datagrams,
                                            .bulk = g->bulk,
                                            .clients = &g->clients};
    return publisher_open(&g->publisher, &config);
}

static int open_all(struct group_service *g, struct cast_engine *engine)
{
    int rc = torus_init(&g->torus, cw_torus(g->s));
    g->clients.torus = &g->torus;
    rc = rc < 0 ? rc : membership_open(&g->membership, g->s);
    rc = rc < 0 ? rc : datagrams_open(&g->datagrams, g->s, &g->torus, &g->clients);
    if (engine != NULL) {
        rc = rc < 0 ? rc : bulk_open(&g->bulk, g->s, engine, &g->clients);
    }
    rc = rc < 0 ? rc : open_publisher(g);
    g->api = (struct api){g->s, &g->clients, g->membership, g->publisher, g->datagrams};
    return rc < 0 ? rc : group_command_open(&g->command, g->s, &g->api);
}

int group_service_open(struct group_service **out, cw_svc *s, struct cast_engine *engine)
{
    static const struct metric malformed[] = {
        {"group_malformed", "Packets to the port of groups that could not be decoded."},
    };
    struct group_service *g = calloc(1, sizeof *g);
    if (g == NULL) {
        return -ENOMEM;
    }
    g->s = s;
    metrics_counters(s, malformed, 1, &g->malformed);
    int rc = open_all(g, engine);
    if (rc < 0) {
        group_service_stop(g);
        group_service_close(g);
        return rc;
    }
    *out = g;
    return 0;
}

void group_service_stop(struct group_service *g)
{
    if (g != NULL) {
        group_command_close(g->command);
        publisher_close(g->publisher);
        g->command = NULL;
        g->publisher = NULL;
    }
}

void group_service_close(struct group_service *g)
{
    if (g == NULL) {
        return;
    }
    while (g->clients.first != NULL) {
        api_abandon(g->clients.first);
    }
    datagrams_close(g->datagrams);
    bulk_close(g->bulk);
    membership_close(g->membership);
    free(g);
}
