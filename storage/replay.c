/* SPDX-License-Identifier: Apache-2.0 */
/*
 * replay.c - the chain of groups behind the checkpoint. Each group is applied once the next is seen; the last one is
 * left to renewing.c, for nobody knows whether it was synced. Where the chain ends it is asked whether any later group
 * is there: then something in between was lost that had been on the disk, and this is damage and no torn tail.
 */
#include "base/bytes.h"
#include "storage/mutant.h"
#include "storage/opening.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void find_next(struct storage *s);
static void scan_next(struct storage *s);

/* The group header at an offset of the segment that was read; false: there is none of this store. */
static bool head_at(const struct storage *s, uint32_t offset, struct log_group *g)
{
    const struct opening *o = s->opening;
    return offset + LOG_GROUP_HEAD <= s->meta.size &&
           log_group_decode(g, s->config.class_id, s->identity.store_id, o->number, offset, o->segment + offset) == 0;
}

/* Do the records of a group say what can be? They were written by us, or by somebody who can compute checksums. */
static bool records_fit(struct storage *s, const struct log_group *g, uint32_t offset)
{
    const uint8_t *bytes = s->opening->segment + offset + LOG_GROUP_HEAD;
    uint32_t at = 0, count = 0, used = 0;
    for (; at < g->length; at += used, count++) {
        struct log_record r;
        if (log_record_parse(&r, bytes + at, g->length - at, &used) != 0) {
            return false;
        }
        if ((r.flags & LOG_PLACED) != 0 && (r.place.segment > s->blob.count || r.place.offset > s->blob.size ||
                                            r.place.length > s->blob.size - r.place.offset)) {
            return false;
        }
    }
    return count == g->records;
}

static bool is_whole(struct storage *s, const struct log_group *g, uint32_t offset)
{
    if (g->length > s->meta.size - LOG_GROUP_HEAD - offset) {
        return false;
    }
    return (g->sum == log_group_sum(g, offset, s->opening->segment + offset + LOG_GROUP_HEAD) ||
            STORAGE_MUTANT(NO_BODY_SUM)) &&
           records_fit(s, g, offset);
}

/* Applies the group that was the last until now. */
static void apply_pending(struct storage *s)
{
    struct pending *p = &s->opening->pending;
    uint32_t used = 0;
    if (p->size == 0) {
        return;
    }
    for (uint32_t at = 0; at < p->group.length; at += used) {
        struct log_record r;
        CHECK(log_record_parse(&r, p->bytes + LOG_GROUP_HEAD + at, p->group.length - at, &used) == 0);
        gather_apply(s, &r, (struct log_place){p->segment, p->offset + LOG_GROUP_HEAD + at, used}, p->group.position);
    }
    s->durable = p->group.position;
    p->size = 0;
}

static bool make_pending(struct storage *s, const struct log_group *g, uint32_t offset)
{
    struct opening *o = s->opening;
    struct pending *p = &o->pending;
    uint32_t size = segments_padded(&s->meta, LOG_GROUP_HEAD + g->length);
    size = size < s->meta.size - offset ? size : s->meta.size - offset;
    uint8_t *more = realloc(p->bytes, size);
    if (more == NULL) {
        return false;
    }
    *p = (struct pending){.bytes = more, .size = size, .segment = o->number, .offset = offset, .group = *g};
    memcpy(p->bytes, o->segment + offset, size);
    return true;
}

/* Follows the chain through the segment that was read. False: no memory. */
static bool follow(struct storage *s)
{
    struct opening *o = s->opening;
    struct log_group g;
    while (head_at(s, o->offset, &g) &&
           (g.position == o->position + 1 || (STORAGE_MUTANT(ANY_POSITION) && g.position != o->position))) {
        if (!is_whole(s, &g, o->offset)) {
            o->torn_segment = o->number;
            o->torn_offset = o->offset;
            break;
        }
        apply_pending(s);
        if (!make_pending(s, &g, o->offset)) {
            return false;
        }
        o->position = g.position > o->position ? g.position : o->position;
        o->offset += o->pending.size;
        o->how.replayed++;
        s->meta.head = o->number;
        segments_at(&s->meta, o->number)->last = g.position;
        segments_at(&s->meta, o->number)->used = o->offset;
    }
    return true;
}

/*
 * Is there a later group in the segment that was read? What a segment holds of an earlier round has lower positions,
 * and is no sign of anything.
 */
static void scan(struct storage *s)
{
    struct log_group g;
    for (uint32_t at = 0; at < s->meta.size; at += s->meta.block) {
        if (head_at(s, at, &g) && g.position > s->opening->position + 1) {
            opening_damage(s, "a group of the log is damaged: later ones are there");
        }
    }
}

static void segment_read(struct storage *s, int64_t result)
{
    struct opening *o = s->opening;
    if (result < 0) {
        opening_fail(s, (int)result, "a segment cannot be read");
        return;
    }
    memset(o->segment + result, 0, s->meta.size - (size_t)result);
    if (o->scanning_only) {
        o->first[o->number - 1].scanned = true;
        scan(s);
        scan_next(s);
    } else if (follow(s)) {
        find_next(s);
    } else {
        opening_fail(s, -ENOMEM, "no memory");
    }
}

static void read_segment(struct storage *s, uint32_t number, uint32_t offset)
{
    struct opening *o = s->opening;
    o->number = number;
    o->offset = offset;
    opening_order(
        s,
        (struct disk_order){
            .what = DISK_READ, .file = segments_at(&s->meta, number)->file, .to = o->segment, .size = s->meta.size},
        segment_read);
}

/* The chain goes on in the segment that begins with the next position, if there is one. */
static void find_next(struct storage *s)
{
    struct opening *o = s->opening;
    for (uint32_t n = 1; o->torn_segment == 0 && n <= s->meta.count; n++) {
        bool any = STORAGE_MUTANT(ANY_POSITION) && o->first[n - 1].position > o->position;
        if (o->first[n - 1].position == o->position + 1 || any) {
            read_segment(s, n, 0);
            return;
        }
    }
    o->scanning_only = true;
    scan_next(s);
}

/* Looks for later groups where they can be: where the chain ended, and in segments whose beginning says nothing. */
static void scan_next(struct storage *s)
{
    struct opening *o = s->opening;
    for (uint32_t n = 1; n <= s->meta.count && !STORAGE_MUTANT(TORN_IS_END); n++) {
        struct first *f = &o->first[n - 1];
        if (f->position > o->position + 1) {
            opening_damage(s, "a group of the log is damaged: a later segment is there");
        }
        bool ended_here = n == s->meta.head || n == o->torn_segment || n == o->seen.head;
        if (o->damage == NULL && !f->scanned && (ended_here || (f->position == 0 && !f->blank))) {
            read_segment(s, n, 0);
            return;
        }
    }
    renewing_begin(s);
}

static void first_read(struct storage *s, int64_t result);

static void read_first(struct storage *s)
{
    struct opening *o = s->opening;
    if (o->at <= s->meta.count) {
        memset(o->segment, 0, LOG_GROUP_HEAD);
        opening_order(s,
                      (struct disk_order){.what = DISK_READ,
                                          .file = segments_at(&s->meta, o->at)->file,
                                          .to = o->segment,
                                          .size = LOG_GROUP_HEAD},
                      first_read);
    } else if (o->seen.head != 0) {
        read_segment(s, o->seen.head, o->seen.head_offset);
    } else {
        find_next(s);
    }
}

static bool is_blank(const uint8_t *bytes, uint32_t size)
{
    uint8_t any = 0;
    for (uint32_t i = 0; i < size; i++) {
        any |= bytes[i];
    }
    return any == 0;
}

static void first_read(struct storage *s, int64_t result)
{
    struct opening *o = s->opening;
    struct first *f = &o->first[o->at - 1];
    struct log_group g;
    if (result < 0) {
        opening_fail(s, (int)result, "a segment cannot be read");
        return;
    }
    o->number = o->at++;
    f->blank = is_blank(o->segment, LOG_GROUP_HEAD);
    f->position = head_at(s, 0, &g) ? g.position : 0;
    if (f->position != 0 && segments_at(&s->meta, o->number)->state == SEGMENT_MAKING) {
        opening_damage(s, "a segment was cut short");
    }
    read_first(s);
}

void replay_begin(struct storage *s)
{
    struct opening *o = s->opening;
    o->segment = malloc(s->meta.size);
    o->first = calloc(s->meta.count + 1, sizeof *o->first);
    if (o->segment == NULL || o->first == NULL) {
        opening_fail(s, -ENOMEM, "no memory");
        return;
    }
    o->position = o->seen.position;
    s->durable = o->seen.position;
    if (o->seen.head != 0) {
        s->meta.head = o->seen.head;
        segments_at(&s->meta, o->seen.head)->used = o->seen.head_offset;
        segments_at(&s->meta, o->seen.head)->last = o->seen.position;
    }
    o->at = 1;
    read_first(s);
}
