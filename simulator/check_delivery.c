/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check_delivery.c - what is asked of every packet that is handed over or held.
 */
#include "simulator/check_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- Twice ------------------------------------------------------------------------------------------------------- */

enum { RECENT_BITS = 16 };

int recent_open(struct recent *r, uint32_t servers)
{
    *r = (struct recent){.mask = (1u << RECENT_BITS) - 1};
    while (UINT32_C(64) << r->share < servers) {
        r->share++;
    }
    for (unsigned i = 0; i < 2; i++) {
        r->id[i] = calloc((size_t)r->mask + 1, sizeof *r->id[i]);
        if (r->id[i] == NULL) {
            recent_close(r);
            return -ENOMEM;
        }
    }
    return 0;
}

void recent_close(struct recent *r)
{
    free(r->id[0]);
    free(r->id[1]);
    *r = (struct recent){.mask = 0};
}

/* The place of the id in a table, or the empty one where it belongs. */
static uint64_t *find(uint64_t *table, uint32_t mask, uint64_t id)
{
    uint32_t i = (uint32_t)(id >> 32) & mask;
    while (table[i] != 0 && table[i] != id) {
        i = (i + 1) & mask;
    }
    return &table[i];
}

bool recent_add(struct recent *r, uint64_t id)
{
    if (id & ((UINT64_C(1) << r->share) - 1)) {
        return false;
    }
    uint64_t *place = find(r->id[0], r->mask, id);
    if (*place == id || *find(r->id[1], r->mask, id) == id) {
        return true;
    }
    *place = id;
    if (++r->count > r->mask / 2) {
        uint64_t *old = r->id[1];
        r->id[1] = r->id[0];
        r->id[0] = memset(old, 0, ((size_t)r->mask + 1) * sizeof *old);
        r->count = 0;
    }
    return false;
}

/* ---- Delivered --------------------------------------------------------------------------------------------------- */

/* Invariant 4. */
static void check_root(struct check *c, cw_server s, uint64_t route)
{
    struct world *w = c->world;
    cw_server first = oracle_precedes(&w->oracle, route, s);
    if (first != CW_SERVER_NONE) {
        w->totals.misdelivered++;
        check_violated(
            w, 4, 2, (cw_server[]){s, first},
            "key %016llx was delivered at the first server named, the second is active, in its component and before "
            "it in the key's sequence",
            (unsigned long long)route);
        return;
    }
    if (c->trusted[s] == w->oracle.changes) {
        return;
    }
    if (!oracle_given_up(&w->oracle, s)) {
        c->trusted[s] = w->oracle.changes;
        return;
    }
    cw_server rival = check_rival(c, route, s);
    if (rival != CW_SERVER_NONE) {
        w->totals.misdelivered++;
        check_violated(w, 4, 2, (cw_server[]){s, rival},
                       "key %016llx was delivered by a zombie, the first server named; the second has taken its place",
                       (unsigned long long)route);
    }
}

/* Invariant 10. */
static void check_hops(struct check *c, cw_server s, const struct cw_packet *p)
{
    struct world *w = c->world;
    unsigned budget = w->config.node.hop_limit;
    unsigned hops = p->in == CW_LINK_SELF ? 0 : p->head.hops;
    if (hops > budget || hops + p->head.hop_limit > 255) {
        check_violated(w, 10, 1, &s, "a packet arrived after %u hops of %u", hops, budget);
        return;
    }
    bool direct = p->head.flags == 0 && p->head.kind != PACKET_LINK && torus_holds(&w->torus, p->head.source);
    if (c->perfect && direct) {
        cw_server source = torus_id(&w->torus, p->head.source);
        unsigned distance = torus_distance(&w->torus, source, s);
        if (hops != distance) {
            check_violated(w, 10, 2, (cw_server[]){source, s},
                           "nothing is broken, but a packet took %u hops over a distance of %u", hops, distance);
        }
    }
}

void check_delivered(struct check *c, cw_server s, const struct cw_packet *p, uint64_t id, cw_time local)
{
    struct world *w = c->world;
    w->totals.checks++;
    if (w->config.corrupt_passes) {
        return; /* nobody knows what was sent */
    }
    check_hops(c, s, p);
    if (p->head.kind == PACKET_KEY) {
        if (!ls_serving(w->server[s].linkstate, local)) {
            check_violated(w, 20, 1, &s, "a fenced server delivered key %016llx", (unsigned long long)p->head.to.key);
            return;
        }
        check_root(c, s, p->head.to.key);
    }
    if (id != 0 && w->totals.duplicated == 0 && recent_add(&c->recent, id)) {
        w->totals.delivered_twice++;
        check_violated(w, 9, 1, &s, "a packet was delivered twice, and no fault copied it");
    }
}

/* ---- Held -------------------------------------------------------------------------------------------------------- */

void check_held(struct check *c, cw_server s, const struct cw_packet *p, cw_time local)
{
    struct world *w = c->world;
    int64_t most = w->config.node.timers.hold.ns + CW_MS(200).ns;
    int64_t held = cw_time_since(local, p->queued).ns;
    w->totals.checks++;
    if (held > most) {
        check_violated(w, 12, 1, &s, "a packet has been held for %lld ns, at most %lld are allowed", (long long)held,
                       (long long)most);
    }
}
