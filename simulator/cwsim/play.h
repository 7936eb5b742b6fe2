/* SPDX-License-Identifier: Apache-2.0 */
/*
 * play.h - carries out a scenario and judges it.
 *
 * The same scenario gives the same run, whoever wrote it: a person, swarm, or swarm's shrinking.
 */
#ifndef SIMULATOR_CWSIM_PLAY_H
#define SIMULATOR_CWSIM_PLAY_H

#include "scenario/scenario.h"
#include "simulator/cwsim/report.h"

struct play_options {
    const char *command; /* of the report */
    const char *file;    /* of the scenario, for messages */
    const char *replay;  /* the command that repeats this run; NULL: none */
    const char *capture; /* path of a capture file; NULL: none */
    bool log;            /* what the services and nodes log, on `errors` */
    bool quiet;          /* no progress line */
    FILE *errors;
};

enum play_verdict {
    PLAY_FINE,
    PLAY_BROKEN,     /* an invariant */
    PLAY_UNEXPECTED, /* an expectation did not hold */
    PLAY_IMPOSSIBLE, /* the cluster cannot be built, or the capture cannot be written */
};
struct play_result {
    enum play_verdict verdict;
    unsigned invariant;    /* PLAY_BROKEN: of semantics 8.1 */
    cw_time at;            /* when */
    struct report *report; /* NULL when impossible; the caller's to close */
};

/* Everything that is wrong has been said on options->errors. */
void play_run(const struct scenario *s, const struct play_options *options, struct play_result *out);

/* "fine", "broken", "unexpected", "impossible" */
const char *play_verdict_name(enum play_verdict verdict);

#endif
