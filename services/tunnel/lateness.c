/* SPDX-License-Identifier: Apache-2.0 */
#include "services/tunnel/lateness.h"

static int64_t greater(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

void lateness_note(struct lateness *l, cw_span late, cw_time now)
{
    if (!l->known || (l->pieces >= LATENESS_PIECES && cw_time_since(now, l->since).ns >= CW_NS_PER_SEC)) {
        l->older = l->newer;
        l->newer = CW_NS(0);
        l->pieces = 0;
        l->since = now;
        l->known = true;
    }
    l->pieces++;
    l->newer.ns = greater(l->newer.ns, late.ns);
}

cw_span lateness_wait(const struct lateness *l, const struct lateness_bounds *bounds)
{
    int64_t wait = l->known ? greater(l->newer.ns, l->older.ns) : bounds->first.ns;
    if (l->known) {
        wait = wait > bounds->most.ns ? bounds->most.ns : wait + wait / 2;
    }
    wait = greater(wait, bounds->least.ns);
    return CW_NS(wait < bounds->most.ns ? wait : bounds->most.ns);
}
