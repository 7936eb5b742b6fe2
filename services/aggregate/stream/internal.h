/* SPDX-License-Identifier: Apache-2.0 */
/*
 * internal.h - the structs of the sorted engine, and what its files may ask of one another.
 *
 *     stream.c     what comes in: packets, events, time; and who is told
 *     asker.c      at the server that was asked, the desk: words, the order, its rows
 *     muster.c     at the root: the order, and the contributors that prepare their inputs
 *     collector.c  at the root: attempts, partitions dealt to trees, the end
 *     result.c     at the root: what is whole of the result, and the file
 *     task.c       at a contributor: its input, mapped and sorted
 *     junction.c   one attempt at one server: its plan, and the partitions that are under way
 *     flow.c       one partition at one server: children's blocks and the own ones, merged into blocks for the parent
 *     letter.c     messages as bytes
 *
 * Lifetimes: junction_free() and collector_end() are called from the engine's entries only (a message of the port
 * `call`, an event, a timer, work that has ended), never from within the work on blocks: that leaves a note
 * (junction.broken, collector.finished) and asks for stream_soon().
 */
#ifndef SERVICES_AGGREGATE_STREAM_INTERNAL_H
#define SERVICES_AGGREGATE_STREAM_INTERNAL_H

#include "base/list.h"
#include "services/aggregate/dense/dense.h"
#include "services/aggregate/dense/plan.h"
#include "services/aggregate/order/host.h"
#include "services/aggregate/sorted/spool.h"
#include "services/aggregate/stream/best.h"
#include "services/aggregate/stream/letter.h"
#include "services/aggregate/stream/mutant.h"
#include "services/aggregate/stream/stream.h"
#include "services/transport/transport.h"

enum {
    STREAM_RUNS = 32,        /* tasks, and junctions, at a time on a server */
    STREAM_ASKERS = 8,       /* runs that were ordered at this server */
    STREAM_OPEN = 4,         /* partitions of a tree that are under way: with six trees 24 */
    STREAM_WINDOW = 2,       /* blocks of a partition above a child */
    STREAM_BLOCK = 64 << 10, /* bytes of a block, at most */
    STREAM_PARTITIONS = 96,  /* of a run, if nothing else is said */
    STREAM_FOLDER = 500,
    STREAM_ENDED = 64 /* cancels that are remembered */
};
#define STREAM_TICK CW_MS(50)
#define STREAM_ASK_EVERY \
    CW_MS(500)                  /* a contributor or junction asks the root so often whether the run is still there */
#define STREAM_STALL CW_MS(200) /* a root that has seen nothing move for so long asks everybody */
#define STREAM_PAUSE_FIRST CW_MS(2) /* between two attempts: doubled until a partition is whole */
#define STREAM_PAUSE_MOST CW_MS(250)
#define STREAM_LIMIT CW_SEC(30)
#define STREAM_PATIENCE CW_HOURS(24) /* for the answers to an order and to a preparation; who dies answers at once */
#define STREAM_MEMORY (UINT64_C(256) << 20)

enum stream_count {
    STREAM_COUNT_BEGUN,
    STREAM_COUNT_DONE,
    STREAM_COUNT_FAILED,
    STREAM_COUNT_ATTEMPTS,
    STREAM_COUNT_VOIDED,
    STREAM_COUNT_BLOCKS,
    STREAM_COUNT_BYTES,
    STREAM_COUNT_STALE,
    STREAM_COUNT_MALFORMED,
    STREAM_COUNTS,
};

struct stream {
    cw_svc *s;
    struct transport *edge, *call;
    struct torus torus;
    struct trees *trees;             /* made for the first run */
    const struct vectors_host *host; /* for results; NULL: there is none */
    char folder[STREAM_FOLDER];      /* "": none is set */
    struct spool spool;              /* its host reads inputs, too; it may be NULL there */
    cw_server self;
    uint64_t life; /* of this instance: drawn */
    uint32_t numbers;
    struct list tasks, junctions, collectors, askers;
    unsigned task_count, junction_count, asker_count;
    uint64_t memory, memory_most;
    cw_timer *tick, *soon;
    bool closing;
    cw_counter *counter[STREAM_COUNTS];
};

struct task;
struct source;
struct junction;
struct collector;
struct result;

/* ---- A contributor's input --------------------------------------------------------------------------------------- */

struct task *task_find(struct stream *st, const struct run_name *run);
/*
 * PREPARE has come: reads and sorts the input, and answers `reply` when that has ended. 0, or the status for the asker:
 * -EEXIST, -ENOBUFS, -EOPNOTSUPP (no folder is set), -EINVAL, -ENOMEM.
 */
CW_MUST_CHECK int task_begin(struct stream *st, const struct letter *l, const struct transport_reply_to *reply);
bool task_is_ready(const struct task *t);
/* Takes t, at once or when the work that is under way has ended, and its sources are closed. */
void task_drop(struct task *t);
void task_tick(struct task *t);
/* The root is gone, and so are its tasks; CW_SERVER_NONE: those of all. */
void task_root_down(struct stream *st, cw_server root);
/* Frees what is left; no work is under way any more. */
void task_close(struct stream *st);

/*
 * Reads a partition of a task, block after block, with work of cw_offload(). NULL: no memory. ready() is called, never
 * from within, when there is a block that source_block() gives.
 */
struct source *source_open(struct task *t, uint32_t partition, void (*ready)(void *arg), void *arg);
/* Takes the source. */
void source_close(struct source *s);
/*
 * Begins to read the next block; the one before is gone. 1: it is there at once, since all is in memory. 0: ready()
 * will be called. < 0: it will not.
 */
CW_MUST_CHECK int source_next(struct source *s);
/* The block that was read; *last: it is the last one. < 0: it cannot be read. */
CW_MUST_CHECK int source_block(const struct source *s, const uint8_t **bytes, size_t *size, bool *last);

/* ---- One partition at one server --------------------------------------------------------------------------------- */

struct flow;

/* Opens a partition. NULL: no memory. At the root nobody is above, and whatever is whole goes to the result. */
struct flow *flow_open(struct junction *j, cw_link tree, uint32_t partition);
/* Takes f: what it has under way is cancelled. */
void flow_free(struct flow *f);
cw_link flow_tree(const struct flow *f);
uint32_t flow_partition(const struct flow *f);
/* The parent has room for so many blocks in all. */
void flow_grant(struct flow *f, uint32_t granted);
/* A child's block. 0; -EPROTO: there is no room for it, or it has come before. */
CW_MUST_CHECK int flow_block(struct flow *f, const struct letter *l, cw_link child, const uint8_t *bytes, size_t size);
/* A GRANT to the child has been taken. */
void flow_told(struct flow *f, cw_link child);
/* Merges and sends what can be. */
void flow_pump(struct flow *f);
/* Everything was sent, and taken. */
bool flow_done(const struct flow *f);
/* What a flow of so many inputs keeps in memory. */
uint64_t flow_cost(unsigned inputs);

/* ---- One attempt at one server ----------------------------------------------------------------------------------- */

struct junction {
    struct list_node link;
    struct stream *st;
    struct run_name run;
    uint32_t attempt;
    uint32_t partitions;
    uint32_t each; /* bytes of a block, where no record is longer */
    struct plan plan;
    struct list flows;            /* struct flow, by its first member */
    unsigned open[CW_LINK_COUNT]; /* flows of a tree */
    uint64_t *opened;             /* partitions that were opened here in this attempt, a bit each */
    struct task *own;             /* NULL: this server contributes nothing */
    struct collector *collector;  /* NULL: this server is not the root */
    char combine[LETTER_WORD_MOST + 1];
    uint64_t cost;
    cw_time asked;
    bool broken; /* the attempt is void: nothing is done any more, and the root was told */
    int cause;   /* of that; and whom it is about */
    cw_server who;
    bool ending;
};

struct junction *junction_find(struct stream *st, const struct run_name *run);
/*
 * Begins an attempt as it was announced, instead of an earlier one of the same run. collector: at the root, else NULL.
 * -ESTALE: an old attempt, or the server has no task of this run; -EPROTO; -ENOBUFS, -ENETUNREACH.
 */
CW_MUST_CHECK int junction_begin(struct stream *st, const struct letter *l, struct collector *collector);
void junction_free(struct junction *j);
/* The attempt cannot be completed: the root is told, with the reason. */
void junction_break(struct junction *j, int cause, cw_server who);
/* Opens a partition at the root. < 0: it cannot be. */
CW_MUST_CHECK int junction_open(struct junction *j, cw_link tree, uint32_t partition);
/* Takes a child's block, and a parent's grant. The status for the sender. */
CW_MUST_CHECK int junction_block(struct stream *st, const struct letter *l, const uint8_t *bytes, size_t size,
                                 cw_server from);
CW_MUST_CHECK int junction_grant(struct stream *st, const struct letter *l, cw_server from);
/* A GRANT has ended. */
void junction_told(struct stream *st, const struct letter *l, cw_server to, int status);
/* Frees flows that are done. */
void junction_sweep(struct junction *j);
void junction_tick(struct junction *j);

/* ---- The root ---------------------------------------------------------------------------------------------------- */

enum collector_state {
    COLLECTOR_PREPARES,  /* contributors read their inputs */
    COLLECTOR_ANNOUNCES, /* servers of the plan have not answered */
    COLLECTOR_RUNS,
    COLLECTOR_PAUSES, /* until the next attempt */
    COLLECTOR_WRITES, /* the result is being written */
};

struct collector {
    struct list_node link; /* the first member */
    struct stream *st;
    struct run_name run;
    cw_server desk;
    struct transport_reply_to reply;
    struct wish wish;
    enum collector_state state;
    uint32_t attempt;
    uint32_t each;
    /* Sets: those that were named; of them those in the result; as the attempt has it; those that have not answered. */
    uint64_t *members, *counted, *dead, *involved, *silent;
    int64_t *request; /* by server: the transport's, of a preparation */
    struct junction *junction;
    struct result *result;
    unsigned awaited;
    uint64_t taken, taken_most; /* since a partition was whole: in this attempt, and the most in any */
    bool keep;                  /* what is whole has the contributors of this attempt */
    bool finished;              /* all partitions are whole */
    bool written;
    bool cancelled;
    int status; /* < 0: the run has failed, and ends with the next tick */
    cw_server who;
    cw_time began, moved, probed, next;
    cw_span pause;
    uint64_t *records; /* by server: of its input */
    uint64_t bytes;    /* of all inputs */
    unsigned refusals;
    struct refusal refusal[LETTER_REFUSALS_MOST];
};

struct collector *collector_of_run(struct stream *st, const struct run_name *run);
/* ORDER has come, a request. 0: it is answered later; else the status for the desk. */
CW_MUST_CHECK int collector_open(struct stream *st, const struct letter *l, cw_server desk,
                                 const struct transport_reply_to *reply);
/* Ends the run everywhere, tells the desk, and frees the collector. who: CW_SERVER_NONE for nobody. */
void collector_end(struct collector *c, int status, cw_server who);
void collector_cancel(struct stream *st, const struct letter *l, cw_server desk);
void collector_announced(struct collector *c, uint32_t attempt, cw_server from, int status);
void collector_probed(struct collector *c, uint32_t attempt, cw_server from, int status);
void collector_void(struct collector *c, uint32_t attempt, int status, cw_server who);
/* A server has left the view. */
void collector_down(struct collector *c, cw_server server);
/* A block of the result of a partition; at the last one it is whole. */
void collector_take(struct collector *c, uint32_t partition, const uint8_t *bytes, size_t size, bool last);
/* The result is written: 0; or it cannot be. */
void collector_written(struct collector *c, int status);
void collector_tick(struct collector *c);
/* When the collector wants its next tick, if it pauses; else STREAM_TICK from now. */
cw_span collector_due(const struct collector *c);
void collector_close(struct stream *st);

/* The first of a set; CW_SERVER_NONE: it is empty. */
cw_server collector_first(const struct collector *c, const uint64_t *set);
/* Something has moved: the limit begins anew. */
void collector_moved(struct collector *c);
void collector_free(struct collector *c);
/* A server has left the view while contributors prepare. */
void muster_down(struct collector *c, cw_server server);
/* Preparations that are under way are not waited for any more. */
void muster_forget(struct collector *c);

/* For operators. */
void collector_status(const struct collector *c, cw_request *r);

/* ---- The result -------------------------------------------------------------------------------------------------- */

/* Keeps the blocks of the run's partitions. NULL: no memory. */
struct result *result_open(struct stream *st, struct collector *c, const struct wish *w);
/* Takes r, at once or when the work that is under way has ended. */
void result_drop(struct result *r);
/* The next block of a partition. -ENOBUFS: it is more than the memory that is free here; -ENOMEM. */
CW_MUST_CHECK int result_put(struct result *r, uint32_t partition, const uint8_t *bytes, size_t size, bool last);
/* Forgets what has come of partitions that are not whole (aggregate rule 26). */
void result_cut(struct result *r);
bool result_whole(const struct result *r, uint32_t partition);
/* How many partitions are whole. */
uint32_t result_count(const struct result *r);
/* Keys and bytes that were written. */
uint64_t result_keys(const struct result *r);
uint64_t result_bytes(const struct result *r);
/* All partitions are whole: they become one file. collector_written() tells how that ended. */
void result_write(struct result *r);
/* The file is not wanted any more; collector_written() still tells how it ended. */
void result_give_up(struct result *r);

/* ---- The desk ---------------------------------------------------------------------------------------------------- */

int asker_command(struct stream *st, cw_request *r, int argc, const char *const *argv, uint32_t number);
int asker_cancel(struct stream *st, uint32_t number);
void asker_status(const struct stream *st, cw_request *r, bool *first);
void asker_close(struct stream *st);
/* Why a server could not do its part of a run, as a sentence without a full stop. Static. */
const char *asker_reason(int status);

/* ---- stream.c ---------------------------------------------------------------------------------------------------- */

/*
 * Sends a message by the port `call`; how it ended is told to whom it concerns. < 0: it was not sent, and nobody is
 * told anything.
 */
int stream_say(struct stream *st, cw_server to, const struct letter *l);
/* Answers a request. */
void stream_answer(struct stream *st, const struct transport_reply_to *reply, int status, const struct letter *l);
/* The tick runs while there is anything to do. */
void stream_wake(struct stream *st);
/* Calls collectors and junctions that left a note, from a timer of no time. */
void stream_soon(struct stream *st);
void stream_note(struct stream *st, enum stream_count which, uint64_t n);
size_t stream_words(const struct stream *st);
bool stream_sees(const struct stream *st, cw_server server);
/* Bytes of memory for a batch of the records of so many bytes of input; 0: there is no room for it. */
uint64_t stream_batch_bytes(const struct stream *st, uint64_t input);
void stream_set_remove(uint64_t *set, cw_server s);

#endif
