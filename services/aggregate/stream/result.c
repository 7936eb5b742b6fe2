/* SPDX-License-Identifier: Apache-2.0 */
/*
 * result.c - what has come of the result, at the root. Blocks of a partition are kept in memory until it is whole; then
 * a piece of work (cw_offload()) adds its records to a batch, which is sorted, and goes to the spool when it is full.
 * When all partitions are there, pieces of work make the file of them.
 */
#include "services/aggregate/sorted/reduce.h"
#include "services/aggregate/sorted/spool.h"
#include "services/aggregate/stream/best.h"
#include "services/aggregate/stream/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
    TEXT = STREAM_TEXT, /* bytes that are written by one piece of work */
    NS_PER_BYTE = 5,    /* what a piece takes, for the simulator's clock */
    BEST_PARTS = 4,     /* the best records have this part of a job's memory */
    VALUES_PARTS = 8,   /* and the values of a key this one, when they meet at the root only */
};

#define SYNC CW_US(100) /* and this for the disk */

struct part {
    struct prefix prefix;
    bool whole, taken; /* taken: a piece of work has, or had, its blocks */
};

struct result {
    struct stream *st;
    struct collector *c;
    struct account *account;
    struct wish wish;
    uint32_t first, count; /* partitions */
    struct part *part;
    uint32_t whole;    /* partitions that are */
    uint32_t absorbed; /* and of them, those in the batch */
    struct part *absorbing;
    uint64_t charged;
    bool away, dropped, writing, committing;
    bool ended;              /* for the work: all of the file is written, or given */
    bool named;              /* and it has its name */
    struct sharing *sharing; /* NULL: nobody else gets it */
    bool sharing_now;
    result_given_fn given;
    void *given_to;
    int status; /* of the work */
    cw_timer *next;
    struct combine combine;
    void *values; /* room for all values of a key, when they meet here only; NULL: they met on the way */
    void *memory;
    struct batch batch;
    struct shelf shelf;
    /* The file. */
    bool read; /* all records */
    struct shelf_reader *reader;
    struct record_reader block;
    struct reduce reduce;
    struct best *best;    /* with wish.top */
    uint32_t given_count; /* of best, to the text */
    struct vectors_file *file;
    uint64_t keys, bytes;
    size_t text_used;
    uint8_t *text; /* TEXT bytes, and room for a record */
    uint8_t records[RECORD_BLOCK];
};

uint64_t result_keys(const struct result *r)
{
    return r->keys;
}

uint64_t result_bytes(const struct result *r)
{
    return r->bytes;
}

bool result_whole(const struct result *r, uint32_t partition)
{
    return r->part[partition - r->first].whole;
}

uint32_t result_count(const struct result *r)
{
    return r->whole;
}

/* ---- Life -------------------------------------------------------------------------------------------------------- */

static int take(struct result *r, uint64_t bytes)
{
    int rc = account_take(r->account, bytes);
    r->charged += rc == 0 ? bytes : 0;
    return rc;
}

static void give_back(struct result *r, uint64_t bytes)
{
    r->charged -= bytes;
    account_give(r->account, bytes);
}

static void part_clear(struct result *r, struct part *p)
{
    give_back(r, p->prefix.bytes);
    prefix_clear(&p->prefix);
}

static int sink(void *context, cw_bytes key, cw_bytes value);

static void result_free(struct result *r)
{
    struct stream *st = r->st;
    cw_timer_stop(st->s, r->next);
    if (r->file != NULL) {
        st->host->abandon(st->host->context, r->file);
    }
    for (uint32_t i = 0; i < r->count; i++) {
        part_clear(r, &r->part[i]);
    }
    give_back(r, r->charged);
    shelf_reader_close(r->reader);
    shelf_close(&r->shelf);
    best_close(r->best);
    r->account->results--;
    account_close(r->account);
    free(r->part);
    free(r->values);
    free(r->memory);
    free(r->text);
    free(r);
}

/* Room for the best records, or for all values of a key, when they meet here only: all that may ever be needed. */
static int make_room(struct result *r)
{
    const struct stream *st = r->st;
    uint64_t top = (uint64_t)r->wish.top * RECORD_BLOCK;
    uint64_t best = top < st->job_memory / BEST_PARTS ? top : st->job_memory / BEST_PARTS;
    bool apart = r->combine.table != NULL && !r->combine.table->associative;
    size_t values = apart ? st->job_memory / VALUES_PARTS : 0;
    int rc = take(r, best + values);
    if (rc < 0) {
        return rc;
    }
    r->best = best > 0 ? best_open(r->wish.top, best) : NULL;
    r->values = values > 0 ? malloc(values) : NULL;
    reduce_open(&r->reduce, &r->combine, r->values, values, sink, r);
    return (best > 0 && r->best == NULL) || (values > 0 && r->values == NULL) ? -ENOBUFS : 0;
}

int result_open(struct stream *st, struct collector *c, const struct wish *w, uint32_t first, uint32_t count,
                struct result **out)
{
    struct result *r = calloc(1, sizeof *r);
    struct part *part = calloc(count, sizeof *part);
    uint8_t *text = malloc(STREAM_TEXT_MOST);
    struct account *account = account_open(st, w->job);
    bool many = account != NULL && account->results >= ACCOUNT_RUNS;
    if (r == NULL || part == NULL || text == NULL || account == NULL || many) {
        free(r);
        free(part);
        free(text);
        account_close(account);
        return many ? -EUSERS : -ENOBUFS;
    }
    *r = (struct result){.st = st, .c = c, .wish = *w, .account = account, .part = part, .text = text};
    account->results++;
    r->first = first;
    r->count = count;
    for (uint32_t i = 0; i < count; i++) {
        prefix_init(&part[i].prefix);
    }
    shelf_open(&r->shelf, &st->spool, &account->spool, 1, NULL);
    record_reader_init(&r->block);
    int rc = functions_combine(st, w->combine, &r->combine);
    rc = rc < 0 ? rc : make_room(r);
    if (rc < 0) {
        result_free(r);
        return rc;
    }
    *out = r;
    return 0;
}

void result_drop(struct result *r)
{
    r->dropped = true;
    sharing_close(r->sharing);
    r->sharing = NULL;
    if (!r->away || r->st->closing) { /* when the service closes, its work has ended */
        result_free(r);
    }
}

/* ---- Work -------------------------------------------------------------------------------------------------------- */

/* Adds a record to those that are sorted; a full batch goes to the spool. */
static int keep(struct result *r, cw_bytes key, cw_bytes value)
{
    int rc = batch_add(&r->batch, key, value);
    if (rc != -ENOSPC) {
        return rc;
    }
    batch_sort(&r->batch);
    rc = shelf_put(&r->shelf, &r->batch);
    batch_clear(&r->batch);
    return rc < 0 ? rc : batch_add(&r->batch, key, value);
}

/* Takes the records of a partition that is whole. */
static void absorb(void *arg)
{
    struct result *r = arg;
    struct record_reader reader;
    int rc = 0;
    record_reader_init(&reader);
    for (const struct prefix_block *b = r->absorbing->prefix.first; b != NULL && rc == 0; b = b->next) {
        record_reader_block(&reader, b->bytes, b->size);
        while (rc == 0 && (rc = record_reader_next(&reader)) == 1) {
            rc = keep(r, (cw_bytes){reader.key, reader.key_length}, (cw_bytes){reader.value, reader.value_length});
        }
    }
    r->status = rc;
}

static void put_text(struct result *r, cw_bytes key, cw_bytes value)
{
    memcpy(r->text + r->text_used, key.bytes, key.length);
    r->text_used += key.length;
    r->text[r->text_used++] = '\t';
    if (value.length > 0) {
        memcpy(r->text + r->text_used, value.bytes, value.length);
    }
    r->text_used += value.length;
    r->text[r->text_used++] = '\n';
    r->keys++;
}

/* A key, and its value in the result. */
static int sink(void *context, cw_bytes key, cw_bytes value)
{
    struct result *r = context;
    if (r->best != NULL) {
        return best_add(r->best, key, value);
    }
    put_text(r, key, value);
    return 0;
}

/* Reads records until there is enough for one piece of the file. */
static int read_records(struct result *r)
{
    uint64_t before = r->reduce.records_in;
    int rc = r->reader != NULL ? 0 : shelf_reader_open(&r->shelf, 0, NULL, &r->reader);
    while (rc == 0 && !r->read && r->text_used < TEXT && r->reduce.records_in - before < TEXT) {
        rc = record_reader_next(&r->block);
        if (rc == 1) {
            rc = reduce_add(&r->reduce, (cw_bytes){r->block.key, r->block.key_length},
                            (cw_bytes){r->block.value, r->block.value_length});
            continue;
        }
        if (rc < 0) {
            return rc;
        }
        struct record_writer w;
        cw_bytes key;
        record_writer_init(&w, r->records, sizeof r->records);
        int more = shelf_reader_next(r->reader, &w, &key);
        if (more < 0) {
            return more;
        }
        record_reader_block(&r->block, r->records, w.used);
        if (w.used == 0 && more == 0) {
            r->read = true;
            rc = reduce_end(&r->reduce);
        }
    }
    return rc;
}

/* Makes the next text of the result; r->ended: there are no more. */
static int make_text(struct result *r)
{
    cw_bytes key, value;
    if (r->reader == NULL) {
        batch_sort(&r->batch);
        shelf_keep(&r->shelf, &r->batch);
    }
    r->text_used = 0;
    int rc = r->read ? 0 : read_records(r);
    while (rc == 0 && r->read && r->best != NULL && r->text_used < TEXT &&
           best_get(r->best, r->given_count, &key, &value)) {
        put_text(r, key, value);
        r->given_count++;
    }
    r->bytes += r->text_used;
    r->ended = rc == 0 && r->read && r->text_used < TEXT;
    return rc;
}

/* Work: makes the next piece of the file, and writes it; or gives the file its name. */
static void write_piece(void *arg)
{
    struct result *r = arg;
    const struct vectors_host *h = r->st->host;
    if (r->ended) {
        r->status = h->end(h->context, r->file);
        r->file = NULL;
        r->named = true;
        return;
    }
    int rc = make_text(r);
    rc = rc < 0 || r->file != NULL ? rc : h->begin(h->context, r->st->folder, r->wish.to, &r->file);
    for (size_t at = 0; rc == 0 && at < r->text_used; at += h->piece) {
        size_t left = r->text_used - at;
        rc = h->write(h->context, r->file, r->text + at, left < h->piece ? left : h->piece);
    }
    if (rc < 0 && r->file != NULL) {
        h->abandon(h->context, r->file);
        r->file = NULL;
    }
    r->status = rc;
}

/* Work: makes the next text for the caller. */
static void give_piece(void *arg)
{
    struct result *r = arg;
    r->status = make_text(r);
}

static void go_on(struct result *r);

/* A text is written here, and with the others. */
static void sharing_ready(void *arg, int status, cw_server who)
{
    struct result *r = arg;
    r->sharing_now = false;
    if (status < 0) {
        collector_blame(r->c, status, who);
    } else if (r->ended) {
        collector_written(r->c, 0, false);
    } else {
        go_on(r);
    }
}

/* A piece is written. */
static void piece_done(struct result *r)
{
    if (r->status < 0 || r->named) {
        collector_written(r->c, r->status, r->named);
    } else if (r->sharing != NULL) {
        r->sharing_now = true;
        sharing_text(r->sharing, r->text, r->text_used, r->ended);
    } else if (r->ended) {
        collector_written(r->c, 0, false);
    } else {
        go_on(r);
    }
}

static void work_done(cw_svc *s, void *state, void *arg)
{
    struct result *r = arg;
    result_given_fn given = r->given;
    (void)s;
    (void)state;
    r->away = false;
    if (r->dropped) {
        result_free(r);
    } else if (r->absorbing != NULL) {
        part_clear(r, r->absorbing);
        r->absorbing = NULL;
        r->absorbed++;
        if (r->status < 0) {
            collector_written(r->c, r->status, false);
        } else {
            go_on(r);
        }
    } else if (given != NULL) {
        r->given = NULL;
        given(r->given_to, r->status, r->text, r->text_used, r->ended);
    } else {
        piece_done(r);
    }
}

static void put_away(struct result *r, void (*work)(void *arg), uint64_t cost)
{
    int rc = cw_offload(r->st->s, work, work_done, r, CW_NS((int64_t)cost));
    r->away = rc == 0;
    if (rc < 0) {
        r->absorbing = NULL; /* and the tick tries again */
    }
}

/* Memory for the records of the result, of which there are no more than of all inputs. */
static int allocate(struct result *r)
{
    uint64_t bytes;
    int rc = account_batch(r->account, r->c != NULL ? r->c->bytes : 0, &bytes);
    rc = rc < 0 ? rc : take(r, bytes);
    r->memory = rc == 0 ? malloc(bytes) : NULL;
    if (r->memory == NULL) {
        return rc < 0 ? rc : -ENOBUFS;
    }
    batch_open(&r->batch, r->memory, bytes, 1, NULL);
    return 0;
}

static void next_work(cw_svc *s, void *state, void *arg)
{
    struct result *r = arg;
    (void)s;
    (void)state;
    r->next = NULL;
    if (r->away || r->sharing_now) {
        return;
    }
    int rc = r->memory == NULL ? allocate(r) : 0;
    if (rc < 0) {
        collector_written(r->c, rc, false);
        return;
    }
    for (uint32_t i = 0; i < r->count && r->absorbed < r->whole; i++) {
        if (r->part[i].whole && !r->part[i].taken) {
            r->absorbing = &r->part[i];
            put_away(r, absorb, r->absorbing->prefix.bytes * NS_PER_BYTE);
            r->part[i].taken = r->away;
            break;
        }
    }
    bool all = !r->away && r->absorbed == r->count;
    if (all && ((r->writing && !r->ended) || r->committing)) {
        put_away(r, write_piece, (uint64_t)TEXT / 4 * NS_PER_BYTE + (uint64_t)SYNC.ns);
    } else if (all && r->given != NULL) {
        put_away(r, give_piece, (uint64_t)TEXT / 4 * NS_PER_BYTE);
    }
    bool wanted = (r->writing && !r->ended) || r->committing || r->given != NULL;
    if (!r->away && (wanted || r->absorbed < r->whole)) {
        r->next = cw_timer_start(s, CW_MS(1), next_work, r); /* too much is under way */
    }
}

/* A timer begins the next piece: so when the service is unloaded, the server waits for one piece. */
static void go_on(struct result *r)
{
    if (r->next == NULL && !r->away) {
        r->next = cw_timer_start(r->st->s, CW_NS(0), next_work, r);
    }
}

/* ---- What comes -------------------------------------------------------------------------------------------------- */

int result_put(struct result *r, uint32_t partition, const uint8_t *bytes, size_t size, bool last)
{
    struct part *p = &r->part[partition - r->first];
    int rc = take(r, size);
    if (rc == 0 && prefix_add(&p->prefix, bytes, size) < 0) {
        give_back(r, size);
        rc = -ENOBUFS;
    }
    if (rc < 0) {
        return rc;
    }
    if (last) {
        p->whole = true;
        r->whole++;
        go_on(r);
    }
    return 0;
}

uint64_t result_cut(struct result *r)
{
    bool one_of_each = (r->combine.table != NULL && r->combine.table->associative) || STREAM_MUTANT(LAST_KEY_OPEN);
    uint64_t kept = 0;
    for (uint32_t i = 0; i < r->count; i++) {
        struct prefix *p = &r->part[i].prefix;
        if (!r->part[i].whole) {
            uint64_t before = p->bytes;
            prefix_cut(p, one_of_each);
            give_back(r, before - p->bytes);
            kept += p->bytes;
        }
    }
    return kept;
}

cw_bytes result_after(const struct result *r, uint32_t partition)
{
    cw_bytes after = prefix_after(&r->part[partition - r->first].prefix);
    if (STREAM_MUTANT(REST_KEPT)) {
        return (cw_bytes){NULL, 0};
    }
    after.length -= STREAM_MUTANT(KEY_AGAIN) && after.length > 0;
    return after;
}

void result_write(struct result *r)
{
    r->writing = true;
    if (stream_first(r->st, r->c->copies) != CW_SERVER_NONE) {
        r->sharing = sharing_open(r->c, sharing_ready, r);
        if (r->sharing == NULL) {
            collector_written(r->c, -ENOBUFS, false);
            return;
        }
    }
    go_on(r);
}

void result_commit(struct result *r)
{
    r->committing = true;
    go_on(r);
}

int result_give(struct result *r, result_given_fn given, void *arg)
{
    if (r->given != NULL) {
        return -EBUSY;
    }
    r->given = given;
    r->given_to = arg;
    go_on(r);
    return 0;
}
