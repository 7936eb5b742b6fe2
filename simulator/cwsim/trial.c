/* SPDX-License-Identifier: Apache-2.0 */
#include "simulator/cwsim/trial.h"

#include "nmu/book.h"
#include "services/bench/bench.h"
#include "services/builtin.h"
#include "services/crash.h"
#include "services/ping/ping.h"
#include "simulator/cwsim/memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
    STEP_MS = 1,
    AGREE_STEP_MS = 5,
    MANY_SERVERS = 64,
    NODE_BYTES = 64 << 10, /* about what a node takes, and for each server that it knows */
    NODE_BYTES_EACH = 160,
};

const struct world_service trial_services[TRIAL_SERVICES] = {{.table = &ping_service}, {.table = &bench_service}};

/*
 * Gives the grants of the configuration and those that built-in services need, for the caller to free; NULL: no memory.
 */
static struct book_grant *all_grants(const struct world_config *config, unsigned *count)
{
    size_t own;
    const struct book_grant *builtin = builtin_grants(&own);
    struct book_grant *all = malloc((own + config->grant_count) * sizeof *all);
    if (all != NULL) {
        memcpy(all, builtin, own * sizeof *all);
        if (config->grant_count > 0) {
            memcpy(all + own, config->grants, config->grant_count * sizeof *all);
        }
        *count = (unsigned)own + config->grant_count;
    }
    return all;
}

/* Why world_open() returned rc, in words. */
static const char *why_not(int rc)
{
    switch (rc) {
    case -ERANGE:
        return "a path may have more links than the hop budget";
    case -E2BIG:
        return "more than 16777214 servers";
    case -ENOMEM:
        return "no memory";
    default:
        return "its limits or timers are not possible together";
    }
}

bool trial_strict(void)
{
    const char *text = getenv("CUBEWAY_STRICT");
    return text != NULL && strcmp(text, "1") == 0;
}

int trial_open(struct trial *t, const struct world_config *config, const char *what, bool quiet, FILE *errors)
{
    struct world_config full = *config;
    if (full.services == NULL) {
        full.services = trial_services;
        full.service_count = TRIAL_SERVICES;
    }
    *t = (struct trial){.errors = errors};
    full.mark = &t->mark;
    full.node.strict = full.node.strict || trial_strict();
    size_t servers = (size_t)full.dims.x * full.dims.y * full.dims.z;
    if (servers > MANY_SERVERS) {
        (void)memory_expect(servers * (NODE_BYTES + servers * NODE_BYTES_EACH));
    }
    struct book_grant *grants = all_grants(config, &full.grant_count);
    full.grants = grants;
    int rc = grants != NULL ? world_open(&t->world, &full) : -ENOMEM;
    free(grants);
    if (rc < 0) {
        fprintf(errors, "cwsim: this cluster cannot be built: %s\n", why_not(rc));
        t->world = NULL;
        return rc;
    }
    crash_watch(&(struct crash_report){.mark = &t->mark, .repeat = full.replay});
    progress_open(&t->progress, quiet ? NULL : stderr, what);
    return 0;
}

void trial_close(struct trial *t)
{
    progress_close(&t->progress);
    if (t->world != NULL) {
        world_close(t->world);
        t->world = NULL;
    }
    crash_watch(&(struct crash_report){.mark = NULL});
}

const struct world_violation *trial_violation(const struct trial *t)
{
    return world_violation(t->world);
}

static int say_broken(struct trial *t)
{
    const struct world_violation *v = world_violation(t->world);
    progress_close(&t->progress);
    fprintf(t->errors, "%s\ncommit %s\n", v != NULL ? v->text : "the world was stopped", report_commit());
    return TRIAL_BROKEN;
}

int trial_run(struct trial *t, cw_time until)
{
    while (cw_time_before(world_now(t->world), until)) {
        cw_time next = cw_time_min(until, cw_time_add(world_now(t->world), CW_MS(STEP_MS)));
        if (world_run(t->world, next) != 0) {
            return say_broken(t);
        }
        if (t->progress.out != NULL) {
            struct world_totals totals;
            world_totals(t->world, &totals);
            progress_show(&t->progress, (uint64_t)next.ns, (uint64_t)t->goal.ns, next, totals.packet_hops);
        }
    }
    return 0;
}

int trial_run_for(struct trial *t, cw_span span)
{
    return trial_run(t, cw_time_add(world_now(t->world), span));
}

int trial_agree(struct trial *t, cw_span limit)
{
    cw_time end = cw_time_add(world_now(t->world), limit);
    while (world_agreeing(t->world) < world_running(t->world)) {
        if (!cw_time_before(world_now(t->world), end)) {
            progress_close(&t->progress);
            fprintf(t->errors, "cwsim: at %lld ms only %u of %u servers agree with the truth on who is there\n",
                    (long long)(world_now(t->world).ns / 1000000), world_agreeing(t->world), world_running(t->world));
            return -ETIMEDOUT;
        }
        int rc = trial_run_for(t, CW_MS(AGREE_STEP_MS));
        if (rc != 0) {
            return rc;
        }
    }
    return 0;
}

int trial_boot(struct trial *t, cw_span spread, cw_span limit)
{
    world_start_all(t->world, spread);
    int rc = trial_run_for(t, cw_span_add(spread, CW_MS(1)));
    return rc != 0 ? rc : trial_agree(t, limit);
}

void trial_span_begin(struct trial *t, struct report_span *span)
{
    world_totals(t->world, &span->from);
    t->idle = false;
    t->wall = progress_seconds();
    t->begun = span->start_seconds = progress_processor_seconds();
}

void trial_span_idle(struct trial *t, struct report_span *span)
{
    struct world_totals now;
    span->processor_seconds = progress_processor_seconds() - t->begun;
    world_totals(t->world, &now);
    span->hops = now.packet_hops - span->from.packet_hops;
    span->events = now.events - span->from.events;
    t->idle = true;
}

void trial_span_end(struct trial *t, struct report_span *span)
{
    if (!t->idle) {
        trial_span_idle(t, span);
    }
    span->wall_seconds = progress_seconds() - t->wall;
    world_totals(t->world, &span->to);
}

/* ---- Commands ---------------------------------------------------------------------------------------------------- */

static void on_row(void *context)
{
    struct trial_answer *a = context;
    a->fields = 0;
}

static void on_integer(void *context, const char *name, int64_t value)
{
    struct trial_answer *a = context;
    if (a->fields < TRIAL_FIELDS) {
        snprintf(a->field[a->fields].name, TRIAL_NAME, "%s", name);
        a->field[a->fields++].value = value;
    }
}

static void on_text(void *context, const char *name, const char *value)
{
    struct trial_answer *a = context;
    if (strcmp(name, "error") == 0) {
        snprintf(a->error, sizeof a->error, "%s", value);
    }
}

static void on_done(void *context, int rc)
{
    struct trial_answer *a = context;
    a->rc = rc;
    a->done = true;
}

int trial_command(struct trial *t, cw_server s, const char *service, int argc, const char *const *argv, cw_span limit,
                  struct trial_answer *answer)
{
    struct node_request_sink sink = {
        .context = answer, .row = on_row, .integer = on_integer, .text = on_text, .done = on_done};
    cw_time end = cw_time_add(world_now(t->world), limit);
    *answer = (struct trial_answer){.fields = 0};
    int rc = world_command(t->world, s, service, argc, argv, &sink);
    while (rc >= 0 && !answer->done) {
        if (!cw_time_before(world_now(t->world), end)) {
            return -ETIMEDOUT;
        }
        rc = trial_run_for(t, CW_MS(1));
        if (rc != 0) {
            return rc;
        }
    }
    return rc < 0 ? rc : answer->rc;
}

int64_t trial_number(const struct trial_answer *answer, const char *name)
{
    for (unsigned i = 0; i < answer->fields; i++) {
        if (strcmp(answer->field[i].name, name) == 0) {
            return answer->field[i].value;
        }
    }
    return 0;
}

static int compare_int64(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static void add_stats(struct trial_stats *sum, const struct trial_answer *a)
{
    struct {
        const char *name;
        int64_t *field;
    } const fields[] = {
        {"received", &sum->received},       {"bytes", &sum->bytes},         {"hops_sum", &sum->hops_sum},
        {"refused", &sum->refused},         {"skipped", &sum->skipped},     {"sent", &sum->sent},
        {"unreachable", &sum->unreachable}, {"reordered", &sum->reordered}, {"duplicated", &sum->duplicated},
    };
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        *fields[i].field += trial_number(a, fields[i].name);
    }
    int64_t received = trial_number(a, "received");
    int64_t least = trial_number(a, "latency_min_ns"), most = trial_number(a, "latency_max_ns");
    if (received > 0) {
        sum->latency_sum_ns += trial_number(a, "latency_mean_ns") * received;
        sum->latency_min_ns = sum->latency_min_ns == 0 || least < sum->latency_min_ns ? least : sum->latency_min_ns;
        sum->latency_max_ns = most > sum->latency_max_ns ? most : sum->latency_max_ns;
    }
}

int trial_bench_stats(struct trial *t, struct trial_stats *out)
{
    static const char *const words[] = {"stats"};
    uint32_t servers = world_torus(t->world)->servers;
    struct trial_stats sum = {.servers = 0};
    int64_t *bytes = calloc(servers, sizeof *bytes);
    if (bytes == NULL) {
        return -ENOMEM;
    }
    for (cw_server s = 0; s < servers; s++) {
        struct trial_answer answer;
        if (world_state(t->world, s) == WORLD_DEAD) {
            continue;
        }
        int rc = trial_command(t, s, "bench", 1, words, CW_NS(0), &answer);
        if (rc != 0) {
            free(bytes);
            return rc;
        }
        bytes[sum.servers++] = trial_number(&answer, "bytes");
        add_stats(&sum, &answer);
    }
    if (sum.servers > 0) {
        qsort(bytes, sum.servers, sizeof *bytes, compare_int64);
        sum.bytes_least = bytes[0];
        sum.bytes_median = bytes[sum.servers / 2];
        sum.bytes_most = bytes[sum.servers - 1];
    }
    free(bytes);
    *out = sum;
    return 0;
}
