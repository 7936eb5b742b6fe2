/* SPDX-License-Identifier: Apache-2.0 */
#include "services/tunnel/strand.h"

#include "services/tunnel/mutant.h"

#include "base/check.h"

#include <stdlib.h>
#include <string.h>

static bool was_seen(const struct strand *s, uint32_t number)
{
    return s->seen[number % STRAND_SEEN / 64] >> number % 64 & 1;
}

static void note_seen(struct strand *s, uint32_t number, bool seen)
{
    uint64_t bit = UINT64_C(1) << number % 64, *word = &s->seen[number % STRAND_SEEN / 64];
    *word = seen ? *word | bit : *word & ~bit;
}

/* Moves on to `number`; those before it have not come. */
static void give_up_to(struct strand *s, uint32_t number, cw_time since)
{
    s->hole = s->next;
    s->hole_end = number;
    s->hole_since = since;
    if (number - s->next >= STRAND_SEEN) {
        memset(s->seen, 0, sizeof s->seen);
        s->next = number;
    }
    for (; s->next != number; s->next++) {
        note_seen(s, s->next, false);
    }
}

static struct strand_slot *slot_of(const struct strand *s, uint32_t number)
{
    return &s->room[number % STRAND_WINDOW];
}

static bool keep(struct strand *s, uint32_t number, void *piece, uint32_t bytes, cw_time now)
{
    if (s->room == NULL) {
        s->room = calloc(STRAND_WINDOW, sizeof *s->room);
        if (s->room == NULL) {
            return false;
        }
    }
    *slot_of(s, number) = (struct strand_slot){piece, bytes, now};
    s->since = s->waiting == 0 ? now : s->since;
    s->first = s->waiting == 0 || (int32_t)(number - s->first) < 0 ? number : s->first;
    s->waiting++;
    s->bytes += bytes;
    return true;
}

static enum strand_fate take_old(struct strand *s, uint32_t number, cw_time now, cw_span *late)
{
    if (s->next - number > STRAND_SEEN) {
        return STRAND_LATE;
    }
    if (was_seen(s, number) || TUNNEL_MUTANT(LATE_DROPPED)) {
        return STRAND_DOUBLE;
    }
    note_seen(s, number, true);
    if (number - s->hole < s->hole_end - s->hole) {
        *late = cw_time_since(now, s->hole_since);
    }
    return STRAND_LATE;
}

enum strand_fate strand_take(struct strand *s, uint16_t life, uint32_t number, void *piece, uint32_t bytes, cw_time now,
                             cw_span *late)
{
    *late = CW_NS(0);
    if (s->has_former && life == s->former) {
        return STRAND_FORMER;
    }
    if (!s->has_life || (life != s->life && !TUNNEL_MUTANT(LIFE_IGNORED))) {
        return STRAND_BORN;
    }
    if (!s->begun) {
        s->begun = true; /* a sender numbers from 0: at its beginning, what comes first may have overtaken others */
        s->next = number < STRAND_WINDOW ? 0 : number;
    }
    if ((int32_t)(number - s->next) < 0) {
        return take_old(s, number, now, late);
    }
    if (number - s->next >= STRAND_WINDOW) {
        return STRAND_AHEAD;
    }
    if (number == s->next) {
        if (s->waiting != 0) {
            *late = cw_time_since(now, s->since);
        }
        note_seen(s, number, true);
        s->next++;
        return s->waiting != 0 ? STRAND_FILLS : STRAND_LEAVES;
    }
    if (s->room != NULL && slot_of(s, number)->piece != NULL) {
        return STRAND_DOUBLE;
    }
    if (keep(s, number, piece, bytes, now)) {
        return STRAND_WAITS;
    }
    give_up_to(s, number, now);
    note_seen(s, number, true);
    s->next++;
    return STRAND_LEAVES;
}

/* Which of those that are left is first, and when the oldest came: asked only when a hole is next. */
static void find_rest(struct strand *s)
{
    s->first = s->next;
    if (slot_of(s, s->first)->piece != NULL) {
        return;
    }
    unsigned left = s->waiting;
    s->since = CW_NEVER;
    for (uint32_t n = s->next; left > 0; n++) {
        const struct strand_slot *slot = slot_of(s, n);
        CHECK_SLOW(n - s->next < STRAND_WINDOW);
        if (slot->piece != NULL) {
            s->first = left == s->waiting ? n : s->first;
            s->since = cw_time_min(s->since, slot->came);
            left--;
        }
    }
}

void *strand_pull(struct strand *s)
{
    if (s->waiting == 0 || s->first != s->next) {
        return NULL;
    }
    struct strand_slot *slot = slot_of(s, s->next);
    void *piece = slot->piece;
    s->bytes -= slot->bytes;
    slot->piece = NULL;
    note_seen(s, s->next, true);
    s->next++;
    s->waiting--;
    if (s->waiting == 0) {
        free(s->room);
        s->room = NULL;
        return piece;
    }
    find_rest(s);
    return piece;
}

void strand_skip(struct strand *s)
{
    if (s->waiting != 0 && s->first != s->next) {
        give_up_to(s, s->first, s->since);
    }
}

void strand_jump(struct strand *s, uint32_t number)
{
    CHECK(s->waiting == 0 && number - s->next >= STRAND_WINDOW);
    give_up_to(s, number - STRAND_WINDOW + 1, CW_NEVER);
    s->hole_end = s->hole; /* nobody knows how late these are */
}

void strand_renew(struct strand *s, uint16_t life)
{
    CHECK(s->waiting == 0);
    *s = (struct strand){.has_life = true, .life = life, .has_former = s->has_life, .former = s->life};
}

void strand_forget(struct strand *s)
{
    CHECK(s->waiting == 0);
    *s = (struct strand){.has_life = s->has_life, .life = s->life, .has_former = s->has_former, .former = s->former};
}

cw_time strand_waits_since(const struct strand *s)
{
    return s->waiting == 0 ? CW_NEVER : s->since;
}
