/* SPDX-License-Identifier: Apache-2.0 */
/*
 * session.h - one message on one server: as its source, as a member, or as a server on the way; in any case with the edges to its children.
 *
 * Memory of a session that is not the source's: at most CAST_WINDOW pieces for each tree, until all below has the tree's pieces, and at a member one bit
 * for each piece of the message; the source has two bits for each. cast/flow.h moves packets, cast/rounds.h is the source's, cast/engine.h holds the sessions.
 */
#ifndef SERVICES_MULTICAST_CAST_SESSION_H
#define SERVICES_MULTICAST_CAST_SESSION_H

#include "services/multicast/cast/edge.h"
#include "services/multicast/cast/members.h"
#include "services/multicast/cast/plan.h"
#include "services/multicast/cast/receiver.h"
#include "services/multicast/cast/stripe.h"

enum { CAST_UPSTREAMS = 4 };

struct cast_result;

/* What a server waits for, and how long. The operator may set it. */
struct cast_limits {
    cw_span patience; /* others wait for a slow server in one round */
    cw_span limit;    /* the source waits for a member that does not get on */
};

/* Who sends a tree's pieces to us. */
struct cast_upstream {
    uint32_t edge; /* 0: none */
    uint32_t echo;
    cw_server from;
    cw_time heard;
};

struct cast_tree {
    bool open;
    uint32_t length;       /* in this round, or CAST_OPEN_ENDED */
    struct cast_ring ring; /* not the source's */
    uint64_t owed[2];      /* from ring.base on: what is here and the sink has not taken yet */
    unsigned fresh;        /* pieces that came since we said so */
    uint32_t acked;        /* the base that we said last */
    cw_time acked_at;
    cw_time heard; /* anybody who sends it to us */
    struct cast_upstream up[CAST_UPSTREAMS];
};

/* What only the source has. */
struct cast_sending {
    struct cast_source from;
    bool closed;  /* from is */
    bool starved; /* read() said -EAGAIN */
    bool once;
    bool assigned; /* all of the round: the trees have their lengths */
    struct cast_stripe stripe;
    struct cast_members members;
    uint8_t *made; /* pieces that were read before */
    uint32_t made_count;
    uint64_t sum; /* of theirs */
    cw_time round_at, idle_at;
    bool idle;       /* nobody is sent anything, since idle_at */
    unsigned barren; /* rounds in a row by which nobody became better */
    uint64_t lacked; /* what all lack, when the round began */
    int failed;      /* what read() said: it ends */
    void (*done)(void *context, const struct cast_result *result);
    void *context;
};

/* What only a member has: its own taking, and its word to the source. */
struct cast_receiving {
    bool accepted;
    struct cast_receiver receiver;
    bool confirmed;   /* the source knows that it has ended */
    bool over;        /* of this round there comes no more */
    bool reported;    /* and the source knows what is lacking */
    uint32_t lack_at; /* it is to hear what is lacking from this piece on */
    cw_time report_at;
    unsigned tries;
};

struct cast_session {
    struct cast_session *next;
    cw_svc *s;
    const struct torus *torus;
    const struct trees *trees;
    const struct cast_limits *limits;
    cw_server self, origin;
    uint64_t number, ticket;
    uint8_t id[CAST_ID_BYTES];
    uint8_t content;
    uint8_t *label;
    uint16_t label_bytes;
    struct cast_cut cut;
    uint16_t round;
    uint8_t *members; /* of this round, as in the OPEN packet */
    bool source;
    bool wanted; /* this server is a member */
    bool left;   /* member: it has all, and the source went out of sight; until the next OPEN */
    bool ended;  /* source: done() has been told; member: its receiver has ended */
    struct cast_sending out;
    struct cast_receiving in;
    struct cast_tree tree[CW_LINK_COUNT];
    struct cast_plan plan;
    struct cast_edge *edge;
    unsigned edges;
    unsigned turn[CW_LINK_COUNT]; /* packets given to a link */
    cw_time began, ended_at, heard;
    uint64_t doubled;  /* pieces that came more than once */
    uint64_t repeated; /* that were sent more than once: by an edge, or, by the source, in a further round */
    uint64_t skipped;  /* that did not come in their round: whom we hear by that tree had let go of them */
};

/*
 * What a session is made of. open->rest: members and label, borrowed for the call; number 0 is none. A source has its assign, its book and still no
 * edges. -ENOMEM, -EINVAL, -E2BIG.
 */
CW_MUST_CHECK int cast_session_open(struct cast_session **out, cw_svc *s, const struct torus *torus,
                                    const struct trees *trees, const struct cast_limits *limits,
                                    const struct cast_head *open);
/* Its sink and its source must have been told of the end. */
void cast_session_close(struct cast_session *c);
size_t cast_session_memory(const struct cast_session *c);

/* Begins a round: nothing is open, all edges begin anew. members: as in the packet, borrowed. -ENOMEM: without some edges. */
CW_MUST_CHECK int cast_session_round(struct cast_session *c, uint16_t round, const uint8_t *members);
/* An OPEN of a tree: who sends it has let go of what is before `from`, and knows its length (or not). Gives true when we did not know it. */
bool cast_session_tree(struct cast_session *c, uint8_t tree, uint32_t from, uint32_t length);
/*
 * Takes a piece whose sum is right, for the member and for those below. As cast_ring_put(), and -EINVAL: the length is not that piece's.
 */
CW_MUST_CHECK int cast_session_put(struct cast_session *c, const struct cast_head *data);
/* Offers the sink again what it could not take. */
void cast_session_retry(struct cast_session *c);
/* After the view or a link changed: edges that are still wanted stay as they are. -ENOMEM: all stay. */
CW_MUST_CHECK int cast_session_replan(struct cast_session *c);
/* All below it, this server and everything under it have of the tree, or will not get by it; the ring goes on to there. */
uint32_t cast_session_settle(struct cast_session *c, uint8_t tree);
/* What this server can give an edge. */
struct cast_holding cast_session_holding(const struct cast_session *c, const struct cast_edge *e);
/* The first piece of the tree that it has not. */
uint32_t cast_session_whole(const struct cast_session *c, uint8_t tree);
/* Nothing more comes in this round. */
bool cast_session_over(const struct cast_session *c);
/* There is nothing more to do, as far as it knows. */
bool cast_session_quiet(const struct cast_session *c);

#endif
