/* SPDX-License-Identifier: Apache-2.0 */
/*
 * falls.h - how a link went down lately, as far as its own end saw it: what the medium was like then, and which life of
 * the neighbour's daemon had it before and after. From that the doctor knows a cable from a switch that somebody used,
 * and a crash from a goodbye. Pure; the owner gives the memory.
 */
#ifndef DAEMON_HOST_FALLS_H
#define DAEMON_HOST_FALLS_H

#include "cubeway/time.h"

#include <stdbool.h>
#include <stdint.h>

enum falls_why {
    FALLS_SILENT,  /* the carrier stayed, and nothing was heard */
    FALLS_CARRIER, /* the medium lost its carrier: a plug, or the interface at the far end */
    FALLS_OWN,     /* this end's interface was switched off, taken out or given another mtu */
};
enum { FALLS_KEPT = 16 };

struct fall {
    cw_time at;
    uint64_t life;  /* the neighbour's incarnation until then */
    uint64_t after; /* its incarnation when the link was up again; 0: it is not yet */
    enum falls_why why;
    bool left; /* before the link was up again, the neighbour left in order */
};

/* All zero: the link has not gone down. */
struct falls {
    uint64_t count;
    cw_time away;                 /* when the medium had no carrier last, as far as known */
    enum falls_why away_why;      /* FALLS_SILENT: it always had one */
    struct fall kept[FALLS_KEPT]; /* a ring: number i is at i % FALLS_KEPT */
};

/*
 * The link went down at that time; a second word about the same time is not counted. Silence while there was no carrier
 * or within two seconds of that (falls_carrier()) is no silence of the cable: the neighbour's word that it heard
 * nothing may come when the interface is back.
 */
void falls_note(struct falls *f, cw_time at, uint64_t life, enum falls_why why);
/*
 * The medium is known to have no carrier, for that reason (not FALLS_SILENT), or to have had none a moment ago. Devices
 * tell of it up to a second late, when the silence was noticed long ago: a link that went down by silence a moment ago,
 * and is not up again, went down by that.
 */
void falls_carrier(struct falls *f, cw_time at, enum falls_why why);
/* It has a carrier again. */
void falls_back(struct falls *f, cw_time at);
/* It is up, with the neighbour's life of now. */
void falls_up(struct falls *f, uint64_t life);
/* The neighbour has left in order. */
void falls_left(struct falls *f);
/* back 0: the last one, 1: the one before; NULL: there was none, or it is not kept any more. */
const struct fall *falls_at(const struct falls *f, unsigned back);

#endif
