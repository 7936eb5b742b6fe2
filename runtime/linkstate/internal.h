/* SPDX-License-Identifier: Apache-2.0 */
/*
 * internal.h - struct linkstate, and what its glue files call of one another. For these files, and the tests that look
 * inside:
 *
 *   linkstate.c  opening, closing, questions
 *   settled.c    opened as it is at rest
 *   rx.c         what comes in: frames, hellos, goodbyes, stream items
 *   tx.c         what goes out: hellos, goodbyes, stream items
 *   tick.c       time: the lease, silence, when to wake
 *   settle.c     what follows from what is known: the states of links, the own record, acks
 *   links.c      sessions of links begin and end; what is owed to which neighbour
 *   walk.c       invariants, in debug builds
 *
 * Every entry is linkstate_enter(), its own work, linkstate_settle().
 */
#ifndef LINKSTATE_INTERNAL_H
#define LINKSTATE_INTERNAL_H

#include "base/arena.h"
#include "base/prng.h"
#include "linkstate/adjacency.h"
#include "linkstate/admission.h"
#include "linkstate/feed.h"
#include "linkstate/flood.h"
#include "linkstate/linkstate.h"
#include "linkstate/loss.h"
#include "linkstate/lsdb.h"
#include "linkstate/views.h"

enum {
    LS_GATHER_ITEMS = 32, /* a stream that nobody waits for sends at once when so many items are there: a full frame */
    LS_REPAIR_HELLOS = 3, /* so many hellos with another digest at equal positions: the databases differ */
    /* Records of another boot, in our name, within LS_FIGHT_SEC: so many are still taken for our own past. */
    LS_FIGHTS = 3,
    LS_FIGHT_SEC = 10,
};

/*
 * Spans that follow from the timers, so that an operator who makes the timers longer (for few processors or slow links)
 * makes everything that is repeated rarer. The numbers in the comments are for the retry of 2 ms and the flood bound of
 * 5 ms, which both profiles have.
 */
struct ls_spans {
    /*
     * 1 ms: after a stall, so long is spent on what waits in the rings before anybody is called dead (semantics 4.6).
     */
    cw_span drain;
    cw_span hello_least; /* 1 ms: the least time between two hellos on a link */
    cw_span gather; /* 50 us between two frames of a stream that nobody waits for: a burst of records shares frames */
    cw_span ack_delay; /* 200 us: so long an acknowledgement waits for something to travel with */
    cw_span repeat;    /* 100 ms: admission acks are repeated while they are wanted; all servers send to all who want */
};

static inline struct ls_spans ls_spans_of(const struct ls_timers *t)
{
    return (struct ls_spans){
        .drain = CW_NS(t->retry.ns / 2),
        .hello_least = CW_NS(t->retry.ns / 2),
        .gather = CW_NS(t->flood_bound.ns / 100), /* bounded by what a flood may take, over every hop of it */
        .ack_delay = CW_NS(t->retry.ns / 10),
        .repeat = CW_NS(t->retry.ns * 50),
    };
}

/* Records that are to be applied together (semantics 4.3, "whole"). */
struct ls_batch {
    struct record *records;
    uint32_t count, room;
};

struct ls_link {
    struct adjacency adj;
    struct feed feed;
    struct ls_batch batch;
    cw_coord peer;        /* which server belongs at the far end */
    bool exists;          /* the torus has this cable */
    bool synced;          /* the far end's whole database was applied in this session */
    bool by_round;        /* the link went up by a round, not because the far end was in C */
    bool shown;           /* mutant ONE_ROUND only: the far end's record listed the link as pending in this session */
    bool hello_soon;      /* there is news that should not wait for the next regular hello */
    uint8_t goodbye;      /* enum goodbye_reason of the goodbye to send; 0: none */
    uint8_t misfits;      /* hellos in a row that acknowledged what was never sent */
    uint8_t strangers;    /* hellos in a row with another digest than ours at equal positions */
    uint32_t listed;      /* the first version of our record that lists the link as pending in this session; 0: none */
    uint64_t offered;     /* position in the log of the SYNCED that ends our side of the exchange */
    cw_time hello_at;     /* when the next hello is due */
    cw_time hello_last;   /* when the last one left */
    cw_time stream_at;    /* the stream sends nothing of its own accord before */
    cw_time clock;        /* the neighbour's clock, from its last hello in this session; 0: none */
    cw_time echo;         /* our clock, as it last came back in this session; 0: never */
    struct loss loss;     /* what the cable loses each way */
    struct ls_heard seen; /* who says hello at the far end, rightly or not */
    struct about about;   /* what the neighbour says of its software in this session; empty: nothing yet */
    struct ls_foreign foreign;
    struct ls_stranger stranger;
};

/* One link as a data frame meets it. */
struct ls_gate_link {
    uint16_t session, peer_session; /* their low halves */
    uint16_t frames;                /* sent */
    uint16_t top, received;         /* of the control stream: last sent, last received */
    bool two_way, up;               /* adjacency_is_two_way(), ADJ_UP */
};

struct linkstate {
    /*
     * What a data frame touches lies in three cache lines, together with all that can be asked between entries. It is
     * as the last entry left it (linkstate_note). A data frame changes only `heard` and `moved`; what passing time
     * changes is changed at `wake`.
     */
    cw_time now;                 /* of the last entry */
    cw_time wake;                /* ls_next_wake() */
    cw_time due;                 /* before this instant, time changes only what there is to send */
    cw_time lease;               /* while `linked`: this server may deliver until then */
    uint64_t notes;              /* ls_notes(): counts entries that may have changed something */
    cw_links tx, owed, live, up; /* ls_tx_links(), ls_owed_links(), ls_live_links(), ls_up_links() */
    cw_links moved;              /* links to which something has happened since they were noted */
    bool calm;                   /* nothing has happened since views were refreshed: they are right until `due` */
    bool whole;                  /* routes are those of the whole torus */
    bool linked;                 /* some link was up at both ends since this incarnation began */
    bool leaving;                /* ls_leave() was called */
    bool parted;                 /* the leave is done and goodbye was said: no more hellos */
    struct ls_gate_link gate[CW_LINK_COUNT];
    cw_time heard[CW_LINK_COUNT]; /* by data frames, not yet in adj.heard */
    struct views views;

    /* By link, what `wake`, `due` and the sets above are made of. */
    cw_time tx_wake[CW_LINK_COUNT], judge_wake[CW_LINK_COUNT];
    cw_links blocked; /* live links on which the window holds control back, and so the data behind it */
    cw_links both;    /* links that are up at both ends, when all was noted last */
    bool said;        /* the own record says what the links are now; false: not known since a link has stepped */

    struct ls_config config;
    struct adjacency_timing timing;
    struct ls_spans spans;
    struct arena arena;
    cw_coord self;
    struct lsdb db;
    struct flood flood;
    struct admission admission;
    struct ls_link links[CW_LINK_COUNT];
    struct prng prng;

    cw_time judge_from; /* after a stall: nobody is called silent before */
    uint64_t incarnation;
    uint16_t nonce;
    bool acks_due;                 /* some server may want an ack */
    cw_time version_at;            /* no version of the own record that only adds may be made before */
    cw_time refresh_at;            /* when the own record is sent again though nothing has changed */
    cw_time repeat_at;             /* when admission acks are repeated */
    cw_time left_at;               /* while leaving: when all has been told and forwarded */
    cw_time fights[LS_FIGHTS + 1]; /* when records of another boot in our name were outbid, newest first */
    uint64_t renewals;             /* mutant GAIN_BY_SERVER only */
    uint64_t epoch;                /* counts changes of the right to deliver that the views do not count */
    uint64_t counts[LS_COUNTERS];
};

/* ---- tx.c ----------------------------------------------------------------------------------------------- */

/* When the link's next hello leaves, unless we have parted. */
static inline cw_time linkstate_hello_at(const struct linkstate *ls, const struct ls_link *l)
{
    return cw_time_min(l->hello_at, l->hello_soon ? cw_time_add(l->hello_last, ls->spans.hello_least) : CW_NEVER);
}

static inline bool linkstate_hello_is_due(const struct linkstate *ls, const struct ls_link *l)
{
    return !ls->parted && cw_time_due(linkstate_hello_at(ls, l), ls->now);
}

/* True when the link's stream has items to send, whether they may still wait or not. */
static inline bool linkstate_stream_is_owed(const struct ls_link *l)
{
    return l->feed.running && feed_has_more(&l->feed);
}

/* The first record after a rest goes at once; those behind it, as many at a time as have come together. */
static inline bool linkstate_stream_is_due(const struct linkstate *ls, const struct ls_link *l)
{
    bool gathered = cw_time_due(l->stream_at, ls->now) || l->feed.unsent >= LS_GATHER_ITEMS;
    return (gathered && linkstate_stream_is_owed(l)) || (l->feed.running && cw_time_due(l->feed.ack_at, ls->now));
}

/* ---- tick.c -------------------------------------------------------------------------------------------- */

/*
 * Every entry begins with it: time moves, and a lease that has run out fences this server before anything else is done.
 */
void linkstate_pass(struct linkstate *ls, cw_time now);
static inline void linkstate_enter(struct linkstate *ls, cw_time now)
{
    if (now.ns != ls->now.ns) {
        linkstate_pass(ls, now);
    }
}

/* Notes the answers to what may be asked between entries, of all links. */
void linkstate_note(struct linkstate *ls);
/*
 * The same of the links in `moved`: an entry that has settled everything ends with it. Whoever changes what is noted of
 * a link (its adjacency, its stream, its hellos) puts the link there; debug builds compare with linkstate_note().
 */
void linkstate_note_moved(struct linkstate *ls);
/* The same when only time has passed since, and something has happened to these links only. */
void linkstate_note_links(struct linkstate *ls, cw_links links);

/*
 * Takes a new incarnation, at least this one: all adjacencies are closed, nobody else is in our views, and we are not
 * active (semantics 4.2, removing).
 */
void linkstate_fence(struct linkstate *ls, uint64_t incarnation);

/* Sets the lease from the clocks that came back on links that are up at both ends. */
void linkstate_renew_lease(struct linkstate *ls);

/* ---- settle.c ------------------------------------------------------------------------------------------ */

/*
 * Every entry ends with it: brings views, states of links, own record and acks in line with what is known now. asked:
 * the views are needed at once; otherwise a search may be put off (views.h).
 */
void linkstate_settle(struct linkstate *ls, bool asked);
/*
 * The same when all was settled before, and since then only the clocks and the stream of this link have moved, which is
 * up: nothing else follows from that.
 */
void linkstate_settle_link(struct linkstate *ls, cw_link link);

/* Applies records that are to be applied together; owes the new ones to all links but `from` (CW_LINK_SELF: to all). */
void linkstate_apply(struct linkstate *ls, const struct record *records, uint32_t count, cw_link from);

/* Makes the next version of the own record from the states of the links. */
void linkstate_publish(struct linkstate *ls);

/* ---- links.c -------------------------------------------------------------------------------------------- */

/* Steps the link's adjacency and does what that asks for. */
void linkstate_step(struct linkstate *ls, cw_link link, enum adjacency_event event);

/* Append to the log, for those of these links whose streams run. */
void linkstate_owe_record(struct linkstate *ls, const struct record *record, bool more, cw_links links);
void linkstate_owe_synced(struct linkstate *ls, cw_links links);
void linkstate_owe_ack(struct linkstate *ls, const struct ack *ack, cw_link link);
/* Appends what this server says of its software. */
void linkstate_owe_about(struct linkstate *ls, cw_link link);
/* Appends the whole database, to be applied together. */
void linkstate_owe_all(struct linkstate *ls, cw_link link);
/* The neighbour has shown that it knows the newest record of origin: strikes it out for that link. */
void linkstate_forget_record(struct linkstate *ls, cw_server origin, cw_link link);

/* Links whose streams run. */
cw_links linkstate_running(const struct linkstate *ls);

static inline cw_server linkstate_peer(const struct linkstate *ls, cw_link link)
{
    return lsdb_neighbour(&ls->db, ls->config.self, link);
}

static inline const struct record *linkstate_own(const struct linkstate *ls)
{
    return &ls->db.records[ls->config.self];
}

/* True when both records call the link up: it is an edge of C at our own end. */
static inline bool linkstate_is_committed(const struct linkstate *ls, cw_link link)
{
    return (ls->db.up[ls->config.self] & cw_links_of(link)) != 0;
}

/* ---- walk.c ------------------------------------------------------------------------------------------------------ */

/* For CHECK_SLOW: linkstate_note() would note now what is noted. */
bool linkstate_noted(const struct linkstate *ls);

/* True; stops the program at a rule that is broken. For CHECK_SLOW, between two entries. */
bool linkstate_walk(const struct linkstate *ls);

#endif
