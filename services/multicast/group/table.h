/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table.h - what a group's root knows: which server has announced what to which group, and until when that counts (soft
 * state, SCRIBE 3.4).
 *
 *  1. What was announced counts until its instant, unless the same server announces something else before.
 *  2. Of one life of a server an older serial never takes the place of a newer one, as calls may be repeated and
 *     overtake one another. A server that has left is remembered for as long as a membership would be.
 *  3. At most groups_most groups and entries_most entries. What does not fit is refused, and nothing else changes.
 *
 * Pure; time comes in. One owner.
 */
#ifndef SERVICES_MULTICAST_GROUP_TABLE_H
#define SERVICES_MULTICAST_GROUP_TABLE_H

#include "cubeway/time.h"
#include "services/multicast/group/head.h"

/* A group is named by job and name: two jobs' groups of one name are two groups. */
struct group_name {
    cw_job job;
    uint8_t length;
    char text[GROUP_NAME_MOST];
};

/* Copies the text. -EINVAL: it has no bytes, or more than GROUP_NAME_MOST. */
CW_MUST_CHECK int group_name_make(struct group_name *out, cw_job job, const char *text, size_t length);
/* Orders by job, then by bytes, the shorter before the longer: < 0, 0, > 0. */
int group_name_compare(const struct group_name *a, const struct group_name *b);

struct group_entry {
    cw_server server;
    uint8_t flags; /* 0: it has left */
    uint32_t serial;
    uint64_t life;
    cw_time until;
};

struct group {
    struct group_name name;
    struct group_entry *entry; /* ascending by server */
    unsigned count, room;
};

struct group_table {
    struct group **group; /* ascending by name */
    unsigned count, room, groups_most;
    unsigned entries, entries_most;
};

/* A table that is zeroed, but for its two bounds, is empty. */
void group_table_free(struct group_table *t);
/*
 * Records what a server announced; flags 0 is recorded too (rule 2). -ESTALE: it is older than what is known; -ENOSPC:
 * rule 3; -ENOMEM.
 */
CW_MUST_CHECK int group_table_update(struct group_table *t, const struct group_name *name, const struct group_entry *e);
/* Removes what no longer counts. */
void group_table_expire(struct group_table *t, cw_time now);
/* Borrows the group until the table changes. NULL: nothing was announced to it. */
const struct group *group_table_find(const struct group_table *t, const struct group_name *name);
/*
 * A walker for CHECK_SLOW. True; stops the program when groups or entries do not ascend, or are not counted right
 * ("groups G1").
 */
bool group_table_audit(const struct group_table *t);
/* A server is a member of the group, or keeps it. */
bool group_exists(const struct group *g, cw_time now);

#endif
