/* SPDX-License-Identifier: Apache-2.0 */
/*
 * linkstate.h - one server's view of the cluster: who is alive, who owns a key, which link leads where.
 *
 * Guarantee (semantics 4.2): if every server runs these rules, then at no instant do two connected servers both have
 * the right to deliver the same key, and every active server of the component is in each member's optimistic view.
 *
 *   committed view  C  servers that are reachable over links that both ends call UP. Routes and the key map use it.
 *   optimistic view O  C, and servers reachable through PENDING links, and those that left O less than `hold` ago.
 *                      A key may be delivered here only if this server is the key's first in O.
 *
 * A control plane that sees no data: bytes of control packets go in, bytes go out when a link has room, time is an
 * argument, and nothing is called back. The node (core/node.h) asks it; tests drive it alone. Not thread-safe: one
 * owner.
 */
#ifndef LINKSTATE_LINKSTATE_H
#define LINKSTATE_LINKSTATE_H

#include "cubeway/time.h"
#include "cubeway/types.h"
#include "keyspace/owner.h"
#include "keyspace/torus.h"
#include "wire/about.h"
#include "wire/frame.h"
#include "wire/reason.h"
#include "wire/record.h"

struct linkstate;

struct ls_timers {
    cw_span hello;         /* 10 ms between two hellos on a link */
    cw_span dead;          /* 50 ms: a neighbour that was not heard for so long is dead */
    cw_span hold;          /* 60 ms: who is not reachable any more stays in O for so long; >= dead + flood_bound */
    cw_span flood_bound;   /* 5 ms: a record reaches every live server within this time */
    cw_span retry;         /* 2 ms without progress: a control stream repeats what was not acknowledged */
    cw_span pending_limit; /* 500 ms: a link that is still pending is torn down and damped */
    cw_span pace;          /* 1 ms: the least time between two versions of the own record that only add */
    cw_span damp;          /* 100 ms: damping after a flap; doubles with each, flaps halve with each quiet minute */
    cw_span damp_max;      /* 10 s: the longest damping */
    cw_span refresh;       /* 30 min: the own record is sent again though nothing has changed */
};
/* The defaults of semantics 4.6, and the fast profile (hello 5 ms, dead 15 ms, hold 20 ms). */
struct ls_timers ls_timers_default(void);
struct ls_timers ls_timers_fast(void);
/*
 * -EINVAL when the timers cannot keep the guarantee: hold < dead + flood_bound (semantics 4.2, removing), dead < 2
 * hellos, one is negative, or hello, dead, retry, pending_limit or refresh is zero. 0 otherwise.
 */
CW_MUST_CHECK int ls_timers_check(const struct ls_timers *timers);

struct ls_config {
    struct torus torus;
    const cw_server *neighbours; /* torus.servers * 6 ids, borrowed for life; shared by all nodes of a simulator */
    cw_server self;
    uint32_t cluster;
    uint32_t config_hash;
    uint64_t incarnation; /* above every one this server ever used; not 0 */
    uint64_t seed;        /* of the boot nonce, session numbers and jitter */
    bool alone;           /* this server may serve before it ever had a link up (a cluster of one) */
    struct about about;   /* what neighbours are told of this server's software; without a version: nothing */
    struct ls_timers timers;
};

/* -EINVAL (a bound is broken), -ENOMEM. Gives a server with no link. */
CW_MUST_CHECK int ls_open(struct linkstate **out, const struct ls_config *config);
void ls_close(struct linkstate *ls);
size_t ls_bytes(const struct linkstate *ls); /* memory it holds */

/* ---- Begun at rest ----------------------------------------------------------------------------------------------- */

/*
 * For simulators: servers that were opened, and to which nothing has happened yet, made what they are at rest when
 * every server of the torus runs and every cable works. Three steps, each for all servers before the next:
 *
 *     ls_open()
 *     ls_settled_record()  what it will say of itself
 *     ls_start_settled()   it knows what all say, and its links are up
 *
 * What a cold start leads to is the same but for the numbers of the records' versions, and when hellos leave.
 */

/* The record of this server then; incarnation: of its neighbours, by link. */
struct record ls_settled_record(const struct linkstate *ls, const uint64_t incarnation[CW_LINK_COUNT]);

/* What a server knows of a neighbour then. */
struct ls_settled_link {
    uint32_t session; /* ls_link_session() of the neighbour, for this cable */
    cw_time clock;    /* what its clock shows now */
};
/* Borrows records, of each server by its number, for the call. Links that the torus does not have are not looked at. */
void ls_start_settled(struct linkstate *ls, const struct record *records,
                      const struct ls_settled_link links[CW_LINK_COUNT], cw_time now);

/* ---- What happens to it ------------------------------------------------------------------------------------------ */

void ls_carrier(struct linkstate *ls, cw_link link, bool up, cw_time now);
void ls_tick(struct linkstate *ls, cw_time now); /* runs all that is due */
cw_time ls_next_wake(const struct linkstate *ls);

/* What to do with the data packets of a frame. */
enum ls_gate {
    LS_PASS,  /* the link is up and we know all that the sender knew: let them in */
    LS_WAIT,  /* the sender knew more: keep the frame, and ask ls_gate_again() after each entry on this link */
    LS_STALE, /* the link is not up, or the frame is of a former adjacency: drop them */
};
/*
 * Call with the head of every frame that came in, before its packets are looked at. A frame that was relayed shows
 * nobody alive, and its packets must not be given to ls_control().
 */
enum ls_gate ls_frame(struct linkstate *ls, cw_link link, const struct frame_head *head, cw_time now);
/* Asks the same again, later or after the frame's own control packets. Changes nothing. */
enum ls_gate ls_gate_again(const struct linkstate *ls, cw_link link, const struct frame_head *head);
/* One control packet out of a frame. Anything but WIRE_OK: refused, counted, nothing touched. */
enum wire_reason ls_control(struct linkstate *ls, cw_link link, const uint8_t *bytes, size_t length, cw_time now);

/*
 * A frame of another version of the wire came in, and was refused. ls_link_foreign() tells of it, as long as no
 * neighbour is heard on the link.
 */
void ls_foreign_frame(struct linkstate *ls, cw_link link, unsigned version, cw_time now);

/* Orderly leave: this server stops owning keys, and tells everybody. ls_left(): it is safe to close now. */
void ls_leave(struct linkstate *ls, cw_time now);
bool ls_left(const struct linkstate *ls, cw_time now);

/* ---- What it wants to send --------------------------------------------------------------------------------------- */

cw_links ls_tx_links(const struct linkstate *ls); /* links with control to send now */
/*
 * Links on which control is owed, so that data must not leave before ls_pull() has written it (semantics 4.4). While
 * there is no data, some of that control may wait a little for more: such links are not in ls_tx_links() yet.
 */
cw_links ls_owed_links(const struct linkstate *ls);
/*
 * Writes control packets for one frame into out; returns the bytes, and in *packets their number. 0: nothing to send.
 */
size_t ls_pull(struct linkstate *ls, cw_link link, uint8_t *out, size_t room, uint8_t *packets, cw_time now);
/* Fills session, sequence and control position of a frame that leaves now (any frame, control or data). */
void ls_stamp(struct linkstate *ls, cw_link link, struct frame_head *head);

/* ---- What it knows ----------------------------------------------------------------------------------------------- */

/*
 * Brings the views up to date with all that was received and with now. Call it after the entries above and before the
 * queries below; their answers hold until the next entry or refresh. Cheap when nothing is due. False: no answer has
 * changed since the last refresh.
 */
bool ls_refresh(struct linkstate *ls, cw_time now);
/* Grows with every entry from which something may follow: while it stays, only time can change an answer. */
uint64_t ls_notes(const struct linkstate *ls);
/* Grows with every change of C, O, routes, the life of a member of O or the right to deliver: cache against it. */
uint64_t ls_epoch(const struct linkstate *ls);
/* Grows with every change of C or its links only: routes computed for one value stay right while it stays. */
uint64_t ls_routes_epoch(const struct linkstate *ls);
const struct reach *ls_committed(const struct linkstate *ls);
const struct reach *ls_optimistic(const struct linkstate *ls); /* same pointer as committed while they are equal */
/*
 * The servers that came to C or O, left either, or began another life in O since ls_forget_touched(), however briefly.
 * What was cached of keys that they own or precede may be wrong (kvcache rule 6).
 */
const struct reach *ls_touched(const struct linkstate *ls);
void ls_forget_touched(struct linkstate *ls);
/* True while we may deliver as root: active, not fenced, lease valid at now. */
bool ls_serving(const struct linkstate *ls, cw_time now);
bool ls_active(const struct linkstate *ls);
/* Our links that are up: edges of C. */
cw_links ls_live_links(const struct linkstate *ls);
/* Live links over which data may be sent now: those where no window holds back control that must go first. */
cw_links ls_up_links(const struct linkstate *ls);
/* Our links on shortest paths to a server over C's links; none for ourselves and for who is unreachable. O(1). */
cw_links ls_next_hops(struct linkstate *ls, cw_server to);
/* Prefetches what ls_next_hops() and the views will be asked of `to`, which is in the torus. */
void ls_expect(const struct linkstate *ls, cw_server to);
unsigned ls_hops(struct linkstate *ls, cw_server to);        /* UINT_MAX: unreachable */
size_t ls_within(const struct linkstate *ls, unsigned hops); /* servers of C at most so far away, and we. O(servers) */
uint64_t ls_digest(const struct linkstate *ls); /* of the database: equal in all servers of a quiet component */
uint64_t ls_incarnation(const struct linkstate *ls);
/* The neighbour's incarnation with which this end calls the link up; 0: it does not call it up. */
uint64_t ls_link_peer(const struct linkstate *ls, cw_link link);
/* Our session on the link, which a goodbye in our name must carry (wire/goodbye.h). Each adjacency has another one. */
uint32_t ls_link_session(const struct linkstate *ls, cw_link link);
/* What the node tells its relay of the links (docs/relay.md); right after ls_refresh(), until the next entry. */
struct ls_transit {
    cw_links live; /* ls_live_links(); none when this server has said goodbye, or has no lease */
    cw_links out;  /* those by which all that is known here has left, so that data may be sent */
    cw_time lease; /* this server may act by its view until then; meaningless unless some link is live */
    struct ls_transit_link {
        uint16_t session, peer; /* low halves: what frames that leave carry, and frames that come */
        uint16_t top, received; /* of the control stream: last sent, last received */
    } link[CW_LINK_COUNT];
};
void ls_transit(const struct linkstate *ls, struct ls_transit *out);
/* The last server that was heard on a link where it does not belong, by its own hello. */
struct ls_stranger {
    uint64_t hellos; /* from servers that do not belong there, since ls_open; 0: all other members are unset */
    cw_time last;    /* when the last one came */
    uint32_t cluster;
    uint32_t config_hash;
    cw_coord server; /* perhaps outside our torus */
    cw_link port;    /* the stranger's port that the cable is in */
};
struct ls_stranger ls_link_stranger(const struct linkstate *ls, cw_link link);
/* Frames of another version of the wire on the link. */
struct ls_foreign {
    uint64_t frames; /* 0: there were none, or a neighbour was heard since; all other members are zero */
    cw_time last;
    uint8_t version;
};
struct ls_foreign ls_link_foreign(const struct linkstate *ls, cw_link link);
/*
 * The links that lose 1 % or more of what the neighbour sends, or of what this server sends, as hellos tell (loss.h).
 */
struct ls_lossy {
    cw_links in, out;
};
struct ls_lossy ls_lossy_links(const struct linkstate *ls);
/* The record held of a server, borrowed until the next entry; NULL when none is. */
const struct record *ls_record(const struct linkstate *ls, cw_server origin);

/* The last hello that came over a link, from the right server or another, by its own word. */
struct ls_heard {
    bool any; /* false: there was none, all other members are zero */
    cw_time at;
    cw_coord server;
    cw_link port; /* the sender's port: the cable's other end */
    uint32_t cluster;
    uint32_t config_hash;
    uint64_t incarnation;
};
/* What a cable loses one way, as hellos tell (loss.h). */
struct ls_loss {
    uint64_t hellos, lost; /* hellos whose fate is known, and those of them that were lost, since ls_open() */
    int32_t ppm;           /* of the last thousand or so, in parts of a million; -1: too few to say */
    int32_t before_ppm;    /* of a bad cable that loses next to nothing just now: what it is called bad for; else 0 */
    bool bad;              /* it lost 1 % or more, and has not been below 0.5 % since */
};
/* The rate for a sentence about a cable, in parts of a million: of now, or what a bad one is called so for. */
static inline uint32_t ls_loss_told(const struct ls_loss *loss)
{
    return loss->before_ppm > loss->ppm ? (uint32_t)loss->before_ppm : loss->ppm < 0 ? 0 : (uint32_t)loss->ppm;
}
/* One link as operators see it. */
struct ls_link_info {
    bool exists;       /* the torus has a cable there */
    const char *state; /* "no-carrier", "damped", "down", "miswired", "init", "exchange", "pending" or "up"; static */
    cw_time since;     /* when it came to that state */
    bool up;           /* at this end */
    bool committed;    /* at both ends: data may go */
    bool miswired;     /* the server that is heard does not belong there: `heard` says who it is */
    cw_coord expected; /* the server that belongs at the other end, on its port opposite to link */
    uint64_t incarnation;  /* the neighbour's, in the adjacency of now; 0: there is none */
    unsigned flaps;        /* how often it went down lately without a goodbye; halved with each quiet minute */
    cw_time flapped;       /* when it did so last; of no meaning while flaps is 0 */
    uint64_t flapped_life; /* the neighbour's incarnation until then: another one now is another life of its daemon */
    cw_time rest;          /* in state "damped": until when */
    struct ls_heard heard;
    struct ls_loss loss_in, loss_out; /* of what the neighbour sends; of what this server sends */
    struct about about;               /* the neighbour's software, by its own word; empty: it has said nothing yet */
};
void ls_link_info(const struct linkstate *ls, cw_link link, struct ls_link_info *out);

/* What has happened since ls_open. Counters marked ! stay 0 in a sound cluster: an operator wants to know of them. */
enum ls_counter {
    LS_VERSIONS,   /* of the own record */
    LS_ADMISSIONS, /* links of ours that went up by a round */
    LS_SHORTCUTS,  /* links of ours that went up because the far end was in C */
    LS_DOUBTS,     /* shortcuts that were taken back */
    LS_TEARDOWNS,  /* adjacencies that ended */
    LS_SILENCES,   /* adjacencies that ended because nothing was heard */
    LS_OVERDUE,    /* adjacencies that ended because the link stayed announced and did not come up */
    LS_REPEATS,    /* times a stream began to repeat */
    LS_ACKS_LOST,  /* admission acks dropped in a rush or for want of a way; their senders repeat them */
    LS_STRAYS,     /* control packets of another session */
    LS_FENCES,     /* times our lease ran out */
    LS_OUTBIDS,    /* ! records of another boot in our name that were outbid: a restart with too low an incarnation */
    LS_DUPLICATES, /* ! records in our name that came in such numbers that another server must claim to be us */
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
