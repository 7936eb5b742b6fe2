/* SPDX-License-Identifier: Apache-2.0 */
/*
 * session.h - one message on one server: as its source, as a member, or on the way; in each case with the edges to its
 * children.
 *
 * Memory of a session that is not the source's: at most CAST_WINDOW pieces for each tree, until the servers below have
 * the tree's pieces; and at a member one bit for each piece of the message. The source has two bits for each piece and
 * keeps no bytes.
 *
 * flow.h moves the packets of a session, rounds.h is the source's part, session_table.h holds all sessions, engine.h is
 * what others call.
 */
#ifndef SERVICES_MULTICAST_CAST_SESSION_H
#define SERVICES_MULTICAST_CAST_SESSION_H

#include "services/multicast/cast/edge.h"
#include "services/multicast/cast/members.h"
#include "services/multicast/cast/plan.h"
#include "services/multicast/cast/receiver.h"
#include "services/multicast/cast/stripe.h"

/* Servers that may send one tree to us at a time: a new parent may begin before the old one has stopped. */
enum { CAST_UPSTREAMS = 4 };

struct cast_result;

/* How long a server waits. The options patience_ms and limit_ms. */
struct cast_limits {
    cw_span patience; /* for how long a slow server may hold up others in one round */
    cw_span limit;    /* for how long the source waits for a member that makes no progress */
};

/* A server that sends us the pieces of a tree. */
struct cast_upstream {
    uint32_t edge; /* its name for the edge to us; 0: this entry is free */
    uint32_t echo; /* the newest order that came by it */
    cw_server from;
    cw_time heard; /* when it sent something last */
};

/* One tree in one round. */
struct cast_tree {
    /* An OPEN has come (at the source: always): pieces are taken and children are asked. */
    bool open;
    /* Pieces that go by this tree in this round, or CAST_OPEN_ENDED while that is not known. */
    uint32_t length;
    /* The pieces that are kept; unused at the source. */
    struct cast_ring ring;
    /* Bit i: piece ring.base + i is here, and the sink could not take it yet. */
    uint64_t owed[2];
    /* Of acknowledgements: pieces that came since the last one; the base that it named; when it was sent. */
    unsigned fresh;
    uint32_t acked;
    cw_time acked_at;
    /* When any upstream sent something last. */
    cw_time heard;
    struct cast_upstream up[CAST_UPSTREAMS];
};

/* What only the source has. */
struct cast_sending {
    struct cast_source from;
    bool closed;   /* from.close() was called */
    bool starved;  /* from.read() gave -EAGAIN */
    int failed;    /* what else from.read() gave: the message ends with it */
    bool once;     /* best effort: one round */
    bool assigned; /* all pieces of this round went to a tree: the trees have their lengths */
    struct cast_stripe stripe;
    struct cast_members members;
    /* The pieces that were read at least once, their number, and the sum of their sums. */
    uint8_t *made;
    uint32_t made_count;
    uint64_t sum;
    /* When the round began; what all members together lacked then; the rounds in a row without progress before it. */
    cw_time round_at;
    uint64_t lacked;
    unsigned barren;
    /* Nothing new is dealt out, since paused_at: a member that has come back before is away (rounds.h, rule 4). */
    bool paused;
    cw_time paused_at;
    cw_span rested; /* the pauses of this round that are over */
    /* No child is being sent anything, since idle_at. */
    bool idle;
    cw_time idle_at;
    /* As in struct cast_order. */
    void (*done)(void *context, const struct cast_result *result);
    void *context;
};

/* The pieces that a source sent more than once, by the reason. */
struct cast_repeats {
    uint64_t lost;   /* again by the same edge: lost on its link */
    uint64_t missed; /* in a further round, for members that lacked them (cast_member.missed) */
    uint64_t mended; /* by a second edge of their tree, which was mended at the source itself */
};

/* What only a member has: its receiver, and its reports (DONE, LACK) to the source. */
struct cast_receiving {
    bool accepted; /* the message was offered to its kind: receiver is set */
    struct cast_receiver receiver;
    bool over;        /* no more pieces come in this round */
    uint32_t lack_at; /* the piece from which on the source is still to hear what is lacking */
    bool reported;    /* the source knows all that is lacking in this round */
    bool confirmed;   /* the source knows that the receiver has ended */
    /* When a report is due, and how often it was sent without a confirmation. */
    cw_time report_at;
    unsigned tries;
};

struct cast_session {
    struct cast_session *next; /* in the session table */

    /* Where: borrowed from the owner, and this server. */
    cw_svc *s;
    const struct torus *torus;
    const struct trees *trees;
    const struct cast_limits *limits;
    cw_server self;

    /* Which message: origin and number name it everywhere, ticket on this server; the rest is as in its OPEN. */
    cw_server origin;
    uint64_t number, ticket;
    uint8_t id[CAST_ID_BYTES];
    uint8_t content;
    uint8_t *label;
    uint16_t label_bytes;
    struct cast_cut cut;

    /* What this server is to it. A server that is neither source nor member is on the way. */
    bool source;
    bool wanted; /* this server is a member */
    bool ended;  /* source: done() was called; member: its receiver has ended */
    bool left;   /* member: it has lost sight of the source; until the next OPEN */
    struct cast_sending out;
    struct cast_receiving in;

    /* The round at hand: its number, its members as in the OPEN packet, and the trees. */
    uint16_t round;
    uint8_t *members;
    struct cast_tree tree[CW_LINK_COUNT];

    /* The children: the plan by the present view, and the edges, in the plan's order. */
    struct cast_plan plan;
    struct cast_edge *edge;
    unsigned edges;
    unsigned turn[CW_LINK_COUNT]; /* packets given to each link so far, to take edges in turn */

    /* When it began, ended, and when anything was heard of it last. */
    cw_time began, ended_at, heard;

    /*
     * Counts: pieces that came more than once; pieces sent more than once by an edge or, at the source, in a later
     * round; pieces that did not come in their round, because the upstream had let go of them.
     */
    uint64_t doubled, repeated, skipped;
    struct cast_repeats repeats;
};

/*
 * Opens a session by an OPEN (or what a source would send as one); open->rest, the members and the label, is borrowed
 * for the call. A source's session has its stripe and its members, and no edges yet. -EINVAL: another number of
 * servers, no such origin, or number 0, which names no message; -E2BIG: too many pieces; -ENOMEM.
 */
CW_MUST_CHECK int cast_session_open(struct cast_session **out, cw_svc *s, const struct torus *torus,
                                    const struct trees *trees, const struct cast_limits *limits,
                                    const struct cast_head *open);
/* The sink's end() and the source's close() must have been called. */
void cast_session_close(struct cast_session *c);
/* Bytes that the session holds now. */
size_t cast_session_memory(const struct cast_session *c);

/*
 * Begins a round: no tree is open, and all edges begin anew. members as in the packet, borrowed. -ENOMEM: the round has
 * begun, without edges; cast_session_replan() makes them.
 */
CW_MUST_CHECK int cast_session_round(struct cast_session *c, uint16_t round, const uint8_t *members);
/*
 * The source is out of sight: nothing is sent or heard until an OPEN comes. What is here of the round stays, so that of
 * the pieces that the servers above still have only those come that are lacking.
 */
void cast_session_leave(struct cast_session *c);
/*
 * Applies an OPEN of a tree: its sender no longer has pieces before `from`; `length` may be CAST_OPEN_ENDED. True when
 * this is the first we hear of the length.
 */
bool cast_session_tree(struct cast_session *c, uint8_t tree, uint32_t from, uint32_t length);
/*
 * Takes a piece whose sum is right, for the member here and for the servers below. As cast_ring_put(); -EINVAL: its
 * length is not that of this piece; -ERANGE also: the tree is not open, or there is no such piece.
 */
CW_MUST_CHECK int cast_session_put(struct cast_session *c, const struct cast_head *data);
/* Offers the sink again what it could not take. */
void cast_session_retry(struct cast_session *c);
/*
 * Plans anew after the view or a link changed. An edge that the new plan has too goes on as it is. -ENOMEM: all go on.
 */
CW_MUST_CHECK int cast_session_replan(struct cast_session *c);
/*
 * Returns the first piece that this server or a server below it may still need by this tree, and moves the ring up to
 * it.
 */
uint32_t cast_session_advance(struct cast_session *c, uint8_t tree);
/* The pieces that this server can give to an edge. */
struct cast_holding cast_session_holding(const struct cast_session *c, const struct cast_edge *e);
/* The first piece of the tree that this server lacks. */
uint32_t cast_session_whole(const struct cast_session *c, uint8_t tree);
/* A member: all trees have ended here, so nothing more comes in this round. */
bool cast_session_over(const struct cast_session *c);
/*
 * How long a slow server may hold up others in the round at hand: `patience` in the first round that brings pieces, and
 * four times as long with each further round, up to a quarter of `limit`: so whoever is too slow for one round is not
 * too slow for all of them, and whoever makes no progress is given up in time.
 */
cw_span cast_session_patience(const struct cast_session *c);
/* As far as this server knows, nothing is left to do: all children are complete, and all reports are confirmed. */
bool cast_session_quiet(const struct cast_session *c);

/* Sends h to the instance on a server. A packet that cannot be sent is dropped: whoever needs the answer asks again. */
void cast_session_send(struct cast_session *c, cw_server to, const struct cast_head *h);
/* As cast_session_send(), for a message of which this server has no session. */
void cast_session_reply(cw_svc *s, cw_server to, const struct cast_head *h);

#endif
