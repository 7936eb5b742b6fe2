/* SPDX-License-Identifier: Apache-2.0 */
/*
 * checkpoint.c - the index as a file, `index-N.ckpt`: a new one is written beside the old one and synced, and only then
 * the old one goes. It is written while the log goes on, one part of the index after another, and so may hold what is
 * newer than the position that it stands for: reading the log from that position on makes both the same, for a record
 * read twice changes nothing.
 */
#include "storage/checkpoint_format.h"

#include "base/bytes.h"
#include "base/sum.h"
#include "storage/internal.h"
#include "storage/mutant.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { STEP_OPEN, STEP_HEAD, STEP_SLOTS, STEP_NAMES, STEP_END, STEP_SYNC, STEP_REMOVE, STEP_DONE, STEP_UNDO };
enum { SLOTS_A_CHUNK = CHECKPOINT_BODY_MAX / CHECKPOINT_SLOT, ROOM_LEAST = 16 << 10 };

void checkpoint_name(uint64_t sequence, char *out)
{
    static const char digits[] = "0123456789";
    memcpy(out, "index-0000000000.ckpt", 22);
    for (char *at = out + 15; sequence != 0 && at > out + 5; sequence /= 10) {
        *at-- = digits[sequence % 10];
    }
}

uint64_t checkpoint_sequence(const char *name)
{
    char again[DISK_NAME_BYTES];
    uint64_t sequence = 0;
    if (strlen(name) != 21) {
        return 0;
    }
    for (int i = 6; i < 16; i++) {
        sequence = sequence * 10 + (uint64_t)(name[i] - '0') % 10;
    }
    checkpoint_name(sequence, again);
    return strcmp(name, again) == 0 ? sequence : 0;
}

/* Room for a whole chunk behind what the buffer has. False: no memory. */
static bool make_room(struct checkpoint *c)
{
    uint32_t want = c->used + CHECKPOINT_CHUNK_MAX, room = c->room == 0 ? ROOM_LEAST : c->room;
    while (room < want) {
        room *= 2;
    }
    uint8_t *more = room == c->room ? c->bytes : realloc(c->bytes, room);
    if (more == NULL) {
        return false;
    }
    c->bytes = more;
    c->room = room;
    return true;
}

static void put_chunk(struct storage *s, enum checkpoint_type type, uint32_t count, uint32_t body)
{
    struct checkpoint *c = &s->checkpoint;
    checkpoint_seal(c->bytes + c->used, type, count, body,
                    checkpoint_seed(s->identity.store_id, c->sequence, c->chunk));
    c->used += CHECKPOINT_CHUNK_HEAD + body + CHECKPOINT_CHUNK_SUM;
    c->chunk++;
}

static uint8_t *body_of(struct checkpoint *c)
{
    return c->bytes + c->used + CHECKPOINT_CHUNK_HEAD;
}

static bool put_head(struct storage *s)
{
    struct checkpoint *c = &s->checkpoint;
    struct checkpoint_head head = {.class_id = s->config.class_id,
                                   .store_id = s->identity.store_id,
                                   .sequence = c->sequence,
                                   .position = c->position,
                                   .head = c->head,
                                   .head_offset = c->head_offset};
    bool room = make_room(c);
    if (room) {
        checkpoint_head_encode(&head, body_of(c));
        put_chunk(s, CHECKPOINT_HEAD, 1, CHECKPOINT_HEAD_BYTES);
    }
    return room;
}

/* A whole part of the index, as it is now, in as many chunks as it takes. */
static bool put_part(struct storage *s)
{
    struct checkpoint *c = &s->checkpoint;
    const struct key_part *part = &s->index.part[c->part++];
    uint32_t i = 0, left = part->count;
    while (left > 0) {
        if (!make_room(c)) {
            return false;
        }
        uint32_t count = 0;
        for (; i < part->room && count < SLOTS_A_CHUNK; i++) {
            if ((part->slot[i].flags & KEY_USED) != 0) {
                checkpoint_slot_encode(&part->slot[i], body_of(c) + count++ * CHECKPOINT_SLOT);
            }
        }
        put_chunk(s, CHECKPOINT_SLOTS, count, count * CHECKPOINT_SLOT);
        left -= count;
        c->slots += count;
    }
    return true;
}

/* The next names in order, a chunk of them. *more: there are others. */
static bool put_names(struct storage *s, bool *more)
{
    struct checkpoint *c = &s->checkpoint;
    struct sorted_item item;
    if (!make_room(c)) {
        return false;
    }
    uint32_t used = 0, count = 0;
    bool behind = c->names_done != 0;
    while ((*more = sorted_seek(&s->names, c->name, c->name_size, behind, &item)) &&
           used + 2 + item.size + NAME_TAIL <= CHECKPOINT_BODY_MAX) {
        uint8_t *at = body_of(c) + used;
        put_be16(at, (uint16_t)item.size);
        memcpy(at + 2, item.text, item.size);
        memcpy(at + 2 + item.size, item.tail, NAME_TAIL);
        used += 2 + item.size + NAME_TAIL;
        memcpy(c->name, item.text, item.size);
        c->name_size = item.size;
        c->names_done++;
        count++;
        behind = true;
    }
    if (count != 0) {
        put_chunk(s, CHECKPOINT_NAMES, count, used);
    }
    return true;
}

static bool put_end(struct storage *s)
{
    struct checkpoint *c = &s->checkpoint;
    bool room = make_room(c);
    if (room) {
        put_be64(body_of(c), c->slots);
        put_be64(body_of(c) + 8, c->names_done);
        put_chunk(s, CHECKPOINT_END, 1, 16);
    }
    return room;
}

/* Fills the buffer with what comes next, and moves the step on when it is all there. False: no memory. */
static bool fill(struct storage *s)
{
    struct checkpoint *c = &s->checkpoint;
    bool good = true, more = false;
    c->used = 0;
    if (c->step == STEP_HEAD) {
        good = put_head(s);
        c->step = STEP_SLOTS;
    } else if (c->step == STEP_SLOTS) {
        while (good && c->used == 0 && c->part < KEY_INDEX_PARTS) {
            good = put_part(s);
        }
        c->step = c->part < KEY_INDEX_PARTS ? STEP_SLOTS : STEP_NAMES;
    } else if (c->step == STEP_NAMES) {
        good = put_names(s, &more);
        c->step = more ? STEP_NAMES : STEP_END;
    } else {
        good = put_end(s);
        c->step = STEP_SYNC;
    }
    return good;
}

static void end(struct storage *s, int result)
{
    struct checkpoint *c = &s->checkpoint;
    void (*done)(struct storage *, int) = c->done;
    c->running = false;
    c->done = NULL;
    free(c->bytes);
    c->bytes = NULL;
    c->room = 0;
    if (done != NULL) {
        done(s, result);
    }
    if (s->opening == NULL && s->state != STORAGE_STOPPED) {
        storage_settle(s);
    }
}

static void submit(struct storage *s, struct disk_order order)
{
    order.lane = DISK_LANE_SIDE;
    order.waiter = &s->checkpoint.waiter;
    disk_submit(s->disk, &order);
}

/* It is on the disk: what is behind its position is in it. */
static void counts_now(struct storage *s)
{
    struct checkpoint *c = &s->checkpoint;
    uint32_t old = c->old_file;
    bool had = c->has_old;
    s->covered = c->position;
    s->counts.checkpoints++;
    c->old_file = c->file;
    c->has_old = true;
    c->step = STEP_DONE;
    if (had) {
        submit(s, (struct disk_order){.what = DISK_REMOVE, .file = old});
    } else {
        end(s, 0);
    }
}

/* No room for it on the disk, or no memory: the old one goes on to count. */
static void undo(struct storage *s)
{
    s->checkpoint.step = STEP_UNDO;
    submit(s, (struct disk_order){.what = DISK_REMOVE, .file = s->checkpoint.file});
}

static void go_on(struct storage *s)
{
    struct checkpoint *c = &s->checkpoint;
    while (c->step < STEP_SYNC) {
        if (!fill(s)) {
            undo(s);
            return;
        }
        if (c->used != 0) {
            submit(s, (struct disk_order){
                          .what = DISK_WRITE, .file = c->file, .offset = c->offset, .from = c->bytes, .size = c->used});
            c->offset += c->used;
            return;
        }
    }
    if (c->step == STEP_SYNC && !STORAGE_MUTANT(CHECKPOINT_EARLY)) {
        c->step = STEP_REMOVE;
        submit(s, (struct disk_order){.what = DISK_SYNC, .file = c->file});
        return;
    }
    counts_now(s);
}

static void told(struct disk_waiter *waiter, uint64_t ticket, int64_t result)
{
    struct storage *s = container_of(waiter, struct storage, checkpoint.waiter);
    struct checkpoint *c = &s->checkpoint;
    (void)ticket;
    if (c->step == STEP_DONE || c->step == STEP_UNDO) {
        end(s, c->step == STEP_DONE ? 0 : -ENOSPC); /* a file that could not be removed goes at the next opening */
    } else if (result < 0 && result != -ENOSPC) {
        storage_die(s);
        end(s, -EIO);
    } else if (result < 0 && c->step == STEP_OPEN) {
        end(s, -ENOSPC);
    } else if (result < 0) {
        undo(s);
    } else {
        if (c->step == STEP_OPEN) {
            c->file = (uint32_t)result;
            c->step = STEP_HEAD;
        }
        go_on(s);
    }
}

void checkpoint_begin(struct storage *s, void (*done)(struct storage *s, int result))
{
    struct checkpoint *c = &s->checkpoint;
    if (c->running) {
        CHECK(done == NULL);
        return;
    }
    struct checkpoint kept = *c;
    *c = (struct checkpoint){.waiter = {told},
                             .running = true,
                             .step = STEP_OPEN,
                             .sequence = kept.sequence + 1,
                             .position = s->durable,
                             .old_file = kept.old_file,
                             .has_old = kept.has_old,
                             .done = done};
    if (s->in_flight) {
        c->head = s->flying.segment;
        c->head_offset = s->flying.offset;
    } else if (s->meta.head != 0) {
        c->head = s->meta.head;
        c->head_offset = segments_at(&s->meta, s->meta.head)->used;
    }
    s->log_since = 0;
    checkpoint_name(c->sequence, c->file_name);
    submit(s, (struct disk_order){.what = DISK_OPEN, .name = c->file_name, .create = true});
}
