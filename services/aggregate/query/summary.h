/* SPDX-License-Identifier: Apache-2.0 */
/*
 * summary.h - the words that all summaries share. A summary says in bounded memory what a source of one server holds,
 * or those of many: two of them are merged into one, in any order and with the same result, and that is all a server on
 * the way has to do.
 *
 * A source counts in whole units, so that sums are exact whatever the order: a counter in ones, times in nanoseconds,
 * the numbers among the lines of a feed in millionths.
 */
#ifndef SERVICES_AGGREGATE_QUERY_SUMMARY_H
#define SERVICES_AGGREGATE_QUERY_SUMMARY_H

#include "cubeway/types.h"

/* What a source is. The values are on the wire, and for ever. */
enum summary_of {
    SUMMARY_OF_COUNTER = 1, /* each server has one number */
    SUMMARY_OF_TIMES = 2,   /* each server has a histogram of times (base/histogram.h) */
    SUMMARY_OF_FEED = 3,    /* each server has lines */
};

/* What is kept of it. The values are on the wire, and for ever. */
enum summary_kind {
    SUMMARY_NUMBER = 1,    /* count, sum, least, greatest */
    SUMMARY_HISTOGRAM = 2, /* how many numbers lie where */
    SUMMARY_DISTINCT = 3,  /* how many different lines */
    SUMMARY_TOP = 4,       /* the most frequent lines; of a counter, the servers with the most */
    SUMMARY_NAMES = 5,     /* the sources that there are */
};

/*
 * A number in units. Those of sources are at most SUMMARY_VALUE_MOST from 0, less than 2^84; sums of 2^43 of them fit.
 */
typedef __int128 summary_value;
#define SUMMARY_VALUE_MOST ((summary_value)UINT64_MAX * 1000000)

/* Adds as unsigned numbers do: what strangers send may be too large, and must not be undefined. */
static inline summary_value summary_sum(summary_value a, summary_value b)
{
    return (summary_value)((unsigned __int128)a + (unsigned __int128)b);
}

/* Counts that strangers send stay at the largest number there is, so that what was less stays less or equal. */
static inline uint64_t summary_count(uint64_t a, uint64_t b)
{
    return b <= UINT64_MAX - a ? a + b : UINT64_MAX;
}

static inline bool summary_of_valid(unsigned of)
{
    return of >= SUMMARY_OF_COUNTER && of <= SUMMARY_OF_FEED;
}

#endif
