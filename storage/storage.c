/* SPDX-License-Identifier: Apache-2.0 */
#include "storage/storage.h"

#include "base/bytes.h"
#include "storage/internal.h"
#include "storage/mutant.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct storage_config storage_config_default(void)
{
    return (struct storage_config){.block = 4096,
                                   .meta_segment = 16 << 20,
                                   .blob_segment = 64 << 20,
                                   .inline_max = 3072,
                                   .group_max = 1 << 20,
                                   .checkpoint_every = 256 << 20,
                                   .quiet = CW_MS(100),
                                   .compact_live = 50};
}

static bool is_segment(uint32_t size, uint32_t block)
{
    return size % block == 0 && size / block >= 4 && size <= 1u << 30;
}

static bool is_sane(const struct storage_config *c)
{
    return c->fresh_id != 0 && c->block >= DISK_SECTOR && c->block <= 1 << 16 && (c->block & (c->block - 1)) == 0 &&
           is_segment(c->meta_segment, c->block) && is_segment(c->blob_segment, c->block) &&
           c->group_max <= c->meta_segment - c->block &&
           c->group_max >= LOG_RECORD_HEAD + LOG_RECORD_SUM + LOG_NOTE_MAX + LOG_NAME_MAX &&
           c->inline_max <= c->group_max - (LOG_RECORD_HEAD + LOG_RECORD_SUM + LOG_NOTE_MAX + LOG_NAME_MAX) &&
           c->quiet.ns > 0 && c->compact_live <= 90;
}

static void identity_told(struct disk_waiter *waiter, uint64_t ticket, int64_t result)
{
    (void)waiter;
    (void)ticket;
    (void)result; /* it says that the store is dead: nothing more can be done about a disk that does not take that */
}

static void stop_go_on(struct storage *s);

static void stop_told(struct disk_waiter *waiter, uint64_t ticket, int64_t result)
{
    (void)ticket;
    (void)result;
    struct storage *s = container_of(waiter, struct storage, stop_waiter);
    s->stop_told = true;
    stop_go_on(s);
}

int storage_open(struct storage **out, const struct storage_config *config, const struct storage_events *events,
                 struct disk *disk)
{
    if (!is_sane(config)) {
        return -EINVAL;
    }
    struct storage *s = calloc(1, sizeof *s);
    if (s == NULL) {
        return -ENOMEM;
    }
    s->config = *config;
    s->events = *events;
    s->disk = disk;
    s->quiet_at = CW_NEVER;
    s->last_is_empty = true;
    s->identity_waiter.told = identity_told;
    s->stop_waiter.told = stop_told;
    s->group_waiter.told = gather_told;
    s->value_waiter.told = gather_value_told;
    segments_open(&s->meta, true, config->meta_segment, config->block);
    segments_open(&s->blob, false, config->blob_segment, config->block);
    key_index_open(&s->index, config->fresh_id);
    sorted_open(&s->names, NAME_TAIL);
    int rc = opening_begin(s);
    if (rc != 0) {
        free(s);
        return rc;
    }
    *out = s;
    return 0;
}

void storage_close(struct storage *s)
{
    opening_free(s);
    compaction_free(s);
    reading_free_all(s);
    walking_free(s);
    free(s->gathering.bytes);
    free(s->gathering.tickets);
    free(s->flying.bytes);
    free(s->flying.tickets);
    free(s->checkpoint.bytes);
    segments_close(&s->meta);
    segments_close(&s->blob);
    key_index_close(&s->index);
    sorted_close(&s->names);
    free(s);
}

static void stop_checkpointed(struct storage *s, int result)
{
    s->state = STORAGE_STOPPED;
    s->events.stopped(s->events.arg, result);
}

/* Once all that was appended is on the disk, and nothing else is under way, the last checkpoint is written. */
static void stop_go_on(struct storage *s)
{
    if (s->state != STORAGE_STOPPING || !s->stop_told || s->orders_out != 0 || s->making.of != NULL ||
        s->compaction != NULL || s->readings != NULL || s->walking != NULL || s->checkpoint.running) {
        return;
    }
    if (s->dead) {
        stop_checkpointed(s, -EIO);
    } else if (s->gathering.records != 0) {
        gather_flush(s, false);
    } else {
        checkpoint_begin(s, stop_checkpointed);
    }
}

void storage_stop(struct storage *s)
{
    CHECK(s->state == STORAGE_OPEN);
    s->state = STORAGE_STOPPING;
    gather_flush(s, false);
    /* An order that does nothing: so that stopped() is never told in here. */
    disk_submit(s->disk, &(struct disk_order){.what = DISK_LIST, .lane = DISK_LANE_LOG, .waiter = &s->stop_waiter});
}

void storage_write_identity(struct storage *s)
{
    s->identity.sequence++;
    identity_encode(&s->identity, s->identity_bytes);
    disk_submit(s->disk, &(struct disk_order){.what = DISK_WRITE,
                                              .lane = DISK_LANE_LOG,
                                              .sync = true,
                                              .file = s->identity_file,
                                              .offset = identity_offset(s->identity.sequence),
                                              .size = IDENTITY_BLOCK,
                                              .from = s->identity_bytes,
                                              .waiter = &s->identity_waiter});
}

void storage_die(struct storage *s)
{
    if (s->dead) {
        return;
    }
    s->dead = true;
    s->identity.dead = true;
    if (!STORAGE_MUTANT(FORGETS_DEATH)) {
        storage_write_identity(s);
    }
}

void storage_renounce(struct storage *s)
{
    if (s->state == STORAGE_OPEN) {
        storage_die(s);
    }
}

/* Is there little room for the log, and none to be made? */
static bool is_short(const struct storage *s)
{
    return segments_free(&s->meta) < 2 && !making_may(s, &s->meta);
}

static void want_checkpoint(struct storage *s)
{
    uint64_t every = is_short(s) ? s->meta.size / 2 : s->config.checkpoint_every;
    if (s->state == STORAGE_OPEN && !s->dead && s->log_since >= every) {
        checkpoint_begin(s, NULL);
    }
}

void storage_settle(struct storage *s)
{
    segments_recycle(&s->meta, s->covered);
    segments_recycle(&s->blob, s->covered);
    want_checkpoint(s);
    making_go_on(s);
    compaction_go_on(s);
    if (s->wants_room && s->state == STORAGE_OPEN) {
        s->wants_room = false;
        s->events.room(s->events.arg);
    }
    stop_go_on(s);
}

void storage_want(struct storage *s)
{
    s->blobs_wanted = true;
    s->wants_room = true;
    making_go_on(s);
}

void storage_flush(struct storage *s)
{
    if (s->state == STORAGE_OPEN) {
        gather_flush(s, false);
    }
}

const struct key_slot *storage_find(const struct storage *s, uint8_t kind, const cw_key *key)
{
    return key_index_find(&s->index, kind, key);
}

const struct key_slot *storage_next(const struct storage *s, uint64_t *at)
{
    return key_index_next(&s->index, at);
}

static void read_told(struct storage *s, uint64_t ticket, int result, const struct log_record *r)
{
    s->events.read(s->events.arg, ticket, result, r);
}

int storage_read(struct storage *s, uint8_t kind, const cw_key *key, uint64_t ticket)
{
    if (s->state != STORAGE_OPEN) {
        return -ENOTCONN;
    }
    const struct key_slot *slot = key_index_find(&s->index, kind, key);
    return slot == NULL ? -ENOENT : reading_begin(s, slot, true, ticket, read_told);
}

bool storage_name(const struct storage *s, uint32_t space, const void *from, uint32_t size, bool behind,
                  struct storage_name *out)
{
    uint8_t text[NAME_HEAD + LOG_NAME_MAX];
    struct sorted_item item;
    if (size > LOG_NAME_MAX) {
        return false;
    }
    put_be32(text, space);
    if (size != 0) {
        memcpy(text + NAME_HEAD, from, size);
    }
    if (!sorted_seek(&s->names, text, NAME_HEAD + size, behind, &item) || get_be32(item.text) != space) {
        return false;
    }
    *out = (struct storage_name){.name = item.text + NAME_HEAD, .size = item.size - NAME_HEAD, .kind = item.tail[0]};
    memcpy(out->key.b, item.tail + 1, sizeof out->key.b);
    return true;
}

void storage_tick(struct storage *s, cw_time now)
{
    if (s->state != STORAGE_OPEN || s->dead) {
        return;
    }
    making_tick(s, now);
    if (s->in_flight || s->gathering.records != 0 || s->last_is_empty) {
        s->quiet_at = CW_NEVER;
        gather_flush(s, false);
        return;
    }
    if (s->quiet_at.ns == CW_NEVER.ns) {
        s->quiet_at = cw_time_add(now, s->config.quiet);
    } else if (cw_time_due(s->quiet_at, now)) {
        gather_flush(s, true);
    }
}

cw_time storage_next_wake(const struct storage *s)
{
    return s->making.full && cw_time_before(s->making.again, s->quiet_at) ? s->making.again : s->quiet_at;
}

void storage_mark_damaged(struct storage *s, uint8_t kind, const cw_key *key)
{
    struct key_slot *slot = key_index_find(&s->index, kind, key);
    if (slot == NULL || (slot->flags & KEY_DAMAGED) != 0) {
        return;
    }
    slot->flags |= KEY_DAMAGED;
    s->counts.damaged++;
    s->events.damaged(s->events.arg, kind, key);
}

static void scrubbed(struct storage *s, uint64_t ticket, int result, const struct log_record *r)
{
    (void)ticket;
    (void)result;
    (void)r;
    s->counts.scrubbed++;
}

uint64_t storage_scrub(struct storage *s)
{
    const struct key_slot *slot = s->state == STORAGE_OPEN ? key_index_next(&s->index, &s->scrub_at) : NULL;
    if (slot == NULL) {
        s->scrub_at = 0;
        return 0;
    }
    uint64_t bytes = slot->record.length + ((slot->flags & KEY_PLACED) != 0 ? slot->value.length : 0);
    int rc = reading_begin(s, slot, true, 0, scrubbed);
    return rc < 0 ? 0 : bytes;
}

void storage_checkpoint(struct storage *s)
{
    if (s->state == STORAGE_OPEN && !s->dead) {
        checkpoint_begin(s, NULL);
    }
}

static uint64_t live_of(const struct segments *all)
{
    uint64_t live = 0;
    for (uint32_t i = 0; i < all->count; i++) {
        live += all->list[i].live;
    }
    return live;
}

static uint32_t tail_of(const struct segments *all)
{
    return all->head == 0 ? 0 : all->size - segments_at(all, all->head)->used;
}

void storage_status(const struct storage *s, struct storage_status *out)
{
    *out = s->counts;
    out->registers = s->index.count;
    out->names = s->names.count;
    out->memory = key_index_memory(&s->index) + sorted_memory(&s->names);
    out->position = s->durable;
    out->meta_segments = s->meta.count;
    out->meta_free = segments_free(&s->meta);
    out->meta_live = live_of(&s->meta);
    out->blob_segments = s->blob.count;
    out->blob_free = segments_free(&s->blob);
    out->blob_live = live_of(&s->blob);
    out->meta_room = tail_of(&s->meta) + (out->meta_free > 1 ? (uint64_t)(out->meta_free - 1) * s->meta.size : 0);
    out->meta_more = making_may(s, &s->meta);
    out->blob_tail = tail_of(&s->blob);
    out->blob_more = making_may(s, &s->blob) || compaction_owes(s) > 0;
    out->dead = s->dead;
}
