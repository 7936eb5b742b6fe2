/* SPDX-License-Identifier: Apache-2.0 */
#include "services/transport/congestion.h"

static uint64_t clamp(const struct congestion *c, uint64_t window)
{
    window = window > c->most ? c->most : window;
    return window < c->floor ? c->floor : window;
}

void congestion_init(struct congestion *c, uint64_t packet, uint64_t target, uint64_t most)
{
    *c = (struct congestion){.floor = packet * 2, .most = most, .target = target, .slow = true};
    c->window = clamp(c, packet * 2 + target);
    c->cut = (cw_time){INT64_MIN};
}

void congestion_acked(struct congestion *c, uint64_t bytes, cw_span rtt)
{
    if (c->slow && c->limited) {
        c->window = clamp(c, c->window + bytes);
    }
    if (rtt.ns > 0) {
        c->sum += rtt.ns;
        c->samples++;
    }
}

/* window * share / whole, of spans below 2^36 ns and windows below 2^40. */
static uint64_t part_of(uint64_t window, int64_t share, int64_t whole)
{
    return (uint64_t)((unsigned __int128)window * (uint64_t)share / (uint64_t)whole);
}

void congestion_round(struct congestion *c, cw_span least)
{
    if (c->samples > 0 && least.ns > 0) {
        int64_t rtt = c->sum / c->samples;
        rtt = rtt < least.ns ? least.ns : rtt;
        uint64_t fluid = part_of(c->window, least.ns, rtt);
        uint64_t queue = c->window - fluid;
        if (queue > c->target) {
            c->slow = false;
        }
        if (!c->slow && (c->limited || queue > c->target)) {
            c->window = clamp(c, (c->window + fluid + c->target) / 2);
        }
    }
    c->sum = 0;
    c->samples = 0;
    c->limited = false;
}

void congestion_lost(struct congestion *c, cw_time now, cw_span rtt)
{
    c->slow = false;
    if (c->cut.ns != INT64_MIN && cw_time_since(now, c->cut).ns < rtt.ns) {
        return;
    }
    c->cut = now;
    c->window = clamp(c, c->window - c->window / 10 * 3);
}

void congestion_silence(struct congestion *c, cw_time now)
{
    c->cut = now;
    c->window = c->floor;
    c->slow = true;
}

void congestion_drain(struct congestion *c)
{
    c->window = clamp(c, c->window / 2);
}
