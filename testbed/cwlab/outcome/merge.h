/* SPDX-License-Identifier: Apache-2.0 */
/*
 * merge.h - the logs of several daemons as one, in the order of time.
 *
 * A daemon's line begins with "time=2026-11-22T19:30:00.123456Z", which sorts as text. A line without a time (what a
 * service or a library printed) belongs to the line before it in its file.
 */
#ifndef TESTBED_CWLAB_OUTCOME_MERGE_H
#define TESTBED_CWLAB_OUTCOME_MERGE_H

#include "cubeway/types.h"

#include <stdio.h>

struct merge;

struct merge *merge_new(void);
void merge_close(struct merge *m);
/*
 * The keeper's journal: what it did to whom. Its lines begin with nanoseconds of CLOCK_BOOTTIME, and are shown as those
 * of daemons are, with the time of day. Both texts are copied.
 */
void merge_add_journal(struct merge *m, const char *name, const char *path);
/* One more file, whose lines are shown under that name. The file need not be there yet. Both texts are copied. */
void merge_add(struct merge *m, const char *name, const char *path);
/*
 * Reads the whole lines that have come since the last call, from all files; a file that has become shorter is read from
 * its beginning. Gives how many lines there are that were not printed yet.
 */
size_t merge_read(struct merge *m);
struct merge_form {
    size_t last; /* only so many lines, the latest ones; 0: all */
    bool named;  /* each line begins with the name of its file */
    bool colour; /* lines that are errors or warnings are red and yellow */
    bool json;   /* each line is an object: "server" (the name of its file), "time", "text" (the whole line) */
    bool more;   /* what is younger than the last reading waits: other files may yet get older lines */
};
/*
 * Prints what was read, in the order of time, and forgets it. A line that is older than one that was printed before
 * ends with "(late)", or has "late": true; lines without a time of their own never.
 */
void merge_print(struct merge *m, const struct merge_form *form, FILE *out);

#endif
