/* SPDX-License-Identifier: Apache-2.0 */
#include "services/multicast/file/reader.h"

#include "base/check.h"
#include "base/container.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { HASH_TURN = 16 << 20, WISHES = 16 };
static const cw_span cost_turn = CW_US(50);

struct chunk {
    uint64_t number;
    uint64_t used; /* when it was read last, in reads */
    bool there, coming;
    uint8_t *bytes;
};

enum task { TASK_NONE, TASK_LOOK, TASK_HASH, TASK_LOAD, TASK_LEAVE };

struct file_reader {
    struct file_env *env;
    void (*ready)(void *context, int status);
    void *context;
    uint64_t ticket;
    bool closing;
    bool waits; /* read() said -EAGAIN */
    int status;

    /* Of the work while `task` is not TASK_NONE: file, facts, digest, hashed, and the chunks that are coming. */
    enum task task;
    struct file_work work;
    struct files_file *file;
    struct files_facts facts;
    struct files_digest *sha;
    uint8_t digest[FILES_DIGEST_BYTES];
    uint64_t hashed;
    int rc;

    struct files_facts known; /* facts, and */
    uint64_t hashed_shown;    /* hashed, as of the last turn that is done */
    struct chunk chunk[FILE_READER_CHUNKS];
    uint64_t wish[WISHES]; /* chunks that are wanted and not coming yet, the first first */
    unsigned wishes;
    uint64_t reads, given;
};

static struct file_reader *reader_of(struct file_work *w)
{
    return container_of(w, struct file_reader, work);
}

/* ---- Away from the server's thread ------------------------------------------------------------------------------- */

/* A file whose length is said to be 0 may have content all the same: the kernel makes that of /proc when it is read. */
static bool has_content(const struct file_reader *r)
{
    const struct files_host *h = r->env->host;
    uint8_t byte;
    return h->read(h->context, r->file, 0, &byte, 1) == 0;
}

static void work_look(struct file_reader *r)
{
    const struct files_host *h = r->env->host;
    r->rc = h->look(h->context, r->file, &r->facts);
    if (r->rc == 0 && r->facts.bytes == 0 && has_content(r)) {
        r->rc = -EOPNOTSUPP;
    }
    if (r->rc == 0 && (r->sha = h->digest_open(h->context)) == NULL) {
        r->rc = -ENOMEM;
    }
}

static void work_hash(struct file_reader *r)
{
    const struct files_host *h = r->env->host;
    uint8_t *bytes = malloc(FILE_READER_CHUNK);
    uint64_t end = r->facts.bytes - r->hashed < HASH_TURN ? r->facts.bytes : r->hashed + HASH_TURN;
    int rc = bytes != NULL ? 0 : -ENOMEM;
    while (rc == 0 && r->hashed < end) {
        size_t length = end - r->hashed < FILE_READER_CHUNK ? (size_t)(end - r->hashed) : FILE_READER_CHUNK;
        rc = h->read(h->context, r->file, r->hashed, bytes, length);
        rc = rc < 0 ? rc : h->digest_add(r->sha, bytes, length);
        r->hashed += length;
    }
    free(bytes);
    if (rc == 0 && r->hashed == r->facts.bytes) {
        rc = h->digest_end(r->sha, r->digest);
    }
    r->rc = rc;
}

static size_t chunk_bytes(const struct file_reader *r, uint64_t number)
{
    uint64_t left = r->facts.bytes - number * FILE_READER_CHUNK;
    return left < FILE_READER_CHUNK ? (size_t)left : FILE_READER_CHUNK;
}

static void work_load(struct file_reader *r)
{
    const struct files_host *h = r->env->host;
    r->rc = 0;
    for (unsigned i = 0; i < FILE_READER_CHUNKS && r->rc == 0; i++) {
        struct chunk *c = &r->chunk[i];
        if (!c->coming) {
            continue;
        }
        if (c->bytes == NULL && (c->bytes = malloc(FILE_READER_CHUNK)) == NULL) {
            r->rc = -ENOMEM;
        } else {
            r->rc = h->read(h->context, r->file, c->number * FILE_READER_CHUNK, c->bytes, chunk_bytes(r, c->number));
        }
    }
}

static void work(struct file_work *w)
{
    struct file_reader *r = reader_of(w);
    const struct files_host *h = r->env->host;
    switch (r->task) {
    case TASK_LOOK:
        work_look(r);
        break;
    case TASK_HASH:
        work_hash(r);
        break;
    case TASK_LOAD:
        work_load(r);
        break;
    case TASK_LEAVE:
        h->close(h->context, r->file);
        r->file = NULL;
        break;
    case TASK_NONE:
        CHECK(false);
    }
}

/* ---- What to do next --------------------------------------------------------------------------------------------- */

static void done(struct file_work *w);

static void give(struct file_reader *r, enum task task, uint64_t bytes)
{
    r->task = task;
    r->work.work = work;
    r->work.done = done;
    r->work.cost = cw_span_add(cost_turn, file_env_takes(r->env, bytes));
    file_crew_give(&r->env->crew, &r->work);
}

static struct chunk *chunk_of(struct file_reader *r, uint64_t number)
{
    for (unsigned i = 0; i < FILE_READER_CHUNKS; i++) {
        struct chunk *c = &r->chunk[i];
        if ((c->there || c->coming) && c->number == number) {
            return c;
        }
    }
    return NULL;
}

/* The one to read another into. */
static struct chunk *oldest(struct file_reader *r)
{
    struct chunk *old = NULL;
    for (unsigned i = 0; i < FILE_READER_CHUNKS; i++) {
        struct chunk *c = &r->chunk[i];
        if (!c->coming &&
            (old == NULL || (!c->there && old->there) || (c->there == old->there && c->used < old->used))) {
            old = c;
        }
    }
    return old;
}

static void load_wishes(struct file_reader *r)
{
    uint64_t bytes = 0;
    for (unsigned i = 0; i < r->wishes && bytes < FILE_READER_AHEAD * (uint64_t)FILE_READER_CHUNK; i++) {
        struct chunk *c = chunk_of(r, r->wish[i]) == NULL ? oldest(r) : NULL;
        if (c != NULL) {
            c->number = r->wish[i];
            c->there = false;
            c->coming = true;
            c->used = ++r->reads;
            bytes += chunk_bytes(r, c->number);
        }
    }
    r->wishes = 0; /* whoever still waits for one wishes again */
    if (bytes > 0) {
        give(r, TASK_LOAD, bytes);
    }
}

static void next(struct file_reader *r)
{
    if (r->task != TASK_NONE) {
        return;
    }
    if (r->closing) {
        if (r->file != NULL) {
            give(r, TASK_LEAVE, 0);
        }
        return;
    }
    if (r->wishes > 0 && r->status == 0) {
        load_wishes(r);
    }
}

static void loaded(struct file_reader *r)
{
    for (unsigned i = 0; i < FILE_READER_CHUNKS; i++) {
        struct chunk *c = &r->chunk[i];
        c->there = c->there || (c->coming && r->rc == 0);
        c->coming = false;
    }
    r->status = r->rc; /* read() says it, to whoever asks next */
    if (r->waits) {
        r->waits = false;
        r->env->resume(r->env->context, r->ticket);
    }
}

static void done(struct file_work *w)
{
    struct file_reader *r = reader_of(w);
    enum task task = r->task;
    r->task = TASK_NONE;
    r->hashed_shown = r->hashed;
    r->known = r->facts;
    if (r->closing) {
        next(r);
        return;
    }
    if (task == TASK_LOAD) {
        loaded(r);
    } else if (r->rc == 0 && (task == TASK_LOOK || r->hashed < r->facts.bytes)) {
        uint64_t left = r->facts.bytes - r->hashed;
        give(r, TASK_HASH, left < HASH_TURN ? left : HASH_TURN);
        return;
    } else {
        r->status = r->rc;
        r->ready(r->context, r->rc); /* which may close it */
    }
    next(r);
}

/* ---- The source -------------------------------------------------------------------------------------------------- */

static void wish(struct file_reader *r, uint64_t number)
{
    if (number * FILE_READER_CHUNK >= r->facts.bytes || chunk_of(r, number) != NULL || r->wishes == WISHES) {
        return;
    }
    for (unsigned i = 0; i < r->wishes; i++) {
        if (r->wish[i] == number) {
            return;
        }
    }
    r->wish[r->wishes++] = number;
}

static int source_read(void *context, uint64_t offset, uint8_t *out, size_t length)
{
    struct file_reader *r = context;
    if (r->status < 0) {
        return r->status;
    }
    if (r->facts.bytes == 0) { /* an empty file is a message of one zero byte */
        memset(out, 0, length);
        return 0;
    }
    if (length == 0 || length > FILE_READER_CHUNK || offset > r->facts.bytes || length > r->facts.bytes - offset) {
        return -EINVAL;
    }
    uint64_t first = offset / FILE_READER_CHUNK, last = (offset + length - 1) / FILE_READER_CHUNK;
    struct chunk *part[2] = {chunk_of(r, first), chunk_of(r, last)};
    for (unsigned i = 0; i < 2; i++) {
        if (part[i] == NULL || !part[i]->there) {
            r->waits = true;
        } else {
            part[i]->used = ++r->reads;
        }
    }
    for (uint64_t n = first; n <= last + FILE_READER_AHEAD; n++) {
        wish(r, n);
    }
    next(r);
    if (part[0] == NULL || !part[0]->there || part[1] == NULL || !part[1]->there) {
        return -EAGAIN;
    }
    size_t at = (size_t)(offset % FILE_READER_CHUNK);
    size_t here = length < FILE_READER_CHUNK - at ? length : FILE_READER_CHUNK - at;
    memcpy(out, part[0]->bytes + at, here);
    memcpy(out + here, part[1]->bytes, length - here);
    r->given += length;
    return 0;
}

struct cast_source file_reader_source(struct file_reader *r)
{
    return (struct cast_source){.context = r, .read = source_read};
}

void file_reader_ticket(struct file_reader *r, uint64_t ticket)
{
    r->ticket = ticket;
}

/* ---- Coming and going -------------------------------------------------------------------------------------------- */

int file_reader_open(struct file_reader **out, struct file_env *env, struct files_file *file,
                     void (*ready)(void *context, int status), void *context)
{
    struct file_reader *r = calloc(1, sizeof *r);
    if (r == NULL) {
        return -ENOMEM;
    }
    r->env = env;
    r->file = file;
    r->ready = ready;
    r->context = context;
    give(r, TASK_LOOK, 0);
    *out = r;
    return 0;
}

const struct files_facts *file_reader_facts(const struct file_reader *r)
{
    return &r->known;
}

const uint8_t *file_reader_digest(const struct file_reader *r)
{
    return r->digest;
}

uint64_t file_reader_hashed(const struct file_reader *r)
{
    return r->hashed_shown;
}

uint64_t file_reader_given(const struct file_reader *r)
{
    return r->given;
}

void file_reader_close(struct file_reader *r)
{
    r->closing = true;
    next(r);
}

bool file_reader_is_over(const struct file_reader *r)
{
    return r->closing && r->task == TASK_NONE && r->file == NULL;
}

void file_reader_free(struct file_reader *r)
{
    if (r == NULL) {
        return;
    }
    const struct files_host *h = r->env->host;
    if (r->file != NULL) {
        h->close(h->context, r->file);
    }
    if (r->sha != NULL) {
        h->digest_close(r->sha);
    }
    for (unsigned i = 0; i < FILE_READER_CHUNKS; i++) {
        free(r->chunk[i].bytes);
    }
    free(r);
}
