/* SPDX-License-Identifier: Apache-2.0 */
/*
 * renewing.c - the end of recovery. The last group may never have been synced, although it can be read: values that it
 * names are verified; then all of it is written again, so that a sync of it means something even when the kernel calls
 * its pages clean after an error. What is dropped is wiped, or it could continue the chain one day. After damage there
 * is a new store id instead, and everything that was found is warm.
 */
#include "storage/mutant.h"
#include "storage/opening.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void next_value(struct storage *s);
static void finish(struct storage *s);

static uint32_t parse(const struct pending *p, uint32_t at, struct log_record *r)
{
    uint32_t used = 0;
    CHECK(log_record_parse(r, p->bytes + LOG_GROUP_HEAD + at, p->group.length - at, &used) == 0);
    return used;
}

/*
 * Is the value of this record that of its register, once the group is applied? Others may be overwritten already: they
 * were dead when the group landed.
 */
static bool is_live(const struct storage *s, uint32_t at, const struct log_record *r)
{
    const struct pending *p = &s->opening->pending;
    const struct key_slot *slot = key_index_find(&s->index, r->kind, &r->key);
    bool moved = (r->flags & LOG_MOVED) != 0, live = !moved || (slot != NULL && slot->position == r->before);
    struct log_record other;
    for (uint32_t i = 0, used; live && i < p->group.length; i += used) {
        used = parse(p, i, &other);
        bool same = other.kind == r->kind && memcmp(other.key.b, r->key.b, sizeof r->key.b) == 0;
        live = !same || i == at || (other.flags & LOG_MOVED) != 0 || (i < at && !moved);
    }
    return live;
}

/* The first record of the last group, from value_at on, whose value has a place and is alive. *used: its bytes. */
static bool placed_record(struct storage *s, struct log_record *r, uint32_t *used)
{
    struct opening *o = s->opening;
    while (o->value_at < o->pending.group.length) {
        *used = parse(&o->pending, o->value_at, r);
        if ((r->flags & LOG_PLACED) != 0 && is_live(s, o->value_at, r)) {
            return true;
        }
        o->value_at += *used;
    }
    return false;
}

/* The last group was not whole: the chain ends before it. */
static void drop_pending(struct storage *s)
{
    struct opening *o = s->opening;
    struct pending *p = &o->pending;
    o->torn_segment = p->segment;
    o->torn_offset = p->offset;
    segments_at(&s->meta, p->segment)->used = p->offset;
    p->size = 0;
    finish(s);
}

static void apply_pending(struct storage *s)
{
    struct pending *p = &s->opening->pending;
    uint32_t used = 0;
    for (uint32_t at = 0; p->size != 0 && at < p->group.length; at += used) {
        struct log_record r;
        used = parse(p, at, &r);
        gather_apply(s, &r, (struct log_place){p->segment, p->offset + LOG_GROUP_HEAD + at, used}, p->group.position);
    }
    s->durable = p->size != 0 ? p->group.position : s->durable;
    p->size = 0;
}

static void group_rewritten(struct storage *s, int64_t result)
{
    if (result < 0) {
        s->identity.dead = true;
        opening_fail(s, (int)result, "the last group cannot be written again");
        return;
    }
    apply_pending(s);
    finish(s);
}

static void rewrite_group(struct storage *s)
{
    struct pending *p = &s->opening->pending;
    if (STORAGE_MUTANT(NO_REWRITE) || s->opening->damage != NULL) {
        group_rewritten(s, 0);
        return;
    }
    opening_order(s,
                  (struct disk_order){.what = DISK_WRITE,
                                      .sync = true,
                                      .file = segments_at(&s->meta, p->segment)->file,
                                      .offset = p->offset,
                                      .from = p->bytes,
                                      .size = p->size},
                  group_rewritten);
}

static void value_rewritten(struct storage *s, int64_t result)
{
    struct opening *o = s->opening;
    struct log_record r;
    uint32_t used = 0;
    if (result < 0) {
        opening_fail(s, (int)result, "a value of the last group cannot be written again");
        return;
    }
    if (placed_record(s, &r, &used)) {
        o->value_at += used;
    }
    next_value(s);
}

static void value_read(struct storage *s, int64_t result)
{
    struct opening *o = s->opening;
    struct log_record r;
    uint32_t used = 0;
    if (result < 0) {
        opening_fail(s, (int)result, "a value of the last group cannot be read");
        return;
    }
    CHECK(placed_record(s, &r, &used));
    bool good = (uint64_t)result == r.value_size && storage_sum(o->value, r.value_size) == r.value_sum;
    if (!good && !STORAGE_MUTANT(NO_LAST_VALUES)) {
        drop_pending(s);
        return;
    }
    if (STORAGE_MUTANT(NO_REWRITE) || o->damage != NULL) {
        value_rewritten(s, 0);
        return;
    }
    opening_order(s,
                  (struct disk_order){.what = DISK_WRITE,
                                      .sync = true,
                                      .file = segments_at(&s->blob, r.place.segment)->file,
                                      .offset = r.place.offset,
                                      .from = o->value,
                                      .size = r.value_size},
                  value_rewritten);
}

static void next_value(struct storage *s)
{
    struct opening *o = s->opening;
    struct log_record r;
    uint32_t used;
    if (!placed_record(s, &r, &used)) {
        rewrite_group(s);
        return;
    }
    free(o->value);
    o->value = malloc(r.value_size + 1);
    if (o->value == NULL) {
        opening_fail(s, -ENOMEM, "no memory");
        return;
    }
    opening_order(s,
                  (struct disk_order){.what = DISK_READ,
                                      .file = segments_at(&s->blob, r.place.segment)->file,
                                      .offset = r.place.offset,
                                      .to = o->value,
                                      .size = r.value_size},
                  value_read);
}

static void wiped(struct storage *s, int64_t result)
{
    if (result < 0) {
        opening_fail(s, (int)result, "what was dropped cannot be wiped");
        return;
    }
    opening_end(s);
}

static void wipe_torn(struct storage *s)
{
    struct opening *o = s->opening;
    if (o->torn_segment == 0) {
        opening_end(s);
        return;
    }
    o->how.dropped = 1;
    if (STORAGE_MUTANT(NO_WIPE)) {
        opening_end(s);
        return;
    }
    o->zeros = calloc(1, s->meta.block);
    if (o->zeros == NULL) {
        opening_fail(s, -ENOMEM, "no memory");
        return;
    }
    opening_order(s,
                  (struct disk_order){.what = DISK_WRITE,
                                      .sync = true,
                                      .file = segments_at(&s->meta, o->torn_segment)->file,
                                      .offset = o->torn_offset,
                                      .from = o->zeros,
                                      .size = s->meta.block},
                  wiped);
}

static void renewed(struct storage *s, int result)
{
    if (result < 0) {
        opening_fail(s, result, "the checkpoint of the new store id cannot be written");
        return;
    }
    opening_end(s);
}

/*
 * A new store id: its checkpoint is on the disk before the id is, and the old id's checkpoint stays until the next
 * opening. So whenever the power goes, one of the two ids finds what belongs to it.
 */
static void renew(struct storage *s)
{
    struct identity *id = &s->identity;
    uint64_t at = 0;
    for (struct key_slot *slot; (slot = key_index_next(&s->index, &at)) != NULL;) {
        slot->flags |= KEY_WARM;
    }
    id->before = id->store_id;
    id->store_id = s->config.fresh_id != id->store_id ? s->config.fresh_id : ~s->config.fresh_id;
    id->dead = false;
    s->meta.head = 0;
    s->checkpoint.has_old = false;
    checkpoint_begin(s, renewed);
}

static void finish(struct storage *s)
{
    if (s->opening->damage != NULL) {
        renew(s);
    } else {
        wipe_torn(s);
    }
}

void renewing_begin(struct storage *s)
{
    s->opening->value_at = 0;
    if (s->opening->pending.size != 0) {
        next_value(s);
    } else {
        finish(s);
    }
}
