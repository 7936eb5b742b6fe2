/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store.h - values by name that are kept on several servers (CamCubeOS 5.2), for other services: what the built-in
 * service `store` exports.
 *
 *     api = cw_find(s, "store", CW_STORE_API, &peer);        NULL: it does not run here
 *     const cw_store_request r = {CW_STORE_REQUEST_INIT, .op = CW_STORE_PUT, .job = job, .name = "a", .name_length = 1,
 *                                 .value = "b", .value_length = 1};
 *     api->run(peer, &r, done, arg);
 *
 * Guarantees (docs/services/store.md has them in plain words, with what is not built yet)
 *  - Gets, puts and deletes of one name are linearizable: each takes effect at one instant between its call and its
 *    answer, in one order that all agree on. Two names are two histories.
 *  - A version is never used twice for one name, and grows with every write, also over delete and put again. It does
 *    not grow by one: compare for equality only.
 *  - What was acknowledged is on the disk of every member of the name's shard that was live and had missed nothing, at
 *    least of a majority, and survives a loss of power of all, and the loss of fewer than half of the disks that count.
 *    In a store in memory it is in their memory, and survives the death of fewer than half of them, no loss of power.
 *  - Every status but CW_STORE_UNKNOWN is definite: a write that ended otherwise than CW_STORE_OK was not done and
 *    never will be. UNKNOWN: it was done, or will be once, or never; never twice.
 *  - A list reads each name of its page at some instant of its own between the call and the answer, as a get would: a
 *    name that has a value throughout is listed once, one that has none throughout is not. It is no picture of one
 *    instant, and never a part: when one shard cannot be read, it fails.
 *  - A value that was put with a ttl goes by itself, as if deleted: not before so long after its members had it, which
 *    is before the answer comes, and soon then, by the clock of the server that leads its shard; whoever comes to lead
 *    next begins to count anew.
 *  - Who watches is told of the last state of every name, in the order of versions: states that were overwritten before
 *    may be left out, none is told as the last one that is not. When the leader changes, all is told again.
 *  - A transaction is done as a whole or not at all, at one instant between its call and its answer: its guards hold
 *    then, its gets tell what was there right before, and its puts and deletes are there right after. Whoever reads one
 *    of its changes and asks for another name of it afterwards meets that change, too.
 *  - A job sees its own names only.
 *
 * Threading: that of the server. done() is called exactly once for each run() that gave 0, never from inside run(), and
 * may call everything here.
 */
#ifndef CUBEWAY_STORE_H
#define CUBEWAY_STORE_H

#include "cubeway/service.h"

#define CW_STORE_API 1

enum {
    CW_STORE_NAME_MAX = 1024,
    CW_STORE_VALUE_MAX = 4 << 20,
    CW_STORE_LIST_MAX = 1000, /* names in a page */
    CW_STORE_TTL_MAX_S = 2592000,
    CW_STORE_TAG_MAX = 1020, /* bytes of the {tag} of a transaction, without the braces */
    CW_STORE_TXN_GUARDS_MAX = 16,
    CW_STORE_TXN_STEPS_MAX = 16,
    CW_STORE_TXN_VALUE_MAX = 4096, /* bytes of a value that a transaction puts */
};

typedef enum cw_store_op {
    CW_STORE_GET = 1,
    CW_STORE_HEAD = 2, /* as GET, without the value's bytes */
    CW_STORE_PUT = 3,
    CW_STORE_DELETE = 4,
} cw_store_op;

typedef enum cw_store_status {
    CW_STORE_OK = 0,
    CW_STORE_NOT_FOUND = 1,
    CW_STORE_CONFLICT = 2,  /* the version there is another: in the result; 0: there is no value */
    CW_STORE_NO_SPACE = 3,  /* a member's memory or disk is full: nothing was done; deletes still go */
    CW_STORE_DENIED = 4,    /* no privilege for the store's port */
    CW_STORE_TOO_LARGE = 5, /* the value is longer than CW_STORE_VALUE_MAX */
    CW_STORE_NO_QUORUM = 6, /* no majority of the shard's members answers: nothing was done */
    CW_STORE_BUSY = 7,      /* too much waits already: nothing was done */
    CW_STORE_NO_STORE = 8,  /* no server knows of a store: it has to be created first */
    CW_STORE_NO_ANSWER = 9, /* nobody answered in time; nothing was done */
    CW_STORE_UNKNOWN = 10,  /* of a write: nobody knows */
    CW_STORE_QUOTA = 11,    /* the job holds as much as it may: nothing was done; what does not grow still goes */
    CW_STORE_STATUSES,
} cw_store_status;

typedef struct cw_store_request {
    size_t size; /* CW_STORE_REQUEST_INIT */
    cw_store_op op;
    cw_job job;       /* whose name it is */
    const void *name; /* 1..CW_STORE_NAME_MAX bytes, any. Names that begin with the same {tag} share a shard */
    size_t name_length;
    const void *value; /* PUT: 0..CW_STORE_VALUE_MAX bytes; may be NULL when there are none */
    size_t value_length;
    uint32_t flags;   /* PUT: kept beside the value, for the user */
    bool conditional; /* PUT, DELETE: only if the version there is `version`; */
    uint64_t version; /* 0: only if there is no value (insert) */
    cw_span timeout;  /* until when an answer is of use; 0: 5 s, with a value that fits no packet 30 s; at most 1 h */
    cw_span ttl;      /* PUT: the value goes after so long, whole milliseconds, at most 30 days; 0: it stays */
} cw_store_request;
#define CW_STORE_REQUEST_INIT .size = sizeof(cw_store_request)

typedef struct cw_store_result {
    size_t size;
    cw_store_status status;
    /* OK: of the value read, or of the write. CONFLICT: the one there. NOT_FOUND: of the delete; 0: there never was */
    uint64_t version;
    uint32_t flags;       /* GET and HEAD */
    const uint8_t *value; /* GET: borrowed for the call */
    size_t value_length;  /* GET and HEAD */
} cw_store_result;

typedef void (*cw_store_done)(void *arg, const cw_store_result *result);

/* Asks for names in the order of memcmp(); of two of which one begins the other the shorter one comes first. */
typedef struct cw_store_list {
    size_t size;        /* CW_STORE_LIST_INIT */
    cw_job job;         /* whose names */
    const void *prefix; /* 0..CW_STORE_NAME_MAX bytes that they begin with; with a {tag} one shard is asked, else all */
    size_t prefix_length;
    const void *after; /* only names behind this one, which begins with the prefix: the last one of the page before; */
    size_t after_length; /* 0: from the first one on */
    unsigned limit;      /* names at most, 1..CW_STORE_LIST_MAX; 0: the most */
    cw_span timeout;     /* as of a request */
} cw_store_list;
#define CW_STORE_LIST_INIT .size = sizeof(cw_store_list)

typedef struct cw_store_entry {
    const uint8_t *name;
    size_t name_length;
    uint64_t version;
    uint32_t flags;
    size_t value_length;
} cw_store_entry;

typedef struct cw_store_page {
    size_t size;
    cw_store_status status;      /* NO_QUORUM, NO_ANSWER, ...: of a shard that could not be read; there are no names */
    const cw_store_entry *entry; /* borrowed for the call, with all names */
    size_t count;
    bool more; /* there may be names behind the last one: it is the `after` of the next page */
} cw_store_page;

typedef void (*cw_store_list_done)(void *arg, const cw_store_page *page);

/* Up to where a watcher has been told. All zero: nothing yet. Only to be given back. */
typedef struct cw_store_cursor {
    uint64_t word[3];
} cw_store_cursor;

typedef struct cw_store_watch {
    size_t size;      /* CW_STORE_WATCH_INIT */
    cw_job job;       /* whose names */
    const void *name; /* 1..CW_STORE_NAME_MAX bytes: a name, or what names begin with: then with a whole {tag} */
    size_t name_length;
    bool prefix;
    cw_store_cursor cursor;
    cw_span timeout; /* how long a change is waited for; as of a request */
} cw_store_watch;
#define CW_STORE_WATCH_INIT .size = sizeof(cw_store_watch)

typedef struct cw_store_change {
    cw_store_entry entry; /* of what is there; value_length 0 when it was deleted */
    bool deleted;
} cw_store_change;

typedef struct cw_store_changes {
    size_t size;
    cw_store_status status;        /* OK with no change: there was none in time */
    const cw_store_change *change; /* borrowed for the call, by rising version */
    size_t count;
    cw_store_cursor cursor; /* for the next call; of a status that is not OK the one that was given */
} cw_store_changes;

typedef void (*cw_store_watch_done)(void *arg, const cw_store_changes *changes);

/* What has to hold for a transaction. */
typedef enum cw_store_guard_kind {
    CW_STORE_IF_VERSION = 1, /* the name has a value, of that version */
    CW_STORE_IF_ABSENT = 2,  /* it has none */
    CW_STORE_IF_EXISTS = 3,  /* it has one */
} cw_store_guard_kind;

typedef struct cw_store_guard {
    cw_store_guard_kind kind;
    const void *name;
    size_t name_length;
    uint64_t version; /* IF_VERSION: not 0 */
} cw_store_guard;

/* What a transaction does. A name is put or deleted by one step at most, and may be got as well. */
typedef struct cw_store_step {
    cw_store_op op; /* GET, PUT or DELETE; deleting what is not there changes nothing, and is no failure */
    const void *name;
    size_t name_length;
    const void *value; /* PUT: 0..CW_STORE_TXN_VALUE_MAX bytes */
    size_t value_length;
    uint32_t flags; /* PUT, as is ttl: as of a request */
    cw_span ttl;
} cw_store_step;

typedef struct cw_store_txn {
    size_t size; /* CW_STORE_TXN_INIT */
    cw_job job;  /* whose names */
    /* All names begin with the same whole {tag}, which has at most CW_STORE_TAG_MAX bytes. */
    const cw_store_guard *guard;
    unsigned guards; /* 0..CW_STORE_TXN_GUARDS_MAX */
    const cw_store_step *step;
    unsigned steps;  /* 1..CW_STORE_TXN_STEPS_MAX */
    cw_span timeout; /* as of a request */
} cw_store_txn;
#define CW_STORE_TXN_INIT .size = sizeof(cw_store_txn)

/* What came of a step of a transaction that was done. */
typedef struct cw_store_got {
    /*
     * OK; of a GET also NOT_FOUND; of GET and DELETE also UNKNOWN: the transaction was done, its answer was lost, and
     * by the time that it was asked for again the name had been written.
     */
    cw_store_status status;
    uint64_t version; /* GET: of what was there; PUT: of what is there now; DELETE: its own, 0 if nothing was there */
    uint32_t flags;   /* GET, as are the value and its length */
    const uint8_t *value;
    size_t value_length;
} cw_store_got;

typedef struct cw_store_outcome {
    size_t size;
    cw_store_status status;  /* OK: all of it was done. CONFLICT: a guard does not hold. TOO_LARGE: of what it gets */
    unsigned which;          /* CONFLICT: the first guard that does not hold; */
    uint64_t version;        /* the version that its name has, 0: no value */
    const cw_store_got *got; /* OK: one for each step, borrowed for the call */
    unsigned count;
} cw_store_outcome;

typedef void (*cw_store_txn_done)(void *arg, const cw_store_outcome *outcome);

typedef struct cw_store_api {
    size_t size;
    /*
     * Asks. Borrows the request for the call. 0: done() will be called. -EINVAL: the request makes no sense (a name of
     * 0 or more than 1,024 bytes, a value for what takes none); -EMSGSIZE: the value is too long; -ENOBUFS: 65,536
     * questions, or 64 MiB of their values, wait at this server; -ENOMEM; -ESHUTDOWN.
     */
    int (*run)(cw_svc *store, const cw_store_request *request, cw_store_done done, void *arg);
    /*
     * Lists names; done() as of run(), one page. -EINVAL: a prefix or a name of more than 1,024 bytes, an `after` that
     * does not begin with the prefix, a limit above 1,000; -ENOBUFS: 4 lists are under way at this server; the others
     * as of run(). A list without a {tag} asks each shard of the torus once, 48 for each server.
     */
    int (*list)(cw_svc *store, const cw_store_list *list, cw_store_list_done done, void *arg);
    /*
     * Waits for changes behind the cursor; done() as of run(), once for each call: a stream is a chain of calls, each
     * with the cursor of the one before. Without a cursor the values that are there are told at once. -EINVAL: no name,
     * or a prefix without a whole {tag}; -ENOBUFS: 64 watches wait at this server; the others as of run().
     */
    int (*watch)(cw_svc *store, const cw_store_watch *watch, cw_store_watch_done done, void *arg);
    /*
     * Does all steps if all guards hold, or nothing; done() as of run(). Borrows it for the call. -EINVAL: it makes no
     * sense (no {tag} or another one, no step, a name put or deleted twice, a value for what takes none, too many);
     * -EMSGSIZE: a value has more than CW_STORE_TXN_VALUE_MAX bytes; the others as of run(). NULL when `size` ends
     * before it.
     */
    int (*txn)(cw_svc *store, const cw_store_txn *txn, cw_store_txn_done done, void *arg);
} cw_store_api;

#endif
