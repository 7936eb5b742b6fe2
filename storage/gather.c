/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gather.c - appends become groups. Records gather while the group before is on its way; so under load one sync covers
 * many appends, and without load none waits. Values of a place of their own are written at once, beside the log, and
 * synced side by side with the group that names them.
 */
#include "base/bytes.h"
#include "base/sum.h"
#include "storage/internal.h"
#include "storage/mutant.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { ROOM_LEAST = 16 << 10, TICKETS_LEAST = 16, VALUE_SALT = 0x76 };

uint64_t storage_sum(const void *value, uint32_t size)
{
    return sum_of(VALUE_SALT, value, size);
}

/* Room for so many bytes of records and one ticket more. */
static int make_room(struct storage *s, struct gather *g, uint32_t size)
{
    uint32_t want = segments_padded(&s->meta, LOG_GROUP_HEAD + size), room = g->room == 0 ? ROOM_LEAST : g->room;
    while (room < want) {
        room *= 2;
    }
    if (room != g->room) {
        uint8_t *more = realloc(g->bytes, room);
        if (more == NULL) {
            return -ENOMEM;
        }
        g->bytes = more;
        g->room = room;
    }
    if (g->tickets_count == g->tickets_room) {
        uint32_t count = g->tickets_room == 0 ? TICKETS_LEAST : g->tickets_room * 2;
        uint64_t *more = realloc(g->tickets, count * sizeof *more);
        if (more == NULL) {
            return -ENOMEM;
        }
        g->tickets = more;
        g->tickets_room = count;
    }
    return 0;
}

static bool is_placed(const struct storage *s, const struct log_record *r)
{
    return (r->flags & LOG_DROP) == 0 && r->value_size > s->config.inline_max;
}

/*
 * Can the blob segments take this value, after what *tail (bytes left in the last one) and *spare (free ones) say? 0,
 * -EAGAIN or -ENOSPC. The last free segment is for what compaction moves, and when that is being filled, so is as much
 * of it as is still to be moved: else no room would ever be made again.
 */
static int room_for_value(struct storage *s, uint32_t size, bool move, uint32_t *tail, uint32_t *spare)
{
    uint32_t padded = segments_padded(&s->blob, size);
    uint64_t owed = compaction_owes(s);
    s->blobs_wanted = true;
    if (padded <= *tail && (move || *spare > 0 || (owed > 0 && padded + owed <= *tail))) {
        *tail -= padded;
        return 0;
    }
    if (*spare <= (move ? 0 : 1)) {
        return making_may(s, &s->blob) || owed > 0 ? -EAGAIN : -ENOSPC;
    }
    --*spare;
    *tail = s->blob.size - padded;
    return 0;
}

/* May these records be appended? They are looked at and not touched. */
static int judge(struct storage *s, const struct log_record *records, unsigned count, bool move)
{
    uint64_t size = 0;
    bool grows = false;
    uint32_t tail = s->blob.head == 0 ? 0 : s->blob.size - segments_at(&s->blob, s->blob.head)->used;
    uint32_t spare = segments_free(&s->blob), before = spare;
    if (s->dead) {
        return -EIO;
    }
    if (s->state != STORAGE_OPEN && !(move && s->state == STORAGE_STOPPING)) {
        return -ENOTCONN;
    }
    int wait = 0;
    for (unsigned i = 0; i < count; i++) {
        const struct log_record *r = &records[i];
        if (r->note_size > LOG_NOTE_MAX || r->name_size > LOG_NAME_MAX) {
            return -EINVAL;
        }
        if (is_placed(s, r) && segments_padded(&s->blob, r->value_size) > s->blob.size) {
            return -EMSGSIZE;
        }
        size += log_record_size(r);
        grows = grows || (r->flags & LOG_DROP) == 0;
        if (is_placed(s, r) && r->place.segment == 0) {
            size -= r->value_size;
            int rc = wait != 0 ? 0 : room_for_value(s, r->value_size, move, &tail, &spare);
            wait = wait != 0 ? wait : rc;
        }
    }
    if (size > s->config.group_max || before - spare > GATHER_BLOBS) {
        return -EMSGSIZE;
    }
    if (wait != 0) {
        return wait;
    }
    if (grows && !move && s->config.memory_max != 0 &&
        key_index_memory(&s->index) + sorted_memory(&s->names) > s->config.memory_max) {
        return -ENOSPC;
    }
    if (s->gathering.used + size > s->config.group_max || s->gathering.blobs + (before - spare) + 1 > GATHER_BLOBS) {
        return -EAGAIN;
    }
    /* The last free segment is kept for what makes room: drops and compaction. */
    uint32_t keep = grows && !move ? 1 : 0;
    if (!segments_has_room(&s->meta, LOG_GROUP_HEAD + s->gathering.used + (uint32_t)size, keep)) {
        return making_may(s, &s->meta) || s->checkpoint.running || s->compaction != NULL ? -EAGAIN : -ENOSPC;
    }
    return make_room(s, &s->gathering, s->gathering.used + (uint32_t)size);
}

/* Writes a value to a place of its own. */
static void put_value(struct storage *s, struct log_record *r)
{
    struct gather *g = &s->gathering;
    uint32_t offset = 0, number = segments_take(&s->blob, r->value_size, 0, &offset), known = 0;
    CHECK(number != 0); /* judge() saw the room */
    r->flags |= LOG_PLACED;
    r->place = (struct log_place){number, offset, r->value_size};
    while (known < g->blobs && g->blob[known] != number) {
        known++;
    }
    if (known == g->blobs) {
        CHECK(g->blobs < GATHER_BLOBS);
        g->blob[g->blobs++] = number;
        segments_at(&s->blob, number)->pins++;
    }
    s->orders_out++;
    s->counts.value_bytes += r->value_size;
    disk_submit(s->disk, &(struct disk_order){.what = DISK_WRITE,
                                              .lane = DISK_LANE_SIDE,
                                              .file = segments_at(&s->blob, number)->file,
                                              .offset = offset,
                                              .size = r->value_size,
                                              .from = r->value,
                                              .waiter = &s->value_waiter});
}

static void gather_record(struct storage *s, struct log_record *r)
{
    struct gather *g = &s->gathering;
    if (is_placed(s, r) && r->place.segment == 0) {
        put_value(s, r);
    }
    log_record_encode(r, g->bytes + LOG_GROUP_HEAD + g->used);
    g->used += log_record_size(r);
    g->records++;
    s->counts.records++;
}

static int append(struct storage *s, struct log_record *records, unsigned count, bool move)
{
    int rc = judge(s, records, count, move);
    if (rc == 0) {
        for (unsigned i = 0; i < count; i++) {
            gather_record(s, &records[i]);
        }
    }
    s->wants_room = s->wants_room || ((rc == -EAGAIN || rc == -ENOSPC) && !move);
    making_go_on(s);
    return rc;
}

int storage_append(struct storage *s, const struct storage_put *puts, unsigned count, uint64_t ticket)
{
    enum { FEW = 16 };
    struct log_record few[FEW], *records = count <= FEW ? few : malloc(count * sizeof *records);
    if (records == NULL) {
        return -ENOMEM;
    }
    for (unsigned i = 0; i < count; i++) {
        const struct storage_put *p = &puts[i];
        records[i] = (struct log_record){.kind = p->kind,
                                         .flags = p->drop ? LOG_DROP : 0,
                                         .note_size = p->note_size,
                                         .name_size = p->name_size,
                                         .key = p->key,
                                         .space = p->space,
                                         .value_size = p->drop ? 0 : p->value_size,
                                         .note = p->note,
                                         .name = p->name,
                                         .value = p->value,
                                         .value_sum = p->drop ? 0 : p->value_sum};
    }
    int rc = append(s, records, count, false);
    if (rc == 0) {
        s->gathering.tickets[s->gathering.tickets_count++] = ticket;
    }
    if (records != few) {
        free(records);
    }
    return rc;
}

int gather_move(struct storage *s, const struct log_record *r, const void *value)
{
    struct log_record moved = *r;
    if (value != NULL) { /* it moves too; judge() and gather_record() look for a new place */
        moved.flags &= (uint8_t)~LOG_PLACED;
        moved.place = (struct log_place){0, 0, 0};
        moved.value = value;
    }
    return append(s, &moved, 1, true);
}

static void count_value(struct storage *s, const struct key_slot *slot, bool in)
{
    if (s->counting) {
        segments_live(&s->meta, slot->record.segment, slot->record.length, in);
        segments_live(&s->blob, slot->value.segment, segments_padded(&s->blob, slot->value.length), in);
    }
}

/* The name as it stands in the list. */
static uint32_t listed(uint32_t space, const void *name, uint32_t size, uint8_t *out)
{
    put_be32(out, space);
    memcpy(out + NAME_HEAD, name, size);
    return NAME_HEAD + size;
}

static void apply_name(struct storage *s, const struct log_record *r)
{
    uint8_t text[NAME_HEAD + LOG_NAME_MAX], tail[NAME_TAIL] = {r->kind};
    if (r->name_size == 0 || s->config.unlisted) {
        return;
    }
    uint32_t size = listed(r->space, r->name, r->name_size, text);
    memcpy(tail + 1, r->key.b, sizeof r->key.b);
    if ((r->flags & LOG_DROP) == 0) {
        CHECK(sorted_put(&s->names, text, size, tail) == 0); /* as for the index: what is on the disk must be known */
        return;
    }
    struct sorted_item item;
    if (sorted_seek(&s->names, text, size, false, &item) && item.size == size && memcmp(item.text, text, size) == 0 &&
        memcmp(item.tail, tail, NAME_TAIL) == 0) {
        sorted_remove(&s->names, text, size);
    }
}

void gather_apply(struct storage *s, const struct log_record *r, struct log_place place, uint64_t position)
{
    struct key_slot *slot = key_index_find(&s->index, r->kind, &r->key);
    if ((r->flags & LOG_MOVED) != 0 && (slot == NULL || slot->position != r->before) && !STORAGE_MUTANT(MOVE_WINS)) {
        return; /* it was written or dropped again since compaction read it */
    }
    apply_name(s, r);
    if (slot != NULL) {
        count_value(s, slot, false);
    }
    if ((r->flags & LOG_DROP) != 0) {
        if (slot != NULL) {
            key_index_remove(&s->index, slot);
        }
        return;
    }
    slot = slot != NULL ? slot : key_index_put(&s->index, r->kind, &r->key);
    CHECK(slot != NULL); /* no memory for what is on the disk already: memory_max is above what the machine has */
    uint8_t kept = (r->flags & LOG_MOVED) != 0 ? slot->flags & (KEY_WARM | KEY_DAMAGED) : 0;
    slot->flags = (uint8_t)(KEY_USED | kept | ((r->flags & LOG_PLACED) != 0 ? KEY_PLACED : 0));
    slot->record = place;
    slot->value = (struct log_place){r->place.segment, r->place.offset, r->value_size};
    slot->value_sum = r->value_sum;
    slot->position = position;
    count_value(s, slot, true);
}

/* Applies all records of a group that is sealed. */
static void apply_all(struct storage *s, const struct gather *g)
{
    uint32_t used = 0;
    for (uint32_t at = 0; at < g->used; at += used) {
        struct log_record r;
        CHECK(log_record_parse(&r, g->bytes + LOG_GROUP_HEAD + at, g->used - at, &used) == 0);
        struct log_place place = {g->segment, g->offset + LOG_GROUP_HEAD + at, used};
        gather_apply(s, &r, place, g->position);
    }
}

/* Gives the records of a group their place, and the group its header. */
static void seal(struct storage *s, struct gather *g)
{
    for (uint32_t at = 0, size; at < g->used; at += size) {
        uint8_t *record = g->bytes + LOG_GROUP_HEAD + at;
        size = get_be32(record);
        log_record_seal(record, size, log_seed(s->config.class_id, g->segment, g->offset + LOG_GROUP_HEAD + at));
    }
    struct log_group head = {.class_id = s->config.class_id,
                             .store_id = s->identity.store_id,
                             .position = g->position,
                             .synced = s->durable,
                             .segment = g->segment,
                             .length = g->used,
                             .records = g->records};
    head.sum = log_group_sum(&head, g->offset, g->bytes + LOG_GROUP_HEAD);
    log_group_encode(&head, g->offset, g->bytes);
    uint32_t size = LOG_GROUP_HEAD + g->used;
    memset(g->bytes + size, 0, segments_padded(&s->meta, size) - size);
}

static void submit_group(struct storage *s)
{
    struct gather *g = &s->flying;
    uint32_t size = segments_padded(&s->meta, LOG_GROUP_HEAD + g->used);
    bool values = !STORAGE_MUTANT(ACK_BEFORE_VALUE);
    s->flight_left = 1 + (values ? g->blobs : 0);
    s->orders_out += s->flight_left;
    s->counts.groups++;
    s->counts.log_bytes += size;
    s->log_since += size;
    s->compact_allowance += size / 2;
    for (uint32_t i = 0; values && i < g->blobs; i++) {
        disk_submit(s->disk, &(struct disk_order){.what = DISK_SYNC,
                                                  .lane = DISK_LANE_SIDE,
                                                  .file = segments_at(&s->blob, g->blob[i])->file,
                                                  .waiter = &s->group_waiter});
    }
    disk_submit(s->disk, &(struct disk_order){.what = DISK_WRITE,
                                              .lane = DISK_LANE_LOG,
                                              .sync = !STORAGE_MUTANT(ACK_BEFORE_SYNC),
                                              .file = segments_at(&s->meta, g->segment)->file,
                                              .offset = g->offset,
                                              .size = size,
                                              .from = g->bytes,
                                              .waiter = &s->group_waiter});
}

void gather_flush(struct storage *s, bool empty)
{
    struct gather *g = &s->flying;
    if (s->in_flight || s->dead || (s->gathering.records == 0 && !empty)) {
        return;
    }
    uint32_t size = LOG_GROUP_HEAD + s->gathering.used;
    if (!segments_has_room(&s->meta, size, 0) || make_room(s, &s->gathering, s->gathering.used) != 0) {
        CHECK(s->gathering.records == 0); /* for records judge() saw the room */
        return;
    }
    struct gather swap = s->flying;
    s->flying = s->gathering;
    s->gathering = swap;
    g->segment = segments_take(&s->meta, size, s->position, &g->offset);
    g->position = ++s->position;
    s->in_flight = true;
    s->quiet_at = CW_NEVER;
    seal(s, g);
    submit_group(s);
    if (STORAGE_MUTANT(APPLY_EARLY)) {
        apply_all(s, g);
    }
}

static void reset(struct storage *s, struct gather *g)
{
    for (uint32_t i = 0; i < g->blobs; i++) {
        segments_at(&s->blob, g->blob[i])->pins--;
    }
    g->used = 0;
    g->records = 0;
    g->tickets_count = 0;
    g->blobs = 0;
}

/* The group is on the disk: it becomes part of the index, and whoever waits for it is told. */
static void land(struct storage *s)
{
    struct gather *g = &s->flying;
    uint64_t position = g->position;
    if (!STORAGE_MUTANT(APPLY_EARLY)) {
        apply_all(s, g);
    }
    s->durable = position;
    s->last_is_empty = g->records == 0;
    uint64_t *tickets = g->tickets;
    uint32_t count = g->tickets_count;
    g->tickets = NULL;
    g->tickets_room = 0;
    reset(s, g);
    s->in_flight = false;
    gather_flush(s, false); /* the next group goes to the disk while this one is told */
    for (uint32_t i = 0; i < count; i++) {
        s->events.appended(s->events.arg, tickets[i], 0, position);
    }
    if (s->flying.tickets == NULL && !s->in_flight) {
        s->flying.tickets = tickets;
        s->flying.tickets_room = count;
    } else {
        free(tickets);
    }
    storage_settle(s);
}

static void told(struct storage *s, int64_t result, bool of_group)
{
    s->orders_out--;
    if (result < 0 && !STORAGE_MUTANT(GOES_ON)) {
        storage_die(s);
    }
    s->flight_left -= of_group;
    if (s->dead) {
        gather_give_up(s);
    } else if (of_group && s->flight_left == 0) {
        land(s);
    }
}

void gather_told(struct disk_waiter *waiter, uint64_t ticket, int64_t result)
{
    (void)ticket;
    told(container_of(waiter, struct storage, group_waiter), result, true);
}

void gather_value_told(struct disk_waiter *waiter, uint64_t ticket, int64_t result)
{
    (void)ticket;
    told(container_of(waiter, struct storage, value_waiter), result, false);
}

static void give_up(struct storage *s, struct gather *g)
{
    for (uint32_t i = 0; i < g->tickets_count; i++) {
        s->events.appended(s->events.arg, g->tickets[i], -EIO, 0);
    }
    reset(s, g);
}

void gather_give_up(struct storage *s)
{
    if (s->orders_out != 0) {
        return;
    }
    s->in_flight = false;
    give_up(s, &s->flying);
    give_up(s, &s->gathering);
    storage_settle(s);
}
