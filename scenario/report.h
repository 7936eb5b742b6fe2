/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report.h - what a run has shown: named numbers, printed as JSON, as a table for people, or as a row of CSV.
 *
 * Fields keep the order in which they were added. The numbers of runs have the names of report_field_nth(); a command
 * adds its own. Numbers for people are doubles; what decides anything in a run is not.
 * Running out of memory while a report is made ends the program (CHECK): there is nothing else to say.
 */
#ifndef SCENARIO_REPORT_H
#define SCENARIO_REPORT_H

#include "cubeway/types.h"

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
/*
 * One more number, called `count`, in the object of that name. count NULL: only makes the object, which may stay empty.
 */
void report_part(struct report *r, const char *name, const char *count, int64_t value);
/* Takes child, as one more element of the list of that name. */
void report_append(struct report *r, const char *name, struct report *child);

/* ---- Numbers of a run -------------------------------------------------------------------------------------------- */

/* Numbers in the report of a run, which a scenario may expect. "dropped_by_cause.<cause>" is known as well. */
bool report_field_known(const char *name, size_t length);
const char *report_field_nth(size_t i);
size_t report_field_count(void);
/* The number of that name ("a.b" looks inside a); a cause that did not happen is 0. -ENOENT: none. */
CW_MUST_CHECK int report_number(const struct report *r, const char *name, double *out);
/* As above; 0 for a number that is not there. */
double report_value(const struct report *r, const char *name);
/* What report_hash() put there; 0 for a hash that is not there. */
uint64_t report_hash_value(const struct report *r, const char *name);

/* ---- Out --------------------------------------------------------------------------------------------------------- */

/* One line. -EIO when it cannot be written. */
CW_MUST_CHECK int report_print_json(const struct report *r, FILE *out);
/* A line for each element of each list, and a last line with all other fields, if there are any. -EIO as above. */
CW_MUST_CHECK int report_print_lines(const struct report *r, FILE *out);
CW_MUST_CHECK int report_print_table(const struct report *r, FILE *out);
/* The elements of the list `name`, one a line, the named columns only, after a line of names. */
CW_MUST_CHECK int report_print_csv(const struct report *r, const char *name, const char *const columns[], size_t count,
                                   FILE *out);

/* The commit this program was built from, as git describe says; "unknown" outside a checkout. */
const char *report_commit(void);

#endif
