/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/host/holds.h"

#include <stdio.h>

/* On a busy machine a thread waits much within a second, and a service is excused by what came before its upcall. */
static const cw_span between_looks = CW_MS(50);

int64_t holds_waited_ns(void)
{
    unsigned long long ran = 0, waited = 0;
    FILE *f = fopen("/proc/thread-self/schedstat", "re");
    bool known = f != NULL && fscanf(f, "%llu %llu", &ran, &waited) == 2;
    if (f != NULL) {
        fclose(f);
    }
    return known ? (int64_t)waited : 0;
}

void holds_look(struct host_holds *h, cw_time now, int64_t waited_ns)
{
    h->looked = now;
    h->waited_ns = waited_ns;
}

bool holds_is_due(const struct host_holds *h, cw_time now)
{
    return cw_time_since(now, h->looked).ns >= between_looks.ns;
}

bool holds_note(struct host_holds *h, const struct host_hold *hold, cw_span enough, int64_t waited_ns)
{
    int64_t waited = waited_ns - h->waited_ns;
    if (waited >= hold->lasted.ns / 2 && hold->lasted.ns - waited < enough.ns) {
        return false;
    }
    h->at[h->count++ % HOST_HOLDS_KEPT] = *hold;
    if (hold->lasted.ns > h->longest.lasted.ns) {
        h->longest = *hold;
    }
    return true;
}

cw_span holds_since(const struct host_holds *h, cw_time from)
{
    cw_span sum = {0};
    for (uint64_t i = 0; i < HOST_HOLDS_KEPT && i < h->count; i++) {
        sum.ns += cw_time_before(from, h->at[i].ended) ? h->at[i].lasted.ns : 0;
    }
    return sum;
}

const struct host_hold *holds_last(const struct host_holds *h, cw_server server, cw_span enough)
{
    uint64_t kept = h->count < HOST_HOLDS_KEPT ? h->count : HOST_HOLDS_KEPT;
    for (uint64_t i = 0; i < kept; i++) {
        const struct host_hold *hold = &h->at[(h->count - 1 - i) % HOST_HOLDS_KEPT];
        if (hold->server == server && hold->lasted.ns >= enough.ns) {
            return hold;
        }
    }
    return NULL;
}

const struct host_hold *holds_between(const struct host_holds *h, cw_time from, cw_time to)
{
    uint64_t kept = h->count < HOST_HOLDS_KEPT ? h->count : HOST_HOLDS_KEPT;
    for (uint64_t i = 0; i < kept; i++) {
        const struct host_hold *hold = &h->at[(h->count - 1 - i) % HOST_HOLDS_KEPT];
        if (!cw_time_before(hold->ended, from) && !cw_time_before(to, hold->ended)) {
            return hold;
        }
    }
    return NULL;
}
