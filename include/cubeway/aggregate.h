/* SPDX-License-Identifier: Apache-2.0 */
/*
 * aggregate.h - vectors of numbers that the network combines on their way (CamCubeOS 6.2), for other services: what the
 * built-in service `aggregate` exports.
 *
 *     open        h->api = cw_find(s, "aggregate", CW_AGGREGATE_API, &peer);        NULL: it does not run here
 *                 h->api->open(peer, s, &h->aggregate);
 *     close       h->api->close(h->aggregate);
 *
 * Open it from a timer of no time, when all services are there.
 *
 * A reduction has a name, members, and a root. Every member calls reduce() with the same name, root, members, type,
 * operation and length, and lends its vector; the root calls it too, whether it is a member or not, and gets the
 * result. Between the calls no order is needed; who calls first waits for the others. With CW_REDUCE_TO_ALL every
 * member gets the result (allreduce); without elements that is a barrier: nobody returns before all have called.
 *
 * Guarantees
 *  - A result is the combination of exactly the contributors that it names, each counted once, or the reduction fails
 *    at the root with a reason. Nobody is counted twice, whatever dies, returns, or is cut off.
 *  - CW_REDUCE_TO_ALL: no two members succeed with different results: not a bit of them differs. A member succeeds only
 *    after every contributor that lives has the whole result (vectors above 1 KiB). So without CW_REDUCE_WITHOUT
 *    whoever has died meanwhile had the result, too, or the reduction failed; with CW_REDUCE_WITHOUT a contributor that
 *    has died may be named in a result that it never got.
 *  - done() is called exactly once at each member and at the root. It comes within the limit after the last progress,
 *    or earlier.
 *  - The order in which numbers meet is not fixed, but with CW_REDUCE_FIXED: sums of floating-point numbers may differ
 *    in their last bits from one run to the next.
 *  - Names belong to the job of the service that opened. A name is used for one reduction: the same name again is an
 *    error within a minute. reduce_scatter() and allgather() use one name for each member: their own, and behind it the
 *    member's number in four bytes, the lowest first. A reduce() of such a name is in their way.
 *  - Memory is bounded, however long the vector. Blocks take six windows for each reduction, and at most 256 MiB for
 *    all together (`totals` shows those). Besides, a result of more than 1 KiB that goes to all is sent in pieces of
 *    4 MiB: two of them at a time at the root, twice each, and what the service multicast holds at each member. The
 *    root of a reduction of at most 1 KiB keeps the vectors of all servers: 4 MiB at most.
 *
 * Threading: that of the server. Upcalls come from the upcalls of the service `aggregate`, and take() also from those
 * of `multicast`; never from inside a call of this interface (but cancel() and close()). In an upcall everything here
 * may be called but close().
 */
#ifndef CUBEWAY_AGGREGATE_H
#define CUBEWAY_AGGREGATE_H

#include "cubeway/service.h"

/* The type of a vector's numbers. The values are on the wire, and for ever. */
typedef enum cw_number {
    CW_NUMBER_FLOAT32 = 1,
    CW_NUMBER_FLOAT64 = 2,
    CW_NUMBER_BFLOAT16 = 3,
    CW_NUMBER_FLOAT16 = 4,
    CW_NUMBER_INT8 = 5,
    CW_NUMBER_INT16 = 6,
    CW_NUMBER_INT32 = 7,
    CW_NUMBER_INT64 = 8,
    CW_NUMBER_UINT8 = 9,
    CW_NUMBER_UINT16 = 10,
    CW_NUMBER_UINT32 = 11,
    CW_NUMBER_UINT64 = 12,
} cw_number;

/*
 * How elements at the same place of all vectors become one. The values are on the wire, and for ever.
 *
 * SUM, PROD   integers wrap, as C's unsigned integers do; bfloat16 and float16 are computed in float32 and rounded to
 *             the nearest, ties to even, wherever servers' parts meet
 * MIN, MAX    NaN when any is NaN; of zeros with unlike signs, either
 * MEAN        the sum, divided once by the number of contributors; floating point only
 * AND, OR, XOR  of the bits; integers only
 * MINLOC, MAXLOC  of elements that are a value and behind it an index, an unsigned integer of as many bytes: the least
 *             or greatest value with its index; of equal values, and of NaNs, the one of the least index. Types of 32
 *             and 64 bits.
 */
typedef enum cw_combine {
    CW_COMBINE_SUM = 1,
    CW_COMBINE_PROD = 2,
    CW_COMBINE_MIN = 3,
    CW_COMBINE_MAX = 4,
    CW_COMBINE_MEAN = 5,
    CW_COMBINE_AND = 6,
    CW_COMBINE_OR = 7,
    CW_COMBINE_XOR = 8,
    CW_COMBINE_MINLOC = 9,
    CW_COMBINE_MAXLOC = 10,
} cw_combine;

enum { CW_AGGREGATE_API = 1, CW_AGGREGATE_NAME_MAX = 64 };

enum {
    /*
     * When a contributor dies, the reduction begins again without it, and the result names those that are in it.
     * Members that have not called and are not in the root's view are waited for until nobody has called for 2 s.
     * Otherwise the reduction ends everywhere with -ECONNRESET when a contributor dies, and waits for members as long
     * as the limit.
     */
    CW_REDUCE_WITHOUT = 1,
    /* All members get the result, too. */
    CW_REDUCE_TO_ALL = 2,
    /*
     * With CW_REDUCE_TO_ALL: nothing is combined, and the result is the root's vector (broadcast). The root is a member
     * and has its vector in memory (`in`); the others give none, and have room for the result.
     */
    CW_REDUCE_FROM_ROOT = 4,
    /*
     * Parts meet in a fixed order: the same bits in every run of the same members, vectors and dims in which the same
     * servers were dead from the beginning to the end (`attempts` is 1). Memory is up to six windows more for a
     * server's children, and a slow tree holds up the others. Vectors of at most 1 KiB are always combined so.
     */
    CW_REDUCE_FIXED = 8,
    CW_REDUCE_FLAGS = 15, /* all of them */
};

/* In what two members disagree: cw_reduce_result.unlike. */
enum {
    CW_REDUCE_UNLIKE_TYPE = 1,
    CW_REDUCE_UNLIKE_COMBINE = 2,
    CW_REDUCE_UNLIKE_ELEMENTS = 4,
    CW_REDUCE_UNLIKE_FLAGS = 8,
    CW_REDUCE_UNLIKE_MEMBERS = 16,
    CW_REDUCE_UNLIKES = 31, /* all of them */
};

typedef struct cw_aggregate cw_aggregate; /* a service on one server that has opened the aggregation */

/* What is to be reduced. Copied by the call, apart from the vectors, which are borrowed until done(). */
typedef struct cw_reduce {
    size_t size;      /* CW_REDUCE_INIT */
    const char *name; /* name_length bytes of any kind, 1..CW_AGGREGATE_NAME_MAX */
    size_t name_length;
    cw_coord root;
    const cw_coord *member; /* 1..4,096 servers; they may repeat */
    unsigned members;
    cw_number type;
    cw_combine combine;
    uint64_t elements; /* of each vector; in bytes at most 64 GiB */
    unsigned flags;
    /*
     * The reduction ends with -ETIMEDOUT when nothing has moved for so long; 0: 30 s. At most 1 h. While a result goes
     * to all, the root's limit alone counts for a member that has a piece of it.
     */
    cw_span limit;
    /*
     * This member's vector: in memory, aligned for its type, or made when it is wanted: fill() writes the elements from
     * `first` on, to memory that is aligned. fill() may be asked for the same elements again, and must give the same.
     * Both NULL at a root that is no member. fill() and take() may call nothing of this interface.
     */
    const void *in;
    void (*fill)(void *context, uint64_t first, size_t count, void *elements);
    /*
     * At the root, and with CW_REDUCE_TO_ALL at every member: where the result goes, or a function that takes pieces of
     * it, in any order. When a reduction begins again pieces come again; what came last holds. After a failure it holds
     * nothing. Both NULL elsewhere. The root of a reduction to all has memory for it: `out`.
     */
    void *out;
    void (*take)(void *context, uint64_t first, size_t count, const void *elements);
    void *context; /* for fill() and take() */
} cw_reduce;
#define CW_REDUCE_INIT .size = sizeof(cw_reduce)

/* How a reduction ended. Borrowed for the upcall. */
typedef struct cw_reduce_result {
    size_t size;
    /*
     * 0: the root has the result.
     *   -ECONNRESET   a contributor or the root has died, or has left the reduction
     *   -ETIMEDOUT    nothing has moved for the limit: a member never called, or hangs
     *   -EINVAL       two members disagree on the type, the operation, the length, the flags or the members: `unlike`
     *   -EEXIST       the name was used before
     *   -ENOBUFS      a server on the way has no memory for it
     *   -ECANCELED    cancel() or close() at this server, or cancel() at the root
     *   -EOPNOTSUPP   the result is too long for a packet, and the service multicast, which takes it to all, does not
     *                 run at the root or at a member (`who`), or not for aggregate there: it was not loaded before it
     */
    int status;
    bool named; /* who says about which server the status is */
    cw_coord who;
    /* The contributors of the result, ascending; none when it failed. */
    const cw_coord *counted;
    unsigned count;
    unsigned attempts; /* 1: nothing was begun again. 0 where that is not known */
    unsigned unlike; /* with -EINVAL: in what `who` and `other`, the root, disagree: CW_REDUCE_UNLIKE_.. bits; else 0 */
    cw_coord other;
} cw_reduce_result;

typedef void (*cw_reduce_done_fn)(void *arg, const cw_reduce_result *result);

/*
 * A run of records (docs/services/streams.md). The words are those of the operators' command `aggregate run`, as
 * "from=feed:clicks", "map=kv", "combine=sum", "of=0,0,0", "to=0,0,0:clicks" or "to=-". Borrowed for the call.
 */
typedef struct cw_run {
    size_t size; /* CW_RUN_INIT */
    const char *const *word;
    unsigned words; /* at most CW_RUN_WORDS */
    /*
     * With to=-: pieces of the result, whole lines KEY TAB VALUE, ascending by key, each once; borrowed for the call.
     * When the run fails they hold nothing. May call nothing of this interface. NULL with any other target.
     */
    void (*take)(void *arg, const void *text, size_t length);
} cw_run;
#define CW_RUN_INIT .size = sizeof(cw_run)
enum { CW_RUN_WORDS = 64, CW_FEED_BYTES = 48 * 1024 };

/* How a run ended. Borrowed for the upcall. */
typedef struct cw_run_result {
    size_t size;
    /*
     * 0: the result is whole, of those that are counted, and (with to=-) take() had all of it. A run takes memory and
     * spool of the job of the service that has ordered it, on each server. What a job wants there beyond its limit ends
     * the run with
     *   -ENOSR   memory (option job_memory of the service aggregate)
     *   -EXFULL  spool (job_spool)
     *   -EUSERS  inputs, or results, that a job has at a time
     */
    int status;
    bool named; /* who says about which server the status is */
    cw_coord who;
    uint64_t limit;          /* with these three: that limit, of the job on that server */
    const cw_coord *counted; /* the contributors, ascending; none when it failed */
    unsigned count;
    uint64_t keys; /* of the result */
} cw_run_result;

typedef void (*cw_run_done_fn)(void *arg, const cw_run_result *result);
/* 0: the bytes were taken, or, of the last ones, a run has all of the feed. < 0: it has not, and the feed is over. */
typedef void (*cw_fed_fn)(void *arg, int status);

typedef struct cw_aggregate_api {
    size_t size;
    /* Borrows user until close(). -ENOMEM. */
    int (*open)(cw_svc *aggregate, cw_svc *user, cw_aggregate **out);
    /*
     * Ends what this service has under way with -ECANCELED, reported from inside this call: there the calls below but
     * cancel() give -ESHUTDOWN. NULL is allowed.
     */
    void (*close)(cw_aggregate *u);
    /*
     * Begins a reduction, and gives its ticket (> 0) for cancel(). done is called exactly once, later. -EINVAL: an
     * argument makes no sense; -EFBIG: the vector is too long; -EEXIST: this server is in a reduction of that name to
     * that root, or was within the last minute; -ENOBUFS: 16 reductions of this
     * service's job, or 32 of all, are under way here; -ENETUNREACH: the root is
     * not in view; -ENOMEM.
     */
    int64_t (*reduce)(cw_aggregate *u, const cw_reduce *reduce, cw_reduce_done_fn done, void *arg);
    /*
     * Ends this server's part: done is called with -ECANCELED before this returns. At the root the reduction ends for
     * all; elsewhere it goes on without this contributor, or fails, as its flags say. A vector of at most 1 KiB that is
     * at the root already is counted, and the result names it. -ENOENT: it has ended.
     */
    int (*cancel)(cw_aggregate *u, int64_t ticket);
    /*
     * Each member gets the combination of a share of all vectors: member k of n, in the order of `member`, the elements
     * from k * elements / n up to (k + 1) * elements / n, rounded down. The caller gives its whole vector (`in`) and
     * room for its share (`out`). root is not looked at; the caller is a member; no member is named twice; flags, fill
     * and take are 0; the name has at most 60 bytes. It fails when a member dies. A part of it that finds no room for
     * another reduction here waits for it. Otherwise as reduce().
     */
    int64_t (*reduce_scatter)(cw_aggregate *u, const cw_reduce *reduce, cw_reduce_done_fn done, void *arg);
    /*
     * Each member gets the vectors of all, one behind the other in the order of `member`: `elements` of each, at the
     * caller in `in`, and all of them in `out`. Type and operation say how long an element is. As reduce_scatter().
     */
    int64_t (*allgather)(cw_aggregate *u, const cw_reduce *reduce, cw_reduce_done_fn done, void *arg);
    /*
     * Orders a run, and gives its ticket (> 0) for cancel(), which ends it everywhere. done is called exactly once,
     * later. -EINVAL: the words are no run, or take does not fit them; -EBUSY: 8 runs of this
     * service's job, or 32 of all, were ordered here; -ENOMEM.
     */
    int64_t (*run)(cw_aggregate *u, const cw_run *run, cw_run_done_fn done, void *arg);
    /*
     * Hands bytes in, 1 to CW_FEED_BYTES of them, for a run from=feed:NAME of the same job that this server contributes
     * to; copies them. last: nothing follows, and then there may be none. fed is called exactly once, later, when a run
     * has taken them; until then nothing more is taken: -EBUSY, as when another service of this job feeds that name
     * here. A feed is of one run, and a service that closes before its last bytes were taken ends that run, or is left
     * out of it, as the run says. -EINVAL; -ENOSPC: 64 feeds of this job, or 128 of all, are open here; -ENOMEM; or why
     * the feed is over.
     */
    int (*feed)(cw_aggregate *u, const char *name, const void *bytes, size_t length, bool last, cw_fed_fn fed,
                void *arg);
} cw_aggregate_api;

#endif
