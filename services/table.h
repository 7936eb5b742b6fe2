/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table.h - is the table that a service brings one that a server can run? Asked of linked-in and of loaded services
 * alike.
 */
#ifndef SERVICES_TABLE_H
#define SERVICES_TABLE_H

#include "cubeway/service.h"
#include "keyspace/torus.h"

enum {
    TABLE_NAME_MAX = 31,
    TABLE_BUILTIN_JOBS = 1024, /* below it, jobs are of built-in services */
    TABLE_INSTANCES = 8,       /* that a host opens at most, of all tables together */
    TABLE_WHY_BYTES = 256,
    TABLE_EXPECTED = 64,
    TABLE_REFUSAL = 512,
};

/* TABLE_INSTANCE: a table, built-in or loaded, that the host opens again with another job and name. */
enum table_origin { TABLE_BUILTIN, TABLE_LOADED, TABLE_INSTANCE };

/*
 * 0, or -EPROTO (made for another API), -EINVAL (anything else); why[] then says in one sentence what is wrong and what
 * is expected ("job 7 belongs to built-in services: a loaded one takes 1024 or above"), and is "" otherwise. Reads
 * table->size before anything behind it. A table longer than ours is good as long as what we do not know of it is zero.
 */
CW_MUST_CHECK int table_check(const cw_service *table, enum table_origin origin, char why[static TABLE_WHY_BYTES]);

/*
 * Fills *out with the table once more, with that job, 1,024 or above, and that name, which is borrowed for the
 * instance's life: a network of its own. `open` says how many instances the host has opened already. 0, -ENOSPC
 * (TABLE_INSTANCES are open), or as table_check(), with the sentence in why[].
 */
CW_MUST_CHECK int table_instance(const cw_service *table, cw_job job, const char *name, unsigned open, cw_service *out,
                                 char why[static TABLE_WHY_BYTES]);

/* The commands that a table which has passed table_check() declares; NULL: none. */
const cw_command *table_commands(const cw_service *table);

/* The declared command that the words begin with, the longest one, in *used how many words that are; NULL: none. */
const cw_command *table_command(const cw_command *commands, int argc, const char *const *argv, int *used);

/*
 * How many words must follow the command at least: what stands in brackets may be left out. "SERVER [count=N]" gives 1.
 */
int table_least(const cw_command *command);

/*
 * The first of the words behind the command that its declaration has no place for: one word too many, one that is none
 * of the words that are to choose from ("on|off"), or no server of the torus where SERVER stands. -1: there is none.
 * *expected becomes what would fit, cut to the room: what stands there in the declaration, or "a server of this torus
 * .."; "": nothing. What other words in capitals stand for, and options ("name=VALUE"), the service itself looks at.
 */
int table_misfit(const cw_command *command, const struct torus *torus, int argc, const char *const *argv,
                 char expected[static TABLE_EXPECTED]);

/*
 * Are the words a command that the service declares, and do they fit the declaration? 0, also of a service that
 * declares none; -EINVAL: why[] says what is wrong and what is right. What every host asks before it gives a service
 * somebody's command.
 */
CW_MUST_CHECK int table_accepts(const cw_service *table, const struct torus *torus, int argc, const char *const *argv,
                                char why[static TABLE_REFUSAL]);

#endif
