/* SPDX-License-Identifier: Apache-2.0 */
/*
 * change.h - one change under way, at the server where it was put: who holds the record, and when the change is
 * complete (jobs rule 4).
 *
 * Guarantee: it is complete at an instant at which every server in reach had said, since it last came into reach, that
 * it holds this record or one that wins over it. In reach are the servers that we cannot rule out to be able to send:
 * the view, those about to enter it, and those that left it less than their fence time ago. All others are fenced: they
 * let nothing into the network, and learn the record before they do again.
 *
 * Leaf: sends nothing and knows no clock; it is told who is in reach, and says whom to ask again.
 */
#ifndef SERVICES_JOBS_CHANGE_H
#define SERVICES_JOBS_CHANGE_H

#include "cubeway/time.h"
#include "services/jobs/wire.h"

enum change_state {
    CHANGE_ABSENT,     /* has not been in reach since the change was put */
    CHANGE_WAITING,    /* in reach, and has not acknowledged */
    CHANGE_ACKED,      /* holds the record */
    CHANGE_SUPERSEDED, /* holds a record that wins over it */
    CHANGE_FENCED,     /* was in reach, and its fence time is over */
};

struct change_server {
    uint8_t state; /* enum change_state */
    bool kept;     /* it has stored the record: holds it after a restart, too */
    bool closed;   /* its NMU has no room for the record: the job may do nothing there */
    uint8_t asks;  /* times it was asked again */
    cw_span after; /* from the put to its present state */
    cw_time ask;   /* when it is asked again */
};

struct change {
    struct jobs_mark mark;
    uint64_t ticket; /* not 0; an acknowledgement without it is for another change */
    cw_time put;
    uint32_t servers;
    uint32_t waiting; /* servers in that state */
    struct change_server *server;
};

/* How long a server may be silent before it is asked again: doubles from the first to the latest. */
enum { CHANGE_ASK_FIRST_MS = 30, CHANGE_ASK_LATEST_MS = 480 };

/* Nobody is in reach yet. -ENOMEM. */
CW_MUST_CHECK int change_open(struct change *c, uint32_t servers, const struct jobs_mark *mark, uint64_t ticket,
                              cw_time now);
void change_close(struct change *c);

/* From now on the server is in reach, or is not. */
void change_reach(struct change *c, cw_server s, bool in_reach, cw_time now);
/* The server left the view, whatever its fence time: it may have lost what it held. */
void change_doubt(struct change *c, cw_server s, cw_time now);
/* What an acknowledgement says beside the mark: a set of these. */
enum change_word {
    CHANGE_KEPT = 1,   /* the record is stored */
    CHANGE_CLOSED = 2, /* the NMU has no room for it: the job may do nothing there */
};
/*
 * The server holds mark; word is a set of enum change_word. False: the acknowledgement counts for nothing, being of
 * another ticket or job, of an older record, or from a server out of reach.
 */
bool change_ack(struct change *c, cw_server s, uint64_t ticket, const struct jobs_mark *mark, unsigned word,
                cw_time now);

static inline bool change_complete(const struct change *c)
{
    return c->waiting == 0;
}
/*
 * Gives a server at or after *from that is to be asked again now, and counts it as asked; *from moves behind it.
 * CW_SERVER_NONE: there are no more.
 */
cw_server change_ask(struct change *c, cw_server *from, cw_time now);
/* When the next server is to be asked again, or CW_NEVER. Linear. */
cw_time change_wake(const struct change *c);

/* "acked" and the like, for people and programs. */
const char *change_state_name(enum change_state state);

#endif
