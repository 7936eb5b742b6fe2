/* SPDX-License-Identifier: Apache-2.0 */
/*
 * command.h - what the commands of cwsim are made of, and have in common.
 *
 * A command is a table of options, a help text, and a function. Its exit code: 0 all is well; 1 an invariant broke or
 * an expectation did not hold; 2 the command line or a scenario is wrong, or the machine does not allow it.
 */
#ifndef SIMULATOR_CWSIM_COMMAND_H
#define SIMULATOR_CWSIM_COMMAND_H

#include "scenario/program.h"
#include "simulator/cwsim/report.h"
#include "simulator/cwsim/trial.h"

extern const struct program program_cwsim;
extern const struct program_command command_run, command_throughput, command_churn, command_latency, command_fairness,
    command_converge, command_paper, command_swarm, command_replay;

/* ---- Options that many commands take ----------------------------------------------------------------------------- */

struct command_common {
    cw_dims dims;
    uint64_t seed;
    uint64_t link_rate;
    uint32_t mtu;
    uint32_t relay_ppm; /* share of the servers that have a relay */
    const char *timers;
    bool settled; /* the world begins at rest */
    bool json, quiet;
    char replay[512]; /* the command line, as it can be typed again */
};
enum { COMMAND_OPTIONS_MAX = 24, COMMAND_COMMON = 9 };

/* Fills *common with the defaults, and option[0..COMMAND_COMMON) with the options that set its members. */
void command_common(struct command_common *common, struct option *option, cw_dims dims, const char *timers);

/*
 * Parses the command line, and shows help where it asks for it. PROGRAM_GO: go on; anything else is the exit code.
 * words may be NULL. common may be NULL; else its `replay` is set to the command line.
 */
CW_MUST_CHECK int command_options(const struct program_command *c, const struct option *option, size_t count, int argc,
                                  char **argv, struct option_words *words, struct command_common *common);

/*
 * Writes the world that the common options describe. PROGRAM_GO; EXIT_USAGE: it is impossible, as standard error says.
 */
CW_MUST_CHECK int command_config(const struct program_command *c, const struct command_common *common,
                                 struct world_config *out);

/* The exit code for a trial's result: EXIT_BROKEN for TRIAL_BROKEN and a time-out, EXIT_USAGE for the impossible. */
int command_exit(int trial_result);

/* ---- Measurements of more than one command ----------------------------------------------------------------------- */

struct throughput_plan {
    struct world_config config;
    uint32_t fail_ppm; /* so many of a million servers are dead */
    uint32_t load_ppm; /* the load, in millionths of the bound */
    cw_span boot;      /* servers start within this span */
    cw_span warm, measure;
    bool quiet;
};
/* All-to-all (figures 5a and 5b). 0 and a report, or as a trial says. */
CW_MUST_CHECK int throughput_measure(const struct throughput_plan *plan, struct report **out);

struct churn_plan {
    struct world_config config;
    int64_t failures;  /* millionths of a failure a second */
    uint32_t down_ppm; /* so many of a million servers are down on average */
    uint64_t rate;     /* packets to random keys that each server sends a second */
    uint32_t bytes;    /* of each packet's payload */
    cw_span settle, measure;
    bool power, quiet;
};
/* Servers fail and return while keys are used (figure 5c). 0 and a report, or as a trial says. */
CW_MUST_CHECK int churn_measure(const struct churn_plan *plan, struct report **out);

#endif
