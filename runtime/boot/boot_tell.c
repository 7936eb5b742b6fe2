/* SPDX-License-Identifier: Apache-2.0 */
#include "base/check.h"
#include "boot/boot_internal.h"
#include "boot/survey.h"

#include <string.h>

unsigned boot_fault_count(const struct boot *b)
{
    return b->faults.count < b->faults.max ? b->faults.count : b->faults.max;
}

const struct boot_fault *boot_fault(const struct boot *b, unsigned i)
{
    CHECK(i < boot_fault_count(b));
    return &b->fault[i];
}

void boot_progress(const struct boot *b, struct boot_progress *out)
{
    *out = (struct boot_progress){
        .state = b->state,
        .servers = b->atlas.count,
        .missing = b->missing,
        .agreeing = b->agreeing,
        .faults = b->faults.count,
        .dims = b->state == BOOT_AGREED ? b->place.dims : b->solution.dims,
        .solution = b->digest,
        .refused_frames = b->refused_frames,
        .refused_adverts = b->atlas.refused,
    };
}

void boot_plug(const struct boot *b, unsigned port, struct boot_plug *out)
{
    CHECK(port < CW_LINK_COUNT);
    const struct boot_port *p = &b->port[port];
    *out = (struct boot_plug){
        .carrier = p->carrier,
        .heard = p->heard,
        .both_ways = p->both_ways,
        .direction = b->state == BOOT_AGREED ? b->place.direction[port] : b->config.port[port],
        .far = boot_far_who(p),
        .far_port = p->heard ? p->far.port : 0,
        .far_direction = p->heard ? p->far.label : BOOT_UNLABELLED,
    };
    if (b->state == BOOT_AGREED && out->direction < CW_LINK_COUNT) {
        out->expected.placed = true;
        out->expected.at = coord_step(b->place.dims, b->place.self, out->direction);
    }
}

static void visit_own(const struct boot *b, void (*visit)(void *, const struct boot_seen_cable *), void *context)
{
    for (uint8_t i = 0; i < CW_LINK_COUNT; i++) {
        const struct boot_port *p = &b->port[i];
        if (!p->heard || !p->both_ways) {
            continue;
        }
        struct boot_seen_cable cable = {
            .from = boot_self(b),
            .to = boot_far_who(p),
            .from_port = i,
            .to_port = p->far.port,
            .from_direction = b->place.direction[i],
            .to_direction = p->far.label,
        };
        visit(context, &cable);
    }
}

static unsigned direction_of(const struct graph *g, const struct solution *s, uint32_t server, unsigned port)
{
    return server < s->count ? s->spot[server].direction[port] : g->server[server].label[port];
}

void boot_cables(const struct boot *b, void (*visit)(void *context, const struct boot_seen_cable *cable), void *context)
{
    if (b->placed) {
        visit_own(b, visit, context);
        return;
    }
    struct graph fresh = {0};
    struct solution none = {0};
    uint32_t missing;
    bool known = b->looked && b->graph.count > 0;
    if (!known && boot_survey(&b->atlas, b->config.id, &fresh, &missing) != 0) {
        return;
    }
    const struct graph *g = known ? &b->graph : &fresh;
    const struct solution *s = known ? &b->solution : &none;
    for (uint32_t i = 0; i < g->count; i++) {
        for (uint8_t port = 0; port < CW_LINK_COUNT; port++) {
            if (!graph_is_first(g, i, port)) {
                continue;
            }
            struct graph_end far = graph_far(g, i, port);
            struct boot_seen_cable cable = {
                .from = graph_who(g, s, i),
                .to = graph_who(g, s, far.server),
                .from_port = port,
                .to_port = far.port,
                .from_direction = (uint8_t)direction_of(g, s, i, port),
                .to_direction = (uint8_t)direction_of(g, s, far.server, far.port),
            };
            visit(context, &cable);
        }
    }
    graph_free(&fresh);
}
