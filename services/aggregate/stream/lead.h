/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lead.h - a run at the server where it was ordered: its lead (lead.c), the contributors that prepare (muster.c), who
 * stands in for whom (heir.c), and who has ordered it: operators (asker.c, wording.c) and services (patron.c).
 */
#ifndef SERVICES_AGGREGATE_STREAM_LEAD_H
#define SERVICES_AGGREGATE_STREAM_LEAD_H

#include "base/list.h"
#include "services/aggregate/stream/letter.h"
#include "services/aggregate/stream/stream.h"

struct collector;

/* ---- The lead ---------------------------------------------------------------------------------------------------- */

enum { LEAD_REFUSALS = 64 };

enum lead_to { LEAD_TO_SERVERS, LEAD_TO_EACH, LEAD_TO_ALL, LEAD_TO_CALLER };

/* Over which ways records go: whichever is faster, the trees, or straight to the root. */
enum lead_path { LEAD_PATH_AUTO, LEAD_PATH_TREES, LEAD_PATH_DIRECT, LEAD_PATH_SHORTEST };

enum lead_state {
    LEAD_PREPARES, /* contributors read their inputs */
    LEAD_COLLECTS, /* roots */
    LEAD_NAMES,    /* all parts of the result are there, and get their names */
    LEAD_GIVES,    /* the caller fetches the result */
};

/* A server that could not do its part. */
struct refusal {
    cw_server server;
    int status;
    uint64_t line;  /* of its input; 0: none */
    uint64_t limit; /* of the job at that server; 0: none was in the way */
    bool writing;   /* not of its input, but of the result */
};

enum part_state { LEAD_PART_WAITS, LEAD_PART_COLLECTS, LEAD_PART_WRITES, LEAD_PART_HELD };

/* A root, and what it has. */
struct lead_part {
    cw_server root;
    uint32_t first, count; /* its partitions */
    enum part_state state;
    int64_t request; /* of the transport: its order */
    uint32_t attempts;
    uint64_t keys, bytes;
};

/* A run at the server where it was ordered. */
struct lead {
    struct list_node link; /* the first member */
    struct stream *st;
    cw_request *request; /* NULL: the operator was answered */
    const void *owner;   /* the service that has ordered it, and how it hears; NULL: an operator has */
    void (*take)(void *arg, const void *text, size_t length);
    cw_run_done_fn done;
    void *done_arg;
    cw_request *taker; /* who fetches the next piece of a result for the caller; NULL: nobody */
    uint32_t number;   /* of the order */
    struct run_name run;
    struct wish wish;
    enum lead_to to;
    enum lead_state state;
    uint32_t round;
    /*
     * Sets: who was named; of them those in the result; who writes; of those the ones that have no result; who has not
     * answered.
     */
    uint64_t *members, *counted, *writers, *bare, *silent;
    uint64_t *gone; /* who was lost once: it is asked for nothing any more, also when it is back */
    int64_t *asked; /* by whose input it is: the transport's request of a preparation; by server: of a name; 0: none */
    cw_server *by;  /* by whose input it is: who brings it, or is asked for it: that server, or its heir */
    int *why;       /* by server that is not counted any more: the errno; 0: it is gone */
    uint64_t *records;
    uint64_t *digest;  /* of each input; 0: nobody has read it so far */
    cw_server unlike;  /* who refused to stand in, though not for want of a copy; CW_SERVER_NONE: nobody */
    int unlike_status; /* why; -EILSEQ: it has another file */
    char copies[LETTER_NAME_MOST +
                1]; /* the name of copies, with HEIR_MARK for the server whose input it is; "": none */
    unsigned awaited;
    uint64_t bytes; /* of all inputs */
    enum lead_path path;
    enum letter_way way;           /* that is decided */
    struct summary_distinct *keys; /* of all contributors, to decide it; NULL: there is nothing to decide */
    uint64_t keys_of_each;         /* how many each has, added up */
    struct lead_part *part;
    unsigned parts;
    uint32_t attempts; /* of all rounds before this one, the most of a root */
    bool cancelled;
    bool over; /* it ends with the next tick, with status and who */
    int status;
    cw_server who;
    bool at_root;   /* who is not a contributor, but a root */
    uint64_t limit; /* as a refusal's, of who */
    unsigned refusals;
    struct refusal refusal[LEAD_REFUSALS];
    cw_time began, moved;
};

/* Begins what *words say (members, writers, wish, to, request, number, with its sets). Takes words, which is l then. */
void lead_begin(struct stream *st, struct lead *words);
/* A lead with empty sets. NULL: no memory. */
struct lead *lead_make(struct stream *st);
void lead_free(struct lead *l);
struct lead *lead_of_run(struct stream *st, const struct run_name *run);
/* How many runs of this job are under way from here. */
unsigned lead_count_of(const struct stream *st, cw_job job);
struct lead *lead_of_number(const struct stream *st, uint32_t number);
/* A server has left the view. */
void lead_down(struct lead *l, cw_server server);
/* COLLECTED has come from a root. -ESTALE: it has no part in a round that is under way here. */
CW_MUST_CHECK int lead_collected(struct stream *st, const struct letter *l, cw_server root);
void lead_cancel(struct lead *l);
/* It ends with the next tick. */
void lead_fail(struct lead *l, int status, cw_server who, bool at_root);
void lead_tick(struct lead *l);
void lead_close(struct stream *st);

/* Asks all that contribute or write to prepare. */
void muster_begin(struct lead *l);
/* A server has left the view while contributors prepare. */
void muster_down(struct lead *l, cw_server server);
/* What servers were asked for is not waited for any more. */
void muster_forget(struct lead *l);
/* Asks l->by[of] for the input of that server, under the name `from`. < 0: it was not asked. */
CW_MUST_CHECK int muster_ask(struct lead *l, cw_server of, const char *from);
/* said: what the server has answered, besides the status; NULL: nothing. */
void muster_refuse(struct lead *l, cw_server server, int status, const struct letter *said, bool writing);
bool muster_is_gone(int status);
/* Why a server could not do its part of a run, as a sentence without a full stop. Static. */
const char *muster_reason(int status);
/* The same, with the line of its input and the limit of the job that were in the way; 0: none was. */
enum { MUSTER_REASON = 240 };
void muster_tell(char out[static MUSTER_REASON], const struct lead *l, int status, uint64_t line, uint64_t limit);

/* ---- Heirs ------------------------------------------------------------------------------------------------------- */

#define HEIR_MARK '%'

/* 0: the name of copies is one, with a mark for the server whose input it is; < 0: it is none, which r was told. */
CW_MUST_CHECK int heir_check(cw_request *r, const char *value);

/*
 * Asks the next server for its copy of the input of `of`: the nearest ones first, each once. False: nobody is left, or
 * the run has no copies.
 */
CW_MUST_CHECK bool heir_ask(struct lead *l, cw_server of);
/*
 * A server is lost for good: it contributes nothing any more, neither its own input nor that of others, and writes
 * nothing. Others are asked for copies. False: the run cannot go on, since the input of *whose is lost, or (*writing)
 * its part of the result.
 */
CW_MUST_CHECK bool heir_lose(struct lead *l, cw_server server, cw_server *whose, bool *writing);
/* The servers that bring the inputs of all that are counted. */
void heir_set(const struct lead *l, uint64_t *set);
/* "1,0,0 by 2,0,0; ..": who stands in for whom, as many as fit, and how many others. */
void heir_text(const struct lead *l, char *out, size_t room);

/* ---- Words ------------------------------------------------------------------------------------------------------- */

int asker_command(struct stream *st, cw_request *r, int argc, const char *const *argv, uint32_t number);
/*
 * Makes a lead of the words of a run, for lead_begin(). job: of the service that asks; operators have AGGREGATE_JOB.
 * < 0: they are none, or it has too many, which r (NULL: nobody) was told.
 */
CW_MUST_CHECK int wording_read(struct stream *st, cw_job job, cw_request *r, int argc, const char *const *argv,
                               struct lead **out);
/* `run check=word|run ..`: are these words of a run, or all words of one? Nothing is begun. */
int wording_check(struct stream *st, cw_request *r, int argc, const char *const *argv);
int asker_cancel(struct stream *st, uint32_t number);
/* The command `take NUMBER`: the next piece of a result for the caller. */
int asker_take(struct stream *st, cw_request *r, uint32_t number);
void asker_status(const struct stream *st, cw_request *r, bool *first);
/* The fields of a root. */
void asker_collector(const struct collector *c, cw_request *r);
/* The lead has ended, or has a result that the caller fetches: the rows. */
void asker_conclude(struct lead *l);

/* ---- Services ---------------------------------------------------------------------------------------------------- */

/* As asker_conclude(), for a run of a service. */
void patron_conclude(struct lead *l);

/* Who writes a result passes the COMMIT on to the next who do, in a ring of all that it sees (aggregate rule 29). */
void lead_pass_commit(struct stream *st, const struct letter *commit);

#endif
