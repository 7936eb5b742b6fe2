/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lateness.h - how long to wait for a piece that others have overtaken, from how late such pieces of the same server
 * were before.
 *
 * The estimate is one and a half times the greatest lateness of at least the last 64 late pieces and at least the last
 * second: the greatest of two buckets, of which the older one is dropped when the newer one is full and a second old.
 */
#ifndef SERVICES_TUNNEL_LATENESS_H
#define SERVICES_TUNNEL_LATENESS_H

#include "cubeway/time.h"

enum { LATENESS_PIECES = 64 };

/* Zeroed: nothing is known. */
struct lateness {
    bool known;
    uint32_t pieces;
    cw_time since;
    cw_span newer, older;
};

struct lateness_bounds {
    /* While nothing is known; and whatever is known, at least and at most. least <= most. */
    cw_span first, least, most;
};

/* A piece came that much later than one that overtook it. */
void lateness_note(struct lateness *l, cw_span late, cw_time now);
/* How long to wait, within the bounds. */
cw_span lateness_wait(const struct lateness *l, const struct lateness_bounds *bounds);

#endif
