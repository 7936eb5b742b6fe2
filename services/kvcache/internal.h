/* SPDX-License-Identifier: Apache-2.0 */
/*
 * internal.h - the state of one instance of the cache, and a tour of its files. Only services/kvcache includes it, and
 * tests.
 *
 * Each file below has a header with what the others may call; arrows run down, but for reader and root, which answer
 * one another's questions when asker and root are the same server, and for reader and copies (a fetch is a question).
 *
 *   kvcache.c     the service's table: packets, messages and events go to the files below
 *   command.c     what operators ask; overview.c, of all servers at once
 *   survey.c      a question to all servers; report.c, what each of them answers
 *   flush.c       all values of a job dropped, on all servers (kvcache rules 15 to 17)
 *   reader.c      the asker's side: where a question goes, how often, until when (kvcache rule 10)
 *   root.c        the root's side: values, order, copies taken back before a write (kvcache rules 1, 3, 6, 9 and 11)
 *   copies.c      fetched copies: served, kept, poisoned, taken back (kvcache rules 2, 4, 5, 7 and 8)
 *   rpc.c         asks and answers on their way, by calls or by the transport
 *   sweep.c       values and copies that are as good as gone, and their memory
 *   authority.c   may this server speak for a key? (kvcache rules 4 to 8 and 12 to 14)
 *   walk.c        what is true of all these tables between two upcalls: CHECK_SLOW in debug and sanitizer builds
 *   common.c      what all of these use: counts, names, status words
 *   dedup, limits, mc_config, upload: tables and settings without a network
 *   data/         requests and frames, op and apply (what an operation makes of a value), items, holders, hot
 *
 * docs/services/kvcache.md has the rules, a drawing of a request's way, and an order in which to read the files.
 */
#ifndef SERVICES_KVCACHE_INTERNAL_H
#define SERVICES_KVCACHE_INTERNAL_H

#include "services/kvcache/data/frames.h"
#include "services/kvcache/data/holders.h"
#include "services/kvcache/data/hot.h"
#include "services/kvcache/dedup.h"
#include "services/kvcache/kvcache.h"
#include "services/kvcache/limits.h"
#include "services/kvcache/mutant.h"
#include "services/reply/download.h"
#include "services/reply/upload.h"
#include "services/transport/transport.h"

/* Bounds of one instance. */
enum {
    KV_PORT = 0,
    KV_BULK_PORT = 1,
    /* Questions asked at this server and not answered yet: how many, and their bytes with keys and values. */
    KV_QUESTIONS_MOST = 65536,
    KV_QUESTION_BYTES_MOST = 64 << 20,
    /* Writes remembered at this root (kvcache rule 11). */
    KV_DEDUP_MOST = 65536,
    /* Keys of this root with copies out. */
    KV_HELD_KEYS_MOST = 65536,
    /* Writes of one key that wait until its copies are back: how many, and their bytes. */
    KV_WAITING_MOST = 1024,
    KV_WAITING_BYTES_MOST = 16 << 20,
    /* The same bytes, of all keys together. */
    KV_WAITING_ALL_BYTES_MOST = 64 << 20,
    /* How long a holder stays registered, in ms: the longest life of a copy, and room for the drift of clocks. */
    KV_REGISTERED_MS = KV_AGE_MOST_MS + 1000,
    /* Chains of the table of fetches. */
    KV_FETCH_CHAINS = 256,
    /* Jobs whose values can be cut at one time (sweep.h). */
    KV_CUTS_MOST = 16,
    /* Changes of the view that are told apart while they are not calm. */
    KV_CALM_MARKS = 20,
};

enum kv_counter {
    KV_COUNT_GETS,
    KV_COUNT_WRITES,
    KV_COUNT_HITS_HERE,
    KV_COUNT_HITS_COPY,
    KV_COUNT_HITS_ROOT,
    KV_COUNT_MISSES,
    KV_COUNT_ROOT_GETS,
    KV_COUNT_ROOT_WRITES,
    KV_COUNT_SERVED_COPY,
    KV_COUNT_FETCHES,
    KV_COUNT_POISONED,
    KV_COUNT_DROPS,
    KV_COUNT_MOVED,
    KV_COUNT_RETRIES,
    KV_COUNT_REPEATED,
    KV_COUNT_UNKNOWN,
    KV_COUNT_TIMED_OUT,
    KV_COUNT_BULK,
    KV_COUNT_FLUSHES,
    KV_COUNT_MALFORMED,
    KV_COUNTS,
};

/* How long a question took, by what was asked and where it was answered. */
enum kv_time {
    KV_TIME_GET_HERE,
    KV_TIME_GET_COPY,
    KV_TIME_GET_ROOT,
    KV_TIME_MISS,
    KV_TIME_SET,
    KV_TIME_DELETE,
    KV_TIME_OTHER,
    KV_TIMES
};

/* The values of a job (KV_EVERY_JOB: of each job) whose cas is at most this one are as good as gone. */
enum { KV_EVERY_JOB = 0 };
struct kv_cut {
    cw_job job;
    uint64_t cas;
};

/* The latest rounds of a flush that an instance on another server asked this one for, by its numbers. */
struct flush_seen {
    uint64_t instance, cut, renewed;
};

/* Changes of the view, up to that epoch, that are calm from `ready` on (kvcache rules 14 and 18). */
struct kv_calm {
    uint64_t epoch;
    cw_time ready;
    cw_time first; /* when the first of these changes would be calm alone */
};

struct kvcache {
    cw_svc *svc;
    cw_server self;
    uint32_t servers;
    uint64_t instance; /* of this instance: drawn when it opens, never 0 */
    uint64_t cas;      /* the last one given to a value: drawn when it opens, then counts up */
    uint64_t number;   /* of the last write asked for at this server */
    struct kv_limits limits;
    struct transport *transport;
    bool closing;

    /* authority.c */
    unsigned reach;         /* of this many links: farther servers do not count for the majority (kvcache rule 18) */
    bool sure;              /* more than half of all servers are within reach */
    cw_timer *settling;     /* runs while this server is of the majority and not settled yet */
    cw_time settles;        /* when `settling` is due */
    bool settled;           /* kv_settled() looks at the view of the moment, too */
    uint64_t settled_epoch; /* the epoch in which it became settled */
    cw_timer *calming;      /* runs while some change of the view is not calm */
    uint64_t calm_epoch;    /* every change up to this epoch is calm */
    struct kv_calm calm[KV_CALM_MARKS]; /* the changes since then, each entry later than the one before it */
    unsigned calms;                     /* entries of calm[] */
    uint64_t *left;   /* of each server: kv_is_gone() waits until this epoch is calm; 0: for nothing */
    bool lost;        /* left[] has entries that authority_review() must look at */
    uint8_t *missing; /* lent to holes_largest(), for each server */
    cw_server *order; /* the same */
    cw_time quiet;    /* until then no writes as root: a former instance may have holders (kvcache rule 17) */

    /* root.c */
    struct items values;
    struct holders holders;
    struct dedup dedup;
    struct list waiting;  /* held keys for which writes wait, by held_key.waiting */
    size_t waiting_bytes; /* of all these writes */
    cw_timer *root_timer; /* while writes wait: the next root_review() */

    /* copies.c */
    struct items copies;
    uint32_t generation; /* of copies: those of another generation are never served (kvcache rule 16) */
    struct list fetches[KV_FETCH_CHAINS]; /* questions that fetch, by question.fetch */

    /* reader.c */
    struct list questions; /* reads asked for here that are not answered, by question.node */
    struct list writes;    /* and writes, in the order of their numbers */
    size_t question_count, question_bytes;
    uint64_t *instances; /* of each other server, as it last answered; 0: not known */

    /* flush.c */
    struct list flushes; /* asked for here and not over */
    unsigned flush_count;
    uint64_t flush_number;   /* of the last one */
    struct flush_seen *seen; /* of each server */
    cw_timer *flush_timer;

    /* sweep.c */
    struct kv_cut cut[KV_CUTS_MOST];
    unsigned cuts;
    cw_timer *sweep;
    bool sweeping_copies; /* the sweep has come to the copies; before, it looks at values */
    size_t sweep_at;      /* cursor of items_sweep_some() */

    cw_timer *expiry;    /* every second: kvcache.c */
    uint64_t walk_steps; /* walk.c: of the last walk, less what upcalls have paid for since */
    struct hot hot;
    struct uploads uploads; /* of operators */
    struct downloads downloads;
    uint64_t count[KV_COUNTS]; /* for `kv stats`: a counter cannot be read */
    cw_counter *counter[KV_COUNTS];
    cw_histogram *took[KV_TIMES];
};

#endif
