/* SPDX-License-Identifier: Apache-2.0 */
/*
 * metrics.h - opens a service's counters and histograms from a constant table, with one row for each.
 *
 * The help text stands alone in the daemon's metrics: it begins with a capital, ends with a full stop and does not lean on
 * the row above it. A service indexes table and handles by an enum of its own:
 *
 *   enum { COUNT_SENT, COUNT_LOST, COUNTS };
 *   static const struct metric counts[COUNTS] = {
 *       [COUNT_SENT] = {"sent", "Packets sent."},
 *       [COUNT_LOST] = {"lost", "Packets without an answer in time."},
 *   };
 *   ...
 *   metrics_counters(s, counts, COUNTS, state->counter);
 */
#ifndef SERVICES_REPLY_METRICS_H
#define SERVICES_REPLY_METRICS_H

#include "cubeway/service.h"

/* Both texts are static. The limits of names and their number are cw_counter_new()'s and cw_histogram_new()'s. */
struct metric {
    const char *name;
    const char *help;
};

/* Makes n counters; out[i], never NULL, is the one of table[i]. They live as long as the service. */
void metrics_counters(cw_svc *s, const struct metric *table, size_t n, cw_counter **out);

/* Makes n histograms of durations; out[i] may be NULL, in which cw_histogram_note() records nothing. */
void metrics_histograms(cw_svc *s, const struct metric *table, size_t n, cw_histogram **out);

#endif
