/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_kvcache.c - hot spots and what copies do about them, and the shape of figure 6(b) of CamCubeOS, in a simulated
 * torus: figures are those of the cache and the torus, and the same on every machine.
 *
 *   even     clients ask servers at random: the demand is even, and the busiest place decides
 *   own      each server has clients of its own, who ask the next question when the last one is answered
 *   growth   requests a second against the number of concurrent requests, up to 150, of one hot key
 *   fig6b    the same for 23,300 thumbnails of 3,550 bytes, asked for by ten generators outside, with hosts as
 *            slow as the paper's
 */
#include "kv_load.h"
#include "simulator/cwsim/command.h"
#include "simulator/cwsim/figure.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    SEEDS_MOST = 15,
    KS = 3,
    ZIPF_KEYS = 100000,
    /* A daemon on the reference machine: docs/benchmarks.md, round trip of one hop and a server in transit. */
    FRONT_US = 5,
    FRAME_US = 3,
    BYTE_PS = 200,
    /* Of CamCubeOS 4.2.2, less the wire: what a host adds to each hop, and to each byte of it. */
    TESTBED_NS = 49700,
    TESTBED_PS_PER_BYTE = 8200,
    GENERATORS = 10,
    THUMBNAILS = 23300,
    THUMBNAIL_BYTES = 3550,
    OUTSIDE_US = 600,
    COPIES_MIB = 64,
};

static const unsigned ks[KS] = {0, 4, 8};

struct bench {
    const struct program_command *self;
    struct report *report;
    const char *only, *out;
    uint64_t seed;
    uint32_t seeds;
    bool smoke, json;
};

static struct kv_load load_of(const struct bench *b, cw_dims dims, unsigned k)
{
    return (struct kv_load){.dims = dims,
                            .seed = b->seed,
                            .extras = k,
                            .keys = 1,
                            .bytes = 100,
                            .copies_mib = COPIES_MIB,
                            .front = CW_US(FRONT_US),
                            .frame = CW_US(FRAME_US),
                            .byte_ps = BYTE_PS,
                            .warm = CW_MS(b->smoke ? 2 : 20),
                            .measure = CW_MS(b->smoke ? 2 : 20)};
}

static int by_rate(const void *a, const void *c)
{
    double x = ((const struct kv_load_result *)a)->rate, y = ((const struct kv_load_result *)c)->rate;
    return x < y ? -1 : x > y;
}

/* The run with the median rate among keys of other names; *least and *most are the rates at the ends. */
static struct kv_load_result median_run(const struct bench *b, struct kv_load *load, double *least, double *most)
{
    struct kv_load_result r[SEEDS_MOST];
    for (uint32_t i = 0; i < b->seeds; i++) {
        load->seed = b->seed + i;
        kv_load_run(load, &r[i]);
    }
    qsort(r, b->seeds, sizeof *r, by_rate);
    *least = r[0].rate;
    *most = r[b->seeds - 1].rate;
    return r[b->seeds / 2];
}

static bool wanted(const struct bench *b, const char *table)
{
    return b->only == NULL || strcmp(b->only, table) == 0;
}

/* ---- Hot spots --------------------------------------------------------------------------------------------------- */

static void say_row(const struct bench *b, const struct kv_load *load, const struct kv_load_result *r, double least,
                    double most, double before)
{
    unsigned servers = (unsigned)load->dims.x * load->dims.y * load->dims.z;
    struct report *row = report_open(NULL);
    report_integer(row, "servers", servers);
    report_integer(row, "keys", load->keys);
    report_integer(row, "k", load->extras);
    report_integer(row, "at_once", load->at_once);
    report_real(row, "rate", r->rate);
    report_real(row, "rate_least", least);
    report_real(row, "rate_most", most);
    report_real(row, "of_none", r->rate / before);
    report_real(row, "median_server_rate", r->median_rate);
    report_real(row, "worst", r->worst);
    report_real(row, "hops", r->hops / 2);
    report_real(row, "mean_us", r->mean_us);
    report_real(row, "p99_us", r->p99_us);
    report_real(row, "busiest", r->busiest);
    report_real(row, "busy", r->busy);
    report_integer(row, "from_copies", r->copy);
    report_integer(row, "answered", r->answered);
    report_integer(row, "failed", r->failed + r->misses);
    report_integer(row, "retries", r->retries);
    report_hash(row, "digest", r->digest);
    if (!b->json) {
        printf("%4u servers  %6u keys  k=%u  %9.0f/s (%.0f..%.0f)  x%.2f  median server %7.0f/s  worst/mean %6.2f"
               "  hops %.2f  mean %7.1f us  p99 %7.1f us  copies %.0f %%\n",
               servers, load->keys, load->extras, r->rate, least, most, r->rate / before, r->median_rate, r->worst,
               r->hops / 2, r->mean_us, r->p99_us, 100.0 * (double)r->copy / (double)r->answered);
        fflush(stdout);
    }
    report_append(b->report, load->generators > 0 ? "even" : "own", row);
}

static void hot(struct bench *b, cw_dims dims, unsigned keys, unsigned each, bool even)
{
    unsigned servers = (unsigned)dims.x * dims.y * dims.z;
    double before = 0, least, most;
    for (unsigned i = 0; i < KS; i++) {
        struct kv_load load = load_of(b, dims, ks[i]);
        load.keys = keys;
        load.theta = 0.99;
        load.generators = even ? 1 : 0;
        load.at_once = even ? each * servers : each;
        struct bench once = *b;
        if (keys > 1) {
            /* Copies come when they are asked for: give them time. Many keys need no second name. */
            load.warm = CW_MS(b->smoke ? 2 : servers > 100 ? 60 : 1000);
            once.seeds = 1;
        }
        struct kv_load_result r = median_run(&once, &load, &least, &most);
        before = i == 0 ? r.rate : before;
        say_row(b, &load, &r, least, most, before);
    }
}

static void hot_tables(struct bench *b, bool even)
{
    const cw_dims small = {3, 3, 3}, large = {8, 8, 8};
    if (!b->json) {
        printf("%s\n", even ? "Clients ask servers at random, 4 at once for each server (Zipf on 512: 8)"
                            : "Each server has 4 clients of its own");
    }
    hot(b, small, 1, 4, even);
    hot(b, small, b->smoke ? 1000 : ZIPF_KEYS, 4, even);
    if (!b->smoke) {
        hot(b, large, 1, 4, even);
        hot(b, large, ZIPF_KEYS, even ? 8 : 4, even);
    }
}

/* ---- Against concurrent requests --------------------------------------------------------------------------------- */

static void put(struct report *row, const char *what, unsigned k, double value)
{
    char name[24];
    snprintf(name, sizeof name, "%s_%u", what, k);
    report_real(row, name, value);
}

struct curve {
    const char *name, *title;
    bool testbed;
};

static struct kv_load load_of_curve(const struct bench *b, const struct curve *c, unsigned k, unsigned at_once)
{
    struct kv_load load = load_of(b, (cw_dims){3, 3, 3}, k);
    load.at_once = at_once;
    load.generators = GENERATORS;
    if (c->testbed) {
        load.links = true;
        load.outside = CW_US(OUTSIDE_US);
        load.keys = b->smoke ? 200 : THUMBNAILS;
        load.bytes = THUMBNAIL_BYTES;
        load.frame = CW_NS(0);
        load.byte_ps = 0;
        load.hop = CW_NS(TESTBED_NS);
        load.hop_byte_ps = TESTBED_PS_PER_BYTE;
        load.warm = CW_MS(b->smoke ? 20 : 12000);
        load.measure = CW_MS(b->smoke ? 20 : 1000);
    }
    return load;
}

static void say_point(struct bench *b, const struct curve *c, unsigned at_once)
{
    struct report *row = report_open(NULL);
    report_integer(row, "at_once", at_once);
    if (!b->json) {
        printf("%4u at once:", at_once);
    }
    for (unsigned i = 0; i < KS; i++) {
        struct kv_load load = load_of_curve(b, c, ks[i], at_once);
        struct kv_load_result r;
        kv_load_run(&load, &r);
        put(row, "krate", ks[i], r.rate / 1e3);
        put(row, "p50_us", ks[i], r.p50_us);
        put(row, "p95_us", ks[i], r.p95_us);
        put(row, "hops", ks[i], r.hops / 2);
        put(row, "worst", ks[i], r.worst);
        put(row, "copies", ks[i], (double)r.copy / (double)r.answered);
        put(row, "failed", ks[i], (double)(r.failed + r.misses));
        if (!b->json) {
            printf("  | k=%u %8.0f/s  p50 %6.1f p95 %6.1f us  hops %.2f  copies %2.0f %%", ks[i], r.rate, r.p50_us,
                   r.p95_us, r.hops / 2, 100.0 * (double)r.copy / (double)r.answered);
            fflush(stdout);
        }
    }
    if (!b->json) {
        printf("\n");
    }
    report_append(b->report, c->name, row);
}

static int curve(struct bench *b, const struct curve *c)
{
    static const char *const columns[] = {"at_once",  "krate_0",  "krate_4",  "krate_8",  "p50_us_0",
                                          "p50_us_4", "p50_us_8", "p95_us_0", "p95_us_4", "p95_us_8",
                                          "hops_0",   "hops_4",   "hops_8",   "worst_0",  "worst_4",
                                          "worst_8",  "copies_4", "copies_8", NULL};
    static const struct plot_series series[] = {
        {.title = "every read at its root", .x = "at_once", .y = "krate_0", .line = true},
        {.title = "copies at 4 extra keys", .x = "at_once", .y = "krate_4", .line = true},
        {.title = "copies at 8 extra keys", .x = "at_once", .y = "krate_8", .line = true},
    };
    const struct figure figure = {.self = b->self,
                                  .folder = b->out,
                                  .name = c->name,
                                  .list = c->name,
                                  .columns = columns,
                                  .plot = {.title = c->title,
                                           .x_label = "concurrent requests",
                                           .y_label = "thousand requests a second",
                                           .series = series,
                                           .count = KS}};
    if (!b->json) {
        printf("%s\n", c->title);
    }
    int rc = 0;
    static const unsigned at_once[] = {15, 30, 60, 90, 120, 150};
    const unsigned points = sizeof at_once / sizeof *at_once;
    for (unsigned i = b->smoke ? points - 1 : 0; i < points && rc == 0; i++) {
        say_point(b, c, at_once[i]);
        if (b->out != NULL) {
            rc = figure_save(&figure, b->report);
        }
    }
    if (rc == 0 && b->out != NULL) {
        figure_draw(&figure);
    }
    return rc;
}

int main(int argc, char **argv)
{
    /* In whose name figures are refused. */
    static const struct program program = {.name = "bench_kvcache", .purpose = "", .ending = "", .commands = NULL};
    static const struct program_command self = {.program = &program, .name = "--out"};
    static const struct curve growth = {"kv_hot", "One hot key, 27 servers: requests a second", false};
    static const struct curve fig6b = {"kv_fig6b", "Thumbnails, 27 servers, slow hosts: requests a second", true};
    struct bench b = {.self = &self, .seed = 1, .seeds = 5};
    const struct option option[] = {
        {"table", OPTION_TEXT, &b.only, "NAME", "one of even, own, growth, fig6b", false},
        {"seed", OPTION_COUNT, &b.seed, NULL, "names of keys, and all else that is drawn", false},
        {"seeds", OPTION_SMALL, &b.seeds, NULL, "runs of a single key, each of another name: the median counts", false},
        {"json", OPTION_FLAG, &b.json, NULL, "as JSON, at the end", false},
        {"out", OPTION_TEXT, &b.out, "DIR", "kv_hot and kv_fig6b: .csv, .json, .gp and .png go there", false},
        {"smoke", OPTION_FLAG, &b.smoke, NULL, "just enough to see that it works", false},
    };
    const size_t count = sizeof option / sizeof *option;
    int rc = options_parse("bench_kvcache", option, count, argc, argv, NULL, stderr);
    if (rc > 0) {
        printf("usage: bench_kvcache [options]\n\nHot spots of the key-value cache, simulated: requests a second, load "
               "of the "
               "busiest server\nand links crossed, with copies at 0, 4 and 8 extra keys.\n\n");
        options_print(option, count, stdout);
        return EXIT_FINE;
    }
    b.seeds = b.smoke ? 1 : b.seeds;
    if (rc < 0) {
        return EXIT_USAGE;
    }
    if (b.seeds < 1 || b.seeds > SEEDS_MOST) {
        fprintf(stderr, "bench_kvcache: expected --seeds from 1 to %d\n", SEEDS_MOST);
        return EXIT_USAGE;
    }
    if (b.only != NULL && strcmp(b.only, "even") != 0 && strcmp(b.only, "own") != 0 && strcmp(b.only, "growth") != 0 &&
        strcmp(b.only, "fig6b") != 0) {
        fprintf(stderr, "bench_kvcache: --table %s: expected even, own, growth or fig6b\n", b.only);
        return EXIT_USAGE;
    }
    if (b.out != NULL && figure_folder(&self, b.out) < 0) {
        return EXIT_USAGE;
    }
    b.report = report_open("bench_kvcache");
    report_integer(b.report, "seed", (int64_t)b.seed);
    if (wanted(&b, "even")) {
        hot_tables(&b, true);
    }
    if (wanted(&b, "own")) {
        hot_tables(&b, false);
    }
    rc = wanted(&b, "growth") ? curve(&b, &growth) : 0;
    if (rc == 0 && wanted(&b, "fig6b")) {
        rc = curve(&b, &fig6b);
    }
    if (rc < 0) {
        report_close(b.report);
        return EXIT_USAGE;
    }
    rc = b.json ? report_print_json(b.report, stdout) : 0;
    report_close(b.report);
    return rc < 0 ? EXIT_USAGE : EXIT_FINE;
}
