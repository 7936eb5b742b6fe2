/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cast_session.h - one message on one server: as its source, as a member, or as a server on the way; in any case with the edges to its children.
 *
 * Memory of a session that is not the source's: at most CAST_WINDOW pieces for each tree, until all below has the tree's pieces, and at a member one bit
 * for each piece of the message. cast_flow.h moves packets; multicast.c holds the sessions.
 */
#ifndef SERVICES_MULTICAST_CAST_SESSION_H
#define SERVICES_MULTICAST_CAST_SESSION_H

#include "services/multicast/cast_edge.h"
#include "services/multicast/cast_plan.h"
#include "services/multicast/cast_stripe.h"

enum { CAST_UPSTREAMS = 4 };

/* Who sends a tree's pieces to us. */
struct cast_upstream {
    uint32_t edge; /* 0: none */
    uint32_t echo;
    cw_server from;
    cw_time heard;
};

struct cast_tree {
    bool open;
    struct cast_ring ring; /* not the source's */
    unsigned fresh;        /* pieces that came since we said so */
    uint32_t told;         /* the base that we said last */
    cw_time told_at;
    struct cast_upstream up[CAST_UPSTREAMS];
};

enum cast_member_state { CAST_WAITING, CAST_HAS, CAST_LOST };

/* The source's book. */
struct cast_member {
    cw_server server;
    enum cast_member_state state;
    int status;
    cw_span took;
};

struct cast_session {
    struct cast_session *next;
    cw_svc *s;
    const struct torus *torus;
    const struct trees *trees;
    cw_server self, origin;
    uint64_t number, tag;
    struct cast_stripe stripe;
    uint8_t *members; /* as in the OPEN packet */
    bool source;
    bool wanted;           /* this server is a member */
    bool from_start, late; /* the first tree to begin here began with its first piece; or with a later one */
    bool ended;
    int status; /* of the member, when ended */
    struct cast_tree tree[CW_LINK_COUNT];
    struct cast_plan plan;
    struct cast_edge *edge;
    unsigned edges;
    unsigned turn[CW_LINK_COUNT]; /* the edge that is asked first for a link */
    uint8_t *got;                 /* member: pieces that came; source: that were made */
    uint64_t got_count, wrong;
    uint64_t sum, trailer;
    cw_time began, ended_at, heard, progress, say_done;
    bool done_heard; /* the source knows that we have ended */
    struct cast_member *book;
    unsigned book_count, book_open;
    cw_request *request; /* the command that waits for the source */
    uint64_t doubled, repeated;
};

/*
 * What a session is made of. members: cast_members_bytes(torus->servers) bytes, borrowed for the call; number 0 is none. As source: with the book. -ENOMEM,
 * -EINVAL, -E2BIG.
 */
CW_MUST_CHECK int cast_session_open(struct cast_session **out, cw_svc *s, const struct torus *torus,
                                    const struct trees *trees, const struct cast_head *open);
void cast_session_close(struct cast_session *c);
size_t cast_session_memory(const struct cast_session *c);

/*
 * Begins a tree whose sender has let go of what is before `from`. Once a tree; later calls change nothing. A member whose first tree begins late has
 * ended, -ESTALE. -ENOMEM.
 */
CW_MUST_CHECK int cast_session_tree(struct cast_session *c, uint8_t tree, uint32_t from);
/* Takes a piece whose sum is right. As cast_ring_put(), and -EINVAL: the length is not that piece's. */
CW_MUST_CHECK int cast_session_put(struct cast_session *c, const struct cast_head *data);
/* Makes the source's piece in out, whose length is given; *sum. */
size_t cast_session_make(struct cast_session *c, uint8_t tree, uint32_t index, uint8_t *out, uint64_t *sum);

/* After the view or a link changed: edges that are still wanted stay as they are. -ENOMEM: all stay. */
CW_MUST_CHECK int cast_session_replan(struct cast_session *c);
/* All below it, this server and everything under it have of the tree; the ring lets go of it. */
uint32_t cast_session_settle(struct cast_session *c, uint8_t tree);
/* What this server can give of a tree. */
struct cast_mine cast_session_mine(const struct cast_session *c, uint8_t tree);
/* Every tree is settled to its end. */
bool cast_session_quiet(const struct cast_session *c);

/* Source: a member ended, or went. True: it was the last that was waited for. */
bool cast_session_mark(struct cast_session *c, cw_server member, int status);

/* The pattern: 8 bytes at a time, from an offset that is a multiple of 8. */
void cast_pattern(uint64_t tag, uint64_t offset, uint8_t *out, size_t length);

#endif
