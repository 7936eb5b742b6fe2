/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table.h - what a group's root knows: who has announced what to which group, and until when that counts (soft state, SCRIBE 3.4).
 *
 *  1. What was announced counts until its instant, unless the same server says otherwise before.
 *  2. Of one life of a server an older serial never takes the place of a newer one: calls may be repeated and overtake one another. Who has left is remembered
 *     for as long as a membership would be.
 *  3. At most groups_most groups and entries_most entries; what does not fit is refused, and nothing else changes.
 *
 * Pure; time comes in. One owner.
 */
#ifndef SERVICES_MULTICAST_GROUP_TABLE_H
#define SERVICES_MULTICAST_GROUP_TABLE_H

#include "cubeway/time.h"
#include "services/multicast/group/head.h"

/* (job, name): two jobs' groups of one name are two groups. */
struct group_name {
    cw_job job;
    uint8_t length;
    char text[GROUP_NAME_MOST];
};

/* -EINVAL: no, or too many bytes. Copies. */
CW_MUST_CHECK int group_name_make(struct group_name *out, cw_job job, const char *text, size_t length);
/* By job, then as memcmp() has it, the shorter before the longer. */
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
    struct group_entry *entry; /* by server */
    unsigned count, room;
};

struct group_table {
    struct group **group; /* by name */
    unsigned count, room, groups_most;
    unsigned entries, entries_most;
};

/* Zeroed but for the two bounds it is empty. */
void group_table_free(struct group_table *t);
/* A server's word. 0; -ESTALE it is older than what is known; -ENOSPC, -ENOMEM. flags 0 of whoever is not there is kept too (rule 2). */
CW_MUST_CHECK int group_table_update(struct group_table *t, const struct group_name *name, const struct group_entry *e);
/* What no longer counts goes. */
void group_table_expire(struct group_table *t, cw_time now);
/* Borrows until the table changes; NULL: nobody has said anything. */
const struct group *group_table_find(const struct group_table *t, const struct group_name *name);
/*
 * A walker for CHECK_SLOW. True; stops the program when groups or entries do not ascend, or are not counted right
 * ("groups G1").
 */
bool group_table_audit(const struct group_table *t);
/* Somebody is a member or keeps it. */
bool group_exists(const struct group *g, cw_time now);

#endif
