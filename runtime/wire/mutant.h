/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mutant.h - plausible bugs of the relay on purpose, to test the tests. RELAY_MUTANT(NAME) is the constant false, and
 * the code behind it is in no program, except in two builds of these sources with CW_MUTANTS that tests/sim makes for
 * itself (as linkstate/mutant.h). A number names a bug for ever. docs/relay.md has the rule that each of them breaks.
 */
#ifndef WIRE_MUTANT_H
#define WIRE_MUTANT_H

enum relay_mutant {
    RELAY_MUTANT_NONE = 0,
    RELAY_MUTANT_NO_GATE = 1,       /* data is passed on before the control that it was sent after */
    RELAY_MUTANT_NO_SESSION = 2,    /* a frame of a former adjacency is passed on */
    RELAY_MUTANT_NO_LEASE = 3,      /* a server whose lease is over goes on */
    RELAY_MUTANT_BACK = 4,          /* a frame may go back by the link that it came by, although another one is left */
    RELAY_MUTANT_NO_HOP = 5,        /* the hop is not counted */
    RELAY_MUTANT_HOME_OUTSIDE = 6,  /* a key packet follows its home, although the home is not in C */
    RELAY_MUTANT_ON_PATH = 7,       /* a job that wants to see its transit is relayed all the same */
    RELAY_MUTANT_UNKNOWN = 8,       /* a built-in job that is not loaded here is relayed */
    RELAY_MUTANT_FIRST_OF_TWO = 9,  /* a frame of several packets is relayed by its first packet */
    RELAY_MUTANT_TRACE = 10,        /* packets that each server on the way must write into are relayed */
    RELAY_MUTANT_TAGGED = 11,       /* a tagged frame is relayed, and its tag with it */
    RELAY_MUTANT_NO_WAITS = 12,     /* a frame passes those that wait in the node for the same link */
    RELAY_MUTANT_NO_HANDED = 13,    /* a frame passes those that were just handed up for the same link */
    RELAY_MUTANT_NO_SLACK = 14,     /* the queue of a device may grow without a limit */
    RELAY_MUTANT_NO_TAP = 15,       /* a link that an operator captures is relayed from and to */
    RELAY_MUTANT_NO_MTU = 16,       /* a frame goes to a link that carries only shorter ones */
    RELAY_MUTANT_ONE_READ = 17,     /* the generation is not read again before the frame is changed */
    RELAY_MUTANT_IN_PLACE = 18,     /* the view that programs read is written */
    RELAY_MUTANT_LIVE_FIRST = 19,   /* a link that has come is live before its view is published */
    RELAY_MUTANT_LIVE_LAST = 20,    /* a link that has gone is live until its view is published */
    RELAY_MUTANT_JOBS_LAST = 21,    /* jobs that have gone are taken out after all else */
    RELAY_MUTANT_NO_TORUS = 22,     /* a packet is relayed though its source or target lies outside of the torus */
    RELAY_MUTANT_NO_OTHERS_UP = 23, /* nobody is told that a job found no entry */

    /* Of the node that publishes, and of what runs beside it; sim.relayed_mutants looks for these. */
    RELAY_MUTANT_RECEIVED_FIRST = 24, /* `received` is published one publication before the routes made with it */
    RELAY_MUTANT_NO_SYNC = 25,        /* views are not brought up to date before they are published */
    RELAY_MUTANT_TOP_QUEUED = 26,     /* `top` is the position of what is queued, and has not been sent */
    RELAY_MUTANT_OWED_OUT = 27,       /* a link that still owes control stays in `out` */
    RELAY_MUTANT_CUT_LATE = 28,      /* what was learned may leave before the relay has stopped going by older routes */
    RELAY_MUTANT_CLOCK_SLEEPS = 29,  /* the clock that the lease is compared with stands still with the daemon */
    RELAY_MUTANT_RELAYED_HEARD = 30, /* a relayed frame is taken for a sign of life of the neighbour's daemon */
    RELAY_MUTANT_TAKEN_EARLY = 31,   /* `taken` is stored although the sockets have more */
    RELAY_MUTANT_WATCHER_LATE = 32,  /* the watcher says goodbye first, and stops the relay then */
};

#ifdef CW_MUTANTS
#include <stdint.h>
extern uint64_t relay_mutants_in; /* set of 1 << enum relay_mutant */
#define RELAY_MUTANT(name) ((relay_mutants_in >> RELAY_MUTANT_##name & 1) != 0)
#else
#define RELAY_MUTANT(name) false
#endif

#endif
