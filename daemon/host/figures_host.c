/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/host/figures_host.h"

#include "daemon/host/host.h"
#include "daemon/machine/transit.h"

/* What the kernel passed on for a service. What it did by link and by reason is of no service, and has no name here. */
static void visit_relay(void *context, enum transit_kind kind, const char *name, uint64_t packets, uint64_t bytes)
{
    const struct figures_visit *visit = context;
    if (kind == TRANSIT_SERVICE) {
        visit->counter(visit->context, name, "relayed", packets);
        visit->counter(visit->context, name, "relayed_bytes", bytes);
    }
}

/* The node's own are one group each; "dropped" is the sum of a group, which nobody counts by itself. */
static void each(void *context, cw_coord self, const struct figures_visit *visit)
{
    struct host *h = context;
    struct host_server *s = host_find(h, self);
    uint64_t dropped = 0;
    if (s == NULL || s->node == NULL) {
        return;
    }
    for (unsigned cause = 0; cause < CW_DROP_COUNT; cause++) {
        dropped += node_drops(s->node, (cw_drop)cause);
    }
    visit->counter(visit->context, "node", "dropped", dropped);
    node_counters(s->node, visit->counter, visit->context);
    for (unsigned c = 0; c < LS_COUNTERS; c++) {
        visit->counter(visit->context, "links", ls_counter_name((enum ls_counter)c),
                       ls_count(node_linkstate(s->node), (enum ls_counter)c));
    }
    transit_counts(host_transit(h), s->node, visit_relay, (void *)(uintptr_t)visit);
    node_histograms(s->node, visit->times, visit->context);
}

void figures_host_open(struct figures_host *out, struct host *h)
{
    *out = (struct figures_host){.size = sizeof *out, .context = h, .each = each};
}
