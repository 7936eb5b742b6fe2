/* SPDX-License-Identifier: Apache-2.0 */
#include "simulator/cwsim/command.h"
#include "simulator/faults.h"
#include "wire/limits.h"

#include <errno.h>

enum { BOOT_MS = 20, AGREE_LIMIT_S = 60, DRAIN_MS = 500 };

/* Failures a second in millionths as a whole number of failures per a whole number of seconds, as small as can be. */
static void as_ratio(int64_t millionths, uint32_t *failures, cw_span *per)
{
    int64_t seconds = 1000000;
    while (seconds > 1 && millionths % 10 == 0) {
        millionths /= 10;
        seconds /= 10;
    }
    *failures = (uint32_t)millionths;
    *per = CW_SEC(seconds);
}

/*
 * Link time of what was delivered, as all-to-all has it: over the stretch in which packets were made, not while they
 * drained.
 */
static void report_use(struct report *r, struct world *w, const struct churn_plan *plan, const struct report_span *span)
{
    uint32_t bytes = plan->bytes == 0 ? plan->config.node.mtu : plan->bytes;
    struct report_span made = *span;
    made.to.now = cw_time_add(span->from.now, plan->measure);
    uint64_t delivered = span->to.delivered - span->from.delivered;
    report_throughput(r, w, &made, world_running(w), wire_bytes(bytes),
                      delivered * (bytes - FRAME_HEAD_BYTES - PACKET_HEAD_BYTES));
}

static int measure(struct trial *t, const struct churn_plan *plan, struct report *r)
{
    const struct workload load = {.kind = WORKLOAD_KEYS, .rate = plan->rate, .bytes = plan->bytes};
    struct fault_plan faults = {.fault = NULL};
    struct report_span span;
    cw_time now = world_now(t->world);
    struct fault_churn churn = {
        .seed = plan->config.seed,
        .down_ppm = plan->down_ppm,
        .start_down = true,
        .power = plan->power,
        .from = now,
        .to = cw_time_add(now, cw_span_add(plan->settle, plan->measure)),
    };
    as_ratio(plan->failures, &churn.failures, &churn.per);
    int rc = workload_start(t->world, &load);
    if (rc == 0) {
        rc = fault_plan_churn(&faults, world_torus(t->world), &churn);
    }
    if (rc < 0) {
        fprintf(t->errors, "cwsim: the load or the failures cannot be made\n");
        fault_plan_free(&faults);
        return rc;
    }
    t->goal = churn.to;
    fault_plan_schedule(&faults, t->world);
    rc = trial_run_for(t, plan->settle);
    if (rc == 0) {
        trial_span_begin(t, &span);
        rc = trial_run_for(t, plan->measure);
    }
    if (rc == 0) {
        /* What is under way belongs to the stretch: it arrives, or is dropped. */
        trial_span_idle(t, &span);
        workload_stop(t->world);
        rc = trial_run_for(t, CW_MS(DRAIN_MS));
    }
    if (rc == 0) {
        trial_span_end(t, &span);
        uint64_t kills = span.to.kills - span.from.kills;
        report_run(r, t->world, &span);
        report_use(r, t->world, plan, &span);
        double dropped = report_value(r, "dropped");
        report_real(r, "measured_seconds", (double)plan->measure.ns / 1e9);
        report_real(r, "churn", (double)plan->failures / 1e6);
        report_real(r, "down_share", plan->down_ppm / 1e6);
        report_integer(r, "rate", (int64_t)plan->rate);
        report_real(r, "dropped_per_failure", kills > 0 ? dropped / (double)kills : 0);
        report_real(r, "hello_ms", (double)plan->config.node.timers.hello.ns / 1e6);
        report_real(r, "dead_ms", (double)plan->config.node.timers.dead.ns / 1e6);
        report_real(r, "hold_ms", (double)plan->config.node.timers.hold.ns / 1e6);
    }
    fault_plan_free(&faults);
    return rc;
}

int churn_measure(const struct churn_plan *plan, struct report **out)
{
    struct trial t;
    int rc = trial_open(&t, &plan->config, "churn", plan->quiet, stderr);
    if (rc < 0) {
        return rc;
    }
    rc = trial_boot(&t, CW_MS(BOOT_MS), CW_SEC(AGREE_LIMIT_S));
    if (rc == 0) {
        struct report *r = report_open("churn");
        rc = measure(&t, plan, r);
        if (rc == 0) {
            *out = r;
        } else {
            report_close(r);
        }
    }
    trial_close(&t);
    return rc;
}

/*
 * Every failure, and every return, is told to every server over every link: so many events for each server, measured.
 */
enum { EVENTS_A_FAILURE_AND_SERVER = 170, EVENTS_A_PACKET_HOP = 3, EVENTS_WORTH_A_WORD = 100000000 };

/* What the run is going to cost, said before it begins when somebody may take it for a hang. */
static void foretell(const struct program_command *self, const struct churn_plan *plan)
{
    struct torus t;
    if (plan->quiet || torus_init(&t, plan->config.dims) < 0) {
        return;
    }
    double seconds = (double)(plan->settle.ns + plan->measure.ns) / 1e9, servers = t.servers;
    double failures = (double)plan->failures / 1e6 * seconds;
    double hops = (plan->config.dims.x + plan->config.dims.y + plan->config.dims.z) / 4.0;
    double events = failures * servers * EVENTS_A_FAILURE_AND_SERVER +
                    servers * (double)plan->rate * seconds * hops * EVENTS_A_PACKET_HOP;
    if (events >= EVENTS_WORTH_A_WORD) {
        fprintf(
            stderr,
            "cwsim %s: %.0f failures in %.0f servers, and %.0f packets, are some %.0f million events: at a million or "
            "less a second that takes its time (--seconds, --settle, --rate and --dims make it less)\n",
            self->name, failures, servers, servers * (double)plan->rate * seconds, events / 1e6);
    }
}

/*
 * A server that lives for less than it takes the others to let go of its life before is never seen: no churn, but
 * noise.
 */
static int check_rate(const struct program_command *self, const struct churn_plan *plan)
{
    const struct ls_timers *timers = &plan->config.node.timers;
    struct torus t;
    double least_s = (double)(timers->dead.ns + timers->hold.ns) / 1e9;
    if (torus_init(&t, plan->config.dims) < 0) {
        return PROGRAM_GO; /* whoever opens the world says it */
    }
    double up = t.servers * (1 - plan->down_ppm / 1e6), most = up / least_s;
    if ((double)plan->failures / 1e6 > most) {
        return program_refuse(
            self,
            "--churn %g: each of the %.0f servers that are up would live for %.1f ms, less than dead and "
            "hold together (%.0f ms), in which the others let go of its life before; at most %.0f for "
            "these --dims, --down and --timers",
            (double)plan->failures / 1e6, up, up / ((double)plan->failures / 1e6) * 1e3, least_s * 1e3, most);
    }
    return PROGRAM_GO;
}

static int run(const struct program_command *self, int argc, char **argv)
{
    struct churn_plan plan = {
        .failures = 2000000, .down_ppm = 100000, .rate = 1000, .settle = CW_SEC(1), .measure = CW_SEC(10)};
    int64_t seconds = plan.measure.ns / 1000;
    struct command_common common;
    struct report *r = NULL;
    struct option option[COMMAND_OPTIONS_MAX] = {
        {"churn", OPTION_RATIO, &plan.failures, "R", "how many servers fail a second, in the whole cluster", false},
        {"down", OPTION_PPM, &plan.down_ppm, NULL, "share of the servers that is down, on average", false},
        {"seconds", OPTION_RATIO, &seconds, "S", "simulated time that is measured", false},
        {"rate", OPTION_COUNT, &plan.rate, "N", "packets to random keys that each server sends a second", false},
        {"bytes", OPTION_SMALL, &plan.bytes, "BYTES", "size of a packet; 0: a full frame", false},
        {"settle", OPTION_SPAN, &plan.settle, NULL, "churn goes on for so long before measuring begins", false},
        {"power", OPTION_FLAG, &plan.power, NULL, "whole machines fail, not only their processes", false},
    };
    command_common(&common, option + 7, (cw_dims){8, 8, 8}, "fast");
    int code = command_options(self, option, 7 + COMMAND_COMMON, argc, argv, NULL, &common);
    if (code == PROGRAM_GO) {
        code = command_config(self, &common, &plan.config);
    }
    if (code != PROGRAM_GO) {
        return code;
    }
    if (plan.failures <= 0 || plan.down_ppm >= 1000000 || seconds <= 0 || plan.rate == 0) {
        return program_refuse(self, "expected --churn, --seconds and --rate above 0, and --down below 100%%");
    }
    plan.measure = (cw_span){seconds * 1000};
    plan.quiet = common.quiet;
    code = check_rate(self, &plan);
    if (code != PROGRAM_GO) {
        return code;
    }
    foretell(self, &plan);
    int rc = churn_measure(&plan, &r);
    return rc == 0 ? program_print(self, r, common.json, EXIT_FINE) : command_exit(rc);
}

const struct program_command command_churn = {
    .program = &program_cwsim,
    .name = "churn",
    .summary = "servers fail and return while keys are used: nothing may be misdelivered",
    .words = "[--dims XxYxZ] [--churn R] [--down D%] [--seconds S] [--rate N] [options]",
    .text = "Every server sends packets to random keys while servers fail, --churn of them a second on average, and\n"
            "as many start again, so that the share --down of them is down on average (CamCubeOS 4.2.5, figure 5c,\n"
            "whose churn rate counts failures and returns: twice --churn). An oracle that knows the whole cluster\n"
            "judges each delivery: misdelivered must be 0. dropped_share is what was lost for any reason, and\n"
            "dropped_by_cause says why.",
    .example = "  cwsim churn --dims 8x8x8 --churn 2 --down 10% --seconds 10 --rate 1000 --json\n"
               "  cwsim churn --dims 8x8x8 --churn 15 --timers default",
    .run = run,
};
