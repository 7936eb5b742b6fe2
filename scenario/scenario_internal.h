/* SPDX-License-Identifier: Apache-2.0 */
/* scenario_internal.h - what the readers of a scenario's lines share. */
#ifndef SCENARIO_SCENARIO_INTERNAL_H
#define SCENARIO_SCENARIO_INTERNAL_H

#include "scenario/scenario.h"

struct scenario_reader {
    struct lines w;
    struct scenario *s;
    struct torus torus;
    bool placed;                   /* a server was named: the torus stays */
    unsigned torus_line, end_line; /* where they were said; 0: not yet */
    unsigned timers_line;
};

/* A kind of line: read is called behind its first word. */
struct scenario_line {
    const char *word;
    int (*read)(struct scenario_reader *r);
};
/* Behind "grant". */
CW_MUST_CHECK int scenario_grant_read(struct scenario_reader *r);
/* A whole line. */
void scenario_grant_write(const struct scenario_grant *grant, FILE *out);

/* The lines that say what the cluster is; the last has no word. */
extern const struct scenario_line scenario_settings[];
/* Those of one value; `timer NAME value`; `limit NAME value`. All are settings of struct scenario. */
extern const struct setting scenario_values[], scenario_timers[], scenario_limits[];

#endif
