/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tell.h - gives commands to services in the middle of a run, as an operator would; their answers become rows of the
 * report. Words that a service has not declared are refused, and the field "error" of the row says what a daemon would.
 */
#ifndef SIMULATOR_CWSIM_TELL_H
#define SIMULATOR_CWSIM_TELL_H

#include "scenario/scenario.h"
#include "simulator/cwsim/report.h"

struct tell {
    const struct scenario_tell *what;
    struct report *report; /* each row of an answer is an element of its list "answers" */
    struct report *row;
    cw_server server;
    char text[TORUS_TEXT]; /* of the server */
    char words[SCENARIO_TELL_TEXT];
    const char *argv[SCENARIO_TELL_WORDS];
    int argc;
    bool done; /* it has been answered, and not with an error */
};

/* The command is given in w at the instant what->at. *t, and what it borrows, must live until w is closed. */
void tell_schedule(struct tell *t, const struct scenario_tell *what, struct report *report, struct world *w);

#endif
