/* SPDX-License-Identifier: Apache-2.0 */
/* scenario_write.c - a scenario as a text file: what swarm found, made small, and can be run again. */
#include "base/quantity.h"
#include "scenario/scenario_internal.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

static void write_span(FILE *out, const char *before, cw_span span, const char *after)
{
    char text[QUANTITY_TEXT];
    quantity_span_format(span, text);
    fprintf(out, "%s%s%s", before, text, after);
}

/* Those settings of a table that are not as they usually are, a line each, with these words before their names. */
static void write_settings(const char *before, const struct setting *table, const struct scenario *s,
                           const struct scenario *usual, FILE *out)
{
    char value[SETTING_VALUE];
    for (; table->name != NULL; table++) {
        bool said = memcmp((const char *)s + table->at, (const char *)usual + table->at, table->size) != 0;
        if (said && setting_write(table, s, value)) {
            fprintf(out, "%s%s %s\n", before, table->name, value);
        }
    }
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

/*
 * What is as it is by default is left out, so that a reader sees what matters; but the seed and the boot are said
 * always.
 */
static void write_config(const struct scenario *s, FILE *out)
{
    const struct world_config *c = &s->config;
    struct scenario usual;
    char text[QUANTITY_TEXT];
    scenario_init(&usual);
    usual.config.seed = ~c->seed;
    usual.boot.ns = c->settled ? s->boot.ns : ~s->boot.ns;
    quantity_dims_format(c->dims, text);
    fprintf(out, "torus %s\n", text);
    write_settings("", scenario_values, s, &usual, out);
    if (c->settled) {
        fputs("boot settled\n", out);
    }
    if (c->wire.ring != usual.config.wire.ring) {
        fprintf(out, "ring %u\n", c->wire.ring);
    }
    write_settings("timer ", scenario_timers, s, &usual, out);
    write_settings("limit ", scenario_limits, s, &usual, out);
    write_cost(out, "host", c->wire.hop_delay, c->wire.hop_ps_per_byte);
    write_cost(out, "cpu", c->cpu_per_frame, c->cpu_ps_per_byte);
    if (c->clock_ppm != 0 || c->clock_offset.ns != 0) {
        quantity_ppm_format(c->clock_ppm, text);
        fprintf(out, "clocks %s", text);
        write_span(out, " offset=", c->clock_offset, "\n");
    }
    if (c->carrier.ns >= 0) {
        write_span(out, "carrier ", c->carrier, "\n");
    }
    if (c->corrupt_passes) {
        fputs("corrupted pass\n", out);
    }
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
    for (unsigned i = 0; i < s->services; i++) {
        fprintf(out, "service %s\n", s->service[i]);
    }
    for (unsigned i = 0; i < s->options; i++) {
        fprintf(out, "option %s %s %s\n", s->option[i].service, s->option[i].name, s->option[i].value);
    }
    for (unsigned i = 0; i < s->grants; i++) {
        scenario_grant_write(&s->grant[i], out);
    }
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
    for (unsigned i = 0; i < s->tells; i++) {
        char server[TORUS_TEXT];
        torus_format(torus_coord(&torus, s->tell[i].server), server);
        write_span(out, "at ", (cw_span){s->tell[i].at.ns}, "");
        fprintf(out, " tell %s %s %s\n", server, s->tell[i].service, s->tell[i].text);
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
