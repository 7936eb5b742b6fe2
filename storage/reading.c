/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reading.c - one register is read and verified: its record, then its value if that has a place of its own. While it is
 * read its segments are pinned: nobody uses them again.
 */
#include "storage/internal.h"
#include "storage/mutant.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct reading {
    struct reading *next;
    struct storage *storage;
    struct disk_waiter waiter;
    struct key_slot slot; /* as it was when the read began */
    uint64_t ticket;
    reading_told told;
    bool wants_value, value_under_way;
    struct log_record record;
    uint8_t bytes[]; /* the record, and behind it the value */
};

static uint32_t value_bytes(const struct key_slot *slot)
{
    return (slot->flags & KEY_PLACED) != 0 ? slot->value.length : 0;
}

static void pin(struct storage *s, const struct key_slot *slot, bool in)
{
    uint32_t by = in ? 1u : UINT32_MAX;
    segments_at(&s->meta, slot->record.segment)->pins += by;
    if ((slot->flags & KEY_PLACED) != 0) {
        segments_at(&s->blob, slot->value.segment)->pins += by;
    }
}

static void submit(struct reading *r, const struct segments *all, const struct log_place *place, uint8_t *to)
{
    struct storage *s = r->storage;
    disk_submit(s->disk, &(struct disk_order){.what = DISK_READ,
                                              .lane = DISK_LANE_SIDE,
                                              .file = segments_at(all, place->segment)->file,
                                              .offset = place->offset,
                                              .size = place->length,
                                              .to = to,
                                              .waiter = &r->waiter});
}

static void take_out(struct storage *s, const struct reading *r)
{
    struct reading **at = &s->readings;
    while (*at != r) {
        at = &(*at)->next;
    }
    *at = r->next;
}

static void finish(struct reading *r, int result)
{
    struct storage *s = r->storage;
    const struct key_slot *now = key_index_find(&s->index, r->slot.kind, &r->slot.key);
    take_out(s, r);
    pin(s, &r->slot, false);
    if (result == -EBADMSG && now != NULL && now->position == r->slot.position &&
        memcmp(&now->record, &r->slot.record, sizeof now->record) == 0) {
        storage_mark_damaged(s, r->slot.kind, &r->slot.key);
    }
    r->told(s, r->ticket, result, result == 0 ? &r->record : NULL);
    free(r);
    storage_settle(s);
}

/* Is this the record that the index means, whole? */
static int judge_record(struct reading *r)
{
    const struct log_place *p = &r->slot.record;
    uint32_t used;
    uint64_t seed = log_seed(r->storage->config.class_id, p->segment, p->offset);
    int rc = log_record_decode(&r->record, seed, r->bytes, p->length, &used);
    bool same = rc == 0 && used == p->length && r->record.kind == r->slot.kind &&
                memcmp(r->record.key.b, r->slot.key.b, sizeof r->slot.key.b) == 0 &&
                r->record.value_sum == r->slot.value_sum && r->record.value_size == r->slot.value.length;
    return same ? 0 : -EBADMSG;
}

static int judge_value(struct reading *r)
{
    if (r->record.value == NULL) {
        return 0; /* not asked for */
    }
    bool good = storage_sum(r->record.value, r->record.value_size) == r->record.value_sum;
    return good || STORAGE_MUTANT(NO_VALUE_SUM) ? 0 : -EBADMSG;
}

static void told(struct disk_waiter *waiter, uint64_t ticket, int64_t result)
{
    struct reading *r = container_of(waiter, struct reading, waiter);
    uint32_t asked = r->value_under_way ? r->slot.value.length : r->slot.record.length;
    (void)ticket;
    int rc = result < 0 ? (int)result : 0;
    rc = rc < 0 || (uint64_t)result == asked ? rc : -EBADMSG; /* the file was cut short */
    rc = rc < 0 || r->value_under_way ? rc : judge_record(r);
    if (rc == 0 && !r->value_under_way && r->wants_value && value_bytes(&r->slot) != 0) {
        r->value_under_way = true;
        r->record.value = r->bytes + r->slot.record.length;
        submit(r, &r->storage->blob, &r->slot.value, r->bytes + r->slot.record.length);
        return;
    }
    finish(r, rc < 0 ? rc : judge_value(r));
}

int reading_begin(struct storage *s, const struct key_slot *slot, bool value, uint64_t ticket, reading_told told_when)
{
    struct reading *r = malloc(sizeof *r + slot->record.length + (value ? value_bytes(slot) : 0));
    if (r == NULL) {
        return -ENOMEM;
    }
    *r = (struct reading){.next = s->readings,
                          .storage = s,
                          .waiter = {told},
                          .slot = *slot,
                          .ticket = ticket,
                          .told = told_when,
                          .wants_value = value};
    s->readings = r;
    pin(s, slot, true);
    submit(r, &s->meta, &r->slot.record, r->bytes);
    return 0;
}

void reading_free_all(struct storage *s)
{
    for (struct reading *r; (r = s->readings) != NULL;) {
        s->readings = r->next;
        free(r);
    }
}
