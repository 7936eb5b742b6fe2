/* SPDX-License-Identifier: Apache-2.0 */
/*
 * loading.c - the newest checkpoint that is whole becomes the index. One that is not whole was being written when the
 * power went; the one before is there then, for it goes only when the new one is on the disk.
 */
#include "base/bytes.h"
#include "storage/checkpoint_format.h"
#include "storage/opening.h"

#include <errno.h>
#include <stdlib.h>

enum { WINDOW = 1 << 20 };

static void load_newest(struct storage *s);
static void read_window(struct storage *s);

/* Forgets what a checkpoint brought that turns out not to be whole. */
static void clear(struct storage *s)
{
    key_index_close(&s->index);
    sorted_close(&s->names);
}

/* The index in the array of the checkpoint that is looked at: the one with the highest sequence. */
static uint32_t newest(const struct opening *o)
{
    uint32_t best = 0;
    for (uint32_t i = 1; i < o->checkpoints; i++) {
        best = o->checkpoint_number[i] > o->checkpoint_number[best] ? i : best;
    }
    return best;
}

static void removed(struct storage *s, int64_t result)
{
    (void)result; /* one that stays is tried again next time */
    load_newest(s);
}

/* Removes checkpoint i of the list, and goes on with the next. */
static void drop(struct storage *s, uint32_t i)
{
    struct opening *o = s->opening;
    uint32_t file = o->checkpoint_file[i], last = --o->checkpoints;
    o->checkpoint_file[i] = o->checkpoint_file[last];
    o->checkpoint_number[i] = o->checkpoint_number[last];
    o->checkpoint_size[i] = o->checkpoint_size[last];
    opening_order(s, (struct disk_order){.what = DISK_REMOVE, .file = file}, removed);
}

static bool is_place(const struct segments *all, const struct log_place *p)
{
    return p->segment >= 1 && p->segment <= all->count && p->offset <= all->size && p->length <= all->size - p->offset;
}

/* Takes over a slot. False: it says nonsense, or there is no memory. */
static bool load_slot(struct storage *s, const uint8_t *bytes)
{
    struct key_slot slot;
    checkpoint_slot_decode(&slot, bytes);
    bool placed = (slot.flags & KEY_PLACED) != 0;
    if ((slot.flags & KEY_USED) == 0 || !is_place(&s->meta, &slot.record) ||
        slot.record.length < LOG_RECORD_HEAD + LOG_RECORD_SUM || (placed && !is_place(&s->blob, &slot.value)) ||
        (!placed && (slot.value.segment != 0 || slot.value.length > slot.record.length))) {
        return false;
    }
    struct key_slot *at = key_index_put(&s->index, slot.kind, &slot.key);
    if (at != NULL) {
        *at = slot;
    }
    return at != NULL;
}

static bool load_names(struct storage *s, const struct checkpoint_chunk *chunk)
{
    struct reader r = reader_of(chunk->body, chunk->size);
    for (uint32_t i = 0; i < chunk->count; i++) {
        uint16_t size = reader_be16(&r);
        const uint8_t *text = reader_take(&r, size), *tail = reader_take(&r, NAME_TAIL);
        if (!reader_ok(&r) || size < NAME_HEAD || size > NAME_HEAD + LOG_NAME_MAX ||
            (!s->config.unlisted && sorted_put(&s->names, text, size, tail) != 0)) {
            return false;
        }
    }
    return reader_done(&r);
}

static bool load_head(struct storage *s, const struct checkpoint_chunk *chunk, uint64_t sequence)
{
    struct checkpoint_head head;
    if (s->opening->chunk != 0 || chunk->size != CHECKPOINT_HEAD_BYTES) {
        return false;
    }
    checkpoint_head_decode(&head, chunk->body);
    s->opening->seen = (struct checkpoint_head_seen){head.position, head.head, head.head_offset};
    return head.class_id == s->config.class_id && head.store_id == s->identity.store_id && head.sequence == sequence &&
           head.head <= s->meta.count && head.head_offset <= s->meta.size;
}

/* 1: go on; 0: that was the end, and all is there; below: it is not whole. */
static int load_chunk(struct storage *s, const struct checkpoint_chunk *chunk, uint64_t sequence)
{
    struct opening *o = s->opening;
    bool good = chunk->type == CHECKPOINT_HEAD || o->chunk != 0;
    switch (chunk->type) {
    case CHECKPOINT_HEAD:
        good = load_head(s, chunk, sequence);
        break;
    case CHECKPOINT_SLOTS:
        good = good && chunk->size == chunk->count * CHECKPOINT_SLOT;
        for (uint32_t i = 0; good && i < chunk->count; i++) {
            good = load_slot(s, chunk->body + i * CHECKPOINT_SLOT);
        }
        o->slots += chunk->count;
        break;
    case CHECKPOINT_NAMES:
        good = good && load_names(s, chunk);
        o->names += chunk->count;
        break;
    default:
        return good && chunk->size == 16 && get_be64(chunk->body) == o->slots && get_be64(chunk->body + 8) == o->names
                   ? 0
                   : -EBADMSG;
    }
    o->chunk++;
    return good ? 1 : -EBADMSG;
}

/* Older ones that came back, or were left by a life that ended in between, go. */
static void remove_others(struct storage *s, int64_t result)
{
    struct opening *o = s->opening;
    (void)result;
    if (o->checkpoints == 0) {
        replay_begin(s);
        return;
    }
    uint32_t file = o->checkpoint_file[--o->checkpoints];
    if (file == s->checkpoint.old_file) {
        remove_others(s, 0);
    } else {
        opening_order(s, (struct disk_order){.what = DISK_REMOVE, .file = file}, remove_others);
    }
}

static void loaded(struct storage *s, uint32_t i)
{
    struct opening *o = s->opening;
    s->covered = o->seen.position;
    s->checkpoint.old_file = o->checkpoint_file[i];
    s->checkpoint.has_old = true;
    remove_others(s, 0);
}

static void window_read(struct storage *s, int64_t result)
{
    struct opening *o = s->opening;
    uint32_t i = newest(o), used = 0;
    uint64_t sequence = o->checkpoint_number[i];
    if (result < 0) {
        opening_fail(s, (int)result, "a checkpoint cannot be read");
        return;
    }
    int rc = 1;
    for (uint64_t at = 0; rc > 0 && at < (uint64_t)result; at += used) {
        struct checkpoint_chunk chunk;
        uint64_t seed = checkpoint_seed(s->identity.store_id, sequence, o->chunk);
        if (checkpoint_chunk_decode(&chunk, o->window + at, (size_t)((uint64_t)result - at), seed, &used) != 0) {
            rc = at == 0 ? -EBADMSG : 1; /* it may go on in the next window */
            o->window_at += at;
            break;
        }
        rc = load_chunk(s, &chunk, sequence);
        if (rc > 0 && at + used == (uint64_t)result) {
            o->window_at += (uint64_t)result;
        }
    }
    if (result == 0 || rc < 0) {
        clear(s);
        drop(s, i);
    } else if (rc == 0) {
        loaded(s, i);
    } else {
        read_window(s);
    }
}

static void read_window(struct storage *s)
{
    struct opening *o = s->opening;
    opening_order(s,
                  (struct disk_order){.what = DISK_READ,
                                      .file = o->checkpoint_file[newest(o)],
                                      .offset = o->window_at,
                                      .to = o->window,
                                      .size = WINDOW},
                  window_read);
}

static void load_newest(struct storage *s)
{
    struct opening *o = s->opening;
    o->window_at = 0;
    o->chunk = 0;
    o->slots = 0;
    o->names = 0;
    o->seen = (struct checkpoint_head_seen){0, 0, 0};
    if (o->checkpoints == 0) {
        replay_begin(s);
    } else {
        read_window(s);
    }
}

void loading_begin(struct storage *s)
{
    s->opening->window = malloc(WINDOW);
    if (s->opening->window == NULL) {
        opening_fail(s, -ENOMEM, "no memory");
        return;
    }
    load_newest(s);
}
