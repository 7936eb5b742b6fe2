/* SPDX-License-Identifier: Apache-2.0 */
/*
 * datagrams.h - messages that fit one packet: sent at once, down one of the source's trees.
 *
 *  1. Best effort: each member takes the message at most once. Nothing is acknowledged and nothing is sent again.
 *  2. Reliable: each member sends a receipt to the source. The source sends the message directly to every member that
 *     has not answered, again and again, until the member answers, is gone from the view (believed only after
 *     DATAGRAM_GRACE), or DATAGRAM_PATIENCE is over. A member takes the message exactly once, for which it remembers
 *     the numbers of each source (datagram_window.h).
 *  3. A server passes a datagram on when it sees it for the first time, to its children in the tree as its own view has
 *     it. So nothing circles, even where views differ.
 *  4. Datagrams are independent of one another: they may arrive in another order than they were sent in.
 *  5. The numbers of a source's reliable datagrams under way (not answered by all members yet) lie within
 *     DATAGRAM_WINDOW / 2 of one another, so that no repetition is ever too old for a member's window.
 */
#ifndef SERVICES_MULTICAST_GROUP_DATAGRAMS_H
#define SERVICES_MULTICAST_GROUP_DATAGRAMS_H

#include "services/multicast/cast/session.h"
#include "services/multicast/group/clients.h"

/* Bytes of the packets of reliable datagrams under way. */
enum { DATAGRAMS_MEMORY_MOST = 8 * 1024 * 1024 };
/* After so long a member that has not answered is given up with -ETIMEDOUT. */
#define DATAGRAM_PATIENCE CW_SEC(10)
/* No member is taken for gone earlier: a server that is new may be in the root's view and not yet in the source's. */
#define DATAGRAM_GRACE CW_MS(200)

struct datagrams;

/*
 * How a reliable datagram ended at its source, with a row for each member, ascending by server. Borrowed for the call.
 */
typedef void (*datagrams_done_fn)(void *arg, const struct cast_member *member, unsigned count);

struct datagram_order {
    const struct group_name *name;
    bool to_group; /* name is a group's; else a topic's */
    bool reliable;
    const uint8_t *set; /* bit i % 8 of byte i / 8: server i; the bit of this server is ignored */
    const uint8_t *bytes;
    size_t length;
    /* Reliable: called once, from a later upcall; NULL: nobody waits for the result. */
    datagrams_done_fn done;
    void *arg;
};

/* Borrows s, torus and clients. -ENOMEM. */
CW_MUST_CHECK int datagrams_open(struct datagrams **out, cw_svc *s, const struct torus *torus,
                                 const struct clients *clients);
/* Nobody is told anything. NULL is allowed. */
void datagrams_close(struct datagrams *d);
/* The most bytes that fit a datagram to a name of so many bytes. */
size_t datagrams_most(const struct datagrams *d, size_t name_bytes);
/*
 * Sends; the order is borrowed for the call. 0: the datagram went to some of the members at least. The others get a
 * reliable one by repetition, and do not get one of best effort. -EMSGSIZE: more than datagrams_most() bytes; -EAGAIN:
 * the send queue, the numbers (rule 5) or the memory is used up; -ENETUNREACH: best effort, and no member can be
 * reached; -EACCES; -ENOMEM. After an error nothing was sent.
 */
CW_MUST_CHECK int datagrams_send(struct datagrams *d, const struct datagram_order *order);
/* done() is not called for orders with that arg. */
void datagrams_cancel(struct datagrams *d, const void *arg);

/* Takes a DATAGRAM or RECEIPT packet. 0; -errno: it was of no use, and counted. */
int datagrams_packet(struct datagrams *d, const struct group_head *h, const cw_rx *rx);
/* The view has changed. */
void datagrams_event(struct datagrams *d);
/* How many reliable datagrams are under way. */
unsigned datagrams_open_count(const struct datagrams *d);
/*
 * A walker for CHECK_SLOW. True; stops the program when the datagrams under way, their bytes or the members they wait
 * for are not counted right, or rule 5 is broken ("groups G3").
 */
bool datagrams_audit(const struct datagrams *d);

#endif
