/* SPDX-License-Identifier: Apache-2.0 */
/*
 * linkstate.h - one server's view of the cluster: who is alive, who owns a key, which link leads where.
 *
 * Guarantee (semantics 4.2): if every server runs these rules, then at no instant do two connected servers both have
 * the right to deliver the same key, and every active server of the component is in each member's optimistic view.
 *
 *   committed view  C  reachable over links that both ends call UP. Routes and the key map use it.
 *   optimistic view O  C, and whoever is reachable through PENDING links, and whoever left O less than `hold` ago.
 *                      A key may be delivered here only if we are its first server in O.
 *
 * A control plane without packets of data: bytes of control packets go in, bytes go out when a link has room, time is
 * an argument, nothing is called back. The node (node.h) asks it; tests drive it alone. Not thread-safe: one owner.
 */
#ifndef LINKSTATE_LINKSTATE_H
#define LINKSTATE_LINKSTATE_H

#include "cubeway/time.h"
#include "cubeway/types.h"
#include "keyspace/owner.h"
#include "keyspace/torus.h"
#include "wire/frame.h"
#include "wire/reason.h"
#include "wire/record.h"

struct linkstate;

struct ls_timers {
    cw_span hello;         /* 10 ms: one hello a link */
    cw_span dead;          /* 50 ms since a neighbour was heard */
    cw_span hold;          /* 60 ms in O after leaving it; >= dead + flood bound, or ls_open says -EINVAL */
    cw_span flood_bound;   /* 5 ms: a record reaches every live server within this */
    cw_span retry;         /* 2 ms without progress: the control stream repeats itself */
    cw_span pending_limit; /* 500 ms: a link still pending is torn down and damped */
    cw_span pace;          /* 1 ms at least between two versions of the own record that only add */
    cw_span damp;          /* 100 ms * 2^(flaps - 1), flaps halved per quiet minute, at most damp_max */
    cw_span damp_max;      /* 10 s */
    cw_span refresh;       /* 30 min: own record again */
};
/* The defaults of semantics 4.6, and the fast profile (hello 5 ms, dead 15 ms, hold 20 ms). */
struct ls_timers ls_timers_default(void);
struct ls_timers ls_timers_fast(void);
/*
 * -EINVAL when the timers cannot keep the guarantee: hold < dead + flood_bound (semantics 4.2, remove), dead < 2
 * hellos, a negative one, or a zero among hello, dead, retry, pending_limit and refresh. 0 otherwise.
 */
CW_MUST_CHECK int ls_timers_check(const struct ls_timers *timers);

struct ls_config {
    struct torus torus;
    const cw_server *neighbours; /* torus.servers * 6 ids, borrowed for life; shared by all nodes of a simulator */
    cw_server self;
    uint32_t cluster;
    uint32_t config_hash;
    uint64_t incarnation; /* above every one this server ever used; not 0 */
    uint64_t seed;        /* boot nonce, session numbers, jitter */
    bool alone;           /* may serve before it ever had a link up (a cluster of one) */
    struct ls_timers timers;
};

/* -EINVAL (a bound is broken), -ENOMEM. Gives a server with no link. */
CW_MUST_CHECK int ls_open(struct linkstate **out, const struct ls_config *config);
void ls_close(struct linkstate *ls);
size_t ls_bytes(const struct linkstate *ls); /* memory it holds */

/* ---- What happens to it ------------------------------------------------------------------------------------------ */

void ls_carrier(struct linkstate *ls, cw_link link, bool up, cw_time now);
void ls_tick(struct linkstate *ls, cw_time now); /* runs all that is due */
cw_time ls_next_wake(const struct linkstate *ls);

/* The head of every frame that came in, before its packets. What to do with its data packets: */
enum ls_gate {
    LS_PASS,  /* the link is up and we know all that the sender knew */
    LS_WAIT,  /* the sender knew more: keep the frame until ls_gate_moved() */
    LS_STALE, /* the link is not up, or the frame is of a former adjacency: drop */
};
enum ls_gate ls_frame(struct linkstate *ls, cw_link link, const struct frame_head *head, cw_time now);
/* The same question again, later or after the frame's own control packets: nothing changes. */
enum ls_gate ls_gate_again(const struct linkstate *ls, cw_link link, const struct frame_head *head);
/* One control packet out of a frame. Anything but WIRE_OK: refused, counted, nothing touched. */
enum wire_reason ls_control(struct linkstate *ls, cw_link link, const uint8_t *bytes, size_t length, cw_time now);

/* Orderly leave: stop being owner of keys, tell everyone; ls_left() when it is safe to close (semantics 4.6). */
void ls_leave(struct linkstate *ls, cw_time now);
bool ls_left(const struct linkstate *ls, cw_time now);

/* ---- What it wants to send --------------------------------------------------------------------------------------- */

cw_links ls_tx_links(const struct linkstate *ls); /* links with control to send now */
/*
 * Links on which data must not leave before ls_pull() has said what is owed (semantics 4.4). Some of it may wait a
 * little for company while there is no data: those links are not in ls_tx_links() yet.
 */
cw_links ls_owed_links(const struct linkstate *ls);
/* Writes control packets for one frame into out: bytes written, and their number in *packets. 0: nothing to say. */
size_t ls_pull(struct linkstate *ls, cw_link link, uint8_t *out, size_t room, uint8_t *packets, cw_time now);
/* Fills session, sequence and control position of a frame that leaves now (any frame, control or data). */
void ls_stamp(struct linkstate *ls, cw_link link, struct frame_head *head);

/* ---- What it knows ----------------------------------------------------------------------------------------------- */

/*
 * Brings the views up to date with all that has been received and with now. Call it after the entries above and before
 * the queries below; their answers hold until the next entry or the next refresh. Cheap when nothing is due. False: no
 * answer has changed since the last refresh.
 */
bool ls_refresh(struct linkstate *ls, cw_time now);
/*
 * As long as it stays, so does all that can be asked but by time: it grows with every entry from which something may
 * follow.
 */
uint64_t ls_notes(const struct linkstate *ls);
/* Grows with every change of C, O, routes, the life of a member of O or the right to deliver: cache against it. */
uint64_t ls_epoch(const struct linkstate *ls);
/* Grows with every change of C or its links only: routes computed for one value stay right while it stays. */
uint64_t ls_routes_epoch(const struct linkstate *ls);
const struct reach *ls_committed(const struct linkstate *ls);
const struct reach *ls_optimistic(const struct linkstate *ls); /* same pointer as committed while they are equal */
/*
 * Who came to or left C or O, or began another life in O, since ls_forget_touched(), however shortly: what was true of
 * keys before them in their sequence is no more (semantics 5.2, 6).
 */
const struct reach *ls_touched(const struct linkstate *ls);
void ls_forget_touched(struct linkstate *ls);
/* True while we may deliver as root: active, not fenced, lease valid at now. */
bool ls_serving(const struct linkstate *ls, cw_time now);
bool ls_active(const struct linkstate *ls);
/* Links of ours that are up: edges of C. */
cw_links ls_live_links(const struct linkstate *ls);
/*
 * Those of them over which data may be sent now: not while control that must go before it is held back by its window.
 */
cw_links ls_up_links(const struct linkstate *ls);
/* Links of ours on shortest paths over the surviving torus; none for self and for the unreachable. O(1). */
cw_links ls_next_hops(struct linkstate *ls, cw_server to);
/* Brings near what ls_next_hops() and the views will be asked of `to`, which is in the torus. */
void ls_expect(const struct linkstate *ls, cw_server to);
unsigned ls_hops(struct linkstate *ls, cw_server to); /* UINT_MAX: unreachable */
uint64_t ls_digest(const struct linkstate *ls);       /* of the database: equal in all servers of a quiet component */
uint64_t ls_incarnation(const struct linkstate *ls);
/* The incarnation of the neighbour with which this end calls the link up; 0: it does not. */
uint64_t ls_link_peer(const struct linkstate *ls, cw_link link);
/* Our session on the link: what a goodbye in our name must say (wire/goodbye.h). Another one with every adjacency. */
uint32_t ls_link_session(const struct linkstate *ls, cw_link link);
/* Who was heard last on a link that he does not belong on, as he said himself. */
struct ls_stranger {
    uint64_t hellos; /* of such, since ls_open; 0: there was none, and nothing of the rest is set */
    cw_time last;
    uint32_t cluster;
    uint32_t config_hash;
    cw_coord server; /* perhaps outside our torus */
    cw_link port;    /* of his, that the cable is in */
};
struct ls_stranger ls_link_stranger(const struct linkstate *ls, cw_link link);
/* The record held of a server, borrowed until the next entry; NULL when none is. */
const struct record *ls_record(const struct linkstate *ls, cw_server origin);

/* Who said hello over a link last, right or wrong: by its own word. */
struct ls_heard {
    bool any; /* somebody has; false: the rest is zero */
    cw_time at;
    cw_coord server;
    cw_link port; /* of the sender: the cable's other end */
    uint32_t cluster;
    uint32_t config_hash;
    uint64_t incarnation;
};
/* One link as operators see it. */
struct ls_link_info {
    bool exists;       /* the torus has a cable there */
    const char *state; /* "no-carrier", "damped", "down", "miswired", "init", "exchange", "pending" or "up"; static */
    bool up;           /* at this end */
    bool committed;    /* at both ends: data may go */
    bool miswired;     /* whoever is heard does not belong there: what differs stands in heard */
    cw_coord expected; /* who belongs at the other end, on the port opposite to link */
    uint64_t incarnation; /* of whom the adjacency is with; 0: nobody */
    unsigned flaps;       /* recent ones; halved with each quiet minute */
    cw_time rest;         /* damped: until when */
    struct ls_heard heard;
};
void ls_link_info(const struct linkstate *ls, cw_link link, struct ls_link_info *out);

/* What happened, since ls_open. Those marked ! should never grow in a sound cluster: an operator wants to know. */
enum ls_counter {
    LS_VERSIONS,   /* of the own record */
    LS_ADMISSIONS, /* links of ours that went up by a round */
    LS_SHORTCUTS,  /* that went up because the far end was in C */
    LS_DOUBTS,     /* shortcuts taken back */
    LS_TEARDOWNS,  /* adjacencies ended */
    LS_SILENCES,   /* of these, because nothing was heard */
    LS_OVERDUE,    /* of these, because the link stayed announced and did not come up */
    LS_REPEATS,    /* times a stream went back */
    LS_ACKS_LOST,  /* admission acks dropped in a rush or for want of a way; their senders repeat them */
    LS_STRAYS,     /* control packets of another session */
    LS_FENCES,     /* times our lease ran out */
    LS_OUTBIDS,    /* ! records of another boot of ours outbid: a restart with too low an incarnation, or ... */
    LS_DUPLICATES, /* ! ... another server says that it is us */
    LS_MISWIRED,   /* ! hellos of another server, port, cluster or configuration */
    LS_CONFLICTS,  /* ! two records of one version */
    LS_REFUSED,    /* ! records that do not fit the torus, acks of nobody */
    LS_REPAIRS,    /* ! databases that differed at rest, streams that lost count */
    LS_OVERFLOWS,  /* ! links cut off because they held up the log, or for want of memory */
    LS_COUNTERS,
};
uint64_t ls_count(const struct linkstate *ls, enum ls_counter counter);
const char *ls_counter_name(enum ls_counter counter); /* "fences"; static, never NULL */

#endif
