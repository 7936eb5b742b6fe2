/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trial.h - a world with the built-in services, run in steps that show progress: every command of cwsim is made of it.
 *
 *     trial_open   trial_boot (all start, and agree)   trial_span_begin   trial_run ...   trial_span_end   trial_close
 *
 * Results: 0: fine; TRIAL_BROKEN: an invariant broke; -errno: the world could not be made, or did not do what was
 * asked. What is wrong was reported on `errors`.
 */
#ifndef SIMULATOR_CWSIM_TRIAL_H
#define SIMULATOR_CWSIM_TRIAL_H

#include "simulator/cwsim/progress.h"
#include "simulator/cwsim/report.h"
#include "simulator/workload.h"

enum { TRIAL_BROKEN = 1 };

struct trial {
    struct world *world;
    FILE *errors;
    struct progress progress;
    cw_time goal; /* when the run will end, for the percentage; 0: unknown */
    double wall;  /* wall clock at which the span began */
    double begun; /* processor time at which it began, */
    bool idle;    /* and the load of the span is off */
    struct upcall_mark mark;
};

/* CUBEWAY_STRICT=1: worlds log misuses of the service API (node_config.strict). */
bool trial_strict(void);

/* What every server runs when nothing else is asked for: ping and bench. */
enum { TRIAL_SERVICES = 2 };
extern const struct world_service trial_services[TRIAL_SERVICES];

/*
 * config.services NULL: trial_services. Built-in services may send what they need to, besides config.grants. Until
 * trial_close() a crash of the process says which service was being called, and config.replay (services/crash.h): *t
 * stays where it is. Borrows what config borrows. what: the text of the progress line.
 */
CW_MUST_CHECK int trial_open(struct trial *t, const struct world_config *config, const char *what, bool quiet,
                             FILE *errors);
void trial_close(struct trial *t);

/* Run until that instant, or for that span. 0 or TRIAL_BROKEN. */
CW_MUST_CHECK int trial_run(struct trial *t, cw_time until);
CW_MUST_CHECK int trial_run_for(struct trial *t, cw_span span);
/* Runs until every server that runs agrees with the truth, for at most `limit`. -ETIMEDOUT. */
CW_MUST_CHECK int trial_agree(struct trial *t, cw_span limit);
/* Starts all servers within `spread` and runs until they agree. */
CW_MUST_CHECK int trial_boot(struct trial *t, cw_span spread, cw_span limit);

void trial_span_begin(struct trial *t, struct report_span *span);
/* The load is off: what follows, until the end, is not in the rates by processor time. Without it, all of it is. */
void trial_span_idle(struct trial *t, struct report_span *span);
void trial_span_end(struct trial *t, struct report_span *span);

/*
 * Gives a command to a service of s, which must answer within `limit` of simulated time; the numbers of its last row
 * are kept. -errno of the service; TRIAL_BROKEN or -ETIMEDOUT, and then *answer must live until trial_close().
 */
enum { TRIAL_FIELDS = 48, TRIAL_NAME = 32 };
struct trial_answer {
    struct {
        char name[TRIAL_NAME];
        int64_t value;
    } field[TRIAL_FIELDS];
    unsigned fields;
    bool done;
    int rc;
    char error[160]; /* what the service said of its error; "": nothing */
};
CW_MUST_CHECK int trial_command(struct trial *t, cw_server s, const char *service, int argc, const char *const *argv,
                                cw_span limit, struct trial_answer *answer);
/* The number of that name; 0 when the answer has none. */
int64_t trial_number(const struct trial_answer *answer, const char *name);

/* What the bench services of all running servers have counted since their last reset. */
struct trial_stats {
    unsigned servers;
    int64_t received, bytes, hops_sum;
    int64_t latency_sum_ns, latency_min_ns, latency_max_ns;
    int64_t bytes_least, bytes_median, bytes_most; /* of one server */
    int64_t refused, unreachable, skipped, sent, reordered, duplicated;
};
CW_MUST_CHECK int trial_bench_stats(struct trial *t, struct trial_stats *out);

/* The invariant that stopped the world; NULL: none did. */
const struct world_violation *trial_violation(const struct trial *t);

#endif
