/* SPDX-License-Identifier: Apache-2.0 */
#include "base/prng.h"
#include "simulator/cwsim/bound.h"
#include "simulator/cwsim/command.h"

#include <errno.h>
#include <stdlib.h>

enum { AGREE_LIMIT_S = 60 };

/* Kills servers drawn by the seed, and waits until the others know. */
static int kill_some(struct trial *t, const struct throughput_plan *plan, uint32_t count)
{
    uint32_t servers = world_torus(t->world)->servers;
    cw_server *order = malloc(servers * sizeof *order);
    if (order == NULL) {
        return -ENOMEM;
    }
    for (cw_server s = 0; s < servers; s++) {
        order[s] = s;
    }
    struct prng random = prng_stream(plan->config.seed, 0, WORLD_STREAM_FAULTS);
    prng_shuffle(&random, order, servers, sizeof *order);
    for (uint32_t i = 0; i < count; i++) {
        world_kill(t->world, order[i], false);
    }
    free(order);
    const struct ls_timers *timers = &plan->config.node.timers;
    int rc = trial_run_for(t, cw_span_add(timers->dead, cw_span_add(timers->hold, timers->hold)));
    return rc != 0 ? rc : trial_agree(t, CW_SEC(AGREE_LIMIT_S));
}

static void report_servers(struct report *r, const struct trial_stats *stats, const struct report_span *span,
                           double payload_share)
{
    /* Payload to link time, as in achieved_gbps. */
    double gbps = 8 / (double)(span->to.now.ns - span->from.now.ns) / payload_share;
    report_real(r, "least_gbps", (double)stats->bytes_least * gbps);
    report_real(r, "median_gbps", (double)stats->bytes_median * gbps);
    report_real(r, "most_gbps", (double)stats->bytes_most * gbps);
    report_integer(r, "refused", stats->refused);
    report_integer(r, "unreachable", stats->unreachable);
    report_integer(r, "skipped", stats->skipped);
    if (stats->received > 0) {
        report_real(r, "latency_mean_us", (double)stats->latency_sum_ns / (double)stats->received / 1e3);
        report_real(r, "latency_max_us", (double)stats->latency_max_ns / 1e3);
    }
}

static int load_and_measure(struct trial *t, const struct throughput_plan *plan, struct report *r, uint32_t failed)
{
    const struct workload load = {.kind = WORKLOAD_ALL_TO_ALL, .load_ppm = plan->load_ppm};
    struct report_span span;
    struct trial_stats stats;
    int rc = workload_start(t->world, &load);
    if (rc < 0) {
        fprintf(t->errors, "cwsim: the load cannot be started\n");
        return rc;
    }
    rc = trial_run_for(t, plan->warm);
    if (rc != 0) {
        return rc;
    }
    workload_reset(t->world);
    trial_span_begin(t, &span);
    rc = trial_run_for(t, plan->measure);
    if (rc != 0) {
        return rc;
    }
    trial_span_end(t, &span);
    rc = trial_bench_stats(t, &stats);
    if (rc != 0) {
        return rc;
    }
    uint16_t mtu = plan->config.node.mtu;
    double link = (double)plan->config.wire.bits_per_second / 1e9;
    double offered = bound_value(bound_all_to_all(world_torus(t->world))) * link * plan->load_ppm / 1e6;
    double payload = (double)workload_rate(t->world, plan->load_ppm, 0) / 1e9;
    unsigned running = world_running(t->world);
    report_run(r, t->world, &span);
    report_throughput(r, t->world, &span, running, wire_bytes(mtu), (uint64_t)stats.bytes);
    double achieved = report_value(r, "achieved_gbps");
    report_real(r, "load", plan->load_ppm / 1e6);
    report_real(r, "offered_gbps", offered);
    report_real(r, "achieved_of_offered", offered > 0 ? achieved / offered : 0);
    report_integer(r, "failed", failed);
    report_real(r, "failed_share", (double)failed / world_torus(t->world)->servers);
    report_real(r, "link_gbps", link);
    report_integer(r, "mtu", mtu);
    report_real(r, "hops_expected", bound_value(bound_mean_hops(world_torus(t->world))));
    report_servers(r, &stats, &span, offered > 0 ? payload / offered : 1);
    return 0;
}

int throughput_measure(const struct throughput_plan *plan, struct report **out)
{
    struct trial t;
    int rc = trial_open(&t, &plan->config, "throughput", plan->quiet, stderr);
    if (rc < 0) {
        return rc;
    }
    uint64_t servers = world_torus(t.world)->servers;
    uint32_t failed = (uint32_t)((servers * plan->fail_ppm + 500000) / 1000000);
    if (failed + 2 > servers) {
        fprintf(stderr, "cwsim: of %u servers %u would fail, and two are needed to send\n", (unsigned)servers, failed);
        trial_close(&t);
        return -EINVAL;
    }
    rc = trial_boot(&t, plan->boot, CW_SEC(AGREE_LIMIT_S));
    if (rc == 0 && failed > 0) {
        rc = kill_some(&t, plan, failed);
    }
    if (rc == 0) {
        struct report *r = report_open("throughput");
        t.goal = cw_time_add(world_now(t.world), cw_span_add(plan->warm, plan->measure));
        rc = load_and_measure(&t, plan, r, failed);
        if (rc == 0) {
            *out = r;
        } else {
            report_close(r);
        }
    }
    trial_close(&t);
    return rc;
}

static int run(const struct program_command *self, int argc, char **argv)
{
    struct throughput_plan plan = {.load_ppm = 980000, .warm = CW_MS(200), .measure = CW_MS(200)};
    struct command_common common;
    struct report *r = NULL;
    struct option option[COMMAND_OPTIONS_MAX] = {
        {"load", OPTION_PPM, &plan.load_ppm, NULL, "offered load, as a share of the exact bound", false},
        {"fail", OPTION_PPM, &plan.fail_ppm, NULL, "share of the servers that is dead, drawn by the seed", false},
        {"boot", OPTION_SPAN, &plan.boot, NULL, "servers start within this span; 0: all at once, which is fastest",
         false},
        {"warm", OPTION_SPAN, &plan.warm, NULL, "queues fill for so long before measuring begins", false},
        {"measure", OPTION_SPAN, &plan.measure, NULL, "simulated time that is measured", false},
    };
    command_common(&common, option + 5, (cw_dims){3, 3, 3}, "default");
    int code = command_options(self, option, 5 + COMMAND_COMMON, argc, argv, NULL, &common);
    if (code == PROGRAM_GO) {
        code = command_config(self, &common, &plan.config);
    }
    if (code != PROGRAM_GO) {
        return code;
    }
    if (plan.load_ppm == 0 || plan.load_ppm > 2000000 || plan.fail_ppm >= 1000000 || plan.measure.ns <= 0) {
        return program_refuse(self,
                              "expected a load of up to 200%%, fewer than 100%% failed, and some time to measure");
    }
    plan.quiet = common.quiet;
    int rc = throughput_measure(&plan, &r);
    return rc == 0 ? program_print(self, r, common.json, EXIT_FINE) : command_exit(rc);
}

const struct program_command command_throughput = {
    .program = &program_cwsim,
    .name = "throughput",
    .summary = "all servers send to all: what each receives, against the exact bound",
    .words = "[--dims XxYxZ] [--fail F%] [--load L%] [options]",
    .text = "Every server sends full frames to servers drawn at random, at --load of the exact bound\n"
            "6 L (N-1) / (3 h N) (CamCubeOS 4.2.3, 4.2.4: figures 5a, 5b). achieved_gbps is the link time that\n"
            "delivered packets take, for each running server; ratio = achieved / bound is at most 1. With --fail,\n"
            "servers drawn by the seed are dead; the bound stays that of the whole torus.",
    .example = "  cwsim throughput --dims 8x8x8 --json\n"
               "  cwsim throughput --dims 8x8x8 --fail 20%",
    .run = run,
};
