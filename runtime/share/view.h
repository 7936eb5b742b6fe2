/* SPDX-License-Identifier: Apache-2.0 */
/*
 * view.h - which servers are there, as a daemon shows it to its processes: both views, a bit a server, with their epoch
 * and the end of the lease.
 *
 * More than a word, so it has a number before it that is odd while the daemon writes: a seqlock. Who reads an even
 * number, then the rest, and then the same number again, has read one instant (Boehm, "Can Seqlocks Get Along With
 * Programming Language Memory Models?", MSPC 2012). The reader tries a bounded number of times: a daemon that died
 * while it wrote leaves an odd number for ever.
 */
#ifndef SHARE_VIEW_H
#define SHARE_VIEW_H

#include "cubeway/time.h"
#include "cubeway/types.h"
#include "share/layout.h"
#include "share/shared.h"

enum { SHARE_VIEW_TRIES = 64 };

enum share_view_flag {
    SHARE_VIEW_FENCED = 1, /* this server may not speak for keys now */
};

struct share_view {
    uint32_t flags;
    uint64_t epoch;
    cw_time lease_until;
    uint64_t committed[SHARE_VIEW_WORDS];
    uint64_t optimistic[SHARE_VIEW_WORDS];
};

/* The daemon's side. The number is its own; nothing is read back. */
struct share_view_writer {
    struct share_out com;
    uint32_t number;
};

void share_view_writer_open(struct share_view_writer *w, const struct share_out *com);
void share_view_publish(struct share_view_writer *w, const struct share_view *v);

/* The process's side: 0, or -EAGAIN: the daemon was writing all the time. *out is set with 0 only. */
CW_MUST_CHECK int share_view_read(const struct share_in *com, struct share_view *out);
/* The epoch alone, one load: has anything changed? Of the instant of some publishing, or between two. */
uint64_t share_view_epoch(const struct share_in *com);

static inline bool share_view_has(const uint64_t set[static SHARE_VIEW_WORDS], cw_server server)
{
    return server < SHARE_SERVERS_MOST && (set[server / 64] >> server % 64 & 1) != 0;
}

#endif
