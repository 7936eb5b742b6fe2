/* SPDX-License-Identifier: Apache-2.0 */
#include "simulator/cwsim/command.h"
#include "simulator/cwsim/isolate.h"
#include "simulator/cwsim/swarm.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <string.h>

enum { SERVERS_MAX = 125, JOBS_MAX = 64, RUN_SECONDS = 300, SHRINK_TRIES = 400 };

struct swarm {
    uint64_t first, last, next;
    uint32_t servers_max, jobs, tries;
    cw_span limit; /* of wall clock, for one run */
    bool shrink, go_on, quiet;
    const char *out; /* where shrunk scenarios go */
    struct progress progress;
    uint64_t done, failed, packets, packet_hops, events, digests;
};

/* The limit as isolate.h takes it: whole seconds, rounded up. */
static unsigned limit_seconds(const struct swarm *w)
{
    return (unsigned)((w->limit.ns + CW_NS_PER_SEC - 1) / CW_NS_PER_SEC);
}

static void write_replay(const struct swarm *w, uint64_t seed, char *out, size_t room)
{
    int n = snprintf(out, room, "cwsim replay %" PRIu64, seed);
    if (w->servers_max != SERVERS_MAX && n > 0) {
        snprintf(out + n, room - (size_t)n, " --servers-max %" PRIu32, w->servers_max);
    }
}

/* ---- A failure --------------------------------------------------------------------------------------------------- */

struct shrinking {
    const struct swarm *swarm;
    const struct isolate_outcome *first;
    struct progress progress;
    unsigned tries;
};

static bool still_fails(void *context, const struct scenario *s, cw_time *when)
{
    struct shrinking *k = context;
    struct isolate_outcome outcome;
    k->tries++;
    progress_show(&k->progress, k->tries, k->swarm->tries, s->end, 0);
    if (isolate_run(s, "shrinking", NULL, limit_seconds(k->swarm), &outcome) < 0) {
        return false;
    }
    bool fails = isolate_same_failure(&outcome, k->first);
    if (fails) {
        *when = outcome.signal != 0 ? s->end : outcome.at;
    }
    return fails;
}

static void shrink(const struct swarm *w, uint64_t seed, const struct isolate_outcome *first)
{
    struct scenario s;
    char path[256];
    if (swarm_draw(seed, w->servers_max, &s) < 0) {
        return;
    }
    struct shrinking k = {.swarm = w, .first = first};
    struct swarm_shrink how = {.fails = still_fails, .context = &k, .tries_max = w->tries};
    uint32_t events = s.plan.count;
    unsigned servers = (unsigned)s.config.dims.x * s.config.dims.y * s.config.dims.z;
    progress_open(&k.progress, w->quiet ? NULL : stderr, "shrink");
    swarm_shrink(&how, &s, first->signal != 0 ? s.end : first->at);
    progress_close(&k.progress);
    snprintf(path, sizeof path, "%s/swarm-%" PRIu64 ".txt", w->out, seed);
    FILE *file = fopen(path, "w");
    if (file == NULL) {
        printf("  %s: %s\n", path, strerror(errno));
    } else {
        fprintf(file,
                "# Seed %" PRIu64 " of swarm at commit %s, made small in %u tries:\n# from %u servers and %u events.\n",
                seed, report_commit(), how.tries, servers, events);
        int rc = scenario_write(&s, file);
        if (fclose(file) != 0 || rc < 0) {
            printf("  %s cannot be written\n", path);
        }
        printf("  smallest that fails: %u of %u servers, %u of %u events (%u tries)\n  cwsim run %s\n",
               (unsigned)s.config.dims.x * s.config.dims.y * s.config.dims.z, servers, s.plan.count, events, how.tries,
               path);
    }
    scenario_free(&s);
}

static void tell_failure(struct swarm *w, uint64_t seed, const struct isolate_outcome *o)
{
    char replay[80];
    write_replay(w, seed, replay, sizeof replay);
    progress_close(&w->progress);
    printf("seed %" PRIu64 " failed: ", seed);
    if (o->signal == SIGALRM) {
        printf("not done after %u s", limit_seconds(w));
    } else if (o->signal != 0) {
        printf("stopped by signal %d (%s)", o->signal, strsignal(o->signal));
    } else if (o->verdict == PLAY_BROKEN) {
        printf("invariant %u", o->invariant);
    } else {
        printf("%s", play_verdict_name(o->verdict));
    }
    printf(", commit %s\n%s%s  %s\n", report_commit(), o->said, o->said[0] != '\0' ? "\n" : "", replay);
    fflush(stdout);
    if (w->shrink) {
        shrink(w, seed, o);
    }
    fflush(stdout);
    progress_open(&w->progress, w->quiet ? NULL : stderr, "swarm");
}

/* ---- All of them ------------------------------------------------------------------------------------------------- */

static int start_next(struct swarm *w, struct isolate **slot)
{
    struct scenario s;
    char replay[80];
    uint64_t seed = w->next++;
    int rc = swarm_draw(seed, w->servers_max, &s);
    if (rc < 0) {
        return rc;
    }
    write_replay(w, seed, replay, sizeof replay);
    rc = isolate_start(slot, &s, "the seed's scenario", replay, limit_seconds(w));
    scenario_free(&s);
    return rc;
}

static int run_all(struct swarm *w)
{
    struct isolate *running[JOBS_MAX] = {NULL};
    uint64_t seed[JOBS_MAX] = {0};
    unsigned busy = 0;
    int rc = 0;
    progress_open(&w->progress, w->quiet ? NULL : stderr, "swarm");
    for (;;) {
        bool more = rc == 0 && (w->failed == 0 || w->go_on) && w->next <= w->last;
        for (unsigned k = 0; k < w->jobs && more; k++) {
            if (running[k] == NULL) {
                seed[k] = w->next;
                rc = start_next(w, &running[k]);
                busy += rc == 0;
                more = rc == 0 && w->next <= w->last;
            }
        }
        if (busy == 0) {
            break;
        }
        int k = isolate_wait_any(running, w->jobs);
        if (k < 0) {
            return k;
        }
        struct isolate_outcome outcome;
        isolate_finish(running[k], &outcome);
        running[k] = NULL;
        busy--;
        w->done++;
        w->packets += outcome.packets;
        w->packet_hops += outcome.packet_hops;
        w->events += outcome.events;
        w->digests += outcome.digest;
        if (isolate_failed(&outcome)) {
            w->failed++;
            tell_failure(w, seed[k], &outcome);
        }
        progress_show(&w->progress, w->done, w->last - w->first + 1, (cw_time){0}, w->packet_hops);
    }
    progress_close(&w->progress);
    return rc;
}

static int run(const struct program_command *self, int argc, char **argv)
{
    struct setting_range seeds = {1, 100};
    struct swarm w = {
        .servers_max = SERVERS_MAX, .jobs = 1, .limit = CW_SEC(RUN_SECONDS), .tries = SHRINK_TRIES, .out = "."};
    bool json = false;
    const struct option option[] = {
        {"seeds", OPTION_RANGE, &seeds, NULL, "which seeds to run", false},
        {"jobs", OPTION_SMALL, &w.jobs, "N", "so many runs at a time", false},
        {"servers-max", OPTION_SMALL, &w.servers_max, "N", "so many servers at most; part of what a seed means", false},
        {"shrink", OPTION_FLAG, &w.shrink, NULL, "find the fewest servers and events that still fail", false},
        {"tries", OPTION_SMALL, &w.tries, "N", "so many tries at most to make a scenario smaller", false},
        {"out", OPTION_TEXT, &w.out, "DIR", "where shrunk scenarios go", false},
        {"go-on", OPTION_FLAG, &w.go_on, NULL, "go on after a failure", false},
        {"limit", OPTION_SPAN, &w.limit, "TIME", "wall clock that a run may take; 0: no limit", false},
        {"json", OPTION_FLAG, &json, NULL, "print JSON: one object a line", false},
        {"quiet", OPTION_FLAG, &w.quiet, NULL, "show no progress line on the terminal", false},
    };
    int code = command_options(self, option, sizeof option / sizeof *option, argc, argv, NULL, NULL);
    if (code != PROGRAM_GO) {
        return code;
    }
    if (w.jobs < 1 || w.jobs > JOBS_MAX || w.servers_max < 2) {
        return program_refuse(self, "expected 1 to %d jobs, and at least 2 servers", JOBS_MAX);
    }
    w.first = w.next = seeds.first;
    w.last = seeds.last;
    double start = progress_seconds();
    int rc = run_all(&w);
    if (rc < 0) {
        return program_refuse(self, "%s", strerror(-rc));
    }
    struct report *r = report_open(self->name);
    report_integer(r, "seed_first", (int64_t)w.first);
    report_integer(r, "seed_last", (int64_t)w.last);
    report_integer(r, "runs", (int64_t)w.done);
    report_integer(r, "failed", (int64_t)w.failed);
    report_integer(r, "packets", (int64_t)w.packets);
    report_integer(r, "packet_hops", (int64_t)w.packet_hops);
    report_integer(r, "events", (int64_t)w.events);
    report_real(r, "wall_seconds", progress_seconds() - start);
    report_hash(r, "digest", w.digests);
    return program_print(self, r, json, w.failed == 0 ? EXIT_FINE : EXIT_BROKEN);
}

const struct program_command command_swarm = {
    .program = &program_cwsim,
    .name = "swarm",
    .summary = "many seeds, each a cluster and faults of its own: what breaks?",
    .words = "[--seeds A..B] [--jobs N] [--shrink] [options]",
    .text = "Each seed draws a cluster (shape, timers, limits, clocks), a load, which kinds of faults happen at all,\n"
            "and how often. Then everything heals, and the cluster must become quiet. Every invariant is checked all\n"
            "the time. Each run is a process of its own. A failure prints its seed, the commit and the command that\n"
            "replays it; --shrink also writes the smallest scenario that fails in the same way.",
    .example = "  cwsim swarm --seeds 1..1000 --jobs 4\n"
               "  cwsim swarm --seeds 4711 --shrink",
    .run = run,
};
