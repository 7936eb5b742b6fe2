/* SPDX-License-Identifier: Apache-2.0 */
/*
 * loss.h - what a cable loses each way, from hellos alone (wire/hello.h).
 *
 * Each end numbers its hellos and says in each which of the other's last 17 it has heard. So an end knows what is lost
 * of the neighbour's hellos, because numbers are missing; and what is lost of its own, because the neighbour says so. A
 * number is judged once, when LOSS_LATE later ones have left: a hello that is overtaken by more is as good as lost.
 *
 * What is measured is the loss of small frames that are sent at a steady pace, by the cable and by the queues at its
 * ends. An outage that ends the adjacency is not counted, for the state of the link tells of that. Where bits fall over
 * by chance, long frames are lost more often than this says.
 *
 * A leaf: it takes numbers and counts. No clock, no allocation, integers only.
 */
#ifndef LINKSTATE_LOSS_H
#define LINKSTATE_LOSS_H

#include <stdbool.h>
#include <stdint.h>

enum {
    LOSS_LATE = 8,    /* a hello that is so many behind the newest is judged */
    LOSS_WINDOW = 16, /* hellos before the newest of which a hello tells */
    LOSS_JUMP = 256,  /* a number that is further away was changed on the cable, or tells of an outage: begin anew */
    LOSS_PART = 128,  /* the estimate is of LOSS_PARTS times so many hellos: 10 s of them, with the default timers */
    LOSS_PARTS = 8,
    LOSS_PPM = 1000000,
    LOSS_BAD_PPM = 10000,  /* from 1 % on a cable is called bad */
    LOSS_GOOD_PPM = 5000,  /* until it loses less than 0.5 % */
    LOSS_SURE = LOSS_PART, /* hellos; fewer say nothing of a cable */
    LOSS_STEP_PARTS = 2,   /* so many parts in a row unlike all before them are another state of the cable ... */
    LOSS_STEP = 4,         /* .. when each has lost this many more than twice, or fewer than half, of what those had */
    LOSS_PARTS_SURE = 4,   /* full parts; fewer do not make a cable bad: six lost hellos are the least that do */
};

/* Hellos of one direction. Read freely; written by the functions below only. */
struct loss_rate {
    uint64_t sent, lost; /* hellos that were judged since the link was opened, and those of them that were lost */
    /*
     * The last ones: `parts` full parts, of which part[at] is the oldest when there are LOSS_PARTS; then one that
     * grows. The rate leaves those out that are older than a change of the cable's state: each end has judged another
     * number of them, so that the two ends would tell different rates until all of them were gone. The word `bad` is of
     * all parts, or a cable that is bad for some seconds, and good for some, would never be called so.
     */
    uint8_t part[LOSS_PARTS]; /* lost hellos of a full part */
    uint8_t parts, at;
    uint8_t fresh;             /* the last full parts, that the rate is of */
    uint8_t grown, grown_lost; /* hellos of the part that grows, and lost ones */
    bool bad;                  /* with hysteresis: LOSS_BAD_PPM, LOSS_GOOD_PPM */
};

struct loss {
    struct loss_rate in, out; /* the neighbour's hellos; ours */
    uint32_t session, peer;   /* that the numbers below are of; 0: of none */
    /* The neighbour's numbers. */
    uint16_t newest;
    uint16_t before; /* bit 1 << i: number newest - 1 - i was heard */
    uint8_t known;   /* how many of those bits tell of hellos that were sent since we listen */
    /* Ours. */
    uint16_t sent;   /* number of the last one that left */
    uint16_t judged; /* the newest one that was judged */
};

/* The number of the hello that leaves now. */
uint16_t loss_send(struct loss *l);

/*
 * A hello of the neighbour's session `peer` came, with this number. It begins anew when the session is another one.
 * True: `in.bad` has changed.
 */
bool loss_heard(struct loss *l, uint32_t peer, uint16_t number);

/*
 * The neighbour says in a hello which of ours it has heard, in our session `session`. It begins anew when that is
 * another one. True: `out.bad` has changed.
 */
bool loss_told(struct loss *l, uint32_t session, uint16_t newest, uint16_t before);

/* The adjacency has ended: what comes next has nothing to do with the numbers so far. The rates stay. */
void loss_pause(struct loss *l);

/*
 * Lost hellos of the last thousand or so, and not of those before the last change of the cable's state, in parts of a
 * million; -1: too few have been judged.
 */
int32_t loss_ppm(const struct loss_rate *rate);
/* Of a cable that is called bad and loses next to nothing just now: the rate for which it is called so. Else 0. */
int32_t loss_before_ppm(const struct loss_rate *rate);

#endif
