/* SPDX-License-Identifier: Apache-2.0 */
/* scenario_write.c - a scenario as a text file: what swarm found, made small, and can be run again. */
#include "simulator/quantity.h"
#include "simulator/scenario.h"

#include <errno.h>
#include <inttypes.h>

static void write_span(FILE *out, const char *before, cw_span span, const char *after)
{
    char text[QUANTITY_TEXT];
    quantity_span_format(span, text);
    fprintf(out, "%s%s%s", before, text, after);
}

static void write_timers(const struct ls_timers *t, FILE *out)
{
    write_span(out, "timer hello ", t->hello, "\n");
    write_span(out, "timer dead ", t->dead, "\n");
    write_span(out, "timer hold ", t->hold, "\n");
    write_span(out, "timer flood-bound ", t->flood_bound, "\n");
    write_span(out, "timer retry ", t->retry, "\n");
    write_span(out, "timer pending-limit ", t->pending_limit, "\n");
    write_span(out, "timer pace ", t->pace, "\n");
    write_span(out, "timer damp ", t->damp, "\n");
    write_span(out, "timer damp-max ", t->damp_max, "\n");
    write_span(out, "timer refresh ", t->refresh, "\n");
}

static void write_cost(FILE *out, const char *word, cw_span frame, uint32_t ps_per_byte)
{
    char ns[QUANTITY_TEXT];
    if (frame.ns == 0 && ps_per_byte == 0) {
        return;
    }
    quantity_millionths_format((int64_t)ps_per_byte * 1000, ns);
    fprintf(out, "%s ", word);
    write_span(out, "", frame, "");
    fprintf(out, " byte=%sns\n", ns);
}

static void write_config(const struct scenario *s, FILE *out)
{
    const struct world_config *c = &s->config;
    char text[QUANTITY_TEXT];
    quantity_dims_format(c->dims, text);
    fprintf(out, "torus %s\nseed %" PRIu64 "\n", text, c->seed);
    quantity_rate_format(c->wire.bits_per_second, text);
    fprintf(out, "rate %s\nring %u\nmtu %u\n", text, c->wire.ring, c->node.mtu);
    write_span(out, "propagation ", c->wire.propagation, "\n");
    write_timers(&c->node.timers, out);
    fprintf(out, "limit queue-packets %" PRIu32 "\nlimit queue-bytes %" PRIu32 "\nlimit hold-bytes %" PRIu32 "\n",
            c->node.queue_packets, c->node.queue_bytes, c->node.hold_bytes);
    fprintf(out, "limit hops %u\nlimit packets %" PRIu32 "\nlimit cpu-queue %" PRIu32 "\n", c->node.hop_limit,
            c->packets_max, c->cpu_queue);
    write_cost(out, "host", c->wire.hop_delay, c->wire.hop_ps_per_byte);
    write_cost(out, "cpu", c->cpu_per_frame, c->cpu_ps_per_byte);
    quantity_ppm_format(c->clock_ppm, text);
    fprintf(out, "clocks %s", text);
    write_span(out, " offset=", c->clock_offset, "\n");
    if (c->carrier.ns >= 0) {
        write_span(out, "carrier ", c->carrier, "\n");
    } else {
        fputs("carrier never\n", out);
    }
    fprintf(out, "corrupted %s\n", c->corrupt_passes ? "pass" : "drop");
    write_span(out, "boot ", s->boot, "\n");
}

static void write_load(const struct scenario_load *l, FILE *out)
{
    static const char *const kinds[] = {
        [WORKLOAD_KEYS] = "keys", [WORKLOAD_ALL_TO_ALL] = "all", [WORKLOAD_NEIGHBOURS] = "neighbours"};
    write_span(out, "at ", (cw_span){l->at.ns}, "");
    if (l->stop) {
        fputs(" stop\n", out);
        return;
    }
    fprintf(out, " workload %s", kinds[l->load.kind]);
    if (l->load.rate != 0) {
        fprintf(out, " rate=%" PRIu64, l->load.rate);
    }
    if (l->load.load_ppm != 0) {
        char text[QUANTITY_TEXT];
        quantity_ppm_format(l->load.load_ppm, text);
        fprintf(out, " load=%s", text);
    }
    if (l->load.bytes != 0) {
        fprintf(out, " bytes=%" PRIu32, l->load.bytes);
    }
    if (l->load.links != 0) {
        fprintf(out, " links=%u", l->load.links);
    }
    fputc('\n', out);
}

int scenario_write(const struct scenario *s, FILE *out)
{
    struct torus torus;
    char text[160];
    if (torus_init(&torus, s->config.dims) < 0) {
        return -EINVAL;
    }
    write_config(s, out);
    for (unsigned i = 0; i < s->captures; i++) {
        char server[TORUS_TEXT];
        torus_format(torus_coord(&torus, s->capture[i].server), server);
        fprintf(out, "capture %s", server);
        for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
            if (s->capture[i].links & cw_links_of(link)) {
                fprintf(out, " %s", quantity_link_name(link));
            }
        }
        fputc('\n', out);
    }
    for (unsigned i = 0; i < s->loads; i++) {
        write_load(&s->load[i], out);
    }
    for (uint32_t i = 0; i < s->plan.count; i++) {
        fault_format(&s->plan.fault[i], &torus, text, sizeof text);
        write_span(out, "at ", (cw_span){s->plan.fault[i].at.ns}, " ");
        fprintf(out, "%s\n", text);
    }
    for (unsigned i = 0; i < s->quiets; i++) {
        write_span(out, "at ", (cw_span){s->quiet[i].ns}, " quiet\n");
    }
    write_span(out, "end ", (cw_span){s->end.ns}, "\n");
    for (unsigned i = 0; i < s->expects; i++) {
        const struct scenario_expect *e = &s->expect[i];
        char number[QUANTITY_TEXT];
        quantity_millionths_format(e->millionths, number);
        fprintf(out, "expect %s %s %s\n", e->field, scenario_relation_name(e->relation), number);
    }
    return fflush(out) == 0 && ferror(out) == 0 ? 0 : -EIO;
}
