/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report.h - what a run has shown: named numbers, printed as JSON, as a table for people, or as a row of CSV.
 *
 * Fields keep the order in which they were added. Every report of a run has the fields of report_field_nth(); a command
 * adds its own. Numbers for people are doubles; what decides anything in a run is not.
 * Running out of memory while a report is made ends the program (CHECK): there is nothing else to say.
 */
#ifndef SIMULATOR_REPORT_H
#define SIMULATOR_REPORT_H

#include "simulator/world.h"

#include <stdio.h>

struct report;

/* Gives an empty report, with "command" and "commit". */
struct report *report_open(const char *command);
void report_close(struct report *r); /* NULL is allowed */

void report_integer(struct report *r, const char *name, int64_t value);
void report_real(struct report *r, const char *name, double value);
void report_flag(struct report *r, const char *name, bool value);
void report_text(struct report *r, const char *name, const char *value);
/* As text of 16 hex digits: JSON numbers are not sure to keep 64 bits. */
void report_hash(struct report *r, const char *name, uint64_t value);
/* Takes child: as one more element of the list of that name. */
void report_append(struct report *r, const char *name, struct report *child);

/* ---- The fields of every run ----------------------------------------------------------------------------------------- */

/* A stretch of a run: the totals at its two ends, and what it cost. */
struct report_span {
    struct world_totals from, to;
    double wall_seconds;
};

/*
 * seed dims servers packets delivered dropped dropped_by_cause (nodes' causes and losses on wires, each one that is not 0) lost
 * dropped_share misdelivered duplicated hops_mean hops_max sim_seconds wall_seconds packet_hops packet_hops_per_second
 * bytes_per_node memory_bytes events digest, of the stretch. Throughput (achieved_gbps bound_gbps ratio) is its own call.
 */
void report_run(struct report *r, struct world *w, const struct report_span *span);

/*
 * achieved_gbps, bound_gbps, ratio. achieved: of link time, per running server, that delivered packets of wire_bytes each (gaps
 * included) take: to be compared with the bound, which knows link time only. goodput_gbps: payload.
 */
void report_throughput(struct report *r, struct world *w, const struct report_span *span, unsigned servers,
                       uint32_t wire_bytes, uint64_t payload_bytes);

/* Fields of reports of runs that are numbers, and may be expected of a scenario. "dropped_by_cause.<cause>" is known as well. */
bool report_field_known(const char *name, size_t length);
const char *report_field_nth(size_t i);
size_t report_field_count(void);
/* The number of that name ("a.b" looks inside a); a cause that did not happen is 0. -ENOENT: none. */
CW_MUST_CHECK int report_number(const struct report *r, const char *name, double *out);
/* As above, 0 for what is not there. */
double report_value(const struct report *r, const char *name);
/* What report_hash() said; 0 for what is not there. */
uint64_t report_hash_value(const struct report *r, const char *name);

/* ---- Out ----------------------------------------------------------------------------------------------------------------- */

/* -EIO when it cannot be written. */
CW_MUST_CHECK int report_print_json(const struct report *r, FILE *out);
CW_MUST_CHECK int report_print_table(const struct report *r, FILE *out);
/* The elements of the list `name`, one a line, the named columns only, after a line of names. */
CW_MUST_CHECK int report_print_csv(const struct report *r, const char *name, const char *const columns[], size_t count,
                                   FILE *out);

/* The commit this program was built from, as git describe says; "unknown" outside a checkout. */
const char *report_commit(void);

#endif
