/* SPDX-License-Identifier: Apache-2.0 */
#include "simulator/cwsim/play.h"

#include "base/quantity.h"
#include "nmu/book.h"
#include "services/loader.h"
#include "simulator/check.h"
#include "simulator/cwsim/capture.h"
#include "simulator/cwsim/slow.h"
#include "simulator/cwsim/tell.h"
#include "simulator/cwsim/trial.h"
#include "simulator/cwsim/watchdog.h"
#include "simulator/faults.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct player {
    const struct scenario *s;
    const struct play_options *options;
    struct trial trial;
    struct capture *capture;
    struct slow slow; /* where there are modules */
    struct tell *tells;
    struct loader_module module[SCENARIO_SERVICES_MAX];
    struct world_service services[TRIAL_SERVICES + SCENARIO_SERVICES_MAX];
    struct book_grant grants[SCENARIO_GRANTS_MAX];
    unsigned modules;
    bool asked[SCENARIO_OPTIONS_MAX]; /* options that some service asked for */
    char refusal[240];                /* what a service logged as an error first, before all had started */
    bool started;
    int failed; /* of what happens inside the run: -errno */
};

static const char *option_of(void *context, const char *service, const char *name)
{
    struct player *p = context;
    for (unsigned i = 0; i < p->s->options; i++) {
        const struct scenario_option *o = &p->s->option[i];
        if (strcmp(o->service, service) == 0 && strcmp(o->name, name) == 0) {
            p->asked[i] = true;
            return o->value;
        }
    }
    return NULL;
}

/* All servers have started: did their services open, and know their options? */
static void on_started(struct world *w, void *arg)
{
    struct player *p = arg;
    p->started = true;
    if (world_running(w) == 0) {
        bool said = p->refusal[0] != '\0';
        fprintf(p->options->errors, "cwsim: no server runs: %s\n",
                said ? p->refusal : "a service did not open (an option of it may be wrong)");
        p->failed = -EINVAL;
    }
    for (unsigned i = 0; i < p->s->options && p->failed == 0; i++) {
        if (!p->asked[i]) {
            fprintf(p->options->errors, "cwsim: no service %s that knows an option %s\n", p->s->option[i].service,
                    p->s->option[i].name);
            p->failed = -EINVAL;
        }
    }
    if (p->failed < 0) {
        world_stop(w);
    }
}

struct player_load {
    struct player *player;
    const struct scenario_load *load;
};

static void on_load(struct world *w, void *arg)
{
    const struct player_load *l = arg;
    if (l->load->stop) {
        workload_stop(w);
        return;
    }
    int rc = workload_start(w, &l->load->load);
    if (rc < 0 && l->player->failed == 0) {
        l->player->failed = rc;
        fprintf(l->player->options->errors, "cwsim: the workload cannot be started: %s\n", strerror(-rc));
        world_stop(w);
    }
}

static void on_frame(void *context, cw_server s, cw_link link, const struct cw_packet *frame, cw_time now,
                     const struct wire_flight *flight)
{
    struct player *p = context;
    capture_frame(p->capture, s, link, frame, now, flight);
}

/* A service that refuses to open says why in the log, the same on each server. */
static void note_refusal(struct player *p, cw_level level, const char *service, const char *text)
{
    if (!p->started && level == CW_LOG_ERROR && service != NULL && p->refusal[0] == '\0') {
        snprintf(p->refusal, sizeof p->refusal, "service %s: %s", service, text);
    }
}

static void on_log(void *context, cw_server s, cw_level level, const char *service, const char *text, cw_time now)
{
    static const char *const levels[] = {
        [CW_LOG_ERROR] = "error", [CW_LOG_WARN] = "warn", [CW_LOG_INFO] = "info", [CW_LOG_DEBUG] = "debug"};
    struct player *p = context;
    char server[TORUS_TEXT];
    torus_format(torus_coord(world_torus(p->trial.world), s), server);
    note_refusal(p, level, service, text);
    fprintf(p->options->errors, "%10lld.%03lld us  %-8s %-5s %s: %s\n", (long long)(now.ns / 1000),
            (long long)(now.ns % 1000), server, levels[level], service != NULL ? service : "node", text);
}

/* In strict mode misuses of the service API are shown whatever else is. */
static void on_error(void *context, cw_server s, cw_level level, const char *service, const char *text, cw_time now)
{
    if (level == CW_LOG_ERROR) {
        on_log(context, s, level, service, text, now);
    }
}

/* Of a run that shows no log. */
static void on_quiet(void *context, cw_server s, cw_level level, const char *service, const char *text, cw_time now)
{
    (void)s, (void)now;
    note_refusal(context, level, service, text);
}

static void on_server(void *context, cw_server s, enum world_server_state state, cw_time now)
{
    static const char *const states[] = {[WORLD_DEAD] = "is dead", [WORLD_RUNS] = "runs", [WORLD_PAUSED] = "is paused"};
    on_log(context, s, CW_LOG_INFO, "world", states[state], now);
}

static int watch(struct player *p)
{
    struct world_watch w = {.context = p};
    struct world *world = p->trial.world;
    if (p->options->log) {
        w.log = on_log;
        w.server = on_server;
    } else {
        w.log = trial_strict() ? on_error : on_quiet;
    }
    int rc = 0;
    if (p->options->capture != NULL) {
        rc = capture_open(&p->capture, world, p->options->capture);
        for (unsigned i = 0; i < p->s->captures && rc == 0; i++) {
            rc = capture_links(p->capture, p->s->capture[i].server, p->s->capture[i].links);
        }
        if (p->s->captures == 0 && rc == 0) {
            rc = capture_links(p->capture, 0, CW_LINKS_ALL);
        }
        w.frame = rc == 0 ? on_frame : NULL;
    }
    if (rc < 0) {
        fprintf(p->options->errors, "cwsim: %s: %s\n", p->options->capture, strerror(-rc));
        return rc;
    }
    world_watch(world, &w);
    return 0;
}

/*
 * From one time of quiet to the next, and to the end. The times are in the order of the file: the next is looked for.
 */
static int run(struct player *p)
{
    const struct scenario *s = p->s;
    struct trial *t = &p->trial;
    cw_time done = {-1};
    for (;;) {
        cw_time next = CW_NEVER;
        for (unsigned i = 0; i < s->quiets; i++) {
            if (cw_time_before(done, s->quiet[i])) {
                next = cw_time_min(next, s->quiet[i]);
            }
        }
        if (!cw_time_before(next, CW_NEVER)) {
            return trial_run(t, s->end);
        }
        int rc = trial_run(t, next);
        if (rc != 0) {
            return rc;
        }
        if (check_quiet(t->world) != 0) {
            const struct world_violation *v = trial_violation(t);
            fprintf(t->errors, "%s\ncommit %s\n", v != NULL ? v->text : "it is not quiet", report_commit());
            return TRIAL_BROKEN;
        }
        done = next;
    }
}

static bool judge(struct player *p, const struct report *r)
{
    bool fine = true;
    for (unsigned i = 0; i < p->s->expects; i++) {
        const struct scenario_expect *e = &p->s->expect[i];
        char want[QUANTITY_TEXT];
        double value = 0;
        quantity_millionths_format(e->millionths, want);
        int rc = report_number(r, e->field, &value);
        if (rc == 0 && scenario_relation_holds(e->relation, value, e->millionths)) {
            continue;
        }
        fine = false;
        if (rc < 0) {
            fprintf(p->options->errors, "%s:%u: expected %s %s %s; this run has no such number\n", p->options->file,
                    e->line, e->field, scenario_relation_name(e->relation), want);
        } else {
            fprintf(p->options->errors, "%s:%u: expected %s %s %s, but it is %.9g\n", p->options->file, e->line,
                    e->field, scenario_relation_name(e->relation), want, value);
        }
    }
    return fine;
}

/* Commands that were answered with an error, or not at all. */
static unsigned tells_failed(const struct player *p)
{
    unsigned count = 0;
    for (unsigned i = 0; i < p->s->tells; i++) {
        count += !p->tells[i].done;
    }
    return count;
}

static void fill_report(struct player *p, struct report *r, const struct report_span *span)
{
    const struct scenario *s = p->s;
    struct world *w = p->trial.world;
    report_run(r, w, span);
    if (s->loads > 0 && s->load[0].load.kind == WORKLOAD_ALL_TO_ALL) {
        struct workload_result result;
        uint32_t bytes = s->load[0].load.bytes != 0 ? s->load[0].load.bytes : s->config.node.mtu;
        workload_collect(w, &result);
        report_throughput(r, w, span, world_running(w), wire_bytes(bytes), result.bytes);
    }
    if (s->tells > 0) {
        report_integer(r, "tells_failed", tells_failed(p));
    }
    if (p->capture != NULL) {
        report_text(r, "capture", p->options->capture);
        report_integer(r, "captured_frames", (int64_t)capture_frames(p->capture));
    }
}

static void carry_out(struct player *p, struct play_result *out)
{
    const struct scenario *s = p->s;
    struct trial *t = &p->trial;
    struct player_load loads[SCENARIO_LOADS_MAX];
    struct report_span span;
    out->report = report_open(p->options->command);
    for (unsigned i = 0; i < s->loads; i++) {
        loads[i] = (struct player_load){p, &s->load[i]};
        world_at(t->world, s->load[i].at, on_load, &loads[i]);
    }
    for (unsigned i = 0; i < s->tells; i++) {
        tell_schedule(&p->tells[i], &s->tell[i], out->report, t->world);
    }
    fault_plan_schedule(&s->plan, t->world);
    world_start_all(t->world, s->boot);
    if (s->options > 0) {
        world_at(t->world, cw_time_add(world_now(t->world), CW_NS(s->boot.ns + 1)), on_started, p);
    }
    t->goal = s->end;
    trial_span_begin(t, &span);
    int rc = run(p);
    trial_span_end(t, &span);
    progress_close(&t->progress);
    if (p->failed < 0) {
        return; /* impossible */
    }
    fill_report(p, out->report, &span);
    if (rc != 0) {
        const struct world_violation *v = trial_violation(t);
        out->verdict = PLAY_BROKEN;
        out->invariant = v != NULL ? v->invariant : 0;
        out->at = v != NULL ? v->at : world_now(t->world);
        return;
    }
    out->verdict = judge(p, out->report) ? PLAY_FINE : PLAY_UNEXPECTED;
}

/* Tells of each file that cannot be loaded, with the scenario's line. */
static int load_modules(struct player *p)
{
    char why[TABLE_WHY_BYTES];
    int wrong = 0;
    for (unsigned i = 0; i < p->s->services; i++) {
        int rc = loader_open(p->s->service[i], &p->module[p->modules], why);
        if (rc < 0) {
            fprintf(p->options->errors, "%s:%u: service: %s\n", p->options->file, p->s->service_line[i], why);
            wrong = rc;
            continue;
        }
        p->services[TRIAL_SERVICES + p->modules].table = p->module[p->modules].service;
        p->modules++;
    }
    return wrong;
}

/* What runs on every server: what is built in, and what the scenario loads. */
static int load_services(struct player *p, struct world_config *config)
{
    memcpy(p->services, trial_services, sizeof trial_services);
    int rc = load_modules(p);
    if (rc < 0) {
        return rc;
    }
    config->option = option_of;
    config->option_context = p;
    for (unsigned i = 0; i < p->s->grants; i++) {
        const struct scenario_grant *g = &p->s->grant[i];
        p->grants[i] = (struct book_grant){
            .from = g->from,
            .to = g->to,
            .any_port = g->any_port,
            .port = g->port,
            .all_processes = g->all_processes,
            .processes = {g->first, g->last},
        };
    }
    config->grants = p->grants;
    config->grant_count = p->s->grants;
    config->services = p->services;
    config->service_count = TRIAL_SERVICES + p->modules;
    return 0;
}

/* ---- Services that take long by the wall clock ------------------------------------------------------------------- */

static void on_slow(void *context, const struct node *n, const char *service, const char *upcall, cw_span held)
{
    struct player *p = context;
    const struct world *w = p->trial.world;
    char server[TORUS_TEXT];
    torus_format(torus_coord(world_torus(w), node_self(n)), server);
    (void)slow_tell(&p->slow, service, upcall, server, world_now(w), held);
}

static int64_t read_wall(void *context)
{
    struct player *p = context;
    return slow_read(&p->slow);
}

/* Only where somebody's own service runs: reading the clock around each upcall takes time. */
static void meter_services(struct player *p, struct world_config *config)
{
    if (p->modules > 0) {
        slow_begin(&p->slow, p->options->errors, config->node.timers.dead);
        config->meter = (struct node_meter){p, read_wall, on_slow, p->slow.limit};
    }
}

static void meter_end(struct player *p)
{
    if (p->modules > 0) {
        slow_end(&p->slow);
    }
}

static void play_in_world(struct player *p, const struct world_config *config, struct play_result *out)
{
    if (trial_open(&p->trial, config, p->options->command, p->options->quiet, p->options->errors) < 0) {
        meter_end(p);
        return;
    }
    bool guarded = p->modules > 0 && p->options->watchdog.ns > 0;
    struct watchdog *watchdog = guarded ? watchdog_open(&p->trial.mark, p->options->watchdog) : NULL;
    if (watch(p) == 0) {
        carry_out(p, out);
    }
    watchdog_close(watchdog);
    trial_close(&p->trial);
    meter_end(p);
    int rc = capture_close(p->capture);
    if (rc < 0) {
        fprintf(p->options->errors, "cwsim: %s: %s\n", p->options->capture, strerror(-rc));
        out->verdict = PLAY_IMPOSSIBLE;
    }
}

void play_run(const struct scenario *s, const struct play_options *options, struct play_result *out)
{
    struct player p = {.s = s, .options = options, .tells = calloc(s->tells + 1, sizeof *p.tells)};
    struct world_config config = s->config;
    config.replay = options->replay;
    *out = (struct play_result){.verdict = PLAY_IMPOSSIBLE};
    if (p.tells == NULL) {
        fprintf(options->errors, "cwsim: no memory\n");
        return;
    }
    if (load_services(&p, &config) == 0) {
        meter_services(&p, &config);
        play_in_world(&p, &config, out);
    }
    while (p.modules > 0) {
        loader_close(&p.module[--p.modules]);
    }
    free(p.tells);
    if (out->verdict == PLAY_IMPOSSIBLE) {
        report_close(out->report);
        out->report = NULL;
    }
}

const char *play_verdict_name(enum play_verdict verdict)
{
    static const char *const names[] = {
        [PLAY_FINE] = "fine",
        [PLAY_BROKEN] = "broken",
        [PLAY_UNEXPECTED] = "unexpected",
        [PLAY_IMPOSSIBLE] = "impossible",
    };
    return names[verdict];
}

int play_and_print(const struct program_command *self, struct scenario *s, const struct play_options *options,
                   bool json)
{
    struct play_result result;
    play_run(s, options, &result);
    scenario_free(s);
    if (result.report == NULL) {
        return EXIT_USAGE;
    }
    report_text(result.report, "verdict", play_verdict_name(result.verdict));
    return program_print(self, result.report, json, result.verdict == PLAY_FINE ? EXIT_FINE : EXIT_BROKEN);
}
