/* SPDX-License-Identifier: Apache-2.0 */
#include "base/prng.h"
#include "simulator/cwsim/command.h"

#include <errno.h>
#include <stdlib.h>

enum { BOOT_MS = 20, AGREE_LIMIT_S = 120, STEP_US = 250, ROUNDS_MAX = 1000 };

struct converge {
    struct world_config config;
    uint32_t rounds;
    cw_span rest; /* between rounds: what control costs when nothing happens */
    cw_span boot;
    uint64_t rate;
    bool power, quiet;
};

/* Of all deaths, or of all births. */
struct changes {
    int64_t us[ROUNDS_MAX];
    uint64_t control; /* bytes, above rest */
    uint64_t dropped; /* packets */
};

struct sample {
    struct changes death, birth;
    double rest; /* control, bytes a second and link direction */
    double cold_ms;
};

static uint64_t control_bytes(struct trial *t)
{
    struct world_totals totals;
    world_totals(t->world, &totals);
    return totals.control_bytes;
}

static uint64_t dropped(const struct world_totals *totals)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < CW_DROP_COUNT; i++) {
        sum += totals->dropped[i];
    }
    for (unsigned i = 0; i < WORLD_LOSSES; i++) {
        sum += totals->lost[i];
    }
    return sum;
}

/* From now until every view is right. */
static int time_agreement(struct trial *t, int64_t *us)
{
    cw_time start = world_now(t->world), limit = cw_time_add(start, CW_SEC(AGREE_LIMIT_S));
    int rc = trial_run_for(t, CW_US(STEP_US));
    while (rc == 0 && world_agreeing(t->world) < world_running(t->world)) {
        if (!cw_time_before(world_now(t->world), limit)) {
            return trial_agree(t, CW_NS(0)); /* says so */
        }
        rc = trial_run_for(t, CW_US(STEP_US));
    }
    *us = cw_time_since(world_now(t->world), start).ns / 1000;
    return rc;
}

/* One server dies or starts; what that takes goes to the round's place in *out. */
static int change(struct trial *t, const struct converge *c, cw_server s, bool dies, double rest, struct changes *out,
                  unsigned round)
{
    struct world_totals before, after;
    int rc = 0;
    world_totals(t->world, &before);
    if (dies) {
        world_kill(t->world, s, c->power);
    } else {
        rc = world_start(t->world, s);
    }
    if (rc == 0) {
        rc = time_agreement(t, &out->us[round]);
    }
    if (rc == 0) {
        rc = trial_run_for(t, c->rest);
    }
    world_totals(t->world, &after);
    /* A dead server says nothing on its links. */
    double links = (double)world_running(t->world) * CW_LINK_COUNT;
    double usual = rest * links * (double)cw_time_since(after.now, before.now).ns / 1e9;
    double above = (double)(after.control_bytes - before.control_bytes) - usual;
    out->control += above > 0 ? (uint64_t)above : 0;
    out->dropped += dropped(&after) - dropped(&before);
    return rc;
}

static int one_round(struct trial *t, const struct converge *c, struct prng *random, struct sample *s, unsigned round)
{
    cw_server victim = (cw_server)prng_below(random, world_torus(t->world)->servers);
    /* Not in step with the hellos, which all began together. */
    int rc = trial_run_for(t, prng_span(random, CW_NS(0), c->config.node.timers.hello));
    if (rc == 0) {
        rc = change(t, c, victim, true, s->rest, &s->death, round);
    }
    return rc != 0 ? rc : change(t, c, victim, false, s->rest, &s->birth, round);
}

static int compare(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static void tell(struct report *r, const struct converge *c, struct sample *s)
{
    qsort(s->death.us, c->rounds, sizeof *s->death.us, compare);
    qsort(s->birth.us, c->rounds, sizeof *s->birth.us, compare);
    report_integer(r, "rounds", c->rounds);
    report_real(r, "cold_start_ms", s->cold_ms);
    report_real(r, "death_median_ms", (double)s->death.us[c->rounds / 2] / 1e3);
    report_real(r, "death_worst_ms", (double)s->death.us[c->rounds - 1] / 1e3);
    report_real(r, "birth_median_ms", (double)s->birth.us[c->rounds / 2] / 1e3);
    report_real(r, "birth_worst_ms", (double)s->birth.us[c->rounds - 1] / 1e3);
    report_real(r, "rest_bytes_per_second_and_link", s->rest);
    report_real(r, "rest_share_of_link", s->rest * 8 / (double)c->config.wire.bits_per_second);
    report_real(r, "control_bytes_per_death", (double)s->death.control / c->rounds);
    report_real(r, "control_bytes_per_birth", (double)s->birth.control / c->rounds);
    report_real(r, "dropped_per_death", (double)s->death.dropped / c->rounds);
    report_real(r, "dropped_per_birth", (double)s->birth.dropped / c->rounds);
    report_real(r, "hello_ms", (double)c->config.node.timers.hello.ns / 1e6);
    report_real(r, "dead_ms", (double)c->config.node.timers.dead.ns / 1e6);
    report_real(r, "hold_ms", (double)c->config.node.timers.hold.ns / 1e6);
}

static int measure(struct trial *t, const struct converge *c, struct report *r, struct sample *s)
{
    struct report_span span;
    struct prng random = prng_stream(c->config.seed, 0, WORLD_STREAM_FAULTS);
    trial_span_begin(t, &span);
    int rc = trial_boot(t, c->boot, CW_SEC(AGREE_LIMIT_S));
    s->cold_ms = (double)world_now(t->world).ns / 1e6;
    if (rc == 0) {
        rc = trial_run_for(t, CW_SEC(1)); /* what starting leaves behind */
    }
    uint64_t from = control_bytes(t);
    if (rc == 0) {
        rc = trial_run_for(t, CW_SEC(1));
    }
    s->rest = (double)(control_bytes(t) - from) / ((double)world_torus(t->world)->servers * CW_LINK_COUNT);
    if (rc == 0 && c->rate > 0) {
        rc = workload_start(t->world, &(struct workload){.kind = WORKLOAD_KEYS, .rate = c->rate, .bytes = 200});
    }
    for (unsigned i = 0; i < c->rounds && rc == 0; i++) {
        rc = one_round(t, c, &random, s, i);
    }
    if (rc == 0) {
        trial_span_end(t, &span);
        report_run(r, t->world, &span);
        tell(r, c, s);
    }
    return rc;
}

static int run(const struct program_command *self, int argc, char **argv)
{
    struct converge c = {.rounds = 20, .rest = CW_MS(300), .boot = CW_MS(0)};
    struct command_common common;
    struct trial t;
    struct option option[COMMAND_OPTIONS_MAX] = {
        {"rounds", OPTION_SMALL, &c.rounds, "N", "so many servers die and come back, one after the other", false},
        {"boot", OPTION_SPAN, &c.boot, NULL, "servers start within this span; 0: all at once", false},
        {"rest", OPTION_SPAN, &c.rest, NULL, "pause after each change", false},
        {"rate", OPTION_COUNT, &c.rate, "N", "packets to random keys that each server sends a second", false},
        {"power", OPTION_FLAG, &c.power, NULL, "whole machines die, not only their processes", false},
    };
    command_common(&common, option + 5, (cw_dims){8, 8, 8}, "default");
    int code = command_options(self, option, 5 + COMMAND_COMMON, argc, argv, NULL, &common);
    if (code == PROGRAM_GO) {
        code = command_config(self, &common, &c.config);
    }
    if (code != PROGRAM_GO) {
        return code;
    }
    if (c.rounds < 1 || c.rounds > ROUNDS_MAX) {
        return program_refuse(self, "--rounds %u: expected 1 to %d", c.rounds, ROUNDS_MAX);
    }
    struct sample *s = calloc(1, sizeof *s);
    int rc = s == NULL ? -ENOMEM : trial_open(&t, &c.config, self->name, common.quiet, stderr);
    if (rc < 0) {
        free(s);
        return command_exit(rc);
    }
    struct report *r = report_open(self->name);
    rc = measure(&t, &c, r, s);
    trial_close(&t);
    free(s);
    if (rc == 0) {
        return program_print(self, r, common.json, EXIT_FINE);
    }
    report_close(r);
    return command_exit(rc);
}

const struct program_command command_converge = {
    .program = &program_cwsim,
    .name = "converge",
    .summary = "how long until every view is right after a death, a birth and a cold start",
    .words = "[--dims XxYxZ] [--rounds N] [options]",
    .text =
        "All servers start at once, and then die and come back one at a time. Times are from the event until the\n"
        "committed view of every running server is exactly the component it is in, looked at every 0.25 ms.\n"
        "Control traffic is measured at rest, and what each change adds to it over the whole cluster; with --rate,\n"
        "also how many packets each change costs.",
    .example = "  cwsim converge --dims 8x8x8 --rounds 50 --rate 1000\n"
               "  cwsim converge --dims 16x16x16 --rounds 3 --timers fast --json",
    .run = run,
};
