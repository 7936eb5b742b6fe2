/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tally.h - what is kept of the lines of one feed: all that can be asked of it, in some 80 KB however many lines there
 * are. Pure but for its memory.
 */
#ifndef SERVICES_AGGREGATE_QUERY_TALLY_H
#define SERVICES_AGGREGATE_QUERY_TALLY_H

#include "services/aggregate/query/summary_distinct.h"
#include "services/aggregate/query/summary_histogram.h"
#include "services/aggregate/query/summary_number.h"
#include "services/aggregate/query/summary_top.h"

struct tally;

/* NULL: there is no memory. at: the server whose lines they are. */
struct tally *tally_open(cw_server at);
void tally_close(struct tally *t);
/* Counts one line, without its end. Its bytes are borrowed for the call, and may be any. */
void tally_line(struct tally *t, const char *line, size_t length);

/* Borrowed until the next line. */
const struct summary_number *tally_number(const struct tally *t);
const struct summary_histogram *tally_histogram(const struct tally *t);
const struct summary_distinct *tally_distinct(const struct tally *t);
/* Copies the most frequent lines to *out, sorted. */
void tally_top(const struct tally *t, struct summary_top *out);
/* The hash by which all servers know a line. */
uint64_t tally_hash(const char *line, size_t length);
/* Bytes of memory of one. */
size_t tally_bytes(void);

#endif
