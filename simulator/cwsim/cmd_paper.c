/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_paper.c - the figures 5a, 5b and 5c of CamCubeOS again, each as CSV, JSON and a picture with the points that the
 * paper gives in its text.
 */
#include "simulator/cwsim/figure.h"

#include <stdio.h>
#include <string.h>

enum { POINTS_MAX = 8 };

/* How much is run. */
struct scale {
    cw_dims sizes[POINTS_MAX]; /* 5a */
    cw_dims dims;              /* 5b and 5c */
    uint32_t fails[POINTS_MAX];
    int64_t churns[POINTS_MAX]; /* a second, in millionths */
    unsigned size_count, fail_count, churn_count;
    cw_span warm, measure; /* 5a and 5b */
    cw_span settle, churn; /* 5c */
    uint64_t rate;
};

static const struct scale whole = {
    .sizes = {{3, 3, 3}, {4, 4, 4}, {5, 5, 5}, {6, 6, 6}, {8, 8, 8}, {10, 10, 10}, {16, 16, 16}},
    .size_count = 7,
    .dims = {8, 8, 8},
    .fails = {0, 50000, 100000, 150000, 200000},
    .fail_count = 5,
    .churns = {500000, 1000000, 2000000, 4000000, 8000000, 15000000, 30000000},
    .churn_count = 7,
    .warm = CW_MS(100),
    .measure = CW_MS(100),
    .settle = CW_SEC(1),
    .churn = CW_SEC(60),
    .rate = 1000,
};
static const struct scale quick = {
    .sizes = {{3, 3, 3}, {4, 4, 4}, {8, 8, 8}},
    .size_count = 3,
    .dims = {8, 8, 8},
    .fails = {0, 100000, 200000},
    .fail_count = 3,
    .churns = {2000000, 15000000},
    .churn_count = 2,
    .warm = CW_MS(50),
    .measure = CW_MS(50),
    .settle = CW_MS(500),
    .churn = CW_SEC(2),
    .rate = 200,
};
/* Shows that the command works, and nothing else. */
static const struct scale tiny = {
    .sizes = {{2, 2, 2}, {3, 3, 3}},
    .size_count = 2,
    .dims = {3, 3, 3},
    .fails = {0, 100000},
    .fail_count = 2,
    .churns = {2000000, 15000000},
    .churn_count = 2,
    .warm = CW_MS(2),
    .measure = CW_MS(4),
    .settle = CW_MS(50),
    .churn = CW_MS(200),
    .rate = 100,
};

struct paper {
    const struct program_command *self;
    const struct command_common *common;
    const struct scale *scale;
    struct world_config config;
    const char *out;
    bool draw;
    struct report *summary;
};

/* Takes what was measured as one more point of r, and saves what there is so far. */
static int add_point(const struct figure *f, struct report *r, struct report *point)
{
    report_append(r, f->list, point);
    return figure_save(f, r);
}

/* Takes r: all its points are there, or rc says why not. */
static int finish(struct paper *p, const struct figure *f, struct report *r, int rc)
{
    if (rc == 0 && p->draw) {
        figure_draw(f);
    }
    report_append(p->summary, "figures", r);
    return rc;
}

/* ---- 5a and 5b: throughput --------------------------------------------------------------------------------------- */

static int measure_throughput(const struct paper *p, cw_dims dims, uint32_t fail_ppm, struct report **out)
{
    struct throughput_plan plan = {
        .config = p->config,
        .fail_ppm = fail_ppm,
        .load_ppm = 980000,
        .warm = p->scale->warm,
        .measure = p->scale->measure,
        .quiet = p->common->quiet,
    };
    plan.config.dims = dims;
    fprintf(stderr, "throughput %ux%ux%u, %u.%u %% failed\n", dims.x, dims.y, dims.z, fail_ppm / 10000,
            fail_ppm / 1000 % 10);
    return throughput_measure(&plan, out);
}

static int figure_5a(struct paper *p)
{
    static const char *const columns[] = {
        "servers",   "dims",         "achieved_gbps", "offered_gbps", "achieved_of_offered", "bound_gbps", "ratio",
        "hops_mean", "goodput_gbps", "median_gbps",   "packets",      "packet_hops",         "digest",     NULL};
    static const double said[] = {27, 2.7, 512, 1.0, 4096, 0.5};
    const struct plot_series series[] = {
        {.title = "exact bound", .x = "servers", .y = "bound_gbps", .line = true},
        {.title = "cubeway, 98 % of it offered", .x = "servers", .y = "achieved_gbps", .line = true},
        {.title = "CamCubeOS, section 4.2.3", .point = said, .points = 3},
    };
    const struct figure figure = {
        .self = p->self,
        .folder = p->out,
        .name = "fig5a",
        .list = "points",
        .columns = columns,
        .plot = {.title = "All to all: what each server receives",
                 .x_label = "servers",
                 .y_label = "Gb/s of link time, links of 1 Gb/s",
                 .x_log = true,
                 .series = series,
                 .count = 3},
    };
    struct report *r = report_open("paper 5a");
    int rc = 0;
    for (unsigned i = 0; i < p->scale->size_count && rc == 0; i++) {
        struct report *point;
        rc = measure_throughput(p, p->scale->sizes[i], 0, &point);
        if (rc == 0) {
            rc = add_point(&figure, r, point);
        }
    }
    return finish(p, &figure, r, rc);
}

static int figure_5b(struct paper *p)
{
    static const char *const columns[] = {"failed_percent", "failed",       "servers",       "achieved_gbps", "ratio",
                                          "median_gbps",    "fall_percent", "dropped_share", "digest",        NULL};
    static const double said[] = {0, 0, 20, 38.77};
    const struct plot_series series[] = {
        {.title = "cubeway", .x = "failed_percent", .y = "fall_percent", .line = true},
        {.title = "CamCubeOS, section 4.2.4: linear, 38.77 % at 20 %", .point = said, .points = 2, .line = true},
    };
    const struct figure figure = {
        .self = p->self,
        .folder = p->out,
        .name = "fig5b",
        .list = "points",
        .columns = columns,
        .plot = {.title = "All to all, 512 servers: the median server's throughput lost when servers fail",
                 .x_label = "failed servers, %",
                 .y_label = "throughput lost, %",
                 .series = series,
                 .count = 2},
    };
    struct report *r = report_open("paper 5b");
    double best = 0;
    int rc = 0;
    for (unsigned i = 0; i < p->scale->fail_count && rc == 0; i++) {
        struct report *point;
        rc = measure_throughput(p, p->scale->dims, p->scale->fails[i], &point);
        if (rc == 0) {
            double median = report_value(point, "median_gbps");
            best = i == 0 ? median : best;
            report_real(point, "failed_percent", p->scale->fails[i] / 1e4);
            report_real(point, "fall_percent", best > 0 ? 100 * (1 - median / best) : 0);
            rc = add_point(&figure, r, point);
        }
    }
    return finish(p, &figure, r, rc);
}

/* ---- 5c: churn --------------------------------------------------------------------------------------------------- */

static int figure_5c(struct paper *p)
{
    static const char *const columns[] = {
        "churn",   "dropped_percent", "misdelivered",        "packets",     "delivered",
        "dropped", "kills",           "dropped_per_failure", "hello_ms",    "dead_ms",
        "hold_ms", "hops_max",        "measured_seconds",    "packet_hops", "digest",
        NULL};
    static const double said[] = {2, 1.0, 15, 27.41};
    const struct plot_series series[] = {
        {.title = "cubeway, none misdelivered", .x = "churn", .y = "dropped_percent", .line = true},
        {.title = "CamCubeOS, section 4.2.5: below 1 % at 2, 27.41 % at 15", .point = said, .points = 2},
    };
    const struct figure figure = {
        .self = p->self,
        .folder = p->out,
        .name = "fig5c",
        .list = "points",
        .columns = columns,
        .plot = {.title = "Keys under churn, 512 servers, 10 % of them down: packets dropped",
                 .x_label = "failures a second, and as many returns",
                 .y_label = "packets dropped, %",
                 .x_log = true,
                 .y_log = true,
                 .series = series,
                 .count = 2},
    };
    struct report *r = report_open("paper 5c");
    int rc = 0;
    for (unsigned i = 0; i < p->scale->churn_count && rc == 0; i++) {
        struct report *point;
        struct churn_plan plan = {
            .config = p->config,
            .failures = p->scale->churns[i],
            .down_ppm = 100000,
            .rate = p->scale->rate,
            .settle = p->scale->settle,
            .measure = p->scale->churn,
            .quiet = p->common->quiet,
        };
        plan.config.dims = p->scale->dims;
        fprintf(stderr, "churn %ux%ux%u, %lld.%lld failures a second\n", plan.config.dims.x, plan.config.dims.y,
                plan.config.dims.z, (long long)(plan.failures / 1000000), (long long)(plan.failures / 100000 % 10));
        rc = churn_measure(&plan, &point);
        if (rc == 0) {
            report_real(point, "dropped_percent", 100 * report_value(point, "dropped_share"));
            rc = add_point(&figure, r, point);
        }
    }
    return finish(p, &figure, r, rc);
}

/* ---- The command ------------------------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    int (*make)(struct paper *p);
} figures[] = {{"5a", figure_5a}, {"5b", figure_5b}, {"5c", figure_5c}};
enum { FIGURES = sizeof figures / sizeof *figures };

/* "5a,5c" as a set; 0 when it is none. */
static unsigned read_figures(const char *text)
{
    unsigned set = 0;
    while (*text != '\0') {
        size_t length = strcspn(text, ","), i = 0;
        while (i < FIGURES && (strlen(figures[i].name) != length || memcmp(figures[i].name, text, length) != 0)) {
            i++;
        }
        if (i == FIGURES) {
            return 0;
        }
        set |= 1u << i;
        text += length;
        text += *text == ',';
    }
    return set;
}

static int run(const struct program_command *self, int argc, char **argv)
{
    struct command_common common;
    struct paper p = {.self = self, .common = &common, .out = "paper"};
    const char *which = "5a,5b,5c";
    cw_span churn = {0};
    bool is_quick = false, is_tiny = false, undrawn = false;
    struct option option[COMMAND_OPTIONS_MAX] = {
        {"figures", OPTION_TEXT, &which, "5a,5b,5c", "which figures to measure", false},
        {"out", OPTION_TEXT, &p.out, "DIR", "where the files go", false},
        {"quick", OPTION_FLAG, &is_quick, NULL, "a few points, measured shortly: minutes, not an hour", false},
        {"time", OPTION_SPAN, &churn, NULL, "simulated time of 5c for each rate, instead of 60 s (quick: 2 s)", false},
        {"no-plot", OPTION_FLAG, &undrawn, NULL, "write gnuplot's scripts, but do not run it", false},
        {"tiny", OPTION_FLAG, &is_tiny, NULL, "for tests", true},
    };
    command_common(&common, option + 6, (cw_dims){8, 8, 8}, "fast");
    option[6].hidden = true; /* dims: the figures say which */
    int code = command_options(self, option, 6 + COMMAND_COMMON, argc, argv, NULL, &common);
    if (code == PROGRAM_GO) {
        code = command_config(self, &common, &p.config);
    }
    if (code != PROGRAM_GO) {
        return code;
    }
    unsigned set = read_figures(which);
    if (set == 0) {
        return program_refuse(self, "--figures %s: expected some of 5a, 5b, 5c with commas", which);
    }
    if (figure_folder(self, p.out) < 0) {
        return EXIT_USAGE;
    }
    struct scale scale = is_tiny ? tiny : is_quick ? quick : whole;
    scale.churn = churn.ns > 0 ? churn : scale.churn;
    p.scale = &scale;
    p.draw = !undrawn;
    p.summary = report_open(self->name);
    report_text(p.summary, "out", p.out);
    int rc = 0;
    for (unsigned i = 0; i < FIGURES && rc == 0; i++) {
        rc = set & 1u << i ? figures[i].make(&p) : 0;
    }
    if (rc != 0) {
        report_close(p.summary);
        return command_exit(rc);
    }
    if (common.json) {
        return program_print(self, p.summary, true, EXIT_FINE);
    }
    report_close(p.summary);
    printf("wrote %s/fig%s.{csv,json,gp%s}\n", p.out, which, undrawn ? "" : ",png");
    return EXIT_FINE;
}

const struct program_command command_paper = {
    .program = &program_cwsim,
    .name = "paper",
    .summary = "figures 5a, 5b and 5c of CamCubeOS again: CSV, JSON and pictures",
    .words = "[--figures 5a,5b,5c] [--out DIR] [--quick] [options]",
    .text =
        "5a  throughput of all-to-all against the number of servers     (paper: 2.7, 1.0, 0.5 Gb/s at 27, 512, 4,096)\n"
        "5b  throughput lost when servers fail, 512 servers             (paper: 38.77 % at 20 %)\n"
        "5c  key packets lost under churn, 512 servers, 10 % down       (paper: below 1 % at 2 a second, 27.41 % at "
        "15)\n"
        "Each figure is written to DIR as fig5x.csv, fig5x.json, and fig5x.gp, which gnuplot draws as fig5x.png; its\n"
        "points are written as they are measured.",
    .example = "  cwsim paper --quick --out paper\n"
               "  cwsim paper --figures 5c --time 600s",
    .run = run,
};
