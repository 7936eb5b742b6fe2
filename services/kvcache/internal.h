/* SPDX-License-Identifier: Apache-2.0 */
/*
 * internal.h - one instance of the service, and what its files know of one another. Only they include it.
 *
 *   kvcache.c   the table: packets, messages and events go to the others
 *   command.c   what operators ask; overview.c, of all servers
 *   survey.c    a question to all servers; report.c, what each answers
 *   authority.c    may this server speak for a key? (kvcache rules 4 to 8 and 12 to 14)
 *   rpc.c       asks and answers on their way, by calls or by the transport
 *   root.c      the root's side: values, order, copies taken back before a write (kvcache rules 1, 3, 6 and 9 to 11)
 *   reader.c    the asker's side: where to, once more, until when (kvcache rule 10)
 *   flush.c     all values of a job dropped, on all servers (kvcache rules 15 to 17)
 *   copies.c    fetched copies: served, kept, poisoned, taken back (kvcache rules 2, 4, 5, 7 and 8)
 *   sweep.c     what is as good as gone, and its memory
 *   common.c    what all of these use: counts, names
 *   frames, items, holders, dedup, op, limits: tables and rules without a network
 */
#ifndef SERVICES_KVCACHE_INTERNAL_H
#define SERVICES_KVCACHE_INTERNAL_H

#include "services/kvcache/dedup.h"
#include "services/kvcache/frames.h"
#include "services/kvcache/holders.h"
#include "services/kvcache/hot.h"
#include "services/kvcache/kvcache.h"
#include "services/kvcache/limits.h"
#include "services/kvcache/mutant.h"
#include "services/kvcache/upload.h"
#include "services/transport/transport.h"

enum {
    KV_PORT = 0,
    KV_BULK_PORT = 1,
    KV_QUESTIONS_MOST = 65536,
    KV_QUESTION_BYTES_MOST = 64 << 20, /* of all of them, with their keys and values */
    KV_DEDUP_MOST = 65536,
    KV_HELD_KEYS_MOST = 65536,
    KV_WAITING_MOST =
        1024, /* writes of one key that wait for its copies; their keys and values, and those of all keys: */
    KV_WAITING_BYTES_MOST = 16 << 20,
    KV_WAITING_ALL_BYTES_MOST = 64 << 20,
    KV_REGISTERED_MS = KV_AGE_MOST_MS + 1000, /* a copy's age and the drift of clocks, with room */
    KV_FETCH_CHAINS = 256,
    KV_CUTS_MOST = 16,
    KV_SWEEP_CHAINS = 256, /* of a table, at one go */
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
struct kv_count_name {
    const char *name, *help;
};
extern const struct kv_count_name kv_count_names[KV_COUNTS];

/* What took how long, by what was asked and where it was answered. */
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
extern const struct kv_count_name kv_time_names[KV_TIMES];

struct kvcache;
struct question;

/* Who is to be answered. */
struct asker {
    enum { ASKER_HERE, ASKER_CALL, ASKER_BULK } kind;
    struct question *question; /* HERE */
    uint32_t call;
    struct transport_reply_to bulk;
    cw_server server;
};

/* A write at its root that waits until the copies are back. */
struct root_write {
    struct list_node node;
    struct asker asker;
    struct dedup_write *record; /* NULL: asked here, by an asker that does not repeat itself */
    uint64_t epoch;
    cw_time until;     /* then nobody waits for it any more */
    struct kv_ask ask; /* its bytes are behind */
    uint8_t bytes[];
};

/* Something asked for at this server, until it is answered. */
struct question {
    struct list_node node;  /* in the order of their numbers */
    struct list_node fetch; /* of fetches: in their chain */
    struct list followers;  /* of fetches: questions with the same key, by fetch */
    struct kvcache *k;
    kv_done_fn done; /* NULL: proxy is answered */
    void *arg;
    struct asker proxy;
    cw_key id;
    struct kv_request r; /* its bytes are behind */
    uint64_t number;     /* of writes */
    uint64_t epoch;      /* when it was first sent */
    uint32_t generation; /* of fetches: of copies, when it began */
    uint64_t addressed;  /* the instance of the latest attempt */
    cw_server target;
    cw_time begun, until;
    unsigned attempts;
    bool write, fetches, follows, poisoned;
    bool names; /* the attempt under way asks for nothing but the instance */
    bool doubt; /* an attempt was not answered: it may have been done */
    bool bulk;
    bool direct; /* no extra keys */
    bool extra;  /* the latest attempt went to one: place */
    bool stays;  /* and so does the next */
    cw_key place;
    bool finished; /* waits for nothing but its own end */
    int64_t call, message;
    cw_timer *timer;
    uint8_t bytes[];
};

/* Values of a job (KV_EVERY_JOB: of each) with a cas up to that are as good as gone. */
enum { KV_EVERY_JOB = 0 };
struct kv_cut {
    cw_job job;
    uint64_t cas;
};

/* The latest that a server's instance asked for. */
struct flush_seen {
    uint64_t instance, cut, renewed;
};

struct kvcache {
    cw_svc *svc;
    cw_server self;
    uint32_t servers;
    uint64_t instance;  /* drawn at open */
    uint64_t cas;       /* the last given: drawn, then counts */
    uint64_t number;    /* of the last write asked for */
    cw_timer *settling; /* of the majority, and not for long enough yet */
    bool settled;       /* kv_settled(), as far as we were told */
    uint64_t settled_epoch;
    cw_timer *calming;
    uint64_t calm_epoch,
        calming_epoch; /* no key moved after it that has not been where it is for a hold; will be, when calming ends */
    cw_time quiet; /* until then another instance of this server's life may have registrations that we do not know */
    struct kv_limits limits;
    struct transport *transport;
    struct items values, copies;
    struct holders holders;
    struct dedup dedup;
    uint64_t *instances;           /* of the others, as they answered; 0: not known */
    struct list waiting;           /* keys of holders for which writes wait */
    size_t waiting_bytes;          /* of all of them */
    struct list questions, writes; /* asked for here and not answered; writes by their numbers */
    size_t question_count, question_bytes;
    struct list fetches[KV_FETCH_CHAINS];
    struct list flushes; /* asked for here */
    unsigned flush_count;
    uint64_t flush_number;
    struct flush_seen *seen; /* of each server */
    struct kv_cut cut[KV_CUTS_MOST];
    unsigned cuts;
    uint32_t generation; /* of copies: those of another are not served */
    cw_timer *sweep, *house, *expiry, *flush_timer;
    struct hot hot;
    struct uploads uploads;
    bool sweeping_copies;
    size_t sweep_at;
    bool closing;
    uint64_t count[KV_COUNTS];
    cw_counter *counter[KV_COUNTS];
    cw_histogram *took[KV_TIMES];
};

/* ---- common.c ------------------------------------------------------------------------------------------------------ */

void kv_count(struct kvcache *k, enum kv_counter what);
struct item_name kv_name(const cw_key *id, const struct kv_request *r);
cw_key kv_mem_id(struct kvcache *k, cw_job job, const uint8_t *key, size_t length);
/* What of a request with these bytes behind it: copies key and value to at, and points there. */
void kv_keep_bytes(struct kv_request *r, uint8_t *at);

/* ---- sweep.c ------------------------------------------------------------------------------------------------------- */

/* From now on the values of the job that are here now are as good as gone. The sweep gives their memory back and ends the cut. */
void sweep_cut(struct kvcache *k, cw_job job);
/* True: a value of this server's that was cut. */
bool sweep_is_cut(const struct kvcache *k, const struct item *i);
/* Looks at all values and copies, by steps and from the beginning, and gives back what is as good as gone. */
void sweep_begin(struct kvcache *k);

/* ---- authority.c ------------------------------------------------------------------------------------------------------ */

/*
 * Of the majority, and for so long that whoever was of another one before knows that it is none (cw_hold()). Servers that start again quickly are a
 * majority together before those they left have noticed that they died: for a while both sides would count them.
 */
bool kv_settled(const struct kvcache *k);
/* Packets to this server's own keys are delivered here now: root of them in every view, and the lease holds. */
bool kv_serving(const struct kvcache *k);
/* cw_key_steady(), and settled without a break since that epoch: the others' writes while we were not of the majority are unknown to us. */
bool kv_steady(const struct kvcache *k, const cw_key *id, uint64_t since);
/* As the root of the key: for so long that nobody serves copies of what another root gave away. */
bool kv_may_change(const struct kvcache *k, const cw_key *id);
/* The view has changed, or a while has passed. */
void authority_review(struct kvcache *k);

/* ---- rpc.c --------------------------------------------------------------------------------------------------------- */

/* Sends the ask of a question's latest attempt; reader_replied() follows. 0, or -errno: nothing was sent. */
CW_MUST_CHECK int rpc_ask(struct question *q, const cw_to *to, const struct kv_ask *ask, cw_span timeout);
/* It goes by the transport, which sees to its arrival: repeating it makes it later, not surer. */
bool rpc_by_message(const struct question *q, const struct kv_ask *ask);
/* Ends what was sent; reader_replied() does not follow. */
void rpc_cancel(struct question *q);
/* True when a value of so many bytes fits an answer by a call. */
bool rpc_fits(const struct kvcache *k, size_t length);
/* Answers; a value that fits no packet, over a call, becomes KV_LARGE. */
void rpc_answer(struct kvcache *k, const struct asker *asker, struct kv_answer *answer);

/* ---- root.c -------------------------------------------------------------------------------------------------------- */

/* An ask for this server as root; borrows its bytes. Answers now or later. id is its memId. */
void root_take(struct kvcache *k, const struct asker *asker, const struct kv_ask *ask, const cw_key *id);
/* What a read of this server's finds here as root; it changes nothing but uses. The answer borrows until the next call. */
void root_look(struct kvcache *k, const struct item_name *name, const struct kv_request *r, struct kv_answer *answer);
/* The value here, if there is one that may be served; borrowed until the next call. */
struct item *root_value(struct kvcache *k, const struct item_name *name);
/*
 * A write asked for at this server, the root: done at once, and *answer borrows the value until the next call. False: it has to wait,
 * and nothing was done; a question waits (root_take()).
 */
bool root_write(struct kvcache *k, const struct item_name *name, const struct kv_request *r, struct kv_answer *answer);
/* The view has changed, or a while has passed: holders may be gone, waiting writes may be somebody else's, or over. */
void root_review(struct kvcache *k);
/* The question that asked is over: nobody is answered any more. */
void root_abandon(struct kvcache *k, const struct question *q);
void root_close(struct kvcache *k);

/* ---- flush.c ------------------------------------------------------------------------------------------------------- */

struct flush_result {
    enum kv_status
        status; /* KV_OK; NO_MAJORITY: nothing was done; TIMED_OUT, UNKNOWN: who is missing may have values left */
    unsigned answered, missing; /* servers that did it in the last round; that are there and did not answer */
    cw_server first;            /* of these */
};
typedef void (*flush_done_fn)(void *arg, const struct flush_result *result);
/* done is called exactly once, perhaps before this returns. -ENOBUFS (too many under way), -ENOMEM, -ESHUTDOWN: then it is not. */
int flush_begin(struct kvcache *k, cw_job job, flush_done_fn done, void *arg);
/* Asks all to drop all copies; k->quiet ends when they have. From open(). */
void flush_renew(struct kvcache *k);
/* Another server's, who is answered. */
void flush_take(struct kvcache *k, const struct asker *asker, const struct kv_ask *ask);
/* The view has changed. */
void flush_review(struct kvcache *k);
void flush_close(struct kvcache *k);

/* ---- copies.c ------------------------------------------------------------------------------------------------------ */

struct item *copies_value(struct kvcache *k, const struct item_name *name);
/* The root takes it back. */
void copies_drop(struct kvcache *k, const struct item_name *name);
/* None that is here or was asked for by now is ever served. At once; their memory comes back by the sweep. */
void copies_forget(struct kvcache *k);
/* An ask that came by an extra key: answered from a copy, or fetched. */
void copies_serve(struct kvcache *k, const struct asker *asker, const struct kv_ask *ask, const cw_key *id);
/* The fetch under way that one more may join, or NULL. */
struct question *copies_fetch_of(struct kvcache *k, const cw_key *id, const struct kv_request *r);
void copies_fetch_began(struct kvcache *k, struct question *q);
/* It was answered: keeps a copy if it may be kept. True: followers may have it too. */
bool copies_fetched(struct kvcache *k, struct question *q, const struct kv_answer *answer, cw_server from);
/* Where to read: the extra key (1..k) whose server is nearest, 0: the root is. */
unsigned copies_choose(struct kvcache *k, const cw_key *id, cw_key *key, cw_server *at);

/* ---- reader.c ------------------------------------------------------------------------------------------------------ */

int reader_do(struct kvcache *k, const struct kv_request *r, kv_done_fn done, void *arg);
/* Fetches for another server, who is answered. */
void reader_fetch_for(struct kvcache *k, const struct asker *asker, const struct kv_ask *ask, const cw_key *id);
/* The latest attempt: answered (status 0), or not. */
void reader_replied(struct question *q, int status, const struct kv_answer *answer, cw_server from);
void reader_answer(struct question *q, const struct kv_answer *answer);
void reader_close(struct kvcache *k);

/* ---- report.c ------------------------------------------------------------------------------------------------------ */

enum { SURVEY_BYTES = 8000 }; /* of what one server reports, at most; and no more than fits a packet */

size_t report_stats(const struct kvcache *k, uint8_t out[static SURVEY_BYTES]);
/* As fields of a row. */
void report_fields(cw_request *r, const uint8_t *bytes, size_t length);
size_t report_hot(struct kvcache *k, uint8_t out[static SURVEY_BYTES]);

struct report_hot_row {
    cw_job job;
    uint64_t rate, error; /* hot.h */
    bool root;            /* who reports is */
    const uint8_t *holders;
    unsigned holder_count; /* of 32 bits each */
    const uint8_t *key;
    size_t key_length;
};
/* The first of the rows, borrowed, and its bytes; 0: there is none. */
size_t report_hot_next(const uint8_t *bytes, size_t length, struct report_hot_row *out);

/* ---- survey.c ------------------------------------------------------------------------------------------------------ */

/* What one server says, borrowed; NULL: nothing. */
typedef void (*survey_row_fn)(void *arg, cw_server s, const uint8_t *bytes, size_t length);
/* Asks all servers in view; row for each, then done, perhaps before this returns. Below 0: no memory, and neither is called. */
CW_MUST_CHECK int survey_begin(struct kvcache *k, enum kv_kind kind, survey_row_fn row, void (*done)(void *arg),
                               void *arg);
/* Another server's, who is answered. */
void survey_take(struct kvcache *k, const struct asker *asker, const struct kv_ask *ask);

/* ---- overview.c: commands; as on_command() ----------------------------------------------------------------------- */

int overview_stats(struct kvcache *k, cw_request *r);
int overview_hot(struct kvcache *k, cw_request *r, unsigned most);
int overview_flush(struct kvcache *k, cw_request *r, cw_job job);

/* ---- command.c ----------------------------------------------------------------------------------------------------- */

/* Bytes for people: what does not print is an escape. As many as fit, and a NUL. */
void kv_text(const uint8_t *bytes, size_t length, char *out, size_t room);
int kv_command(struct kvcache *k, cw_request *r, int argc, const char *const *argv);

#endif
