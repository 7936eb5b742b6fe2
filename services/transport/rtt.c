/* SPDX-License-Identifier: Apache-2.0 */
#include "services/transport/rtt.h"

/* Beyond it a sample says nothing that matters, and sums stay far from overflow. */
#define SAMPLE_MOST CW_SEC(60)

void rtt_init(struct rtt *r, cw_time now)
{
    *r = (struct rtt){.least = {INT64_MAX, INT64_MAX}, .epoch = now};
}

void rtt_new_way(struct rtt *r, cw_time now)
{
    r->least[0] = INT64_MAX;
    r->least[1] = INT64_MAX;
    r->epoch = now;
}

bool rtt_sample(struct rtt *r, cw_span sample, bool full, cw_time now)
{
    int64_t ns = sample.ns < 1 ? 1 : sample.ns > SAMPLE_MOST.ns ? SAMPLE_MOST.ns : sample.ns;
    if (r->smooth8 == 0) {
        r->smooth8 = ns * 8;
        r->spread4 = ns * 2;
    } else {
        int64_t error = ns - r->smooth8 / 8;
        r->smooth8 += error;
        r->spread4 += (error < 0 ? -error : error) - r->spread4 / 4;
        r->smooth8 = r->smooth8 < 1 ? 1 : r->smooth8;
    }
    bool epoch = cw_time_since(now, r->epoch).ns >= RTT_EPOCH.ns;
    if (epoch) {
        r->epoch = now;
        r->least[1] = r->least[0];
        r->least[0] = INT64_MAX;
    }
    if (full && ns < r->least[0]) {
        r->least[0] = ns;
    }
    return epoch;
}

cw_span rtt_least(const struct rtt *r)
{
    int64_t least = r->least[0] < r->least[1] ? r->least[0] : r->least[1];
    return CW_NS(least == INT64_MAX ? 0 : least);
}

cw_span rtt_timeout(const struct rtt *r, cw_span lowest, cw_span highest)
{
    int64_t ns = r->smooth8 == 0 ? lowest.ns * 4 : r->smooth8 / 8 + r->spread4;
    ns = ns < lowest.ns ? lowest.ns : ns;
    return CW_NS(ns > highest.ns ? highest.ns : ns);
}
