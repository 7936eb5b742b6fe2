/* SPDX-License-Identifier: Apache-2.0 */
#include "services/aggregate/sorted/spool.h"

#include "base/bytes.h"
#include "base/check.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
    LENGTH_BYTES = 4,
    WINDOW = RECORD_BLOCK + RECORD_KEY_MOST, /* a block, and what record_block_after() may add */
};

struct shelf_reader {
    const struct shelf *shelf;
    unsigned runs;
    struct shelf_place left[SHELF_RUNS]; /* of each run: where the next block is, and how many bytes there are */
    struct batch_cursor cursor;          /* in what is still in memory */
    bool has_after;
    uint32_t after_length;
    uint8_t after[RECORD_KEY_MOST];
    struct merge merge;
    struct merge_source source[SHELF_RUNS + 1];
    uint8_t scratch[2 * RECORD_BLOCK];
    uint8_t window[][WINDOW]; /* one for each run, and one for the batch */
};

void spool_open(struct spool *s, const struct spool_host *host, const char *folder, uint64_t limit)
{
    memset(s, 0, sizeof *s);
    size_t length = folder != NULL ? strlen(folder) : 0;
    s->host = length < sizeof s->folder ? host : NULL;
    if (s->host != NULL && length > 0) {
        memcpy(s->folder, folder, length);
    }
    s->limit = limit;
}

static bool count_up(_Atomic uint64_t *count, uint64_t limit, uint64_t bytes)
{
    uint64_t used = atomic_fetch_add(count, bytes);
    if (bytes > limit || used > limit - bytes) {
        atomic_fetch_sub(count, bytes);
        return false;
    }
    return true;
}

static void give_back(struct shelf *f, uint64_t bytes)
{
    atomic_fetch_sub(&f->spool->used, bytes);
    if (f->share != NULL) {
        atomic_fetch_sub(&f->share->used, bytes);
    }
}

/* Of the share, and of all (aggregate rule 33). */
static int take(struct shelf *f, uint64_t bytes)
{
    if (f->share != NULL && !count_up(&f->share->used, f->share->limit, bytes)) {
        return -EXFULL;
    }
    if (!count_up(&f->spool->used, f->spool->limit, bytes)) {
        if (f->share != NULL) {
            atomic_fetch_sub(&f->share->used, bytes);
        }
        return -ENOSPC;
    }
    return 0;
}

void shelf_open(struct shelf *f, struct spool *s, struct spool_share *share, uint32_t partitions,
                const struct combine *combine)
{
    memset(f, 0, sizeof *f);
    f->spool = s;
    f->share = share;
    f->partitions = partitions;
    f->combine = combine != NULL ? *combine : f->combine;
}

void shelf_keep(struct shelf *f, const struct batch *b)
{
    CHECK(b->sorted && b->partitions == f->partitions);
    f->last = b;
}

/* Takes the run. */
static void run_drop(struct shelf *f, struct shelf_run *run)
{
    if (run->file != NULL) {
        f->spool->host->close(f->spool->host->context, run->file);
    }
    give_back(f, run->bytes);
    free(run->place);
    *run = (struct shelf_run){0};
}

void shelf_close(struct shelf *f)
{
    for (unsigned i = 0; i < f->runs; i++) {
        run_drop(f, &f->run[i]);
    }
    f->runs = 0;
    f->last = NULL;
    f->bytes = 0;
}

/* A run that is being written: blocks gather in the buffer. */
struct run_writer {
    struct shelf *shelf;
    struct shelf_run run;
    uint64_t length; /* of the run, with what is in the buffer */
    size_t used;
    uint8_t buffer[SHELF_BUFFER];
};

static int run_flush(struct run_writer *w)
{
    const struct spool *s = w->shelf->spool;
    if (w->used == 0) {
        return 0;
    }
    int rc = take(w->shelf, w->used);
    if (rc < 0) {
        return rc;
    }
    w->run.bytes += w->used;
    rc = s->host->write(s->host->context, w->run.file, w->buffer, w->used);
    w->used = 0;
    return rc;
}

/* What the next records of a partition are read from: a batch, or the runs that are there. */
struct run_source {
    const struct batch *batch;
    struct batch_cursor cursor;
    struct shelf_reader *reader;
};

static int source_read(struct run_source *from, struct record_writer *w, cw_bytes *key)
{
    return from->batch != NULL ? batch_read(from->batch, &from->cursor, w, key)
                               : shelf_reader_next(from->reader, w, key);
}

static int write_partition(struct run_writer *w, uint32_t partition, struct run_source *from, struct record_writer *out,
                           cw_bytes *key)
{
    struct shelf_place *place = &w->run.place[partition];
    place->offset = w->length;
    for (int more = 1; more != 0;) {
        int rc = sizeof w->buffer - w->used < LENGTH_BYTES + RECORD_BLOCK ? run_flush(w) : 0;
        if (rc < 0) {
            return rc;
        }
        uint8_t *at = w->buffer + w->used;
        record_writer_init(out, at + LENGTH_BYTES, RECORD_BLOCK);
        more = source_read(from, out, key);
        if (more < 0) {
            return more;
        }
        *key = (cw_bytes){NULL, 0};
        if (out->used > 0) {
            put_be32(at, (uint32_t)out->used);
            w->used += LENGTH_BYTES + out->used;
            w->length += LENGTH_BYTES + out->used;
        }
    }
    place->length = w->length - place->offset;
    return 0;
}

static void reader_seek(struct shelf_reader *r, uint32_t partition);

static int write_all(struct run_writer *w, const struct batch *b, struct shelf_reader *reader, uint8_t *scratch,
                     cw_bytes *key)
{
    struct run_source from = {.batch = b, .reader = reader};
    struct record_writer out;
    for (uint32_t p = 0; p < w->shelf->partitions; p++) {
        if (b != NULL) {
            from.cursor = batch_seek(b, p, NULL, scratch);
        } else {
            reader_seek(reader, p);
        }
        int rc = write_partition(w, p, &from, &out, key);
        if (rc < 0) {
            return rc;
        }
    }
    return run_flush(w);
}

static void note_key(struct shelf *f, cw_bytes key)
{
    f->key = (cw_bytes){f->failed_key, key.length};
    if (key.length > 0) {
        memcpy(f->failed_key, key.bytes, key.length);
    }
}

/* Writes a run of a batch, or of all runs that are there (b NULL). */
static int run_make(struct shelf *f, const struct batch *b, struct shelf_run *out)
{
    const struct spool_host *host = f->spool->host;
    struct run_writer *w = malloc(sizeof *w);
    uint8_t *scratch = b != NULL ? malloc(2 * (size_t)RECORD_BLOCK) : NULL;
    struct shelf_reader *reader = NULL;
    cw_bytes key = {NULL, 0};
    int rc = w == NULL || (b != NULL && scratch == NULL) ? -ENOMEM : 0;
    if (rc == 0) {
        w->shelf = f;
        w->run = (struct shelf_run){.place = calloc(f->partitions, sizeof(struct shelf_place))};
        w->length = w->used = 0;
        rc = w->run.place == NULL ? -ENOMEM : host->make(host->context, f->spool->folder, &w->run.file);
        rc = rc == 0 && b == NULL ? shelf_reader_open(f, 0, NULL, &reader) : rc;
        rc = rc == 0 ? write_all(w, b, reader, scratch, &key) : rc;
        note_key(f, key);
        *out = w->run;
        if (rc < 0) {
            run_drop(f, out);
        }
    }
    shelf_reader_close(reader);
    free(scratch);
    free(w);
    return rc;
}

/* Makes one run of all. */
static int compact(struct shelf *f)
{
    struct shelf_run all;
    int rc = run_make(f, NULL, &all);
    if (rc < 0) {
        return rc;
    }
    for (unsigned i = 0; i < f->runs; i++) {
        run_drop(f, &f->run[i]);
    }
    f->run[0] = all;
    f->runs = 1;
    f->bytes = all.bytes;
    return 0;
}

int shelf_put(struct shelf *f, const struct batch *b)
{
    CHECK(b->sorted && b->partitions == f->partitions && f->last == NULL);
    f->key = (cw_bytes){NULL, 0};
    if (f->spool->host == NULL || f->spool->folder[0] == '\0') {
        return -ENOTDIR;
    }
    int rc = f->runs == SHELF_RUNS ? compact(f) : 0;
    struct shelf_run run;
    rc = rc == 0 ? run_make(f, b, &run) : rc;
    if (rc == 0) {
        f->run[f->runs++] = run;
        f->bytes += run.bytes;
    }
    return rc;
}

/* Begins with a partition. */
static void reader_seek(struct shelf_reader *r, uint32_t partition)
{
    const struct shelf *f = r->shelf;
    cw_bytes after = {r->after, r->after_length};
    for (unsigned i = 0; i < r->runs; i++) {
        r->left[i] = f->run[i].place[partition];
    }
    if (f->last != NULL) {
        r->cursor = batch_seek(f->last, partition, r->has_after ? &after : NULL, r->scratch);
    }
    if (r->runs + (f->last != NULL) > 0) {
        merge_open(&r->merge, r->source, r->runs + (f->last != NULL), &f->combine);
    }
}

int shelf_reader_open(const struct shelf *f, uint32_t partition, const cw_bytes *after, struct shelf_reader **out)
{
    CHECK(partition < f->partitions && (after == NULL || after->length <= RECORD_KEY_MOST));
    struct shelf_reader *r = malloc(sizeof *r + ((size_t)f->runs + (f->last != NULL)) * WINDOW);
    if (r == NULL) {
        return -ENOMEM;
    }
    r->shelf = f;
    r->runs = f->runs;
    r->has_after = after != NULL;
    r->after_length = 0;
    if (after != NULL) {
        memcpy(r->after, after->bytes, after->length);
        r->after_length = (uint32_t)after->length;
    }
    reader_seek(r, partition);
    *out = r;
    return 0;
}

/* Reads the next block of a run, of which not more than the records behind the key are left. 0, or -errno. */
static int read_block(struct shelf_reader *r, unsigned i, size_t *length)
{
    const struct spool_host *host = r->shelf->spool->host;
    struct spool_file *file = r->shelf->run[i].file;
    struct shelf_place *left = &r->left[i];
    uint8_t head[LENGTH_BYTES];
    int rc = host->read(host->context, file, left->offset, head, sizeof head);
    *length = rc == 0 ? get_be32(head) : 0;
    if (rc < 0 || *length > RECORD_BLOCK || *length + sizeof head > left->length) {
        return rc < 0 ? rc : -EIO;
    }
    rc = host->read(host->context, file, left->offset + sizeof head, r->window[i], *length);
    left->offset += sizeof head + *length;
    left->length -= sizeof head + *length;
    if (rc == 0 && r->has_after) {
        rc = record_block_after(r->window[i], *length, (cw_bytes){r->after, r->after_length}, r->scratch);
        if (rc >= 0) {
            memcpy(r->window[i], r->scratch, (size_t)rc);
            *length = (size_t)rc;
        }
    }
    return rc < 0 ? rc : 0;
}

/* Gives the merge the next block of a source. */
static int feed(struct shelf_reader *r, unsigned i, cw_bytes *key)
{
    size_t length = 0;
    int rc = 0;
    if (i == r->runs) {
        struct record_writer w;
        record_writer_init(&w, r->window[i], RECORD_BLOCK);
        rc = batch_read(r->shelf->last, &r->cursor, &w, key);
        length = w.used;
        *key = rc < 0 ? *key : (cw_bytes){NULL, 0};
    } else {
        while (rc == 0 && length == 0 && r->left[i].length > 0) {
            rc = read_block(r, i, &length);
        }
    }
    if (rc < 0) {
        return rc;
    }
    if (length > 0) {
        merge_feed(&r->merge, i, r->window[i], length);
    } else {
        merge_end(&r->merge, i);
    }
    return 0;
}

int shelf_reader_next(struct shelf_reader *r, struct record_writer *w, cw_bytes *key)
{
    *key = (cw_bytes){NULL, 0};
    if (r->runs + (r->shelf->last != NULL) == 0) {
        return 0;
    }
    for (;;) {
        int rc = merge_run(&r->merge, w);
        if (rc < 0) {
            *key = rc == -EBADMSG ? *key : merge_key(&r->merge);
            return rc == -EBADMSG ? -EIO : rc;
        }
        if (rc != MERGE_WAITS) {
            return rc == MERGE_FULL;
        }
        rc = feed(r, r->merge.waits, key);
        if (rc < 0) {
            return rc == -EBADMSG ? -EIO : rc;
        }
    }
}

void shelf_reader_close(struct shelf_reader *r)
{
    free(r);
}
