/* SPDX-License-Identifier: Apache-2.0 */
/*
 * task.c - what a contributor does with its input: it is read, mapped and sorted by pieces of work (cw_offload()), one
 * after the other, and kept until the run has ended. So a new attempt needs nobody's memory but the contributor's.
 */
#include "services/aggregate/query/tallies.h"
#include "services/aggregate/stream/lead.h"
#include "services/aggregate/stream/task_parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
    PIECE = 1 << 20,  /* bytes that are read and mapped by one piece of work */
    FED = 64 << 20,   /* so many bytes a feed is taken to have, unless there is less memory */
    NS_PER_BYTE = 10, /* what that takes, for the simulator's clock */
};

static struct task *task_at(struct list_node *n)
{
    return (struct task *)(void *)n;
}

struct task *task_next(const struct stream *st, const struct run_name *run, const struct task *after)
{
    struct list_node *n = after == NULL ? list_first(&st->tasks) : list_next(&st->tasks, &after->link);
    for (; n != NULL; n = list_next(&st->tasks, n)) {
        if (run_name_equal(&task_at(n)->run, run) && !task_at(n)->dropped) {
            return task_at(n);
        }
    }
    return NULL;
}

bool task_is_ready(const struct task *t)
{
    return t->ready;
}

static void task_free(struct task *t)
{
    struct stream *st = t->st;
    cw_timer_stop(st->s, t->next);
    if (t->feed != NULL) {
        intake_leave(t->feed, -ECANCELED);
    }
    if (t->file != NULL) {
        st->spool.host->close(st->spool.host->context, t->file);
    }
    shelf_close(&t->shelf);
    account_give(t->account, t->memory_bytes);
    t->account->tasks--;
    account_close(t->account);
    list_remove(&t->link);
    st->task_count--;
    free(t->memory);
    free(t->piece);
    free(t->keys);
    free(t);
}

void task_drop(struct task *t)
{
    t->dropped = true;
    if (!t->away && t->sources == 0) {
        task_free(t);
    }
}

/* ---- The input --------------------------------------------------------------------------------------------------- */

static int sink(void *context, cw_bytes key, cw_bytes value)
{
    struct task *t = context;
    int rc = batch_add(&t->batch, key, value);
    t->records += rc == 0;
    return rc;
}

static void note_key(void *context, uint64_t hash)
{
    struct task *t = context;
    summary_distinct_add(t->keys, hash);
}

/* Work: which keys are in the batch. */
static void note_keys(struct task *t)
{
    if (t->keys != NULL) {
        batch_hashes(&t->batch, note_key, t);
    }
}

/* Work: makes room in the batch. */
static int spill(struct task *t)
{
    note_keys(t);
    batch_sort(&t->batch);
    int rc = shelf_put(&t->shelf, &t->batch);
    batch_clear(&t->batch);
    return rc;
}

/* Work: maps a piece, and spills when the batch is full. */
static int map(struct task *t, const uint8_t *bytes, size_t length)
{
    for (;;) {
        size_t used = 0;
        int rc = bytes != NULL ? mapper_feed(&t->mapper, bytes, length, &used) : mapper_end(&t->mapper);
        if (rc != -ENOSPC) {
            return rc;
        }
        if (bytes != NULL) {
            bytes += used;
            length -= used;
        }
        rc = spill(t);
        if (rc < 0) {
            return rc;
        }
    }
}

/* Work: the input has ended; sorts what is in memory. */
static int map_end(struct task *t)
{
    int rc = map(t, NULL, 0);
    if (rc == 0) {
        note_keys(t);
        batch_sort(&t->batch);
        shelf_keep(&t->shelf, &t->batch);
        t->ended = true;
    }
    return rc;
}

/* 0 means that nobody knows it. */
static uint64_t digest_told(const struct task *t)
{
    uint64_t digest = digest_value(&t->digest);
    return digest != 0 ? digest : 1;
}

/* Work: maps a piece of a feed. */
static void work_fed(void *arg)
{
    struct task *t = arg;
    digest_bytes(&t->digest, t->bytes, t->bytes_length);
    t->status = t->bytes_length > 0 ? map(t, t->bytes, t->bytes_length) : 0;
    t->offset += t->bytes_length;
    t->status = t->status == 0 && t->last ? map_end(t) : t->status;
}

/* Work: opens the input, or maps the next piece of it. */
static void work(void *arg)
{
    struct task *t = arg;
    const struct spool_host *h = t->st->spool.host;
    if (t->file == NULL) {
        t->status = h->input(h->context, t->st->folder, t->wish.from, &t->file, &t->length);
        return;
    }
    uint64_t left = t->length - t->offset, length = left < PIECE ? left : PIECE;
    t->status = length == 0 ? 0 : h->read(h->context, t->file, t->offset, t->piece, length);
    t->offset += length;
    if (t->status == 0 && length > 0) {
        digest_bytes(&t->digest, t->piece, (size_t)length);
        t->status = map(t, t->piece, (size_t)length);
    }
    if (t->status == 0 && t->offset == t->length) {
        t->status = t->wanted != 0 && t->wanted != digest_told(t) ? -EILSEQ : map_end(t);
    }
}

static void work_done(cw_svc *s, void *state, void *arg);

/* Tells the lead how it has ended, and forgets the task when it has not ended well. */
static void answer(struct task *t, int status)
{
    struct letter l = {.kind = LETTER_PREPARED, .run = t->run, .records = t->records, .bytes = t->length};
    uint8_t summary[SUMMARY_DISTINCT_BYTES];
    if (t->keys != NULL && status == 0) {
        l.summary_bytes = (uint16_t)summary_distinct_encode(t->keys, summary);
        l.summary = summary;
    }
    bool of_input = status == -EMSGSIZE || status == -EINVAL || status == -EBADMSG || status == -ENODATA;
    l.line = of_input && (t->file != NULL || t->fed) ? t->mapper.line : 0;
    l.bytes = t->fed ? t->offset : t->length;
    l.digest = status == 0 ? digest_told(t) : 0;
    l.limit = account_limit(t->st, status);
    if (t->feed != NULL) {
        intake_leave(t->feed, status);
        t->feed = NULL;
    }
    stream_answer(t->st, &t->reply, status, &l);
    t->ready = status == 0;
    if (status < 0) {
        task_drop(t);
    }
}

static void put_away(struct task *t)
{
    uint64_t left = t->length - t->offset;
    int rc = cw_offload(t->st->s, work, work_done, t, CW_NS((int64_t)((left < PIECE ? left : PIECE) * NS_PER_BYTE)));
    t->away = rc == 0;
    if (rc < 0) {
        answer(t, rc == -EAGAIN ? -ENOBUFS : rc);
    }
}

static void next_piece(cw_svc *s, void *state, void *arg)
{
    struct task *t = arg;
    (void)s;
    (void)state;
    t->next = NULL;
    put_away(t);
}

/* Takes memory for the records of an input that is open. Nobody knows how long a feed will be. */
static int allocate(struct task *t)
{
    uint64_t bytes;
    int rc = account_batch(t->account, t->fed ? FED : t->length, &bytes);
    rc = rc < 0 ? rc : account_take(t->account, bytes);
    if (rc < 0) {
        return rc;
    }
    t->memory_bytes = bytes;
    t->memory = malloc(bytes);
    if (t->memory == NULL) {
        return -ENOBUFS;
    }
    batch_open(&t->batch, t->memory, bytes, t->wish.partitions, &t->combine);
    return 0;
}

/* A timer begins the next piece: so when the service is unloaded, the server waits for one piece. */
static void work_done(cw_svc *s, void *state, void *arg)
{
    struct task *t = arg;
    (void)state;
    t->away = false;
    if (!t->dropped && t->status == 0 && t->memory == NULL) {
        t->status = allocate(t);
    }
    if (t->dropped) {
        task_drop(t);
    } else if (t->status < 0 || t->ended) {
        answer(t, t->status);
    } else {
        t->next = cw_timer_start(s, CW_NS(0), next_piece, t);
        if (t->next == NULL) {
            answer(t, -ENOBUFS);
        }
    }
}

/* ---- A feed ------------------------------------------------------------------------------------------------------ */

static void fed_done(cw_svc *s, void *state, void *arg)
{
    struct task *t = arg;
    (void)s;
    (void)state;
    t->away = false;
    if (t->dropped) {
        task_drop(t);
    } else if (t->status < 0 || t->ended) {
        answer(t, t->status);
    } else if (t->orphan) {
        answer(t, -EPIPE);
    } else {
        intake_used(t->feed);
        task_fed(t);
    }
}

void task_fed(struct task *t)
{
    if (t->away || t->dropped || !intake_piece(t->feed, &t->bytes, &t->bytes_length, &t->last)) {
        return;
    }
    int rc = t->memory == NULL ? allocate(t) : 0;
    rc = rc < 0 ? rc : cw_offload(t->st->s, work_fed, fed_done, t, CW_NS((int64_t)(t->bytes_length * NS_PER_BYTE)));
    t->away = rc == 0;
    if (rc < 0) {
        answer(t, rc == -EAGAIN ? -ENOBUFS : rc);
    }
}

void task_feeder_gone(struct task *t)
{
    t->orphan = true;
    if (!t->away && !t->dropped) {
        answer(t, -EPIPE);
    }
}

struct task *task_offer(struct stream *st, cw_job job, const char *name, struct intake *f)
{
    for (struct list_node *n = list_first(&st->tasks); n != NULL; n = list_next(&st->tasks, n)) {
        struct task *t = task_at(n);
        bool waits = t->fed && t->feed == NULL && !t->ready && !t->dropped;
        if (waits && t->wish.job == job && strcmp(intake_name_of(t->wish.from), name) == 0) {
            t->feed = f;
            return t;
        }
    }
    return NULL;
}

/* The task waits for a feed, or takes it. */
static void begin_feed(struct task *t)
{
    int rc = intake_take(t->st, t->wish.job, intake_name_of(t->wish.from), t, &t->feed);
    if (rc < 0) {
        answer(t, rc);
    } else if (t->feed != NULL) {
        task_fed(t);
    }
}

/* ---- The beginning, and the end ---------------------------------------------------------------------------------- */

static int check(const struct stream *st, const struct letter *l, bool reads, bool writes)
{
    struct mapper_kind_of of;
    struct combine combine;
    int rc = functions_mapper(st, l->wish.mapper, &of);
    rc = rc < 0 ? rc : functions_combine(st, l->wish.combine, &combine);
    if (rc == -ELIBACC || rc == -ELIBBAD) {
        return rc;
    }
    if (l->run.life == 0 || l->servers != st->torus.servers || rc < 0) {
        return -EPROTO;
    }
    for (const struct task *t = NULL; (t = task_next(st, &l->run, t)) != NULL;) {
        if (t->of == l->of) {
            return -EEXIST;
        }
    }
    const char *feed = intake_name_of(l->wish.from);
    if (feed != NULL && !tallies_name_valid(feed)) {
        return -EPROTO;
    }
    bool file = reads && feed == NULL;
    if ((file && st->spool.host == NULL) || (writes && st->host == NULL) ||
        ((file || writes) && st->folder[0] == '\0')) {
        return -EOPNOTSUPP;
    }
    if (writes && copy_has_name(st, &l->run, l->wish.to)) {
        return -EBUSY;
    }
    return st->task_count < STREAM_TASKS ? 0 : -ENOBUFS;
}

/* Only the answer says which limit was in the way. */
static int refuse(struct stream *st, const struct letter *l, const struct transport_reply_to *reply, int status)
{
    const struct letter none = {.kind = LETTER_PREPARED, .run = l->run, .limit = account_limit(st, status)};
    stream_answer(st, reply, status, &none);
    return 0;
}

/* A task without an input so far. */
static int make(struct stream *st, const struct letter *l, bool fed, struct task **out)
{
    struct task *t = calloc(1, sizeof *t);
    uint8_t *piece = fed ? NULL : malloc(PIECE);
    bool asks = (l->wish.flags & LETTER_ASKS) != 0;
    struct summary_distinct *keys = asks ? calloc(1, sizeof *keys) : NULL;
    struct account *account = account_open(st, l->wish.job);
    bool many = account != NULL && account->tasks >= ACCOUNT_RUNS;
    if (t == NULL || (piece == NULL && !fed) || (asks && keys == NULL) || account == NULL || many) {
        free(t);
        free(piece);
        free(keys);
        account_close(account);
        return many ? -EUSERS : -ENOBUFS;
    }
    t->account = account;
    account->tasks++;
    t->keys = keys;
    t->st = st;
    t->run = l->run;
    t->of = l->of;
    t->wanted = l->digest;
    t->wish = l->wish;
    t->fed = fed;
    t->piece = piece;
    *out = t;
    return 0;
}

int task_begin(struct stream *st, const struct letter *l, const struct transport_reply_to *reply)
{
    struct mapper_kind_of of;
    bool reads = trees_set_has(l->members, st->self);
    int rc = check(st, l, reads, trees_set_has(l->others, st->self));
    if (rc < 0) {
        return rc;
    }
    if (!reads) { /* it only writes, and can */
        const struct letter none = {.kind = LETTER_PREPARED, .run = l->run};
        stream_answer(st, reply, 0, &none);
        return 0;
    }
    bool fed = intake_name_of(l->wish.from) != NULL;
    struct task *t;
    rc = make(st, l, fed, &t);
    if (rc < 0) {
        return refuse(st, l, reply, rc);
    }
    digest_init(&t->digest);
    t->reply = *reply;
    t->asked = t->began = cw_now(st->s);
    rc = functions_mapper(st, l->wish.mapper, &of);
    rc = rc < 0 ? rc : functions_combine(st, l->wish.combine, &t->combine);
    mapper_open(&t->mapper, of, sink, t);
    shelf_open(&t->shelf, &st->spool, &t->account->spool, l->wish.partitions, &t->combine);
    list_push_back(&st->tasks, &t->link);
    st->task_count++;
    if (fed) {
        begin_feed(t);
    } else {
        put_away(t);
    }
    stream_wake(st);
    return rc;
}

void task_tick(struct task *t)
{
    struct stream *st = t->st;
    cw_time now = cw_now(st->s);
    if (t->run.root == st->self && lead_of_run(st, &t->run) == NULL) {
        task_drop(t); /* it was asked for by this server, before the run ended, and came behind that */
        return;
    }
    if (!t->dropped && t->run.root != st->self && cw_time_due(cw_time_add(t->asked, STREAM_ASK_EVERY), now)) {
        const struct letter l = {.kind = LETTER_PROBE, .run = t->run};
        t->asked = now;
        if (!stream_sees(st, t->run.root)) {
            task_drop(t); /* its lead was gone before it came, and no event tells that */
            return;
        }
        (void)stream_say(st, t->run.root, &l);
    }
    cw_time last = cw_time_add(t->began, CW_MS((int64_t)t->wish.limit_ms));
    if (t->fed && t->feed == NULL && !t->ready && !t->dropped && cw_time_due(last, now)) {
        answer(t, -ENOTCONN);
    }
}

void task_lead_down(struct stream *st, cw_server lead)
{
    for (struct list_node *n = list_first(&st->tasks), *next; n != NULL; n = next) {
        next = list_next(&st->tasks, n);
        if (task_at(n)->run.root == lead) {
            task_drop(task_at(n));
        }
    }
}

void task_close(struct stream *st)
{
    while (!list_is_empty(&st->tasks)) {
        struct task *t = task_at(list_first(&st->tasks));
        t->away = false;
        task_free(t);
    }
}
