/* SPDX-License-Identifier: Apache-2.0 */
/*
 * internal.h - the structs of the sorted engine, and what its files may ask of one another.
 *
 *     stream.c     what comes in: packets, events, time; and who is told
 *     asker.c      at the server that was asked: commands, and the rows of the answer
 *     wording.c    there too: the words of a run
 *     patron.c     runs that services of this server order
 *     lead.c       there too: the lead of a run: rounds, the roots, their names, the end
 *     path.c       over trees, or past them: what is faster
 *     muster.c     there too: the contributors that prepare their inputs
 *     heir.c       there too: who reads a copy of the input of a server that is gone
 *     collector.c  at a root: the beginning and the end of its run
 *     attempt.c    there too: attempts, and partitions dealt to trees
 *     result.c     at a root: what is whole of the result, and the file
 *     prefix.c     there too: what has come of one partition, and where the next attempt goes on
 *     copy.c       a result that goes to others, too: at its root, and where it is written as well
 *     task.c       at a contributor: its input, mapped and sorted
 *     source.c     there too: the records of one partition of it
 *     account.c    what the runs of a job hold here, and may
 *     intake.c     there too: inputs that programs and services hand in
 *     junction.c   one attempt at one server: its plan, and the partitions that are under way
 *     flow.c       one partition at one server: children's blocks and the own ones, merged into blocks for the parent
 *     held.c       there too: blocks that are not full do not wait for long
 *     functions.c  modules of own functions
 *     sets.c       sets of servers
 *     letter.c     messages as bytes
 *
 * Lifetimes: junction_free(), collector_end() and lead_end() are called from the engine's entries only (a message of
 * the port `call`, an event, a timer, work that has ended), never from within the work on blocks: that leaves a note
 * (junction.broken, collector.finished) and asks for stream_soon(). A lead ends with a tick only.
 */
#ifndef SERVICES_AGGREGATE_STREAM_INTERNAL_H
#define SERVICES_AGGREGATE_STREAM_INTERNAL_H

#include "base/list.h"
#include "services/aggregate/dense/dense.h"
#include "services/aggregate/dense/plan.h"
#include "services/aggregate/order/host.h"
#include "services/aggregate/sorted/spool.h"
#include "services/aggregate/stream/account.h"
#include "services/aggregate/stream/best.h"
#include "services/aggregate/stream/intake.h"
#include "services/aggregate/stream/letter.h"
#include "services/aggregate/stream/mutant.h"
#include "services/aggregate/stream/prefix.h"
#include "services/aggregate/stream/stream.h"
#include "services/transport/transport.h"

enum {
    STREAM_TASKS = 64,         /* at a time on a server, and so many roots */
    STREAM_RUNS = 32,          /* so many that are in the middle of partitions */
    STREAM_LEADS = 32,         /* runs that were ordered at this server; and of one job, so many: who asks for more */
    STREAM_LEADS_EACH = 8,     /* keeps nobody else from asking */
    STREAM_ROOTS = 32,         /* roots of a run that collect at the same time, over trees */
    STREAM_ROOTS_DIRECT = 512, /* and without */
    STREAM_JUNCTIONS = 1024,   /* at a time on a server: one of each root */
    STREAM_OPEN = 4,           /* partitions of a tree that are under way at one root; at several, one of each */
    STREAM_OPEN_DIRECT = 8,    /* without trees, of one root; all roots have few more together */
    STREAM_WINDOW_MOST = 8,    /* blocks of a partition above a child; of long blocks as many as have room in 128 KiB */
    STREAM_BLOCK = 64 << 10,   /* bytes of a block, at most */
    STREAM_PACKED = 8384,      /* over trees: a block and an acknowledgement beside it fill a frame of 9,000 bytes */
    STREAM_LENT = 18000,       /* bytes of blocks on their way to a neighbour, beyond which no other one is sent */
    STREAM_PARTITIONS = 96,    /* of a run, if nothing else is said */
    STREAM_PARTS = 16,         /* of a run of several roots: so many and more of them together, six of each at least */
    STREAM_TELLS = 2,          /* so many; one may have lost what it held */
    STREAM_FOLDER = 500,
    STREAM_TEXT = 1 << 20, /* bytes of the result that are written, sent to others, or given at a time; and at most */
    STREAM_TEXT_MOST = STREAM_TEXT + (2 * 64 << 10), /* so many, with a record */
};
#define STREAM_TICK CW_MS(50)
#define STREAM_ASK_EVERY \
    CW_MS(500)                  /* a contributor or junction asks the root so often whether the run is still there */
#define STREAM_REPEAT CW_MS(30) /* where links are slow, packets that are under way are not repeated before */
#define STREAM_STALL CW_MS(200) /* a root that has seen nothing move for so long asks everybody */
#define STREAM_HOLD CW_MS(2)    /* a block that is not full waits so long for more */
#define STREAM_PAUSE_FIRST CW_MS(2) /* between two attempts: doubled until a partition is whole */
#define STREAM_PAUSE_MOST CW_MS(250)
#define STREAM_LIMIT CW_SEC(30)
#define STREAM_ORPHAN CW_SEC(2)      /* a result that is held waits so long for its name when its lead is gone */
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
    STREAM_COUNT_READ,
    STREAM_COUNT_KEPT,
    STREAM_COUNT_STALE,
    STREAM_COUNT_REFUSED,
    STREAM_COUNT_MALFORMED,
    STREAM_COUNTS,
};

struct stream {
    cw_svc *s;
    struct transport *edge, *call;
    struct torus torus;
    struct trees *trees;             /* made for the first run */
    struct dense *dense;             /* takes results to all; NULL: there is none */
    const struct vectors_host *host; /* for results; NULL: there is none */
    char folder[STREAM_FOLDER];      /* "": none is set */
    struct modules modules;
    struct spool spool; /* its host reads inputs, too; it may be NULL there */
    cw_server self;
    uint64_t life; /* of this instance: drawn */
    uint32_t numbers;
    size_t lent[CW_LINK_COUNT];         /* bytes of blocks that are on their way to the neighbour at that link */
    struct list waiting[CW_LINK_COUNT]; /* flows whose next block waits until there is less */
    struct list holding;                /* flows that hold a block that is not full, the first one first */
    struct list tasks, junctions, collectors, copies, leads, feeds, accounts;
    unsigned task_count, junction_count, lead_count, feed_count;
    uint64_t memory, memory_most;
    uint64_t job_memory, job_spool; /* the most of one job: account.h */
    cw_timer *tick, *soon, *hold;
    bool closing;
    cw_counter *counter[STREAM_COUNTS];
    uint64_t counted[STREAM_COUNTS]; /* the same, since it was opened */
};

struct task;
struct source;
struct junction;
struct collector;
struct result;
struct lead;
struct sharing;

/* ---- A contributor's input --------------------------------------------------------------------------------------- */

/* A run's tasks at this server, one after the other: the first (after NULL), and the next ones. NULL: no more. */
struct task *task_next(const struct stream *st, const struct run_name *run, const struct task *after);
/*
 * PREPARE has come: reads and sorts the input, its own or its copy of another server's, and answers `reply` when that
 * has ended; at once where nothing is to be contributed, but only written. It answers -EILSEQ when the copy is another
 * file than was read before. 0, or the status for the lead: -EEXIST, -ENOBUFS, -EOPNOTSUPP (no folder is set), -EBUSY
 * (another result will have that name), -EINVAL, -ENOMEM.
 */
CW_MUST_CHECK int task_begin(struct stream *st, const struct letter *l, const struct transport_reply_to *reply);
bool task_is_ready(const struct task *t);
/* Takes t, at once or when the work that is under way has ended, and its sources are closed. */
void task_drop(struct task *t);
void task_tick(struct task *t);
/* Somebody of the job feeds that name now: gives the task that has waited for it and takes f; NULL: none has. */
struct task *task_offer(struct stream *st, cw_job job, const char *name, struct intake *f);
/* There is a piece in the task's feed, or its end. */
void task_fed(struct task *t);
/* Who fed the task is gone, and had not come to its end: the task fails, and leaves the feed. */
void task_feeder_gone(struct task *t);
/* The lead is gone, and so are its tasks. */
void task_lead_down(struct stream *st, cw_server lead);
/* Frees what is left; no work is under way any more. */
void task_close(struct stream *st);

/*
 * Reads a partition of a task from behind a key on (of no length: all of it), block after block, with work of
 * cw_offload(). NULL: no memory. ready() is called, never from within, when there is a block that source_block() gives.
 */
struct source *source_open(struct task *t, uint32_t partition, cw_bytes after, void (*ready)(void *arg), void *arg);
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

/*
 * Opens a partition, for its records behind that key (of no length: all). NULL: no memory. At the root nobody is above,
 * and whatever is whole goes to the result.
 */
struct flow *flow_open(struct junction *j, cw_link tree, uint32_t partition, cw_bytes after);
/* Takes f: what it has under way is cancelled. */
void flow_free(struct flow *f);
cw_link flow_tree(const struct flow *f);
uint32_t flow_partition(const struct flow *f);
/* The parent has room for so many blocks in all. */
void flow_grant(struct flow *f, uint32_t granted);
/* A child's block. 0; -EPROTO: there is no room for it, it has come before, or that is no child. */
CW_MUST_CHECK int flow_block(struct flow *f, const struct letter *l, cw_server child, const uint8_t *bytes,
                             size_t size);
/* A GRANT to the child has been taken. */
void flow_told(struct flow *f, cw_server child);
/* Merges and sends what can be. */
void flow_pump(struct flow *f);
/* Flows that wait for the link go on, as long as it takes more. */
void flow_go_on(struct stream *st, cw_link link);
/* Everything was sent, and taken. */
bool flow_done(const struct flow *f);
/* What a flow of so many inputs keeps in memory. */
uint64_t flow_cost(unsigned inputs, uint32_t each);

/* ---- One attempt at one server ----------------------------------------------------------------------------------- */

struct junction {
    struct list_node link;
    struct stream *st;
    struct run_name run, lead; /* the root's, and the one whose tasks these are */
    struct account *account;
    uint32_t attempt;
    uint32_t partitions;
    uint32_t each;      /* bytes of a block, where no record is longer */
    unsigned open_most; /* of a tree */
    struct plan plan;
    bool direct;                  /* contributors send straight to the root: one tree, in which all are its children */
    uint64_t *senders;            /* these, at the root; else NULL */
    struct list flows;            /* struct flow, by its first member */
    unsigned open[CW_LINK_COUNT]; /* flows of a tree */
    uint64_t *opened;             /* partitions that were opened here in this attempt, a bit each */
    struct task **own;            /* this server's own tasks, and those of servers that it stands in for */
    unsigned owns;                /* 0: it contributes nothing */
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
 * -ESTALE: an old attempt, or the server has no task of the lead; -EPROTO; -ENOBUFS, -ENETUNREACH; at a root -ENOSR.
 * Elsewhere that breaks it, so that the root hears of the limit.
 */
CW_MUST_CHECK int junction_begin(struct stream *st, const struct letter *l, struct collector *collector);
void junction_free(struct junction *j);
/* The attempt cannot be completed: the root is told, with the reason. */
void junction_break(struct junction *j, int cause, cw_server who);
/* Opens a partition at the root, from behind what has come of it. < 0: it cannot be. */
CW_MUST_CHECK int junction_open(struct junction *j, cw_link tree, uint32_t partition);
/* How many inputs a partition has here in that tree. */
unsigned junction_inputs(const struct junction *j, cw_link tree);
/* How long blocks are to be, in trees of that depth. */
uint32_t junction_each(const struct collector *c, unsigned depth);
/* Takes a child's block, and a parent's grant. The status for the sender. */
CW_MUST_CHECK int junction_block(struct stream *st, const struct letter *l, const uint8_t *bytes, size_t size,
                                 cw_server from);
CW_MUST_CHECK int junction_grant(struct stream *st, const struct letter *l, cw_server from);
/* A GRANT has ended. */
void junction_told(struct stream *st, const struct letter *l, cw_server to, int status);
/* Frees flows that are done. */
void junction_sweep(struct junction *j);
void junction_tick(struct junction *j);

/* ---- A root ------------------------------------------------------------------------------------------------------ */

enum collector_state {
    COLLECTOR_PAUSES,    /* until the next attempt */
    COLLECTOR_ANNOUNCES, /* servers of the plan have not answered */
    COLLECTOR_RUNS,
    COLLECTOR_WRITES, /* the result is being written */
    COLLECTOR_HOLDS,  /* it is written, and waits for its name */
    COLLECTOR_NAMES,  /* it gets it */
    COLLECTOR_NAMED,  /* it has it, and its lead has not asked yet */
};

struct collector {
    struct list_node link; /* the first member */
    struct stream *st;
    struct run_name run, lead;
    uint32_t round; /* of the lead */
    struct transport_reply_to reply;
    bool asked; /* the lead waits for that answer */
    struct wish wish;
    uint32_t first, count; /* its partitions */
    enum collector_state state;
    uint32_t attempt;
    uint32_t each;
    /* Sets: contributors; as the attempt has it; those that have not answered; those that get a copy of the result. */
    uint64_t *members, *dead, *involved, *silent, *copies;
    struct junction *junction;
    struct result *result;
    unsigned awaited;
    uint64_t taken, taken_most; /* of partitions that are not whole: in this attempt, and the most in any */
    bool finished;              /* all partitions are whole */
    bool written, named;
    int status; /* < 0: the run has failed, and ends with the next tick */
    cw_server who;
    uint64_t limit; /* of the job, which was in the way there; 0: none was */
    cw_time moved, probed, next, heard;
    cw_time orphan; /* the lead is gone since, and this waits for the COMMIT of others; 0: it is not */
    cw_span pause;
    uint64_t bytes; /* of all inputs */
};

struct collector *collector_of_run(struct stream *st, const struct run_name *run);
struct collector *collector_of_lead(struct stream *st, const struct run_name *lead);
/* ORDER has come, a request. 0: it is answered later; else the status for the lead. */
CW_MUST_CHECK int collector_open(struct stream *st, const struct letter *l, const struct transport_reply_to *reply);
/* COMMIT has come; reply: from the lead, else NULL. 0: answered later; -ESTALE: there is no such result. */
CW_MUST_CHECK int collector_commit(struct stream *st, const struct letter *l, const struct transport_reply_to *reply);
/* Ends the run everywhere but at the lead, answers that, and frees the collector. who: CW_SERVER_NONE for nobody. */
void collector_end(struct collector *c, int status, cw_server who);
/*
 * The lead wants its rounds up to `round` no more; 0: all of them. gone: nobody knows what it wants: a result that is
 * held waits STREAM_ORPHAN for a COMMIT that the lead may have given to others (aggregate rule 29).
 */
void collector_drop(struct stream *st, const struct run_name *lead, uint32_t round, bool gone);
/* A server has left the view. */
void collector_down(struct collector *c, cw_server server);
/* A block of the result of a partition; at the last one it is whole. */
void collector_take(struct collector *c, uint32_t partition, const uint8_t *bytes, size_t size, bool last);
/* The result is written, or (named) has its name: 0; or it cannot be. */
void collector_written(struct collector *c, int status, bool named);
/* That failed because of this server. */
void collector_blame(struct collector *c, int status, cw_server who);
void collector_tick(struct collector *c);
/* When the collector wants its next tick, if it pauses; else STREAM_TICK from now. */
cw_span collector_due(const struct collector *c);
void collector_close(struct stream *st);

/* Answers of the servers of an attempt have come: to its announcement, or to the question whether they are in it. */
void attempt_announced(struct collector *c, uint32_t attempt, cw_server from, int status);
void attempt_probed(struct collector *c, uint32_t attempt, cw_server from, int status);
/* A server says that the attempt cannot be completed. */
void attempt_void(struct collector *c, const struct letter *l);
/* The attempt that is under way, if one is, ends, and after a pause another one begins. */
void attempt_give_up(struct collector *c);
/* While attempts are under way. */
void attempt_tick(struct collector *c);

/* The first of a set; CW_SERVER_NONE: it is empty. */
cw_server stream_first(const struct stream *st, const uint64_t *set);
unsigned stream_count_of(const struct stream *st, const uint64_t *set);
/* Something has moved: the limit begins anew. */
void collector_moved(struct collector *c);

/* ---- The result -------------------------------------------------------------------------------------------------- */

/* Keeps the blocks of a root's partitions. 0; -EUSERS, -ENOSR, -ENOBUFS. */
CW_MUST_CHECK int result_open(struct stream *st, struct collector *c, const struct wish *w, uint32_t first,
                              uint32_t count, struct result **out);
/* Takes r, at once or when the work that is under way has ended. */
void result_drop(struct result *r);
/* The next block of a partition. -ENOSR, -ENOBUFS: it is more than the memory that is free here. */
CW_MUST_CHECK int result_put(struct result *r, uint32_t partition, const uint8_t *bytes, size_t size, bool last);
/*
 * Of partitions that are not whole keeps what is complete (prefix.h): others go on behind it (aggregate rule 26). Gives
 * the bytes of that.
 */
uint64_t result_cut(struct result *r);
/* Behind this key, of no length at first. Borrowed until the next cut. */
cw_bytes result_after(const struct result *r, uint32_t partition);
bool result_whole(const struct result *r, uint32_t partition);
/* How many partitions are whole. */
uint32_t result_count(const struct result *r);
/* Keys and bytes that were written. */
uint64_t result_keys(const struct result *r);
uint64_t result_bytes(const struct result *r);
/*
 * All partitions are whole: they become one file, that has no name yet, and goes to the copies, too.
 * collector_written() tells how that ended. With LETTER_CALLER nothing is written: result_give() gives it.
 */
void result_write(struct result *r);
/* The file gets its name; collector_written() tells how that ended. */
void result_commit(struct result *r);
/*
 * Makes the next piece of a result for the caller; given() is called with it, never from within, borrowed for the call:
 * status < 0: it cannot be made. last: there are no more. -EBUSY: the one before is being made.
 */
typedef void (*result_given_fn)(void *arg, int status, const uint8_t *text, size_t length, bool last);
CW_MUST_CHECK int result_give(struct result *r, result_given_fn given, void *arg);

/* ---- Copies of it ------------------------------------------------------------------------------------------------ */

/*
 * At the root: takes a text to others. ready() is called, never from within, when all have the text and have written
 * what came before it; after the last text when all have written that, too. status < 0: it has failed, for `who`
 * (CW_SERVER_NONE: nobody), and nothing more is sent.
 */
typedef void (*sharing_ready_fn)(void *arg, int status, cw_server who);
/* NULL: no memory. */
struct sharing *sharing_open(struct collector *c, sharing_ready_fn ready, void *arg);
/* The next text. Borrows it until ready(): at most STREAM_TEXT_MOST bytes. */
void sharing_text(struct sharing *p, const uint8_t *text, size_t length, bool last);
/* Takes p, which may be NULL. */
void sharing_close(struct sharing *p);

/* COPY has come. 0: it is answered later; else the status for the root. */
CW_MUST_CHECK int copy_open(struct stream *st, const struct letter *l, cw_server root,
                            const struct transport_reply_to *reply);
/* As collector_commit(). */
CW_MUST_CHECK int copy_commit(struct stream *st, const struct letter *l, const struct transport_reply_to *reply);
/* As collector_drop(). */
void copy_drop(struct stream *st, const struct run_name *lead, uint32_t round, bool gone);
/* Copies of a lead that has left the view. */
void copy_down(struct stream *st, cw_server server);
/* Would a result of that name be in the way of another one, a root's or a copy? */
bool copy_has_name(const struct stream *st, const struct run_name *lead, const char *to);
void copy_tick(struct stream *st);
void copy_close(struct stream *st);

/* ---- Own functions ----------------------------------------------------------------------------------------------- */

/* Loads the modules of the folder that the options name. < 0: it cannot be read, which is logged. */
CW_MUST_CHECK int functions_open(struct stream *st);
/*
 * As modules_combine() and modules_mapper(): what a word of a run is on this server. -ELIBACC, -ELIBBAD: it has no such
 * module, or another one, and takes no part in the run (aggregate rule 32).
 */
CW_MUST_CHECK int functions_combine(const struct stream *st, const char *word, struct combine *out);
CW_MUST_CHECK int functions_mapper(const struct stream *st, const char *word, struct mapper_kind_of *out);
/* Tells r why a word of a module is refused here: -ELIBACC or -ELIBBAD, which it gives. */
int functions_refuse(const struct stream *st, cw_request *r, enum modules_what what, const char *word, int rc);

/* ---- stream.c ---------------------------------------------------------------------------------------------------- */

/*
 * Sends a message by the port `call`; how it ended is told to whom it concerns. < 0: it was not sent, and nobody is
 * told anything.
 */
int stream_say(struct stream *st, cw_server to, const struct letter *l);
/* The same as a request: heard() is called. < 0: it was not sent, and heard() is not called. */
int64_t stream_ask(struct stream *st, cw_server to, const struct letter *l, transport_answer_fn heard, void *arg);
/*
 * The run of this lead is over, or its rounds up to `round` (0: all): nothing of it is left here but the lead. gone:
 * the lead is, see collector_drop().
 */
void stream_forget(struct stream *st, const struct run_name *lead, uint32_t round, bool gone);
/* Names of servers, as many as fit. */
void stream_tell_set(const struct stream *st, cw_request *r, const char *field, const uint64_t *set);
/* Answers a request. */
void stream_answer(struct stream *st, const struct transport_reply_to *reply, int status, const struct letter *l);
/* The tick runs while there is anything to do. */
void stream_wake(struct stream *st);
/* Calls collectors and junctions that left a note, from a timer of no time. */
void stream_soon(struct stream *st);
void stream_note(struct stream *st, enum stream_count which, uint64_t n);
size_t stream_words(const struct stream *st);
bool stream_sees(const struct stream *st, cw_server server);

#endif
