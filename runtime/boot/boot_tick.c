/* SPDX-License-Identifier: Apache-2.0 */
#include "boot/boot_internal.h"

static cw_span silence_allowed(const struct boot *b, unsigned port)
{
    const struct boot_timers *t = &b->config.timers;
    return boot_port_is_busy(b, port) ? t->dead : CW_NS(10 * t->probe_rest.ns);
}

/* The time to the next probe: a quarter more or less, so that servers do not fall into step. */
static cw_span probe_span(struct boot *b, unsigned port)
{
    cw_span span = boot_port_is_busy(b, port) ? b->config.timers.probe : b->config.timers.probe_rest;
    return prng_span(&b->chance, CW_NS(span.ns - span.ns / 4), CW_NS(span.ns + span.ns / 4));
}

static void tick_port(struct boot *b, unsigned port, cw_time now)
{
    struct boot_port *p = &b->port[port];
    if (p->heard && cw_time_due(cw_time_add(p->heard_at, silence_allowed(b, port)), now)) {
        boot_lose(b, port);
        b->advert_stale = true;
        if (!b->placed) {
            boot_graph_changed(b, now);
        }
    }
    if (!p->carrier) {
        return;
    }
    if (cw_time_due(p->probe_due, now)) {
        p->probe_now = true;
        p->probe_due = cw_time_add(now, probe_span(b, port));
    }
    if (cw_time_due(p->resend_due, now)) {
        p->resend_due = CW_NEVER;
        if (b->atlas.owed_count[port] > 0) {
            atlas_resend(&b->atlas, port);
        }
    }
}

cw_links boot_tick(struct boot *b, cw_time now)
{
    for (unsigned i = 0; i < CW_LINK_COUNT; i++) {
        tick_port(b, i, now);
    }
    boot_announce(b, now);
    boot_decide(b, now);
    boot_announce(b, now);
    return boot_links(b, now);
}

cw_time boot_next_wake(const struct boot *b)
{
    cw_time wake = b->advert_stale ? b->advert_due : CW_NEVER;
    for (unsigned i = 0; i < CW_LINK_COUNT; i++) {
        const struct boot_port *p = &b->port[i];
        if (p->carrier) {
            wake = cw_time_min(wake, cw_time_min(p->probe_due, p->resend_due));
        }
        if (boot_port_waits(b, i)) {
            wake = cw_time_min(wake, p->batch_due);
        }
        if (p->heard) {
            wake = cw_time_min(wake, cw_time_add(p->heard_at, silence_allowed(b, i)));
        }
    }
    return cw_time_min(wake, boot_decide_wake(b));
}
