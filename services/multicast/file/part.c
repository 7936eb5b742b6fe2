/* SPDX-License-Identifier: Apache-2.0 */
#include "services/multicast/file/part.h"

#include "base/check.h"
#include "base/container.h"
#include "base/utf8.h"
#include "services/multicast/file/map.h"
#include "services/multicast/file/progress.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    /* Pieces of one batch; pieces that are not tiny are bounded by its bytes. */
    PIECES_MOST = 4096,
    /* Bytes that are read back and digested in one turn: beside writing, and when there is nothing to write. */
    HASH_BESIDE = 4 << 20,
    HASH_ALONE = 16 << 20,
    READ_BACK = 256 << 10,
    NAME_SHOWN = 240, /* bytes of a name in a log */
};
/* A map is stored after so long, or after FILE_PART_CHECKPOINT bytes. */
static const cw_span checkpoint_after = CW_SEC(2);
/* How long works take in the simulator, besides their bytes. */
static const cw_span cost_open = CW_US(200);
static const cw_span cost_turn = CW_US(50);
static const cw_span cost_end = CW_MS(1);

struct run {
    uint64_t offset;
    uint32_t length;
};

struct batch {
    uint8_t *bytes;
    uint32_t used, count;
    struct run run[PIECES_MOST];
};

enum task { TASK_NONE, TASK_OPEN, TASK_TURN, TASK_FINISH, TASK_LEAVE };

struct file_part {
    struct file_env *env;
    struct file_label label;
    uint64_t ticket, message_bytes;
    uint32_t piece_bytes;
    char part[FILE_BESIDE], map_name[FILE_BESIDE];
    enum file_part_state state;
    int status;
    bool taken;      /* somebody has its sink */
    bool waits;      /* write() said -EAGAIN */
    bool already;    /* the file is there, whole */
    bool end_called; /* end() was called */

    /*
     * The members below belong to the work while `task` is not TASK_NONE, else to the server's thread. The members
     * above, and those from `filling` on, are never the work's.
     */
    enum task task;
    struct file_work work;
    struct files_file *file;
    struct files_digest *digest;
    struct file_map map; /* the work reads it; the server's thread changes it when a turn is done */
    uint64_t hashed, hash_to;
    bool checkpoint;
    int rc;
    struct batch *writing;

    struct batch *filling;
    uint64_t checked; /* hashed, as of the last turn that is done */
    uint64_t before;  /* pieces that were there when it was opened */
    uint64_t since;   /* bytes since the last checkpoint */
    cw_time checkpointed;
};

cw_span file_env_takes(const struct file_env *env, uint64_t bytes)
{
    enum { USUAL_NS = 500, KB = 1000 };
    uint32_t ns = env->host->ns_per_kb > 0 ? env->host->ns_per_kb : USUAL_NS;
    return CW_NS((int64_t)(bytes * ns / KB));
}

static struct file_part *part_of(struct file_work *w)
{
    return container_of(w, struct file_part, work);
}

/* ---- Away from the server's thread ------------------------------------------------------------------------------- */

static void work_open(struct file_part *p)
{
    const struct files_host *h = p->env->host;
    const char *folder = p->env->folder;
    int rc = h->have(h->context, folder, p->label.name, p->label.bytes, p->label.digest);
    if (rc == FILES_SAME) {
        p->already = true;
        p->rc = 0;
        return;
    }
    if (rc == FILES_OTHER && p->label.keep) {
        rc = -EEXIST;
    }
    rc = rc < 0 ? rc : h->open(h->context, folder, p->part, p->label.bytes, &p->file);
    bool made = rc > 0;
    if (made) {
        (void)h->drop(h->context, folder, p->map_name); /* the map is that of a part that was deleted */
    }
    rc = rc < 0 ? rc : file_map_open(&p->map, p->message_bytes, p->piece_bytes, p->label.digest);
    if (rc == 0 && (p->digest = h->digest_open(h->context)) == NULL) {
        rc = -ENOMEM;
    }
    size_t room = rc == 0 && !made ? file_map_size(&p->map) : 0;
    uint8_t *bytes = room > 0 ? malloc(room) : NULL;
    int64_t length = bytes != NULL ? h->load(h->context, folder, p->map_name, bytes, room) : 0;
    if (length > 0 && file_map_read(&p->map, bytes, (size_t)length) < 0) {
        (void)h->drop(h->context, folder, p->map_name); /* damaged: the whole file comes again */
    }
    free(bytes);
    p->rc = rc;
}

/* Pieces that are neighbours in the file and in the batch go in one write. */
static int write_batch(struct file_part *p, const struct batch *b)
{
    const struct files_host *h = p->env->host;
    const uint8_t *at = b->bytes;
    int rc = 0;
    for (uint32_t i = 0; i < b->count && rc == 0 && p->label.bytes > 0;) {
        uint64_t offset = b->run[i].offset;
        size_t length = 0;
        for (; i < b->count && b->run[i].offset == offset + length; i++) {
            length += b->run[i].length;
        }
        rc = h->write(h->context, p->file, offset, at, length);
        at += length;
    }
    return rc;
}

static int hash_more(struct file_part *p)
{
    const struct files_host *h = p->env->host;
    uint8_t *bytes = p->hashed < p->hash_to ? malloc(READ_BACK) : NULL;
    int rc = p->hashed < p->hash_to && bytes == NULL ? -ENOMEM : 0;
    while (rc == 0 && p->hashed < p->hash_to) {
        uint64_t left = p->hash_to - p->hashed;
        size_t length = left < READ_BACK ? (size_t)left : READ_BACK;
        rc = h->read(h->context, p->file, p->hashed, bytes, length);
        rc = rc < 0 ? rc : h->digest_add(p->digest, bytes, length);
        p->hashed += length;
    }
    free(bytes);
    return rc;
}

/* Syncs the part, and only then stores its map: the map never names a piece that is not on the disk. */
static int write_checkpoint(struct file_part *p)
{
    const struct files_host *h = p->env->host;
    size_t length = file_map_size(&p->map);
    int rc = h->sync(h->context, p->file);
    uint8_t *bytes = rc == 0 ? malloc(length) : NULL;
    if (bytes == NULL) {
        return rc < 0 ? rc : -ENOMEM;
    }
    file_map_write(&p->map, bytes);
    rc = h->store(h->context, p->env->folder, p->map_name, bytes, length);
    free(bytes);
    return rc;
}

static void let_go(struct file_part *p)
{
    const struct files_host *h = p->env->host;
    if (p->file != NULL) {
        h->close(h->context, p->file);
        p->file = NULL;
    }
}

static void drop_all(struct file_part *p)
{
    const struct files_host *h = p->env->host;
    (void)h->drop(h->context, p->env->folder, p->map_name);
    (void)h->drop(h->context, p->env->folder, p->part);
    let_go(p);
}

static void work_turn(struct file_part *p)
{
    int rc = write_batch(p, p->writing);
    rc = rc < 0 ? rc : hash_more(p);
    if (rc == 0 && p->checkpoint) {
        rc = write_checkpoint(p);
    }
    p->rc = rc;
}

static void work_finish(struct file_part *p)
{
    const struct files_host *h = p->env->host;
    uint8_t digest[FILES_DIGEST_BYTES];
    int rc = h->digest_end(p->digest, digest);
    if (rc == 0 && memcmp(digest, p->label.digest, sizeof digest) != 0) {
        rc = -EBADMSG;
    }
    struct files_end end = {.part = p->part, .name = p->label.name, .mode = p->label.mode, .replace = !p->label.keep};
    memcpy(end.digest, digest, sizeof digest);
    rc = rc < 0 ? rc : h->finish(h->context, p->env->folder, p->file, &end);
    if (rc >= 0) {
        (void)h->drop(h->context, p->env->folder, p->map_name);
        let_go(p);
    }
    p->rc = rc;
}

/*
 * Is it worth while to keep the part: can the rest of the file come, and has it a place? It cannot come when the source
 * was told to stop (-ECANCELED), or when the file there is not what it was when it was digested (-ENODATA).
 */
static bool is_of_use(const struct file_part *p)
{
    return p->map.bit != NULL && p->map.have > 0 && p->status != -EBADMSG && p->status != -ENOSPC &&
           p->status != -EDQUOT && p->status != -EFBIG && p->status != -EEXIST && p->status != -ECANCELED &&
           p->status != -ENODATA;
}

static void work_leave(struct file_part *p)
{
    if (p->file != NULL && (!is_of_use(p) || write_checkpoint(p) < 0)) {
        drop_all(p);
    }
    let_go(p);
    p->rc = 0;
}

static void work(struct file_work *w)
{
    struct file_part *p = part_of(w);
    switch (p->task) {
    case TASK_OPEN:
        work_open(p);
        break;
    case TASK_TURN:
        work_turn(p);
        break;
    case TASK_FINISH:
        work_finish(p);
        break;
    case TASK_LEAVE:
        work_leave(p);
        break;
    case TASK_NONE:
        CHECK(false);
    }
}

/* ---- What to do next --------------------------------------------------------------------------------------------- */

static void done(struct file_work *w);

static void give(struct file_part *p, enum task task, cw_span cost)
{
    p->task = task;
    p->work.work = work;
    p->work.done = done;
    p->work.cost = cost;
    file_crew_give(&p->env->crew, &p->work);
}

static void give_turn(struct file_part *p, uint64_t hash_to)
{
    struct batch *full = p->filling;
    cw_time now = cw_now(p->env->s);
    p->filling = p->writing;
    p->writing = full;
    uint64_t most = full->count > 0 ? HASH_BESIDE : HASH_ALONE;
    p->hash_to = hash_to - p->hashed < most ? hash_to : p->hashed + most;
    p->since += full->used;
    p->checkpoint = p->state == FILE_PART_TAKING && p->since > 0 &&
                    (p->since >= FILE_PART_CHECKPOINT || cw_time_since(now, p->checkpointed).ns >= checkpoint_after.ns);
    if (p->checkpoint) {
        p->since = full->used; /* this batch will be on the disk, but is not in the map that is stored now */
        p->checkpointed = now;
    }
    give(p, TASK_TURN, cw_span_add(cost_turn, file_env_takes(p->env, full->used + (p->hash_to - p->hashed))));
}

static void next(struct file_part *p)
{
    if (p->task != TASK_NONE || p->state == FILE_PART_OPENING) {
        return;
    }
    if (p->end_called && (p->status < 0 || p->state != FILE_PART_FINISHING)) {
        if (p->file != NULL) {
            give(p, TASK_LEAVE, cost_end);
        } else {
            p->state = FILE_PART_OVER;
        }
        return;
    }
    if (p->already || p->status < 0) {
        return;
    }
    uint64_t prefix = p->label.bytes > 0 ? file_map_prefix(&p->map) : 0;
    if (p->filling->count > 0 || p->hashed < prefix) {
        give_turn(p, prefix);
    } else if (p->state == FILE_PART_FINISHING) {
        give(p, TASK_FINISH, cost_end);
    }
}

/* The source says why, and of which server; here is the folder, which only this server knows. */
static void tell_failure(const struct file_part *p, int rc)
{
    char name[NAME_SHOWN], text[sizeof name + FILE_FOLDER + 160];
    (void)utf8_show(p->label.name, strlen(p->label.name), name, sizeof name);
    snprintf(text, sizeof text, "file %s cannot be put into %s: %s", name, p->env->folder, file_reason(rc));
    cw_log(p->env->s, CW_LOG_WARN, text);
}

static void fail(struct file_part *p, int rc)
{
    bool finishing = p->state == FILE_PART_FINISHING;
    tell_failure(p, rc);
    p->status = rc;
    if (finishing) {
        p->env->ended(p->env->context, p->ticket, rc);
    } else if (p->taken) {
        p->env->resume(p->env->context, p->ticket);
    }
}

static void written(struct file_part *p)
{
    for (uint32_t i = 0; i < p->writing->count; i++) {
        file_map_set(&p->map, p->writing->run[i].offset / p->piece_bytes);
    }
    p->writing->count = p->writing->used = 0;
    if (p->waits) {
        p->waits = false;
        p->env->resume(p->env->context, p->ticket);
    }
}

static void opened(struct file_part *p)
{
    p->state = FILE_PART_TAKING;
    p->status = p->status < 0 ? p->status : p->rc; /* abandoned meanwhile: the reason for that stays */
    p->before = p->already || p->map.bit == NULL ? 0 : p->map.have;
    p->checkpointed = cw_now(p->env->s);
    if (p->rc < 0) {
        tell_failure(p, p->rc);
    }
    p->env->resume(p->env->context, p->ticket);
}

/* For the log and the stream of events. */
static void tell_arrival(const struct file_part *p)
{
    char name[NAME_SHOWN], text[sizeof name + 40];
    (void)utf8_show(p->label.name, strlen(p->label.name), name, sizeof name);
    snprintf(text, sizeof text, "file %s has arrived whole", name);
    cw_log(p->env->s, CW_LOG_INFO, text);
}

/* The file is there and whole, and that is reported; only a loss of power now may undo it. */
static void warn_of_folder(const struct file_part *p)
{
    char name[NAME_SHOWN], text[sizeof name + 160];
    if (p->rc > 0) {
        (void)utf8_show(p->label.name, strlen(p->label.name), name, sizeof name);
        snprintf(text, sizeof text,
                 "file %s is whole, but its folder cannot be synced: if the machine fails now, send the file again; "
                 "look after the disk",
                 name);
        cw_log(p->env->s, CW_LOG_WARN, text);
    }
}

bool file_part_audit(const struct file_part *p)
{
    uint32_t used = 0;
    for (uint32_t i = 0; i < p->filling->count; i++) {
        used += p->filling->run[i].length;
    }
    CHECK_RULE(used == p->filling->used && used <= FILE_PART_BUFFER, "files F2: a batch counts its bytes right",
               p->label.name);
    if (p->task == TASK_NONE && p->map.bit != NULL) {
        (void)file_map_audit(&p->map);
        CHECK_RULE(p->hashed <= file_map_prefix(&p->map), "files F2: only what is on the disk is digested",
                   p->label.name);
    }
    CHECK_RULE(p->state != FILE_PART_OVER || p->task == TASK_NONE, "files F2: what is over has no work under way",
               p->label.name);
    return true;
}

static void done(struct file_work *w)
{
    struct file_part *p = part_of(w);
    enum task task = p->task;
    p->task = TASK_NONE;
    p->checked = p->hashed;
    if (task == TASK_OPEN) {
        opened(p);
    } else if (task == TASK_LEAVE) {
        p->state = FILE_PART_OVER;
    } else if (p->rc < 0) {
        fail(p, p->rc);
    } else if (task == TASK_TURN) {
        written(p);
    } else {
        p->state = FILE_PART_OVER;
        tell_arrival(p);
        warn_of_folder(p);
        p->env->ended(p->env->context, p->ticket, 0);
    }
    next(p);
    CHECK_SLOW(file_part_audit(p));
}

/* ---- The sink ---------------------------------------------------------------------------------------------------- */

static int sink_write(void *context, uint64_t offset, const uint8_t *bytes, size_t length)
{
    struct file_part *p = context;
    if (p->status < 0) {
        return p->status;
    }
    uint64_t piece = offset / p->piece_bytes;
    uint64_t left = offset < p->message_bytes ? p->message_bytes - offset : 0;
    if (offset % p->piece_bytes != 0 || length != (left < p->piece_bytes ? left : p->piece_bytes)) {
        return -EINVAL;
    }
    if (p->already || file_map_has(&p->map, piece)) {
        return 0;
    }
    struct batch *b = p->filling;
    if (b->count == PIECES_MOST || b->used + length > FILE_PART_BUFFER) {
        p->waits = true;
        return -EAGAIN;
    }
    memcpy(b->bytes + b->used, bytes, length);
    b->used += (uint32_t)length;
    b->run[b->count++] = (struct run){offset, (uint32_t)length};
    next(p);
    CHECK_SLOW(file_part_audit(p));
    return 0;
}

static bool sink_has(void *context, uint64_t piece)
{
    const struct file_part *p = context;
    return p->already || file_map_has(&p->map, piece);
}

static int sink_end(void *context, int status)
{
    struct file_part *p = context;
    p->end_called = true;
    if (status == 0 && p->status == 0 && p->already) {
        p->state = FILE_PART_OVER;
        return 0;
    }
    if (status == 0 && p->status == 0) {
        p->state = FILE_PART_FINISHING;
        next(p);
        return -EINPROGRESS;
    }
    p->status = p->status < 0 ? p->status : status;
    next(p);
    return p->status;
}

/* ---- Coming and going -------------------------------------------------------------------------------------------- */

static struct batch *batch_open(void)
{
    struct batch *b = malloc(sizeof *b);
    if (b == NULL) {
        return NULL;
    }
    b->count = b->used = 0;
    b->bytes = malloc(FILE_PART_BUFFER);
    if (b->bytes == NULL) {
        free(b);
        return NULL;
    }
    return b;
}

static void batch_close(struct batch *b)
{
    if (b != NULL) {
        free(b->bytes);
        free(b);
    }
}

int file_part_open(struct file_part **out, struct file_env *env, const struct cast_offer *offer,
                   const struct file_label *label)
{
    struct file_part *p = calloc(1, sizeof *p);
    if (p == NULL) {
        return -ENOMEM;
    }
    p->env = env;
    p->label = *label;
    p->ticket = offer->ticket;
    p->message_bytes = offer->bytes;
    p->piece_bytes = offer->piece_bytes;
    p->filling = batch_open();
    p->writing = batch_open();
    if (p->filling == NULL || p->writing == NULL) {
        file_part_close(p);
        return -ENOMEM;
    }
    file_label_part(label, p->part);
    file_label_map(label, p->map_name);
    p->state = FILE_PART_OPENING;
    give(p, TASK_OPEN, cost_open);
    *out = p;
    return 0;
}

const struct file_label *file_part_label(const struct file_part *p)
{
    return &p->label;
}

int file_part_ready(const struct file_part *p)
{
    return p->state == FILE_PART_OPENING ? -EAGAIN : p->status;
}

struct cast_sink file_part_sink(struct file_part *p)
{
    p->taken = true;
    return (struct cast_sink){.context = p, .write = sink_write, .has = sink_has, .end = sink_end};
}

void file_part_abandon(struct file_part *p, int status)
{
    if (!p->taken && !p->end_called) {
        p->end_called = true;
        p->status = p->status < 0 ? p->status : status;
        next(p);
    }
}

bool file_part_is_over(const struct file_part *p)
{
    return p->state == FILE_PART_OVER && p->task == TASK_NONE;
}

struct file_part_view file_part_look(const struct file_part *p)
{
    struct file_part_view v = {.state = p->state, .taken = p->taken, .status = p->status};
    v.bytes = p->label.bytes;
    v.checked = p->checked;
    bool open = p->state != FILE_PART_OPENING && p->map.bit != NULL;
    if (p->already) {
        v.there = v.before = v.bytes;
    } else if (open) {
        v.before = p->before * p->piece_bytes;
        v.there = p->map.have * p->piece_bytes;
        v.there = v.there < v.bytes ? v.there : v.bytes;
        v.before = v.before < v.bytes ? v.before : v.bytes;
    }
    return v;
}

void file_part_close(struct file_part *p)
{
    if (p->file != NULL && is_of_use(p)) {
        (void)write_checkpoint(p); /* when this fails the map of before stays, which is true of fewer pieces */
    }
    let_go(p);
    if (p->digest != NULL) {
        p->env->host->digest_close(p->digest);
    }
    file_map_close(&p->map);
    batch_close(p->filling);
    batch_close(p->writing);
    free(p);
}
