/* SPDX-License-Identifier: Apache-2.0 */
/*
 * datagrams.h - messages that fit one packet: down one tree from the source, and at once.
 *
 *  1. Best effort: each member gets it at most once. Nothing is acknowledged, nothing is sent again.
 *  2. Reliable: each member says to the source that it has it; those that have not said so are sent it directly, again and again, until they have, are
 *     gone from the view (not before DATAGRAM_GRACE), or DATAGRAM_PATIENCE is over. A member takes it exactly once then, for which it remembers the numbers of
 *     each source (datagram_window.h).
 *  3. A server passes a datagram on when it sees it for the first time, to its children in the tree as its view has it: so nothing goes in circles.
 *  4. Datagrams are independent of one another: they may arrive in another order than they were sent in.
 */
#ifndef SERVICES_MULTICAST_GROUP_DATAGRAMS_H
#define SERVICES_MULTICAST_GROUP_DATAGRAMS_H

#include "services/multicast/cast/session.h"
#include "services/multicast/group/head.h"

enum {
    DATAGRAMS_MEMORY_MOST = 8 * 1024 * 1024, /* of reliable ones that are not settled */
};
#define DATAGRAM_PATIENCE CW_SEC(10)
#define DATAGRAM_GRACE CW_MS(200) /* nobody is taken for gone before */

struct datagrams;

/* Who takes them here. h, its name and its bytes are borrowed for the call. */
struct datagrams_hooks {
    void *context;
    /* This server is a member. 0; -errno: not here (-ENOENT), told to the source of a reliable one. */
    int (*deliver)(void *context, const struct group_head *h);
    /* A best effort one is about to be passed on. False: it is not, from here. */
    bool (*forward)(void *context, const struct group_head *h);
};

/* How a reliable one ended at its source; rows ascend by server. Borrowed for the call. */
typedef void (*datagrams_done_fn)(void *arg, const struct cast_member *member, unsigned count);

struct datagram_order {
    cw_job job;
    bool to_group, reliable;
    const char *name;
    size_t name_bytes;
    const uint8_t *set; /* bit i % 8 of byte i / 8: server i; this server's own is ignored */
    const uint8_t *bytes;
    size_t length;
    datagrams_done_fn done; /* reliable: once, from a later upcall; NULL: nobody asks */
    void *arg;
};

/* Borrows s, torus and hooks. -ENOMEM. */
CW_MUST_CHECK int datagrams_open(struct datagrams **out, cw_svc *s, const struct torus *torus,
                                 const struct datagrams_hooks *hooks);
/* Nobody is told anything. NULL is allowed. */
void datagrams_close(struct datagrams *n);
/* Bytes that fit a datagram with a name of so many. */
size_t datagrams_most(const struct datagrams *n, size_t name_bytes);
/*
 * Sends; the order is borrowed for the call. -EMSGSIZE more than datagrams_most(); -EAGAIN the queue, the numbers or the memory are used up; -ENETUNREACH best
 * effort, and no member can be reached; -EACCES; -ENOMEM. Then nothing was sent. 0: it went to a part of the members at least; the others get a reliable one
 * by repetition, and one of best effort not at all.
 */
CW_MUST_CHECK int datagrams_send(struct datagrams *n, const struct datagram_order *order);
/* Whoever waits with that arg is told no more. */
void datagrams_cancel(struct datagrams *n, const void *arg);

/* A DATAGRAM or RECEIPT. 0, or -errno: it was of no use. */
int datagrams_packet(struct datagrams *n, const struct group_head *h, const cw_rx *rx);
void datagrams_event(struct datagrams *n);
/* Reliable ones that are not settled. */
unsigned datagrams_open_count(const struct datagrams *n);

#endif
