/* SPDX-License-Identifier: Apache-2.0 */
/*
 * internal.h - the structs of the engine, and what its files may ask of one another.
 *
 *     dense.c    what comes in: packets, events, time; and who is told
 *     member.c   this server's own calls: from reduce() to done()
 *     reducer.c  at the root: who is there, attempts, what is dealt, what is settled, the end
 *     joins.c    at the root: members say that they are there
 *     vertex.c   one attempt at this server: its plan, its columns, the parts that meet here
 *     parts.c    blocks of children, packet by packet
 *     edge.c     blocks to a parent, deals and credit to children
 *     small.c    vectors that fit a packet: no trees
 *     share.c    the result to all members: the root sends, and members hold, it
 *     together.c JOINs and ENDs that go together, over a tree
 *     farewell.c ends that are said again, to those that ask late
 *     look.c     what operators see
 *
 * Lifetimes: vertex_free() and reducer_end() are called from the engine's entries only (a message of the port `call`,
 * an event, a timer, the caller), never from within the work on blocks: that leaves a note (vertex.broken,
 * reducer.finished) and asks for dense_soon().
 */
#ifndef SERVICES_AGGREGATE_DENSE_INTERNAL_H
#define SERVICES_AGGREGATE_DENSE_INTERNAL_H

#include "base/list.h"
#include "cubeway/multicast.h"
#include "services/aggregate/dense/blocks.h"
#include "services/aggregate/dense/column.h"
#include "services/aggregate/dense/dense.h"
#include "services/aggregate/dense/frontier.h"
#include "services/aggregate/dense/head.h"
#include "services/aggregate/dense/mutant.h"
#include "services/aggregate/dense/plan.h"
#include "services/transport/transport.h"

enum {
    DENSE_RUNS = 32,       /* members, and vertices, at a time on a server; and of one job, so many: who */
    DENSE_RUNS_EACH = 16,  /* begins more, and never ends them, keeps nobody else from beginning one */
    DENSE_EARLY = 64,      /* those that have sent a block of a run that was not known here */
    DENSE_PENDING = 1024,  /* joins that wait for their root's own call */
    DENSE_GATHERINGS = 64, /* runs whose JOINs pass a server at a time; those of others go to their root alone */
    DENSE_ENDED = 256,     /* runs whose names are remembered, for ENDED_SPAN */
    DENSE_WINDOW = 8,      /* blocks of a tree above a child; twice as many when they are short */
    /* Blocks that are dealt and not settled: this, and a quarter of a window for each edge of the depth. */
    DENSE_AHEAD = 8,
    DENSE_SETTLE_AT_ONCE = 64 /* blocks that a root without children settles before others have their turn */
};
#define DENSE_MEMORY_MOST (UINT64_C(256) << 20)
#define DENSE_MEMORY_EACH (DENSE_MEMORY_MOST / 2) /* of the windows of one job */
#define DENSE_TICK CW_MS(50)
/*
 * Nothing is repeated before that: the first block on a link of 20 Mb/s takes 14 ms more than what opened the
 * association, by which the transport knows the way.
 */
#define DENSE_REPEAT CW_MS(30)
#define DENSE_ACK_DELAY CW_MS(10)
#define DENSE_ASK_EVERY CW_MS(500) /* a member or vertex asks the root so often whether it is still there */
#define DENSE_STALL CW_MS(200)     /* a root that has seen nothing move for so long asks everybody */
#define DENSE_PAUSE_FIRST CW_MS(2) /* between two attempts: doubled until something is settled */
#define DENSE_PAUSE_MOST CW_MS(250)
/* A reduction that goes on without the dead waits for members that are not in view so long after the last JOIN. */
#define DENSE_ABSENT CW_SEC(2)
#define DENSE_LIMIT CW_SEC(30)
#define DENSE_LIMIT_MOST CW_HOURS(1)
#define DENSE_PENDING_SPAN CW_SEC(2)
#define DENSE_ENDED_SPAN CW_SEC(60)
#define DENSE_FAREWELL_SPAN CW_SEC(10) /* longer than a question may be on its way */

struct member;
struct vertex;
struct reducer;
struct share;

/* What the root said at the end of a run, for those that ask before they have heard of it. */
struct farewell {
    struct message end; /* its elements are `result` */
    uint64_t *joined, *involved;
    uint32_t *ticket; /* by server, of those in `joined` */
    uint8_t result[MESSAGE_SMALL_MOST];
};

/* A name that was used. */
struct ended {
    uint64_t hash; /* of job and name */
    cw_time at;
    struct farewell *farewell; /* NULL: FAREWELL_SPAN is over, or there was no memory */
};

/* A join whose root has not called yet. */
struct pending {
    struct list_node link;
    cw_server from;
    uint32_t ticket;
    uint64_t digest;
    struct spec spec;
    uint64_t hash;
    cw_time at;
    uint8_t part[MESSAGE_SMALL_MOST]; /* a small vector */
};

/* Who has sent a block of a run that this server has not heard of yet, and waits. */
struct early {
    struct run_name run; /* number 0: nobody */
    struct transport_asker asker;
};

enum dense_count {
    DENSE_COUNT_BEGUN,
    DENSE_COUNT_DONE,
    DENSE_COUNT_FAILED,
    DENSE_COUNT_ATTEMPTS,
    DENSE_COUNT_VOIDED,
    DENSE_COUNT_BLOCKS,
    DENSE_COUNT_BYTES,
    DENSE_COUNT_STALE,
    DENSE_COUNT_REFUSED,
    DENSE_COUNT_MALFORMED,
    DENSE_COUNTS,
};

struct dense {
    cw_svc *s;
    struct transport *edge, *call;
    struct torus torus;
    struct trees *trees; /* made for the first run */
    cw_server self;
    uint64_t life; /* of this instance: drawn */
    /*
     * That of the latest call. Tickets count up from a number that is drawn, so that a late message to an earlier call,
     * of this instance or of one before it, does not fit a call that is under way.
     */
    uint32_t tickets;
    uint32_t numbers;
    uint64_t round; /* of walks over a list that may change meanwhile */
    struct list members, vertices, reducers, pending, gatherings;
    unsigned member_count, vertex_count, pending_count, gathering_count;
    struct ended ended[DENSE_ENDED];
    unsigned ended_next;
    uint64_t memory;
    struct early early[DENSE_EARLY]; /* a ring: who falls out of it asks again by itself */
    unsigned early_next;
    cw_timer *tick, *soon, *find, *hold;
    const cw_multicast_api *multicast_api; /* NULL: the service does not run here, or was not looked for yet */
    cw_multicast *multicast;
    bool closing;
    cw_counter *counter[DENSE_COUNTS];
};

/* ---- This server's own calls ------------------------------------------------------------------------------------- */

struct member {
    struct list_node link;
    uint64_t round;
    struct dense *d;
    const void *owner;
    uint32_t ticket;
    uint64_t hash, digest; /* of job and name; of the set of members */
    cw_job job;
    char name[MESSAGE_NAME_MOST];
    size_t name_length;
    cw_server root;
    struct spec spec;
    size_t element;
    bool contributes; /* it is one of the members; the root need not be */
    uint64_t *members;
    struct run_name run;     /* life 0: not announced yet */
    struct reducer *reducer; /* at the root */
    const void *in;
    void (*fill)(void *context, uint64_t first, size_t count, void *elements);
    void *out;
    void (*take)(void *context, uint64_t first, size_t count, const void *elements);
    void *context;
    cw_span limit;
    cw_time moved, asked;
    cw_reduce_done_fn done;
    void *arg;
    unsigned unlike; /* as its result will say */
    /* With CW_REDUCE_TO_ALL: the pieces of the result that are here, of the attempt `held_attempt`. */
    uint64_t *held;
    uint32_t held_count, held_pieces, held_attempt;
};

/* The hash of a job and a name: the same on all servers. */
uint64_t member_hash(cw_job job, const char *name, size_t length);
struct member *member_of_ticket(struct dense *d, uint32_t ticket);
/* Copies count elements from `first` on of the member's vector. */
void member_copy(const struct member *m, uint64_t first, size_t count, void *to);
/* Ends the call: frees its vertex, tells done(), and frees the member. counted may be NULL. */
void member_end(struct member *m, int status, cw_server who, const uint64_t *counted, unsigned attempts);
/* Says JOIN to the root, or asks whether it is still there. */
void member_ask(struct member *m);
void member_answered(struct member *m, int status);
void member_tick(struct member *m);

/* ---- One attempt at one server ----------------------------------------------------------------------------------- */

/* A block that is lent to the parent. */
struct lend {
    struct vertex *v;
    uint32_t position;
    uint8_t tree;
    bool out;
    int64_t id; /* of the transport's message */
};

/* What a child has been told. */
struct told {
    uint32_t dealt, base;
    bool telling; /* a DEAL is on its way: the next one waits, so they stay in order */
};

struct vertex {
    struct list_node link;
    struct dense *d;
    struct run_name run;
    uint32_t attempt;
    cw_job job; /* whose reduction it is, as its root says */
    struct spec spec;
    struct blocks blocks;
    number_combine_fn combine;
    uint32_t window, ahead;
    struct plan plan;
    struct column column[CW_LINK_COUNT];
    struct told told[CW_LINK_COUNT][CW_LINK_COUNT]; /* by tree and link */
    uint8_t *held[CW_LINK_COUNT];                   /* CW_REDUCE_FIXED: parts of children, until all are there */
    bool lent[CW_LINK_COUNT];                       /* a block of that tree is on its way to the parent */
    struct lend *lend;                              /* [tree * window + position % window] */
    struct member *own;                             /* NULL: this server is no member */
    struct reducer *reducer;                        /* NULL: this server is not the root */
    uint64_t cost;
    cw_time asked;
    bool broken; /* the attempt is void: nothing is done any more, and the root was told */
    bool ending;
};

struct vertex *vertex_find(struct dense *d, const struct run_name *run);
/*
 * Begins an attempt as it was announced, instead of an earlier one of the same run. reducer: at the root, else NULL.
 * -ESTALE: an old attempt, or the ticket is unknown; -EINVAL: the member's own call says otherwise; -EOPNOTSUPP: the
 * result goes to all, and there is no multicast here; -EPROTO; -ENOBUFS, -ENETUNREACH, -ENOMEM.
 */
CW_MUST_CHECK int vertex_begin(struct dense *d, const struct message *m, struct reducer *reducer);
/* Takes v: what it has under way is cancelled. */
void vertex_free(struct vertex *v);
/* The attempt cannot be completed: the root is told, with the reason. */
void vertex_break(struct vertex *v, int cause, cw_server who);
/* Do blocks go up in this run? The result of others (broadcast) is the root's own vector. */
CW_MUST_CHECK bool vertex_combines(const struct vertex *v);
CW_MUST_CHECK int vertex_deal(struct dense *d, const struct message *m, cw_server from);
/* Moves whatever can be moved: blocks up, deals down. */
void vertex_pump(struct vertex *v);
/* More of an open position is here than before. */
void vertex_further(struct vertex *v, cw_link tree, uint32_t position);
void vertex_tick(struct vertex *v);

/* ---- Parts of children ------------------------------------------------------------------------------------------- */

/*
 * A child's block begins to come: m has the length of all of it. 0, -ESTALE, -EPROTO: the status for its sender. Then
 * its bytes, in order, each time with the same m but for the elements; and at the end one of the last two.
 */
CW_MUST_CHECK int parts_begin(struct dense *d, const struct message *m, cw_server from);
CW_MUST_CHECK int parts_piece(struct dense *d, const struct message *m, cw_server from, uint64_t offset,
                              const uint8_t *bytes, size_t length);
CW_MUST_CHECK int parts_whole(struct dense *d, const struct message *m, cw_server from);
/* The rest of it does not come. */
void parts_lost(struct dense *d, const struct message *m, cw_server from, int status);
/*
 * CW_REDUCE_FIXED: do the parts of this tree's children wait for one another? One child's part meets this server's own
 * in any case.
 */
CW_MUST_CHECK bool parts_wait(const struct vertex *v, cw_link tree);
/* All parts that have waited are there: they meet in the order of the children's links (aggregate rule 9). */
void parts_meet(struct vertex *v, cw_link tree, uint32_t position);

/* ---- Edges ------------------------------------------------------------------------------------------------------- */

/* Sends a position to the parent, one that is not ready as far as it is there. */
void edge_send(struct vertex *v, cw_link tree, uint32_t position);
/* There is more of a position that was sent. */
void edge_more(struct vertex *v, cw_link tree, uint32_t position);
/* Tells the children of a tree what was dealt, and their credit, where either is new. */
void edge_tell(struct vertex *v, cw_link tree);
/* Cancels what is lent. */
void edge_cancel(struct vertex *v);
/* Somebody has sent a block of a run that this server has not heard of, and is to wait; edge_permit(): now it has. */
void edge_early(struct dense *d, const struct run_name *run, const struct transport_asker *asker);
void edge_permit(struct dense *d, const struct run_name *run);

/* ---- The root ---------------------------------------------------------------------------------------------------- */

enum reducer_state {
    REDUCER_GATHERS,   /* members are missing */
    REDUCER_ANNOUNCES, /* servers of the plan have not answered */
    REDUCER_RUNS,
    REDUCER_PAUSES, /* until the next attempt */
    REDUCER_SHARES, /* the result goes to all members */
};

struct reducer {
    struct list_node link;
    uint64_t round;
    struct dense *d;
    struct member *caller;
    struct run_name run;
    uint32_t attempt;
    enum reducer_state state;
    struct blocks blocks;
    struct frontier frontier;
    /* Sets: those of the call; of them those in the result; those that have joined; as the attempt has it. */
    uint64_t *members, *counted, *joined, *dead, *involved, *silent;
    uint32_t *ticket; /* by server */
    struct vertex *vertex;
    uint32_t ahead;   /* blocks of a tree that are dealt and not settled, at most */
    unsigned awaited; /* answers to the announcement */
    bool cut;         /* into blocks, at the first attempt */
    bool keep;        /* the settled blocks have the contributors of this attempt */
    bool finished;
    cw_time moved, probed, next;
    cw_span pause;
    uint8_t *part;       /* small vectors, by server: those of the servers in joined, and the root's own */
    struct share *share; /* in state REDUCER_SHARES */
};

struct reducer *reducer_of_run(struct dense *d, const struct run_name *run);
struct reducer *reducer_of_hash(struct dense *d, uint64_t hash);
CW_MUST_CHECK int reducer_open(struct member *caller);
/* Ends the run everywhere, tells the caller, and frees the reducer. who: CW_SERVER_NONE for nobody. */
void reducer_end(struct reducer *r, int status, cw_server who);
/* A member has said JOIN. Gives the status for it. */
CW_MUST_CHECK int joins_take(struct dense *d, const struct message *m, cw_server from);
/* Takes the joins that came before the root's own call. False: the reduction has ended. */
CW_MUST_CHECK bool joins_take_pending(struct reducer *r);
/* A server answered the announcement, or a probe. */
void reducer_announced(struct reducer *r, uint32_t attempt, cw_server from, int status);
void reducer_probed(struct reducer *r, uint32_t attempt, cw_server from, int status);
/* The attempt is void. */
void reducer_void(struct reducer *r);
/* A server has left the view. */
void reducer_down(struct reducer *r, cw_server server);
/* Deals what may be dealt. */
void reducer_deal(struct reducer *r);
/* A block is whole, in memory that may be changed. */
void reducer_settle(struct reducer *r, uint32_t block, void *elements);
void reducer_tick(struct reducer *r);

/* A contributor is gone. False: the reduction has ended. */
CW_MUST_CHECK bool reducer_lose(struct reducer *r, cw_server server);
/* Something has moved: the limit begins anew. */
void reducer_moved(struct reducer *r);

/* ---- Ends that are said again ------------------------------------------------------------------------------------ */

/*
 * Tells everybody who has to do with the run its end: those that joined, and those that were told of the attempt. What
 * was said is kept. who: CW_SERVER_NONE for nobody.
 */
void farewell_tell(struct reducer *r, int status, cw_server who);
/* Has a run of this job and name ended in the last ENDED_SPAN? */
CW_MUST_CHECK bool farewell_was(const struct dense *d, uint64_t hash);
struct farewell_question {
    const struct run_name *run; /* life 0: not known */
    uint64_t hash;              /* of job and name, when the run is not known */
    uint32_t ticket;            /* 0: a vertex asks */
    cw_server from;
};
/*
 * A server that does not know yet that the run has ended asks for it: a contributor by its ticket, others by 0. True:
 * END was said again, or will be: *status is for the asker. False: there is no such run, or it was not in it.
 */
CW_MUST_CHECK bool farewell_say(struct dense *d, const struct farewell_question *q, int *status);
/* Frees those that are old, or all of them. */
void farewell_sweep(struct dense *d, bool all);

/* ---- Together ---------------------------------------------------------------------------------------------------- */

/* The member's JOIN, with those of the members below it. */
void together_join(struct member *own);
/* A GATHER has come. -EPROTO: it cannot be. */
CW_MUST_CHECK int together_take(struct dense *d, const struct message *m);
/* The member's call has ended: what is still here of its run is passed on. */
void together_forget(struct dense *d, const struct member *own);
/* Frees what was left behind, or all. */
void together_sweep(struct dense *d, bool all);
/* Sends m, a SPREAD, towards the servers in its records but this one. members: a set; NULL: to each by itself. */
void together_spread(struct dense *d, const struct message *m, const uint64_t *members);
/*
 * A SPREAD has come: what is for others is passed on, and *ticket is this server's own; 0: it has none. -EPROTO: it
 * cannot be.
 */
CW_MUST_CHECK int together_told(struct dense *d, const struct message *m, uint32_t *ticket);

/* ---- Small vectors ----------------------------------------------------------------------------------------------- */

/* Keeps the vector that came with a JOIN. */
void small_take(struct reducer *r, cw_server from, const uint8_t *elements);
/* All are there: combines the vectors of r->counted in the order of the servers, and ends the reduction. */
void small_finish(struct reducer *r);
/* At a member: the result has come with the END. False: it is not of its length. */
CW_MUST_CHECK bool small_result(const struct member *m, const uint8_t *elements, size_t bytes);

/* ---- The result to all ------------------------------------------------------------------------------------------- */

/* Looks for the service multicast; called by a timer when all services are there. */
void share_open(struct dense *d);
void share_close(struct dense *d);
/* The result is whole at the root: it goes to all contributors, and the reduction ends when they have it. */
void share_begin(struct reducer *r);
void share_free(struct share *sh);
/* A server has left the view. False: the reduction has ended. */
bool share_down(struct reducer *r, cw_server server);
/* A member has answered HOLD. */
void share_held(struct reducer *r, cw_server from, int status);
void share_tick(struct reducer *r);
/* Who is waited for: a set. */
const uint64_t *share_waits(const struct reducer *r);
/* At a member: HOLD has come. */
CW_MUST_CHECK int share_hold(struct dense *d, const struct message *m);
/* Has the member the whole result of the attempt? */
CW_MUST_CHECK bool share_has(const struct member *m, uint32_t attempt);

/* ---- dense.c ----------------------------------------------------------------------------------------------------- */

/*
 * Sends a message by the port `call`; how it ended is told to whom it concerns. < 0: it was not sent, and nobody is
 * told anything.
 */
int dense_say(struct dense *d, cw_server to, const struct message *m);
/* Blocks of a tree above a child, for trees of that depth. */
uint16_t dense_window(const struct blocks *b, unsigned depth);
/* The tick runs while there is anything to do. */
void dense_wake(struct dense *d);
/* Calls reducers and vertices that left a note, from a timer of no time. */
void dense_soon(struct dense *d);
void dense_note(struct dense *d, enum dense_count which, uint64_t n);
/* Words of a set of servers. */
size_t dense_words(const struct dense *d);
/* Is the server in this server's view? */
bool dense_sees(const struct dense *d, cw_server server);

#endif
