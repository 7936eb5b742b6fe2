/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cables.c - cables break and mend, wires are harmed, and who sees light.
 */
#include "simulator/world_internal.h"

#include <stdlib.h>
#include <string.h>

static size_t wire_of(cw_server s, cw_link link)
{
    return (size_t)s * CW_LINK_COUNT + link;
}

/* ---- Carrier ----------------------------------------------------------------------------------------------------- */

bool cables_light(const struct world *w, cw_server s, cw_link link)
{
    if (w->config.carrier.ns < 0) {
        return true;
    }
    const struct sim_server *far = &w->server[w->neighbours[wire_of(s, link)]];
    return far->powered && !(far->cut & cw_links_of(cw_link_opposite(link)));
}

static void see(struct world *w, void *arg)
{
    cw_server s = (cw_server)((uintptr_t)arg / CW_LINK_COUNT);
    cw_link link = (cw_link)((uintptr_t)arg % CW_LINK_COUNT);
    struct sim_server *h = &w->server[s];
    bool light = cables_light(w, s, link);
    if (h->state == WORLD_DEAD || light == ((h->light & cw_links_of(link)) != 0)) {
        return;
    }
    if (h->state == WORLD_PAUSED) {
        /* It learns of it when it goes on. */
        world_at(w, cw_time_add(w->now, CW_MS(1)), see, arg);
        return;
    }
    h->light ^= cw_links_of(link);
    pump_after(w, s, node_carrier(h->node, link, light, pump_local(w, h)));
}

void cables_tell(struct world *w, cw_server s, cw_link link)
{
    if (w->config.carrier.ns >= 0) {
        world_at(w, cw_time_add(w->now, w->config.carrier), see, (void *)(uintptr_t)wire_of(s, link));
    }
}

/* ---- Cables ------------------------------------------------------------------------------------------------------ */

struct cutting {
    struct world *world;
    uint32_t order; /* of the frames that are on the wire */
};

static bool is_on_wire(void *context, const struct wheel_event *e)
{
    struct cutting *c = context;
    if (e->order != c->order) {
        return false;
    }
    c->world->totals.flying -= pump_data_packets(e->what);
    pump_lose(c->world, e->what, WORLD_LOSS_CUT);
    return true;
}

static void set_direction(struct world *w, cw_server s, cw_link link, bool works)
{
    struct sim_server *h = &w->server[s];
    struct wire *wire = &w->wire[wire_of(s, link)];
    if (works == !(h->cut & cw_links_of(link))) {
        return;
    }
    h->cut ^= cw_links_of(link);
    oracle_cable(&w->oracle, s, link, works);
    cw_server far = w->neighbours[wire_of(s, link)];
    if (works) {
        wire->state &= (uint8_t)~WIRE_DOWN;
    } else {
        wire->state |= WIRE_DOWN;
        w->totals.cuts++;
        struct cutting c = {w, EVENT_ORDER(far, EVENT_FRAME + cw_link_opposite(link))};
        (void)wheel_sweep(&w->wheel, is_on_wire, &c);
    }
    cables_tell(w, far, cw_link_opposite(link));
    if (w->check != NULL) {
        check_disturbed(w->check);
    }
}

void world_cable(struct world *w, cw_server s, cw_link link, bool both, bool works)
{
    CHECK(s < w->servers && link < CW_LINK_COUNT);
    if (!(w->links & cw_links_of(link))) {
        return;
    }
    set_direction(w, s, link, works);
    if (both) {
        set_direction(w, w->neighbours[wire_of(s, link)], cw_link_opposite(link), works);
    }
}

void world_harm(struct world *w, cw_server s, cw_link link, const struct wire_harm *harm)
{
    CHECK(s < w->servers && link < CW_LINK_COUNT);
    if (!(w->links & cw_links_of(link))) {
        return;
    }
    size_t wires = (size_t)w->servers * CW_LINK_COUNT, i = wire_of(s, link);
    if (w->harm == NULL) {
        w->harm = calloc(wires, sizeof *w->harm);
        w->harm_random = calloc(wires, sizeof *w->harm_random);
        CHECK(w->harm != NULL && w->harm_random != NULL);
        for (size_t k = 0; k < wires; k++) {
            w->harm_random[k] = prng_stream(w->config.seed, k, WORLD_STREAM_WIRE);
        }
    }
    w->harm[i] = *harm;
    if (wire_harm_none(harm)) {
        w->wire[i].state &= (uint8_t)~WIRE_HARMED;
    } else {
        w->wire[i].state |= WIRE_HARMED;
    }
    if (w->check != NULL) {
        check_disturbed(w->check);
    }
}
