/* SPDX-License-Identifier: Apache-2.0 */
/*
 * summary_number.h - how many, their sum, the least and the greatest, and on which servers these two are. All of it is
 * exact, but for the least and the greatest of times, which are those of a histogram. Pure.
 */
#ifndef SERVICES_AGGREGATE_QUERY_SUMMARY_NUMBER_H
#define SERVICES_AGGREGATE_QUERY_SUMMARY_NUMBER_H

#include "services/aggregate/query/summary.h"

enum { SUMMARY_NUMBER_BYTES = 80, SUMMARY_TEXT = 64 };

/* Zeroed but for `of` it is the summary of nothing. */
struct summary_number {
    uint8_t of;                         /* enum summary_of */
    uint64_t count;                     /* counters, times or lines */
    uint64_t numbers;                   /* of them, those that are numbers */
    summary_value sum, least, greatest; /* of these; 0 when there are none */
    cw_server least_at, greatest_at;    /* of several, the lowest */
};

/* Adds `times` times the number value, of server `at`. */
void summary_number_add(struct summary_number *n, summary_value value, uint64_t times, cw_server at);
/* Adds b to a. -EINVAL: they are of different sources; a has not changed. */
CW_MUST_CHECK int summary_number_merge(struct summary_number *a, const struct summary_number *b);

/* Writes SUMMARY_NUMBER_BYTES. */
void summary_number_encode(const struct summary_number *n, uint8_t *out);
/* -EPROTO: it is none. */
CW_MUST_CHECK int summary_number_decode(const uint8_t *bytes, size_t size, struct summary_number *out);

/*
 * Reads a line of a feed as a number: an optional minus, digits, and up to as many digits behind a point as there are;
 * what is behind the sixth is cut off. Blanks around it are left out. False: it is none, or too large.
 */
bool summary_value_read(const char *text, size_t length, summary_value *out);
/* Writes a number of that source as decimal text, "-12.5"; times in nanoseconds. Gives its length. */
size_t summary_value_text(unsigned of, summary_value v, char out[static SUMMARY_TEXT]);
/* The mean of a sum, in millionths of one (times: in nanoseconds). n is not 0. */
summary_value summary_value_mean(unsigned of, summary_value sum, uint64_t n);

#endif
