/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tallies.h - the feeds of a server, by name. A feed lives as long as somebody goes on feeding it: each piece of lines
 * says for how long it is to be kept behind it. Several programs may feed one.
 */
#ifndef SERVICES_AGGREGATE_QUERY_TALLIES_H
#define SERVICES_AGGREGATE_QUERY_TALLIES_H

#include "cubeway/time.h"
#include "services/aggregate/query/tally.h"

enum { TALLIES_MOST = 64, TALLIES_NAME = 31 };

struct tallies {
    cw_server at;
    struct tallies_feed {
        char name[TALLIES_NAME + 1]; /* "": free */
        struct tally *tally;
        cw_time until;
    } feed[TALLIES_MOST];
};

/* True when a feed may be called so: 1 to TALLIES_NAME of a-z A-Z 0-9 _ -. (A dot is in all other sources' names.) */
bool tallies_name_valid(const char *name);
void tallies_open(struct tallies *t, cw_server at);
void tallies_close(struct tallies *t);
/*
 * Counts the lines of bytes, each of which ends with a newline (the last one may lack it), for the feed of that name,
 * which is made when it is not there, and lives until `until` at least. No bytes: it only lives on. 0; -ENOSPC:
 * there are 64 feeds; -ENOMEM. The name is valid.
 */
CW_MUST_CHECK int tallies_take(struct tallies *t, const char *name, const char *bytes, size_t length, cw_time until);
/* Frees those whose time has come. */
void tallies_sweep(struct tallies *t, cw_time now);
/* NULL: there is no such feed. The name need not end in a NUL. */
const struct tally *tallies_find(const struct tallies *t, const char *name, size_t length);
/* When tallies_sweep() is due; CW_NEVER: there are no feeds. */
cw_time tallies_wake(const struct tallies *t);

#endif
