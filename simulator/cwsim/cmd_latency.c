/* SPDX-License-Identifier: Apache-2.0 */
#include "base/quantity.h"
#include "simulator/cwsim/command.h"
#include "simulator/cwsim/figure.h"

#include "wire/limits.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum {
    AGREE_LIMIT_S = 60,
    LOADS_MAX = 16,
    HEADS = FRAME_HEAD_BYTES + PACKET_HEAD_BYTES,
    /* What a host adds to each hop, and to each byte of it: CamCubeOS 4.2.2, less the wire. */
    TESTBED_NS = 497 * CW_NS_PER_US / 10,
    TESTBED_PS_PER_BYTE = 8200,
};

struct latency {
    struct world_config config;
    uint32_t loads[LOADS_MAX]; /* ppm */
    unsigned count;
    cw_span warm, measure;
    uint32_t bytes; /* of a packet behind the Ethernet header */
    uint32_t hops;
    const char *out; /* the figure's folder; NULL: none */
    bool quiet;
};

/* How long a packet is on its way onto a link: the service time of the queue before it. */
static double sending_us(const struct world_config *c, uint32_t bytes)
{
    return (double)wire_bytes(bytes) * wire_ps_per_byte(&c->wire) / 1e6;
}

/* What a hop takes where nobody waits: all its bits, the cable, the host. */
static double hop_us(const struct world_config *c, uint32_t bytes)
{
    return sending_us(c, bytes) + (double)(c->wire.propagation.ns + c->wire.hop_delay.ns) / 1e3 +
           (double)(bytes + WIRE_FRAME_EXTRA) * c->wire.hop_ps_per_byte / 1e6;
}

/* The mean wait before a link that is used so much by arrivals at random (M/D/1, Pollaczek and Khinchine). */
static double wait_at_random_us(const struct world_config *c, uint32_t bytes, double load)
{
    return sending_us(c, bytes) * load / (2 * (1 - load));
}

static struct report *point_of(const struct latency *l, uint32_t load_ppm, const struct trial_stats *stats,
                               const struct report_span *span)
{
    struct report *point = report_open(NULL);
    double load = load_ppm / 1e6;
    double hops = (double)stats->hops_sum / (double)stats->received;
    double mean = (double)stats->latency_sum_ns / (double)stats->received / 1e3;
    double idle = hops * hop_us(&l->config, l->bytes);
    report_real(point, "load", load);
    report_real(point, "load_percent", 100 * load);
    report_integer(point, "packets", stats->received);
    report_real(point, "hops_mean", hops);
    report_real(point, "mean_us", mean);
    report_real(point, "idle_us", idle);
    report_real(point, "wait_per_hop_us", (mean - idle) / hops);
    if (load < 1) {
        report_real(point, "random_wait_us", wait_at_random_us(&l->config, l->bytes, load));
    }
    report_real(point, "least_us", (double)stats->latency_min_ns / 1e3);
    report_real(point, "most_us", (double)stats->latency_max_ns / 1e3);
    report_integer(point, "packet_hops", (int64_t)(span->to.packet_hops - span->from.packet_hops));
    return point;
}

/* One point of the curve: latency at a load, in a world of its own. */
static int measure_load(const struct latency *l, uint32_t load_ppm, struct report *r)
{
    struct trial t;
    struct trial_stats stats;
    struct report_span span;
    const struct workload load = {.kind = WORKLOAD_ALL_TO_ALL, .load_ppm = load_ppm, .bytes = l->bytes};
    int rc = trial_open(&t, &l->config, "latency", l->quiet, stderr);
    if (rc < 0) {
        return rc;
    }
    rc = trial_boot(&t, CW_NS(0), CW_SEC(AGREE_LIMIT_S));
    if (rc == 0) {
        t.goal = cw_time_add(world_now(t.world), cw_span_add(l->warm, l->measure));
        rc = workload_start(t.world, &load);
    }
    if (rc == 0) {
        rc = trial_run_for(&t, l->warm);
    }
    if (rc == 0) {
        workload_reset(t.world);
        trial_span_begin(&t, &span);
        rc = trial_run_for(&t, l->measure);
    }
    if (rc == 0) {
        trial_span_end(&t, &span);
        rc = trial_bench_stats(&t, &stats);
    }
    if (rc == 0 && stats.received > 0) {
        report_append(r, "loads", point_of(l, load_ppm, &stats, &span));
    }
    trial_close(&t);
    return rc;
}

/* What a hop of the pings between two moments takes where nobody waits, by the bytes that wires got of them. */
static double idle_hop_us(const struct world_config *c, const struct world_totals *before,
                          const struct world_totals *after)
{
    uint64_t bytes = after->bytes - before->bytes - (after->control_bytes - before->control_bytes);
    uint64_t hops = after->packet_hops - before->packet_hops;
    uint32_t on_wire = hops > 0 ? (uint32_t)(bytes / hops) : 0, framing = wire_bytes(c->node.mtu) - c->node.mtu;
    return hop_us(c, on_wire > framing ? on_wire - framing : 0);
}

static int ping(struct trial *t, const struct latency *l, uint32_t hops, struct report *r)
{
    char far[24], size[24];
    const char *const words[] = {"far", far, "count=3", size};
    struct trial_answer answer;
    snprintf(far, sizeof far, "hops=%u", hops);
    snprintf(size, sizeof size, "size=%u", l->bytes - HEADS > 400 ? l->bytes - HEADS - 256 : 16);
    struct world_totals before, after;
    world_totals(t->world, &before);
    int rc = trial_command(t, 0, "ping", 4, words, CW_SEC(20), &answer);
    world_totals(t->world, &after);
    if (rc != 0) {
        if (rc < 0 && rc != -ETIMEDOUT) {
            fprintf(t->errors, "cwsim: ping over %u hops: %s\n", hops,
                    answer.error[0] != '\0' ? answer.error : strerror(-rc));
        }
        return rc;
    }
    struct report *point = report_open(NULL);
    report_integer(point, "hops", (int64_t)hops);
    report_integer(point, "payload_bytes", l->bytes - HEADS > 400 ? l->bytes - HEADS - 256 : 16);
    report_integer(point, "received", trial_number(&answer, "received"));
    if (trial_number(&answer, "received") > 0) {
        report_real(point, "rtt_mean_us", (double)trial_number(&answer, "rtt_mean_ns") / 1e3);
        report_real(point, "rtt_least_us", (double)trial_number(&answer, "rtt_min_ns") / 1e3);
        report_real(point, "per_hop_us", (double)trial_number(&answer, "rtt_mean_ns") / 2e3 / hops);
    }
    report_real(point, "idle_us", 2 * hops * idle_hop_us(&l->config, &before, &after));
    report_append(r, "round_trips", point);
    return 0;
}

static int measure_round_trips(const struct latency *l, struct report *r)
{
    struct trial t;
    int rc = trial_open(&t, &l->config, "latency", l->quiet, stderr);
    if (rc < 0) {
        return rc;
    }
    struct report_span span;
    trial_span_begin(&t, &span);
    rc = trial_boot(&t, CW_NS(0), CW_SEC(AGREE_LIMIT_S));
    for (uint32_t hops = 1; hops <= l->hops && rc == 0; hops = hops < 3 ? hops + 1 : hops + 3) {
        rc = ping(&t, l, hops, r);
    }
    if (rc == 0) {
        trial_span_end(&t, &span);
        report_run(r, t.world, &span);
    }
    trial_close(&t);
    return rc;
}

static int measure_loads(const struct latency *l, const struct program_command *self, struct report *r)
{
    static const char *const columns[] = {
        "load_percent", "wait_per_hop_us", "random_wait_us", "mean_us",     "idle_us", "hops_mean",
        "least_us",     "most_us",         "packets",        "packet_hops", NULL};
    static const struct plot_series series[] = {
        {.title = "cubeway", .x = "load_percent", .y = "wait_per_hop_us", .line = true},
        {.title = "arrivals at random on one link (M/D/1)", .x = "load_percent", .y = "random_wait_us", .line = true},
    };
    char title[96], dims[QUANTITY_TEXT];
    quantity_dims_format(l->config.dims, dims);
    (void)snprintf(title, sizeof title, "All to all, %s: how long a packet waits for each of its links", dims);
    const struct figure figure = {
        .self = self,
        .folder = l->out,
        .name = "latency",
        .list = "loads",
        .columns = columns,
        .plot = {.title = title,
                 .x_label = "load offered, % of the exact bound",
                 .y_label = "wait per hop, us",
                 .y_log = true,
                 .series = series,
                 .count = 2},
    };
    int rc = 0;
    for (unsigned i = 0; i < l->count && rc == 0; i++) {
        rc = measure_load(l, l->loads[i], r);
        if (rc == 0 && l->out != NULL) {
            rc = figure_save(&figure, r);
        }
    }
    if (rc == 0 && l->out != NULL) {
        figure_draw(&figure);
    }
    return rc;
}

/* "10%,50%,90%" */
static int read_loads(const char *text, struct latency *l)
{
    l->count = 0;
    while (*text != '\0') {
        size_t length = strcspn(text, ",");
        if (l->count == LOADS_MAX || quantity_ppm(text, length, &l->loads[l->count]) < 0 || l->loads[l->count] == 0 ||
            l->loads[l->count] > 2000000) {
            return -EINVAL;
        }
        l->count++;
        text += length;
        text += *text == ',';
    }
    return 0;
}

static int run(const struct program_command *self, int argc, char **argv)
{
    struct latency l = {.warm = CW_MS(50), .measure = CW_MS(200), .hops = 6};
    const char *loads = "10%,30%,50%,70%,90%";
    bool testbed = false;
    struct command_common common;
    struct option option[COMMAND_OPTIONS_MAX] = {
        {"loads", OPTION_TEXT, &loads, "L%,L%..", "offered loads, as shares of the exact bound", false},
        {"bytes", OPTION_SMALL, &l.bytes, "BYTES", "size of a packet in its frame; 0: a full frame", false},
        {"hops", OPTION_SMALL, &l.hops, "N", "measure round trips over 1 to so many links; 0: none", false},
        {"testbed", OPTION_FLAG, &testbed, NULL, "hosts as slow as the paper's: 49.7 us + 8.2 ns a byte", false},
        {"warm", OPTION_SPAN, &l.warm, NULL, "queues fill for so long before measuring begins", false},
        {"measure", OPTION_SPAN, &l.measure, NULL, "simulated time that is measured, for each load", false},
        {"out", OPTION_TEXT, &l.out, "DIR", "latency.csv, .json, .gp and .png go there", false},
    };
    command_common(&common, option + 7, (cw_dims){4, 4, 4}, "default");
    int code = command_options(self, option, 7 + COMMAND_COMMON, argc, argv, NULL, &common);
    if (code == PROGRAM_GO) {
        code = command_config(self, &common, &l.config);
    }
    if (code != PROGRAM_GO) {
        return code;
    }
    if (read_loads(loads, &l) < 0) {
        return program_refuse(self, "--loads %s: expected up to %d percentages with commas, as 10%%,50%%", loads,
                              LOADS_MAX);
    }
    l.bytes = l.bytes == 0 ? common.mtu : l.bytes;
    if (l.bytes < HEADS + 64 || l.bytes > common.mtu || l.hops > 60) {
        return program_refuse(self, "expected --bytes from %d to the mtu, and --hops up to 60", HEADS + 64);
    }
    if (testbed) {
        l.config.wire.hop_delay = CW_NS(TESTBED_NS);
        l.config.wire.hop_ps_per_byte = TESTBED_PS_PER_BYTE;
    }
    if (l.out != NULL && figure_folder(self, l.out) < 0) {
        return EXIT_USAGE;
    }
    l.quiet = common.quiet;
    struct report *r = report_open(self->name);
    report_real(r, "idle_hop_us", hop_us(&l.config, l.bytes));
    int rc = measure_round_trips(&l, r);
    if (rc == 0) {
        rc = measure_loads(&l, self, r);
    }
    if (rc == 0) {
        return program_print(self, r, common.json, EXIT_FINE);
    }
    report_close(r);
    return command_exit(rc);
}

const struct program_command command_latency = {
    .program = &program_cwsim,
    .name = "latency",
    .summary = "how long packets take, against the number of links and against load",
    .words = "[--dims XxYxZ] [--loads L%,L%..] [--hops N] [--out DIR] [options]",
    .text = "round_trips: ping over 1 to --hops links in an idle cluster (CamCubeOS 4.2.2); --testbed adds what the\n"
            "paper's hosts added. loads: one way through an all-to-all, at each load. idle_us is what the same hops\n"
            "take when no packet waits, and wait_per_hop_us what queues add; random_wait_us is what arrivals at\n"
            "random on one link would wait (M/D/1). That is more, since packets here come spaced and choose links.",
    .example = "  cwsim latency --dims 8x8x8 --loads 10%,50%,90% --out latency\n"
               "  cwsim latency --dims 10x10x10 --hops 15 --testbed --mtu 1500 --loads 1%",
    .run = run,
};
