/* SPDX-License-Identifier: Apache-2.0 */
/*
 * internal.h - struct linkstate and what its glue shares. For linkstate*.c and the tests that look inside.
 *
 *   linkstate.c         opening, closing, questions
 *   rx.c      what comes in: frames, hellos, goodbyes, stream items
 *   tx.c      what goes out: hellos, goodbyes, stream items
 *   tick.c    time: lease, silence, when to wake
 *   settle.c  what follows from what is known: states of links, the own record, acks
 *   links.c   a link's session begins and ends; what is owed to whom
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
#include "linkstate/lsdb.h"
#include "linkstate/views.h"

enum {
    LS_GATHER_ITEMS = 32, /* a stream that nobody waits for gathers, unless they fill a frame */
    LS_REPAIR_HELLOS = 3, /* hellos with another digest at equal positions: the databases differ */
    LS_FIGHTS = 3,        /* outbids of another boot's records in LS_FIGHT_SEC that are still taken for our own past */
    LS_FIGHT_SEC = 10,
};

/*
 * Smaller spans follow from the timers, so that one who makes those longer, because his processors are few or his links
 * slow, makes all that is repeated rarer. The numbers are those of the retry of 2 ms and the flood bound of 5 ms that
 * both profiles have.
 */
struct ls_spans {
    cw_span drain; /* 1 ms: after a stall, first hear what waits in the rings, then judge who is dead (semantics 4.6) */
    cw_span hello_least; /* 1 ms between two hellos of a link, whatever happens */
    cw_span gather; /* 50 us between two frames of a stream that nobody waits for: a burst of records shares frames */
    cw_span ack_delay; /* 200 us: an acknowledgement waits this long for company */
    cw_span repeat;    /* 100 ms: admission acks are repeated while they are wanted, N squared of them each time */
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

/* Records that are to be applied together (docs/semantics.md, "Closed knowledge"). */
struct ls_batch {
    struct record *records;
    uint32_t count, room;
};

struct ls_link {
    struct adjacency adj;
    struct feed feed;
    struct ls_batch batch;
    bool exists;       /* the torus has this cable */
    bool synced;       /* the far end's whole database has been applied */
    bool by_round;     /* up because everybody knew, not because the far end was in C */
    bool shown;        /* mutant ONE_ROUND only: the far end's record has listed the link as pending in this session */
    bool hello_soon;   /* something to say that should not wait for the next hello */
    uint8_t goodbye;   /* enum goodbye_reason of the goodbye to send; 0 */
    uint8_t misfits;   /* hellos with an impossible ack, one after another */
    uint8_t strangers; /* hellos with another digest at equal positions, since the last with ours */
    uint32_t listed;   /* first version of our record that lists the link as pending in this session; 0 */
    uint64_t offered;  /* position in the log of the SYNCED that ends our side of the exchange */
    cw_time hello_at;  /* the next hello */
    cw_time hello_last;
    cw_time stream_at;    /* not before does the stream send of its own accord */
    cw_time clock;        /* the neighbour's, of its last hello in this session; 0 */
    cw_time echo;         /* ours, the last that came back in this session; 0 */
    struct ls_heard seen; /* who says hello at the far end, right or wrong */
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
     * What a data frame touches, in three lines of cache, and all that is asked between entries: as the last entry left
     * it (linkstate_note). A data frame changes none of it but who was heard; what time changes, it changes at wake.
     */
    cw_time now;    /* of the last entry */
    cw_time wake;   /* ls_next_wake() */
    cw_time due;    /* until then time changes nothing but what there is to send; not after wake otherwise */
    cw_time lease;  /* while linked: we may deliver until then */
    uint64_t notes; /* entries that may have changed something, ls_notes() */
    cw_links tx, owed, live, up; /* ls_tx_links(), ls_owed_links(), ls_live_links(), ls_up_links() */
    bool calm;                   /* nothing happened since views were asked for: until due they are what they were */
    bool whole;                  /* routes are those of the whole torus */
    bool linked;                 /* a link was up at both ends since this incarnation began */
    bool leaving;
    bool parted; /* left, and said goodbye: no more hellos */
    struct ls_gate_link gate[CW_LINK_COUNT];
    cw_time heard[CW_LINK_COUNT]; /* by data frames, not yet in adj.heard */
    struct views views;

    /* What wake, due and the sets above are made of, link by link. */
    cw_time tx_wake[CW_LINK_COUNT], judge_wake[CW_LINK_COUNT];
    cw_links blocked; /* live links whose window holds control back */

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

    cw_time judge_from; /* nobody is called silent before; after a stall */
    uint64_t incarnation;
    uint16_t nonce;
    bool acks_due;                 /* somebody may want an ack */
    cw_time version_at;            /* not before may a version that only adds be made */
    cw_time refresh_at;            /* when the own record is sent again though nothing changed */
    cw_time repeat_at;             /* when admission acks are repeated */
    cw_time left_at;               /* while leaving: when everything has been said and forwarded */
    cw_time fights[LS_FIGHTS + 1]; /* when records of another boot of ours were last outbid, newest first */
    uint64_t renewals;             /* mutant GAIN_BY_SERVER only */
    uint64_t epoch;                /* changes of the right to deliver that the views do not count */
    uint64_t counts[LS_COUNTERS];
};

/* ---- tx.c ----------------------------------------------------------------------------------------------- */

/* The link has something to say now. */
bool linkstate_has_tx(const struct linkstate *ls, const struct ls_link *l);
/* Its stream has items to send, whether they may wait or not. */
bool linkstate_owes(const struct ls_link *l);

/* ---- tick.c -------------------------------------------------------------------------------------------- */

/* What every entry begins with: time moves, and a lease that has run out fences us before anything else is done. */
void linkstate_pass(struct linkstate *ls, cw_time now);
static inline void linkstate_enter(struct linkstate *ls, cw_time now)
{
    if (now.ns != ls->now.ns) {
        linkstate_pass(ls, now);
    }
}

/* What every entry and every pull ends with: notes what is asked between them. */
void linkstate_note(struct linkstate *ls);
/* The same when nothing has happened since but time, and something to these links. */
void linkstate_note_links(struct linkstate *ls, cw_links links);

/*
 * New incarnation at least `incarnation`; all adjacencies are closed, nobody is in our views, we are not active
 * (semantics 4.2).
 */
void linkstate_fence(struct linkstate *ls, uint64_t incarnation);

/* The lease follows from the echoes on links that are up at both ends. */
void linkstate_renew_lease(struct linkstate *ls);

/* ---- settle.c ------------------------------------------------------------------------------------------ */

/*
 * What every entry ends with: brings views, states, own record and acks in line with what is now known. asked: somebody
 * waits for the views; otherwise a search may be put off (views.h).
 */
void linkstate_settle(struct linkstate *ls, bool asked);
/*
 * The same when all was settled and nothing has happened since but to the clocks and the stream of this link, which is
 * up: that changes nothing else.
 */
void linkstate_settle_link(struct linkstate *ls, cw_link link);

/*
 * Applies records that are one piece of knowledge, and owes what was new to all links but `from` (CW_LINK_SELF: to
 * all).
 */
void linkstate_apply(struct linkstate *ls, const struct record *records, uint32_t count, cw_link from);

/* Makes the next version of the own record from the states of the links. */
void linkstate_publish(struct linkstate *ls);

/* ---- links.c -------------------------------------------------------------------------------------------- */

/* Steps the link's adjacency and does what that asks for. */
void linkstate_step(struct linkstate *ls, cw_link link, enum adjacency_event event);

/* Appends to the log; links are those owed, running or not: only running ones are taken. */
void linkstate_owe_record(struct linkstate *ls, const struct record *record, bool more, cw_links links);
void linkstate_owe_synced(struct linkstate *ls, cw_links links);
void linkstate_owe_ack(struct linkstate *ls, const struct ack *ack, cw_link link);
/* The whole database, as one piece. */
void linkstate_owe_all(struct linkstate *ls, cw_link link);
/* The neighbour has shown that it knows the newest record of origin. */
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

/* Up by both records: an edge of C at our own end. */
static inline bool linkstate_is_committed(const struct linkstate *ls, cw_link link)
{
    return (ls->db.up[ls->config.self] & cw_links_of(link)) != 0;
}

/* ---- walk.c ------------------------------------------------------------------------------------------------------ */

/* True; stops the program at a rule that is broken. For CHECK_SLOW, between two entries. */
bool linkstate_walk(const struct linkstate *ls);

#endif
