/* SPDX-License-Identifier: Apache-2.0 */
/*
 * membership.h - groups of servers by name (SCRIBE: Castro, Druschel, Kermarrec, Rowstron, 2002). A group's key is the
 * SHA-1 of its job and name; the root of that key holds the membership as soft state.
 *
 *  1. A server is a member from the root's acknowledgement of its join on. Members announce themselves anew when the
 *     key may have another root, and every GROUP_REFRESH in any case; what was not announced for GROUP_LASTS is gone.
 *  2. A root is settled when it has been the key's only root for GROUP_SETTLE, and no server has come into its view
 *     meanwhile: time enough for all members to announce themselves. Only then it acknowledges new joins and says who
 *     the members are; before that, askers wait. So a server whose join was acknowledged before a question was asked is
 *     in the answer, unless its announcements were lost for that long or a partition lies between.
 *  3. A member that this root cannot reach is not in an answer. When it comes back within GROUP_LASTS, it is again.
 *  4. Two jobs' groups of one name are two groups.
 *
 * Callbacks come from later upcalls, never from inside the call that asked.
 */
#ifndef SERVICES_MULTICAST_GROUP_MEMBERSHIP_H
#define SERVICES_MULTICAST_GROUP_MEMBERSHIP_H

#include "cubeway/service.h"
#include "keyspace/torus.h"
#include "services/multicast/group/announcer.h"

enum {
    GROUPS_HERE_MOST = 1024,     /* groups that one server is a member or a keeper of */
    GROUPS_ROOT_MOST = 4096,     /* groups that one server is the root of */
    GROUPS_ENTRIES_MOST = 65536, /* memberships at one root */
    GROUPS_QUESTIONS_MOST = 256, /* questions of one server under way */
    GROUPS_CALLS_MOST = 32,      /* announcements of one server under way */
};
#define GROUP_REFRESH CW_SEC(1)
#define GROUP_LASTS CW_MS(3500)
#define GROUP_SETTLE CW_MS(250)
/* How long an acknowledgement or an answer is waited for. */
#define GROUP_PATIENCE CW_SEC(5)

struct membership;

/* Borrows s. -ENOMEM, and the errors of torus_init(). */
CW_MUST_CHECK int membership_open(struct membership **out, cw_svc *s);
/* No callback is called any more. NULL is allowed. */
void membership_close(struct membership *g);

/* Takes an ANNOUNCE or MEMBERS that came. True: p has become the answer, or was freed. */
bool membership_packet(struct membership *g, cw_packet *p, const struct group_head *h, const cw_rx *rx);
void membership_event(struct membership *g, const cw_event *ev);

/*
 * Sets what this server is to a group from now on: GROUP_MEMBER, GROUP_KEEPER, both, or nothing (0). done (may be NULL)
 * is called once, with 0: the root has acknowledged it; -ETIMEDOUT: not within GROUP_PATIENCE; -ENOSPC: the root has no
 * room (after both the server goes on trying); -ECANCELED: something else was set meanwhile. After an error nothing has
 * changed and done is not called: -EINVAL; -ENOSPC: GROUPS_HERE_MOST; -ENOENT: flags 0, and this server is nothing to
 * the group; -ENOMEM.
 */
CW_MUST_CHECK int membership_want(struct membership *g, const struct group_name *name, uint8_t flags,
                                  announcer_done_fn done, void *arg);
/* What was set last; 0: nothing. */
uint8_t membership_wanted(const struct membership *g, const struct group_name *name);

/*
 * The answer to a question for a group's members. status 0: bit i % 8 of byte i / 8 of set is server i, and `count` are
 * set, this server among them when it is a member. Borrowed for the call.
 */
typedef void (*membership_answer_fn)(void *arg, int status, const uint8_t *set, unsigned count);
/*
 * Asks the group's root for its members. done is called once, with 0; -ENOENT: nobody is a member or keeps the group;
 * -ETIMEDOUT: no settled root has answered within GROUP_PATIENCE. After an error it is not called: -EAGAIN:
 * GROUPS_QUESTIONS_MOST questions are under way; -ENOMEM.
 */
CW_MUST_CHECK int membership_ask(struct membership *g, const struct group_name *name, membership_answer_fn done,
                                 void *arg);
/* Callbacks with that arg are not called any more. */
void membership_cancel(struct membership *g, const void *arg);

/* Is it a name as operators may write one: 1..GROUP_NAME_MOST letters, digits, '.', '_', '-', and not "all"? */
bool group_plain_name(const char *text);

/*
 * A walker for CHECK_SLOW. True; stops the program when announcements and questions under way are not counted right
 * ("groups G2"), or the table of this root is wrong ("groups G1").
 */
bool membership_audit(const struct membership *g);

/* For people: a group that this server has to do with. */
struct membership_row {
    struct group_name name;
    uint8_t flags; /* what this server wants to be to it */
    bool acked;    /* its root has acknowledged that */
    bool root;     /* this server is its root, and `members` is set */
    unsigned members;
};
/* Fills row number `at`, from 0 on. False: there are fewer rows. */
bool membership_row(const struct membership *g, unsigned at, struct membership_row *out);

#endif
