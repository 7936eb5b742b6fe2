/* SPDX-License-Identifier: Apache-2.0 */
#include "services/tunnel/flows.h"

#include "base/check.h"
#include "base/container.h"

#include <errno.h>
#include <stdlib.h>

struct flow {
    struct list queue; /* struct flow_packet, oldest first; made when the flow is first used */
    bool used;
    size_t bytes;
    int64_t deficit;
    struct codel codel;
    /* In the round of each link that its first packet may leave by. */
    struct list_node turn[FLOW_WAYS][CW_LINK_COUNT];
};

/* Of each way and link. */
enum { TURNS = FLOW_WAYS * CW_LINK_COUNT };

int flows_open(struct flows *f, const struct flows_config *config)
{
    *f = (struct flows){.config = *config};
    f->flow = calloc(FLOWS, sizeof *f->flow);
    if (f->flow == NULL) {
        return -ENOMEM;
    }
    for (unsigned i = 0; i < TURNS; i++) {
        list_init(&f->fresh[i / CW_LINK_COUNT][i % CW_LINK_COUNT]);
        list_init(&f->round[i / CW_LINK_COUNT][i % CW_LINK_COUNT]);
    }
    return 0;
}

static struct flow_packet *first_of(const struct flow *flow)
{
    struct list_node *node = flow->used ? list_first(&flow->queue) : NULL;
    return node == NULL ? NULL : container_of(node, struct flow_packet, node);
}

/* ---- Rounds ------------------------------------------------------------------------------------------------------ */

/* Puts the flow into the rounds of its first packet, and into no other: among the fresh ones, or at the end. */
static void enter_rounds(struct flows *f, struct flow *flow, bool fresh)
{
    const struct flow_packet *first = first_of(flow);
    for (unsigned i = 0; i < TURNS; i++) {
        unsigned way = i / CW_LINK_COUNT, link = i % CW_LINK_COUNT;
        struct list_node *turn = &flow->turn[way][link];
        bool in = list_is_linked(turn), wants = first != NULL && (first->links[way] >> link & 1) != 0;
        if (in && !wants) {
            list_remove(turn);
        } else if (wants && !in) {
            list_push_back(fresh ? &f->fresh[way][link] : &f->round[way][link], turn);
        }
    }
}

/* The first of the list that may use the way. */
static struct flow *first_for(const struct flows *f, const struct list *list, enum flow_way way, cw_link link)
{
    for (struct list_node *node = list_first(list); node != NULL; node = list_next(list, node)) {
        struct flow *flow = container_of(node, struct flow, turn[way][link]);
        if (way == FLOW_SHORTEST || flow->bytes > f->config.longer_above) {
            return flow;
        }
    }
    return NULL;
}

static struct flow *whose_turn(const struct flows *f, enum flow_way way, cw_link link)
{
    struct flow *flow = first_for(f, &f->fresh[way][link], way, link);
    return flow != NULL ? flow : first_for(f, &f->round[way][link], way, link);
}

/* ---- Packets come and go ----------------------------------------------------------------------------------------- */

static void take_out(struct flows *f, struct flow_packet *p)
{
    struct flow *flow = &f->flow[p->flow];
    bool was_first = first_of(flow) == p;
    list_remove(&p->node);
    flow->bytes -= p->bytes;
    f->bytes -= p->bytes;
    f->packets--;
    if (was_first) {
        enter_rounds(f, flow, false);
    }
}

static void drop(struct flows *f, struct flow_packet *p, enum flow_drop why)
{
    take_out(f, p);
    f->counts.dropped[why]++;
    f->config.drop(f->config.context, p, why);
}

/* Bytes of the flow that may still be dropped: all but those of a packet that has begun to leave. */
static size_t droppable(const struct flow *flow)
{
    const struct flow_packet *first = first_of(flow);
    return first == NULL ? 0 : flow->bytes - (first->begun ? first->bytes : 0);
}

static void drop_from_fullest(struct flows *f)
{
    struct flow *most = &f->flow[0];
    for (unsigned i = 1; i < FLOWS; i++) {
        most = droppable(&f->flow[i]) > droppable(most) ? &f->flow[i] : most;
    }
    struct flow_packet *p = first_of(most);
    if (p->begun) {
        p = container_of(list_next(&most->queue, &p->node), struct flow_packet, node);
    }
    drop(f, p, FLOW_FULL);
}

void flows_put(struct flows *f, uint64_t hash, struct flow_packet *p, cw_time now)
{
    struct flow *flow = &f->flow[hash % FLOWS];
    CHECK(p->links[FLOW_SHORTEST] != CW_LINKS_NONE);
    CHECK(((p->links[FLOW_SHORTEST] | p->links[FLOW_LONGER]) & ~CW_LINKS_ALL) == 0);
    if (!flow->used) {
        list_init(&flow->queue);
        flow->used = true;
        flow->deficit = f->config.quantum;
    }
    /* Whoever has spent its bytes is given new ones in the round only, so that nobody is fresh again and again. */
    bool begins = list_is_empty(&flow->queue), fresh = begins && flow->deficit > 0;
    p->since = now;
    p->flow = (uint16_t)(hash % FLOWS);
    p->begun = false;
    p->node = (struct list_node){NULL, NULL};
    list_push_back(&flow->queue, &p->node);
    flow->bytes += p->bytes;
    f->bytes += p->bytes;
    f->packets++;
    f->counts.put++;
    if (begins) {
        enter_rounds(f, flow, fresh);
    }
    while (f->bytes > f->config.memory_most && f->packets > 1) {
        drop_from_fullest(f);
    }
}

cw_links flows_wanted(const struct flows *f, enum flow_way way)
{
    cw_links wanted = CW_LINKS_NONE;
    for (unsigned link = 0; link < CW_LINK_COUNT; link++) {
        wanted |= whose_turn(f, way, (cw_link)link) != NULL ? cw_links_of((cw_link)link) : CW_LINKS_NONE;
    }
    return wanted;
}

static bool is_above(const struct flows *f, cw_span waited)
{
    return f->config.mark_above.ns > 0 && waited.ns > f->config.mark_above.ns;
}

/* CoDel's word on the first packet of a flow. False: it was dropped. */
static bool begins(struct flows *f, struct flow *flow, struct flow_packet *p, cw_time now)
{
    bool only = list_next(&flow->queue, &p->node) == NULL;
    cw_span waited = cw_time_since(now, p->since);
    if (codel_leaves(&flow->codel, &f->config.codel, waited, only, now)) {
        if (!f->config.mark(f->config.context, p)) {
            drop(f, p, FLOW_CODEL);
            return false;
        }
        f->counts.marked++;
    } else if (is_above(f, waited) && f->config.mark(f->config.context, p)) {
        f->counts.marked++;
    }
    p->begun = true;
    return true;
}

struct flow_packet *flows_next(struct flows *f, enum flow_way way, cw_link link, cw_time now)
{
    for (struct flow *flow; (flow = whose_turn(f, way, link)) != NULL;) {
        if (flow->deficit <= 0) {
            flow->deficit += f->config.quantum;
            list_remove(&flow->turn[way][link]);
            list_push_back(&f->round[way][link], &flow->turn[way][link]);
            continue;
        }
        struct flow_packet *p = first_of(flow);
        if (p->begun || begins(f, flow, p, now)) {
            return p;
        }
    }
    return NULL;
}

void flows_sent(struct flows *f, struct flow_packet *p, uint32_t bytes, bool all)
{
    CHECK(p->begun);
    f->flow[p->flow].deficit -= bytes;
    if (all) {
        f->counts.sent++;
        take_out(f, p);
    }
}

size_t flows_waiting(const struct flows *f, uint64_t hash)
{
    return f->flow[hash % FLOWS].bytes;
}

/* ---- All of them ------------------------------------------------------------------------------------------------- */

void flows_reroute(struct flows *f, void (*set_links)(void *context, struct flow_packet *p))
{
    for (unsigned i = 0; i < FLOWS; i++) {
        struct flow *flow = &f->flow[i];
        struct list_node *node = flow->used ? list_first(&flow->queue) : NULL;
        while (node != NULL) {
            struct flow_packet *p = container_of(node, struct flow_packet, node);
            node = list_next(&flow->queue, node);
            set_links(f->config.context, p);
            if (p->links[FLOW_SHORTEST] == CW_LINKS_NONE) {
                drop(f, p, FLOW_NO_WAY);
            }
        }
        enter_rounds(f, flow, false);
    }
}

void flows_close(struct flows *f)
{
    for (unsigned i = 0; f->flow != NULL && i < FLOWS; i++) {
        for (struct flow_packet *p; (p = first_of(&f->flow[i])) != NULL;) {
            drop(f, p, FLOW_CLOSED);
        }
    }
    free(f->flow);
    f->flow = NULL;
}

bool flows_valid(const struct flows *f)
{
    size_t bytes = 0;
    uint32_t packets = 0;
    for (unsigned i = 0; i < FLOWS; i++) {
        const struct flow *flow = &f->flow[i];
        const struct flow_packet *first = first_of(flow);
        size_t own = 0;
        for (struct list_node *n = first == NULL ? NULL : list_first(&flow->queue); n != NULL;
             n = list_next(&flow->queue, n)) {
            own += container_of(n, struct flow_packet, node)->bytes;
            packets++;
        }
        CHECK(own == flow->bytes);
        bytes += own;
        for (unsigned k = 0; k < TURNS; k++) {
            unsigned way = k / CW_LINK_COUNT, link = k % CW_LINK_COUNT;
            bool wants = first != NULL && (first->links[way] >> link & 1) != 0;
            CHECK(list_is_linked(&flow->turn[way][link]) == wants);
        }
    }
    CHECK(bytes == f->bytes && packets == f->packets);
    return true;
}
