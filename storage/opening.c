/* SPDX-License-Identifier: Apache-2.0 */
#include "storage/opening.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char id_name[] = "id";

static void told(struct disk_waiter *waiter, uint64_t ticket, int64_t result)
{
    struct opening *o = container_of(waiter, struct opening, waiter);
    (void)ticket;
    o->next(o->storage, result);
}

void opening_order(struct storage *s, struct disk_order order, opening_step next)
{
    s->opening->next = next;
    order.lane = DISK_LANE_LOG;
    order.waiter = &s->opening->waiter;
    disk_submit(s->disk, &order);
}

void opening_free(struct storage *s)
{
    struct opening *o = s->opening;
    if (o == NULL) {
        return;
    }
    free(o->files);
    free(o->window);
    free(o->first);
    free(o->segment);
    free(o->pending.bytes);
    free(o->value);
    free(o->zeros);
    free(o);
    s->opening = NULL;
}

static void end(struct storage *s, enum storage_opened_as as)
{
    struct storage_opened how = s->opening->how;
    how.as = as;
    how.store_id = s->identity.store_id;
    how.boot = s->identity.boot;
    how.position = s->durable;
    opening_free(s);
    s->state = as <= STORAGE_RENEWED ? STORAGE_OPEN : STORAGE_REFUSED;
    s->events.opened(s->events.arg, &how);
    if (s->state == STORAGE_OPEN) {
        storage_settle(s);
    }
}

void opening_fail(struct storage *s, int error, const char *why)
{
    s->opening->how.error = error;
    s->opening->how.why = why;
    end(s, STORAGE_FAILED);
}

void opening_damage(struct storage *s, const char *why)
{
    s->opening->damage = s->opening->damage != NULL ? s->opening->damage : why;
}

/* The place in a blob segment behind which nothing is alive: where the next value may go. */
static void find_ends(struct storage *s)
{
    uint64_t at = 0;
    for (struct key_slot *slot; (slot = key_index_next(&s->index, &at)) != NULL;) {
        segments_live(&s->meta, slot->record.segment, slot->record.length, true);
        if ((slot->flags & KEY_PLACED) == 0) {
            continue;
        }
        uint32_t size = segments_padded(&s->blob, slot->value.length);
        struct segment *blob = segments_at(&s->blob, slot->value.segment);
        segments_live(&s->blob, slot->value.segment, size, true);
        blob->used = blob->used > slot->value.offset + size ? blob->used : slot->value.offset + size;
    }
}

static void judge_segments(struct storage *s)
{
    s->counting = true;
    find_ends(s);
    for (uint32_t n = 1; n <= s->meta.count; n++) {
        struct segment *m = segments_at(&s->meta, n);
        if (m->state != SEGMENT_MAKING || m->live != 0) {
            m->state = n == s->meta.head ? SEGMENT_HEAD : SEGMENT_FULL;
        }
    }
    uint32_t least = s->blob.size;
    for (uint32_t n = 1; n <= s->blob.count; n++) {
        struct segment *b = segments_at(&s->blob, n);
        b->state = b->state == SEGMENT_MAKING && b->live == 0 ? SEGMENT_MAKING : SEGMENT_FULL;
        if (b->state == SEGMENT_FULL && b->live != 0 && b->used < least) {
            least = b->used;
            s->blob.head = n;
        }
    }
    if (s->blob.head != 0) {
        segments_at(&s->blob, s->blob.head)->state = SEGMENT_HEAD;
    }
    s->blobs_wanted = s->blob.count > 0;
    segments_recycle(&s->meta, s->covered);
    segments_recycle(&s->blob, s->covered);
}

static void identity_written(struct storage *s, int64_t result)
{
    struct opening *o = s->opening;
    if (result < 0) {
        opening_fail(s, (int)result, "the file id cannot be written");
        return;
    }
    if (o->damage == NULL) {
        end(s, o->has_id ? STORAGE_RECOVERED : STORAGE_FORMATTED);
    } else {
        o->how.why = o->damage;
        end(s, STORAGE_RENEWED);
    }
}

static void write_identity(struct storage *s)
{
    struct identity *id = &s->identity;
    s->position = s->durable;
    s->last_is_empty = s->durable == 0;
    id->boot++;
    id->sequence++;
    identity_encode(id, s->identity_bytes);
    opening_order(s,
                  (struct disk_order){.what = DISK_WRITE,
                                      .sync = true,
                                      .file = s->identity_file,
                                      .offset = identity_offset(id->sequence),
                                      .from = s->identity_bytes,
                                      .size = IDENTITY_BLOCK},
                  identity_written);
}

/*
 * The last segment of each kind may be one that an earlier life was making: it has all its length, and no sync has told
 * the disk its name. It is synced now, since once a later one is made, a loss of power could leave a hole before that.
 */
static void sync_last(struct storage *s, int64_t result)
{
    struct opening *o = s->opening;
    if (result < 0) {
        opening_fail(s, (int)result, "a segment cannot be synced");
        return;
    }
    while (o->synced < 2) {
        const struct segments *all = o->synced++ == 0 ? &s->meta : &s->blob;
        if (all->count > 0) {
            opening_order(s, (struct disk_order){.what = DISK_SYNC, .file = segments_at(all, all->count)->file},
                          sync_last);
            return;
        }
    }
    write_identity(s);
}

void opening_end(struct storage *s)
{
    judge_segments(s);
    sync_last(s, 0);
}

/* Every number up to the highest must be there; a file that is short must be the one that was being made. */
static void check_segments(struct storage *s, struct segments *all, const uint64_t *sizes)
{
    for (uint32_t n = 1; n <= all->count; n++) {
        struct segment *segment = segments_at(all, n);
        if (sizes[n - 1] >= all->size) {
            segment->state = SEGMENT_FULL;
        } else if (n != all->count) {
            opening_damage(s, sizes[n - 1] == 0 ? "a segment is missing" : "a segment was cut short");
        }
    }
}

static void opened_next(struct storage *s, int64_t result);

/* What to do with a file that was opened, by its name. False: no memory. */
static bool note_file(struct storage *s, const struct disk_file *file, uint32_t handle)
{
    struct opening *o = s->opening;
    uint64_t sequence = checkpoint_sequence(file->name);
    if (strcmp(file->name, id_name) == 0) {
        s->identity_file = handle;
        return true;
    }
    if (sequence != 0) {
        if (o->checkpoints < CHECKPOINTS_MAX) {
            o->checkpoint_file[o->checkpoints] = handle;
            o->checkpoint_size[o->checkpoints] = file->size;
            o->checkpoint_number[o->checkpoints++] = sequence;
        }
        s->checkpoint.sequence = sequence > s->checkpoint.sequence ? sequence : s->checkpoint.sequence;
        return true;
    }
    for (int kind = 0; kind < 2; kind++) {
        struct segments *all = kind == 0 ? &s->meta : &s->blob;
        uint32_t number = segments_number(all->meta, file->name);
        while (number != 0 && all->count < number) {
            if (segments_add(all) == NULL) {
                return false;
            }
        }
        if (number != 0) {
            segments_at(all, number)->file = handle;
        }
    }
    return true;
}

static uint64_t size_of(const struct opening *o, bool meta, uint32_t number)
{
    char name[DISK_NAME_BYTES];
    segments_name(meta, number, name);
    for (uint32_t i = 0; i < o->files_count; i++) {
        if (strcmp(o->files[i].name, name) == 0) {
            return o->files[i].size;
        }
    }
    return 0;
}

static bool check_all(struct storage *s)
{
    for (int kind = 0; kind < 2; kind++) {
        struct segments *all = kind == 0 ? &s->meta : &s->blob;
        uint64_t *sizes = calloc(all->count + 1, sizeof *sizes);
        if (sizes == NULL) {
            return false;
        }
        for (uint32_t n = 1; n <= all->count; n++) {
            sizes[n - 1] = size_of(s->opening, all->meta, n);
        }
        check_segments(s, all, sizes);
        free(sizes);
    }
    return true;
}

/* A folder without an identity gets one: it is empty, or its identity is lost. */
static void make_identity(struct storage *s)
{
    if (s->meta.count != 0 || s->opening->checkpoints != 0) {
        opening_damage(s, "the file id is lost");
    }
    s->identity = (struct identity){.class_id = s->config.class_id,
                                    .store_id = s->config.fresh_id,
                                    .block = s->config.block,
                                    .meta_segment = s->config.meta_segment,
                                    .blob_segment = s->config.blob_segment};
    opening_end(s);
}

static void id_read(struct storage *s, int64_t result)
{
    struct opening *o = s->opening;
    struct identity *id = &s->identity;
    if (result < 0) {
        opening_fail(s, (int)result, "the file id cannot be read");
        return;
    }
    o->has_id = identity_decode(id, o->id_bytes, (uint32_t)result) == 0;
    if (!o->has_id) {
        make_identity(s);
        return;
    }
    id->blob_segment = s->blob.count == 0 ? s->config.blob_segment : id->blob_segment; /* they may have any size yet */
    if (id->class_id != s->config.class_id || id->block != s->config.block ||
        id->meta_segment != s->config.meta_segment || id->blob_segment != s->config.blob_segment) {
        bool blobs = id->block == s->config.block && id->meta_segment == s->config.meta_segment;
        o->how.why = id->class_id != s->config.class_id ? "the folder is another class's"
                     : blobs                            ? "its files for large values have another size"
                                                        : "the folder was made with other sizes";
        end(s, STORAGE_OTHER);
        return;
    }
    if (id->dead) {
        opening_damage(s, "a write or sync failed in the life before");
    }
    s->index.salt = id->store_id;
    loading_begin(s);
}

static void read_id(struct storage *s, int64_t result)
{
    if (result < 0) {
        opening_fail(s, (int)result, "the file id cannot be opened");
        return;
    }
    s->identity_file = (uint32_t)result;
    opening_order(s,
                  (struct disk_order){
                      .what = DISK_READ, .file = s->identity_file, .to = s->opening->id_bytes, .size = IDENTITY_BYTES},
                  id_read);
}

static bool is_ours(const char *name)
{
    return strcmp(name, id_name) == 0 || checkpoint_sequence(name) != 0 || segments_number(true, name) != 0 ||
           segments_number(false, name) != 0;
}

static void open_next(struct storage *s)
{
    struct opening *o = s->opening;
    while (o->at < o->files_count && !is_ours(o->files[o->at].name)) {
        o->at++;
    }
    if (o->at < o->files_count) {
        opening_order(s, (struct disk_order){.what = DISK_OPEN, .name = o->files[o->at].name}, opened_next);
    } else if (!check_all(s)) {
        opening_fail(s, -ENOMEM, "no memory");
    } else {
        opening_order(s, (struct disk_order){.what = DISK_OPEN, .name = id_name, .create = true}, read_id);
    }
}

static void opened_next(struct storage *s, int64_t result)
{
    struct opening *o = s->opening;
    if (result < 0) {
        opening_fail(s, (int)result, "a file cannot be opened");
    } else if (!note_file(s, &o->files[o->at++], (uint32_t)result)) {
        opening_fail(s, -ENOMEM, "no memory");
    } else {
        open_next(s);
    }
}

static void listed(struct storage *s, int64_t result)
{
    struct opening *o = s->opening;
    if (result < 0) {
        opening_fail(s, (int)result, "the folder cannot be listed");
        return;
    }
    if ((uint64_t)result > o->files_count) {
        free(o->files);
        o->files_count = (uint32_t)result;
        o->files = calloc(o->files_count, sizeof *o->files);
        if (o->files == NULL) {
            opening_fail(s, -ENOMEM, "no memory");
            return;
        }
        opening_order(s, (struct disk_order){.what = DISK_LIST, .list = o->files, .size = o->files_count}, listed);
        return;
    }
    o->files_count = (uint32_t)result;
    open_next(s);
}

int opening_begin(struct storage *s)
{
    s->opening = calloc(1, sizeof *s->opening);
    if (s->opening == NULL) {
        return -ENOMEM;
    }
    s->opening->waiter.told = told;
    s->opening->storage = s;
    opening_order(s, (struct disk_order){.what = DISK_LIST}, listed);
    return 0;
}
