/* SPDX-License-Identifier: Apache-2.0 */
/*
 * change.h - one change under way, at the server where it was put: who holds it, and when it is complete (semantics
 * 7.4).
 *
 * Guarantee: it is complete at an instant at which every server in reach had said, since it last came into reach, that
 * it holds this record or one that wins over it. In reach are those whom we cannot rule out to be able to send: the
 * view, whoever is about to enter it, and whoever left it less than its fence time ago. The others are fenced: they let
 * nothing into the network, and learn before they do again.
 *
 * Leaf: sends nothing, knows no clock; told who is in reach, says whom to ask again.
 */
#ifndef SERVICES_JOBS_CHANGE_H
#define SERVICES_JOBS_CHANGE_H

#include "cubeway/time.h"
#include "services/jobs/wire.h"

enum change_state {
    CHANGE_ABSENT,     /* was not in reach since the change was put */
    CHANGE_WAITING,    /* in reach, and silent */
    CHANGE_ACKED,      /* holds it */
    CHANGE_SUPERSEDED, /* holds one that wins over it */
    CHANGE_FENCED,     /* was in reach, and its fence time is over */
};

struct change_server {
    uint8_t state; /* enum change_state */
    bool kept;     /* it holds it after a restart too */
    bool closed;   /* its NMU has no room for it: the job may do nothing there */
    uint8_t asks;  /* times it was asked again */
    cw_span after; /* since the change was put: of the state */
    cw_time ask;   /* when it is asked again */
};

struct change {
    struct jobs_mark mark;
    uint64_t ticket; /* not 0; acks without it are somebody else's */
    cw_time put;
    uint32_t servers;
    uint32_t waiting; /* servers in that state */
    struct change_server *server;
};

enum {
    CHANGE_ASK_FIRST_MS = 30,
    CHANGE_ASK_LATEST_MS = 480
}; /* silence before asking: doubles from one to the other */

/* Nobody is in reach yet. -ENOMEM. */
CW_MUST_CHECK int change_open(struct change *c, uint32_t servers, const struct jobs_mark *mark, uint64_t ticket,
                              cw_time now);
void change_close(struct change *c);

/* The server is in reach, or is not, from now on. */
void change_reach(struct change *c, cw_server s, bool in_reach, cw_time now);
/* It may have lost what it held: it left the view, whatever its fence time. */
void change_doubt(struct change *c, cw_server s, cw_time now);
/* What a server says of the record that it holds. */
enum change_word {
    CHANGE_KEPT = 1,   /* after a restart too */
    CHANGE_CLOSED = 2, /* without room in its NMU: the job may do nothing there */
};
/*
 * It holds mark; word: of enum change_word, joined. False: an ack that counts for nothing (another ticket or job, an
 * older record, out of reach).
 */
bool change_ack(struct change *c, cw_server s, uint64_t ticket, const struct jobs_mark *mark, unsigned word,
                cw_time now);

static inline bool change_complete(const struct change *c)
{
    return c->waiting == 0;
}
/*
 * A server at or after *from that is to be asked again now, counted as asked; *from moves behind it. CW_SERVER_NONE: no
 * more.
 */
cw_server change_ask(struct change *c, cw_server *from, cw_time now);
/* When the next is; CW_NEVER. Linear. */
cw_time change_wake(const struct change *c);

/* "acked", for people and programs. */
const char *change_state_name(enum change_state state);

#endif
