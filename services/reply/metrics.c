/* SPDX-License-Identifier: Apache-2.0 */
#include "services/reply/metrics.h"

void metrics_counters(cw_svc *s, const struct metric *table, size_t n, cw_counter **out)
{
    for (size_t i = 0; i < n; i++) {
        out[i] = cw_counter_new(s, table[i].name, table[i].help);
    }
}

void metrics_histograms(cw_svc *s, const struct metric *table, size_t n, cw_histogram **out)
{
    for (size_t i = 0; i < n; i++) {
        out[i] = cw_histogram_new(s, table[i].name, table[i].help);
    }
}
