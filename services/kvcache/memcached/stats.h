/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stats.h - what the front end of one server counts, and how memcached's `stats` shows it. It counts what its own
 * clients did, not what the cache holds: `cwctl kv stats` shows that.
 */
#ifndef SERVICES_KVCACHE_MEMCACHED_STATS_H
#define SERVICES_KVCACHE_MEMCACHED_STATS_H

#include "services/kvcache/kvcache.h"
#include "services/kvcache/mc_config.h"
#include "services/kvcache/memcached/buffer.h"

/* Reset by `stats reset`, but for what is there now. */
struct mc_tally {
    uint64_t gets, hits, misses; /* look-ups, touching ones too */
    uint64_t from_here, from_copy, from_root;
    uint64_t sets; /* all that carry a value */
    uint64_t touches, touched;
    uint64_t deletes, deleted;
    uint64_t incrs, incred, decrs, decred;
    uint64_t cas_hits, cas_misses, cas_bad;
    uint64_t flushes;
    uint64_t failed; /* operations that ended in none of memcached's results */
    uint64_t bytes_read, bytes_written;
    uint64_t connections_came, connections_refused, idle_kicks, slow_kicks;
};

/* What a `stats` shows besides. */
struct mc_facts {
    const struct mc_config *config;
    cw_span uptime;
    int64_t unix_seconds;
    unsigned connections;
    size_t answers; /* bytes that clients have not taken yet */
    long pid;
    int64_t user_us, system_us; /* of the process */
};

void mc_tally_count(struct mc_tally *t, enum kv_op op, const struct kv_result *r);
void mc_tally_reset(struct mc_tally *t);

/* Writes the lines for `stats WHAT` and END (RESET); an unknown one is an ERROR. False: no memory. */
CW_MUST_CHECK bool mc_stats_write(const char *what, size_t length, struct mc_tally *t, const struct mc_facts *facts,
                                  struct mc_buffer *out);

/* What `version` says: the memcached whose protocol this is, and ours. */
extern const char mc_version[], mc_version_line[];

#endif
