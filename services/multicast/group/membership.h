/* SPDX-License-Identifier: Apache-2.0 */
/*
 * membership.h - groups of servers by name (SCRIBE: Castro, Druschel, Kermarrec, Rowstron, 2002). A group's key is the SHA-1 of its job and name; the root of
 * the key holds the membership as soft state.
 *
 *  1. A join is acknowledged by the root: then it is in. Members announce themselves anew when the key may have another root, and every GROUP_REFRESH;
 *     what is not
 *     announced for GROUP_LASTS is gone.
 *  2. A root is settled when for GROUP_SETTLE it has been the key's only root and nobody has come into its view: time enough for all members to announce
 *     themselves. Only then it acknowledges new joins and says who the members are; before, whoever asks waits. So whoever joined, acknowledged, before the
 *     question was asked is in the answer, unless its announcements were lost for that long or a partition lies between.
 *  3. Members that this server cannot reach are not in an answer; when they come back within GROUP_LASTS they are again.
 *  4. Two jobs' groups of one name are two groups.
 *
 * What is told is told from a later upcall, never from within the call that asked.
 */
#ifndef SERVICES_MULTICAST_GROUP_MEMBERSHIP_H
#define SERVICES_MULTICAST_GROUP_MEMBERSHIP_H

#include "cubeway/service.h"
#include "keyspace/torus.h"
#include "services/multicast/group/announcer.h"

enum {
    GROUPS_HERE_MOST = 1024, /* that one server is a member of */
    GROUPS_ROOT_MOST = 4096, /* that one server is the root of */
    GROUPS_ENTRIES_MOST = 65536,
    GROUPS_QUESTIONS_MOST = 256,
    GROUPS_CALLS_MOST = 32, /* announcements on their way */
};
#define GROUP_REFRESH CW_SEC(1)
#define GROUP_LASTS CW_MS(3500)
#define GROUP_SETTLE CW_MS(250)
#define GROUP_PATIENCE CW_SEC(5) /* for an acknowledgement, an answer */

struct membership;

/* -ENOMEM, and what torus_init() says. Borrows s. */
CW_MUST_CHECK int membership_open(struct membership **out, cw_svc *s);
/* Nobody is told of anything any more. NULL is allowed. */
void membership_close(struct membership *g);

/* An ANNOUNCE or MEMBERS that came. True: p has become the answer, or is freed. */
bool membership_packet(struct membership *g, cw_packet *p, const struct group_head *h, const cw_rx *rx);
void membership_event(struct membership *g, const cw_event *ev);

/*
 * What this server is to a group from now on: GROUP_MEMBER, GROUP_KEEPER, both, or nothing (0). done (may be NULL) is told once: 0 the root has
 * acknowledged it;
 * -ETIMEDOUT: not within GROUP_PATIENCE, it goes on trying; -ENOSPC the root has no room, and it goes on trying; -ECANCELED something else is
 * wanted by then. -errno: nothing changed, done is not told: -EINVAL, -ENOSPC (GROUPS_HERE_MOST), -ENOMEM, -ENOENT nothing wanted of what nothing was.
 */
CW_MUST_CHECK int membership_want(struct membership *g, const struct group_name *name, uint8_t flags,
                                  announcer_done_fn done, void *arg);
/* What is wanted; 0: nothing. */
uint8_t membership_wanted(const struct membership *g, const struct group_name *name);

/* status 0: bit i % 8 of byte i / 8 of set is server i, count are set, this server among them when it is a member. Borrowed for the call. */
typedef void (*membership_answer_fn)(void *arg, int status, const uint8_t *set, unsigned count);
/*
 * Asks the group's root for its members. done is told once: 0; -ENOENT: nobody is a member or keeps it; -ETIMEDOUT: no settled root has answered
 * within GROUP_PATIENCE. -errno, and done is not told: -EINVAL, -EAGAIN GROUPS_QUESTIONS_MOST are asked, -ENOMEM.
 */
CW_MUST_CHECK int membership_ask(struct membership *g, const struct group_name *name, membership_answer_fn done,
                                 void *arg);
/* Questions and waits with that arg are not told any more. */
void membership_cancel(struct membership *g, const void *arg);

/* A name as operators may write one: 1..GROUP_NAME_MOST letters, digits, '.', '_', '-', and not "all". */
bool group_plain_name(const char *text);

/*
 * A walker for CHECK_SLOW. True; stops the program when announcements and questions under way are not counted right
 * ("groups G2"), or the table of this root is wrong ("groups G1").
 */
bool membership_audit(const struct membership *g);

/* For people: the groups that this server has to do with. */
struct membership_row {
    struct group_name name;
    uint8_t flags; /* what this server wants to be to it */
    bool acked;    /* its root knows */
    bool root;     /* this server is its root; then: */
    unsigned members;
};
/* Fills row `at`, from 0 on. False: there are not so many. */
bool membership_row(const struct membership *g, unsigned at, struct membership_row *out);

#endif
