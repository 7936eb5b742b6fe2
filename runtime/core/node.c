/* SPDX-License-Identifier: Apache-2.0 */
/*
 * node.c - the wiring diagram: what a node is made of, opened in order and closed in reverse.
 */
#include "core/node_internal.h"

#include "base/check.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
    QUEUE_PACKETS = 1024,
    QUEUE_BYTES = 8 << 20,
    HOLD_BYTES = 8 << 20, /* semantics 4.5 */
    MTU_LEAST = 1500,
    MTU_MOST = 9000,
};
static const cw_span hold_grace = CW_MS(200); /* beyond hold: the longest that a packet is held (invariant 12) */

struct node_config node_config_default(void)
{
    struct nmu_config nmu = nmu_config_default();
    return (struct node_config){
        .mtu = MTU_LEAST,
        .hop_limit = HOP_LIMIT_DEFAULT,
        .queue_packets = QUEUE_PACKETS,
        .queue_bytes = QUEUE_BYTES,
        .hold_bytes = HOLD_BYTES,
        .nmu_jobs = nmu.jobs,
        .nmu_grants = nmu.privileges,
        .timers = ls_timers_default(),
    };
}

static int check_config(const struct node_config *config, struct torus *torus)
{
    if (torus_init(torus, config->dims) < 0 || !torus_holds(torus, config->self) || config->mtu < MTU_LEAST ||
        config->mtu > MTU_MOST || config->hop_limit == 0 || config->queue_packets == 0 ||
        config->queue_bytes < config->mtu || config->incarnation == 0 || config->nmu_jobs < NODE_SERVICES - 1 ||
        config->nmu_jobs > MAP_JOBS_MAX || config->nmu_grants == 0 || config->nmu_grants > NODE_GRANTS_MAX ||
        config->guests > GUESTS_MAX) {
        return -EINVAL;
    }
    return torus_diameter(torus) > config->hop_limit ? -ERANGE : 0;
}

int node_config_check(const struct node_config *config)
{
    struct torus torus;
    return check_config(config, &torus);
}

static int open_linkstate(struct node *n)
{
    struct ls_config config = {
        .torus = n->torus,
        .neighbours = n->env.neighbours,
        .self = n->self,
        .cluster = n->config.cluster,
        .config_hash = n->config.config_hash,
        .incarnation = n->config.incarnation,
        .seed = n->env.seed,
        .alone = n->config.alone,
        .about = n->config.about,
        .timers = n->config.timers,
    };
    return ls_open(&n->ls, &config);
}

int node_open(struct node **out, const struct node_config *config, const struct node_env *env)
{
    struct torus torus;
    int rc = check_config(config, &torus);
    if (rc < 0) {
        return rc;
    }
    struct node *n = aligned_alloc(_Alignof(struct node), sizeof *n);
    void *told = calloc(1, reach_bytes(torus.servers));
    if (n == NULL || told == NULL) {
        free(told);
        free(n);
        return -ENOMEM;
    }
    memset(n, 0, sizeof *n);
    n->config = *config;
    n->env = *env;
    n->mark = env->mark != NULL ? env->mark : &n->own_mark;
    n->torus = torus;
    n->place = config->self;
    n->self = torus_id(&torus, config->self);
    reach_init(&n->told, torus.servers, told);
    reach_add(&n->told, n->self);
    holdq_init(&n->held, config->hold_bytes, cw_span_add(config->timers.hold, hold_grace));
    n->cabled = torus_links(&torus);
    for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
        n->neighbour[link] = torus_coord(&torus, torus_neighbour(&torus, n->self, link));
        fairq_init(&n->link[link].turns);
    }
    n->others.weight = NODE_WEIGHT;
    n->places[n->others.number] = &n->others;
    turns_init(&n->turns, config->queue_packets, config->queue_bytes);
    changes_init(&n->changes, 0);
    changes_init(&n->unrest, 0);
    guests_init(&n->guests, config->guests, (uint32_t)config->incarnation * UINT32_C(0x9e3779b1));
    rc = node_open_guests(n);
    rc = rc < 0 ? rc : node_open_timers(n);
    if (rc == 0) {
        rc = open_linkstate(n);
        if (rc == 0) {
            *out = n;
            return 0;
        }
        node_close_timers(n);
    }
    node_end_guests(n);
    free(told);
    free(n);
    return rc;
}

static void drop_waiting(struct node *n)
{
    for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
        struct node_link *l = &n->link[link];
        for (unsigned i = 0; i < l->waiting_count; i++) {
            node_refuse_frame(n, l->waiting[i], CW_DROP_CLOSED);
        }
        l->waiting_count = 0;
    }
    n->gated = CW_LINKS_NONE;
    node_drop_list(n, place_drain(n, &n->others), CW_DROP_CLOSED);
    node_drop_list(n, holdq_drain(&n->held), CW_DROP_CLOSED);
    node_drop_list(n, n->local.head, CW_DROP_CLOSED);
    n->local = (struct node_local){.head = NULL};
}

struct node_tally node_close(struct node *n, cw_time now)
{
    node_enter(n, now);
    node_relay_close(n);
    node_close_services(n);
    drop_waiting(n);
    node_end_guests(n);
    turns_close(&n->turns);
    ls_close(n->ls);
    node_close_timers(n);
    struct node_tally tally = node_tally(n);
    free(n->told.word);
    free(n);
    return tally;
}

struct linkstate *node_linkstate(struct node *n)
{
    return n->ls;
}

cw_server node_self(const struct node *n)
{
    return n->self;
}
