/* SPDX-License-Identifier: Apache-2.0 */
#include "simulator/cwsim/report.h"

#include "base/quantity.h"
#include "simulator/cwsim/bound.h"

static void count(struct report *r, const char *cause, uint64_t packets)
{
    if (packets != 0) {
        report_part(r, "dropped_by_cause", cause, (int64_t)packets);
    }
}

/* Each cause that is not 0: the nodes' own, and those of the cables. */
static void report_causes(struct report *r, const struct world_totals *a, const struct world_totals *b)
{
    report_part(r, "dropped_by_cause", NULL, 0);
    for (unsigned i = 0; i < CW_DROP_COUNT; i++) {
        count(r, cw_drop_name((cw_drop)i), b->dropped[i] - a->dropped[i]);
    }
    for (unsigned i = 0; i < WORLD_LOSSES; i++) {
        count(r, world_loss_name((enum world_loss)i), b->lost[i] - a->lost[i]);
    }
}

static double share(uint64_t part, uint64_t whole)
{
    return whole == 0 ? 0 : (double)part / (double)whole;
}

static double per_second(uint64_t count, double seconds)
{
    return seconds > 0 ? (double)count / seconds : 0;
}

void report_run(struct report *r, struct world *w, const struct report_span *span)
{
    const struct world_totals *a = &span->from, *b = &span->to;
    const struct world_config *config = world_config(w);
    char dims[QUANTITY_TEXT];
    uint64_t dropped = 0, lost = 0;
    for (unsigned i = 0; i < CW_DROP_COUNT; i++) {
        dropped += b->dropped[i] - a->dropped[i];
    }
    for (unsigned i = 0; i < WORLD_LOSSES; i++) {
        lost += b->lost[i] - a->lost[i];
    }
    uint64_t packets = b->made - a->made, delivered = b->delivered - a->delivered;
    quantity_dims_format(config->dims, dims);
    report_integer(r, "seed", (int64_t)config->seed);
    report_text(r, "dims", dims);
    report_integer(r, "servers", world_torus(w)->servers);
    report_integer(r, "running", world_running(w));
    report_integer(r, "active", world_active(w));
    report_integer(r, "agreeing", world_agreeing(w));
    report_flag(r, "converged", world_agreeing(w) == world_running(w));
    report_integer(r, "packets", (int64_t)packets);
    report_integer(r, "delivered", (int64_t)delivered);
    report_integer(r, "delivered_keys", (int64_t)(b->delivered_keys - a->delivered_keys));
    report_integer(r, "dropped", (int64_t)(dropped + lost));
    report_real(r, "dropped_share", share(dropped + lost, packets));
    report_integer(r, "lost", (int64_t)lost);
    report_causes(r, a, b);
    report_integer(r, "misdelivered", (int64_t)(b->misdelivered - a->misdelivered));
    report_integer(r, "duplicated", (int64_t)(b->duplicated - a->duplicated));
    report_integer(r, "held", (int64_t)(b->held - a->held));
    report_integer(r, "inside", (int64_t)b->inside);
    report_integer(r, "flying", (int64_t)b->flying);
    report_real(r, "hops_mean", share(b->hops - a->hops, delivered));
    report_integer(r, "hops_max", (int64_t)b->hops_max);
    report_integer(r, "starts", (int64_t)(b->starts - a->starts));
    report_integer(r, "kills", (int64_t)(b->kills - a->kills));
    report_integer(r, "pauses", (int64_t)(b->pauses - a->pauses));
    report_integer(r, "cuts", (int64_t)(b->cuts - a->cuts));
    report_integer(r, "frames", (int64_t)(b->frames - a->frames));
    if (config->relay_ppm != 0) {
        report_integer(r, "relayed", (int64_t)(b->relayed - a->relayed));
    }
    report_integer(r, "control_bytes", (int64_t)(b->control_bytes - a->control_bytes));
    report_real(r, "control_bytes_share", share(b->control_bytes - a->control_bytes, b->bytes - a->bytes));
    report_integer(r, "checks", (int64_t)(b->checks - a->checks));
    report_integer(r, "events", (int64_t)(b->events - a->events));
    report_real(r, "sim_seconds", (double)(b->now.ns - a->now.ns) / 1e9);
    report_real(r, "wall_seconds", span->wall_seconds);
    report_integer(r, "packet_hops", (int64_t)(b->packet_hops - a->packet_hops));
    report_real(r, "packet_hops_per_second", per_second(b->packet_hops - a->packet_hops, span->wall_seconds));
    report_real(r, "start_seconds", span->start_seconds);
    report_real(r, "processor_seconds", span->processor_seconds);
    report_real(r, "packet_hops_per_processor_second", per_second(span->hops, span->processor_seconds));
    report_real(r, "events_per_processor_second", per_second(span->events, span->processor_seconds));
    report_integer(r, "bytes_per_node", (int64_t)(world_bytes(w) / world_torus(w)->servers));
    report_integer(r, "memory_bytes", (int64_t)world_bytes(w));
    report_hash(r, "digest", world_digest(w));
}

void report_throughput(struct report *r, struct world *w, const struct report_span *span, unsigned servers,
                       uint32_t wire_bytes, uint64_t payload_bytes)
{
    double ns = (double)(span->to.now.ns - span->from.now.ns);
    double per_server = servers == 0 || ns <= 0 ? 0 : 8 / ns / servers; /* bytes to Gb/s */
    double achieved = (double)(span->to.delivered - span->from.delivered) * wire_bytes * per_server;
    double link = (double)world_config(w)->wire.bits_per_second / 1e9;
    double bound = bound_value(bound_all_to_all(world_torus(w))) * link;
    report_real(r, "achieved_gbps", achieved);
    report_real(r, "goodput_gbps", (double)payload_bytes * per_server);
    report_real(r, "bound_gbps", bound);
    report_real(r, "ratio", bound > 0 ? achieved / bound : 0);
}
