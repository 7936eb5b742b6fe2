/* SPDX-License-Identifier: Apache-2.0 */
/*
 * play.h - carries out a scenario and judges it.
 *
 * The same scenario gives the same run, whether a person, swarm or swarm's shrinking has made it.
 */
#ifndef SIMULATOR_CWSIM_PLAY_H
#define SIMULATOR_CWSIM_PLAY_H

#include "scenario/scenario.h"
#include "simulator/cwsim/command.h"

struct play_options {
    const char *command; /* the report's field "command" */
    const char *file;    /* the scenario's file, for messages */
    const char *replay;  /* the command that repeats this run; NULL: none */
    const char *capture; /* path of a capture file; NULL: none */
    cw_span watchdog;    /* of the wall clock, for each call of a module; 0: none is too long */
    bool log;            /* what the services and nodes log, on `errors` */
    bool quiet;          /* no progress line */
    FILE *errors;
};

enum play_verdict {
    PLAY_FINE,
    PLAY_BROKEN,     /* an invariant broke */
    PLAY_UNEXPECTED, /* an expectation did not hold */
    PLAY_IMPOSSIBLE, /* the cluster cannot be built, or the capture cannot be written */
};
struct play_result {
    enum play_verdict verdict;
    unsigned invariant;    /* PLAY_BROKEN: its number in semantics 8.1 */
    cw_time at;            /* when it broke, or when the run ended */
    struct report *report; /* the caller's to close; NULL when impossible */
};

/* Reports everything that is wrong on options->errors. */
void play_run(const struct scenario *s, const struct play_options *options, struct play_result *out);

/*
 * Carries it out, prints the report with its verdict, as JSON or as a table, and frees the scenario. Returns the exit
 * code. An impossible cluster has no report.
 */
int play_and_print(const struct program_command *self, struct scenario *s, const struct play_options *options,
                   bool json);

/* "fine", "broken", "unexpected", "impossible" */
const char *play_verdict_name(enum play_verdict verdict);

#endif
