/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compaction.c - a segment with little alive is emptied: what is alive in it is read, verified and appended again. One
 * register at a time is read, and no more is moved than half of what comes in, unless room is short. A moved record
 * says which version of the register it is, and is void when the register has another by then.
 */
#include "storage/internal.h"

#include <stdlib.h>
#include <string.h>

/* With so few segments left room is short, and then a segment is emptied for less gain: percent alive. */
enum { META_SHORT = 2, BLOB_SHORT = 3, SHORT_LIVE = 70 };

struct compaction {
    struct segments *of;
    uint32_t number;
    uint64_t at;             /* of the index: registers before it were looked at */
    bool reading;            /* a register is under way: */
    struct key_slot of_read; /* as it was when it was begun */
    bool over;               /* the rest of the segment stays where it is */
    uint8_t *value;          /* borrowed by the disk until the group wait_for has landed; NULL: none */
    uint64_t wait_for;       /* position; 0: nothing */
};

static bool is_short(const struct storage *s, const struct segments *all)
{
    return segments_free(all) < (all->meta ? META_SHORT : BLOB_SHORT) && !making_may(s, all);
}

/* What is alive at most in a segment that is emptied. */
static uint32_t percent_of(const struct storage *s, const struct segments *all)
{
    return is_short(s, all) && s->config.compact_live < SHORT_LIVE ? SHORT_LIVE : s->config.compact_live;
}

static bool is_in(const struct compaction *c, const struct key_slot *slot)
{
    return c->of->meta ? slot->record.segment == c->number
                       : (slot->flags & KEY_PLACED) != 0 && slot->value.segment == c->number;
}

/* The value, in memory that stays until its group has landed. False: no memory. */
static bool keep_value(struct compaction *c, struct log_record *r)
{
    c->value = malloc(r->value_size + 1);
    if (c->value == NULL) {
        return false;
    }
    memcpy(c->value, r->value, r->value_size);
    r->value = c->value;
    return true;
}

static void moved(struct storage *s, uint64_t ticket, int result, const struct log_record *r)
{
    struct compaction *c = s->compaction;
    (void)ticket;
    c->reading = false;
    if (result != 0) {
        /* Damaged or unreadable: it stays where it is, and so does the segment. The owner was told of damage. */
        segments_at(c->of, c->number)->stuck = true;
        c->over = true;
        return;
    }
    const struct key_slot *slot = key_index_find(&s->index, r->kind, &r->key);
    if (slot == NULL || slot->position != c->of_read.position ||
        memcmp(&slot->record, &c->of_read.record, sizeof slot->record) != 0) {
        return; /* written again or gone while it was read */
    }
    struct log_record again = *r;
    again.flags |= LOG_MOVED;
    again.before = slot->position;
    if (r->value != NULL && r->value_size > s->config.inline_max && !keep_value(c, &again)) {
        c->over = true;
        return;
    }
    c->wait_for = s->position + 1;
    if (gather_move(s, &again, again.value) != 0) {
        c->over = true; /* no room now: it is taken up again later */
        c->wait_for = 0;
        return;
    }
    uint64_t bytes = slot->record.length + (c->of->meta ? 0 : slot->value.length);
    s->compact_allowance -= bytes < s->compact_allowance ? bytes : s->compact_allowance;
    gather_flush(s, false);
}

static void end(struct storage *s)
{
    s->counts.compacted += !s->compaction->over;
    s->compact_after = s->durable + 1;
    compaction_free(s);
}

/* Goes through the index for what lies in the segment until a register is under way. */
static void step(struct storage *s)
{
    struct compaction *c = s->compaction;
    struct key_slot *slot = NULL;
    while (!c->over && (slot = key_index_next(&s->index, &c->at)) != NULL) {
        if (is_in(c, slot)) {
            c->of_read = *slot;
            c->reading = reading_begin(s, slot, !c->of->meta, 0, moved) == 0;
            c->over = !c->reading;
            break;
        }
    }
    if (c->over || slot == NULL) {
        end(s);
    }
}

/* Takes up the segment with the least alive, if it is worth it now. */
static bool begin(struct storage *s)
{
    uint32_t meta = segments_sparse(&s->meta, percent_of(s, &s->meta), s->covered);
    if (meta == 0 && is_short(s, &s->blob)) {
        segments_close_head(&s->blob, SHORT_LIVE);
    }
    uint32_t number = meta != 0 ? meta : segments_sparse(&s->blob, percent_of(s, &s->blob), s->covered);
    struct segments *of = meta != 0 ? &s->meta : &s->blob;
    if (number == 0 || s->durable < s->compact_after ||
        (s->compact_allowance < segments_at(of, number)->live && !is_short(s, of))) {
        return false;
    }
    s->compaction = calloc(1, sizeof *s->compaction);
    if (s->compaction != NULL) {
        *s->compaction = (struct compaction){.of = of, .number = number};
    }
    return s->compaction != NULL;
}

void compaction_go_on(struct storage *s)
{
    struct compaction *c = s->compaction;
    bool ends = s->dead || s->state != STORAGE_OPEN;
    if (c == NULL ? ends || !begin(s) : c->reading || (s->dead ? s->orders_out != 0 : c->wait_for > s->durable)) {
        return;
    }
    if (ends) {
        s->compaction->over = true;
    }
    free(s->compaction->value);
    s->compaction->value = NULL;
    step(s);
}

uint64_t compaction_owes(const struct storage *s)
{
    const struct compaction *c = s->compaction;
    return c == NULL || c->of->meta || c->over ? 0 : segments_at(c->of, c->number)->live;
}

void compaction_free(struct storage *s)
{
    if (s->compaction != NULL) {
        free(s->compaction->value);
        free(s->compaction);
        s->compaction = NULL;
    }
}
