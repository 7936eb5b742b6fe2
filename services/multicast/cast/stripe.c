/* SPDX-License-Identifier: Apache-2.0 */
#include "services/multicast/cast/stripe.h"

#include "services/multicast/cast/mutant.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * A tree has what its own rate moves in this time under way. The rate is measured over the same time, so that
 * acknowledgements that come in lumps do not look like a change of it.
 */
static const cw_span ahead = CW_MS(5);

int cast_stripe_open(struct cast_stripe *d, uint32_t pieces)
{
    *d = (struct cast_stripe){.pieces = pieces};
    d->want = calloc(pieces / 8 + 1, 1);
    return d->want != NULL ? 0 : -ENOMEM;
}

void cast_stripe_close(struct cast_stripe *d)
{
    free(d->want);
    d->want = NULL;
}

size_t cast_stripe_memory(const struct cast_stripe *d)
{
    return d->want != NULL ? d->pieces / 8 + 1 : 0;
}

/* Wants those of the byte's pieces that are in `bits`. */
static void want_byte(struct cast_stripe *d, uint32_t byte, uint8_t bits)
{
    unsigned fresh = bits & ~d->want[byte] & 0xffU;
    if (fresh != 0) {
        uint32_t piece = byte * 8 + (uint32_t)__builtin_ctz(fresh);
        d->want[byte] |= (uint8_t)fresh;
        d->left += (uint32_t)__builtin_popcount(fresh);
        d->cursor = piece < d->cursor ? piece : d->cursor;
    }
}

void cast_stripe_want(struct cast_stripe *d, uint32_t first, uint32_t count, const uint8_t *bits)
{
    if (first >= d->pieces) {
        return;
    }
    count = count < d->pieces - first ? count : d->pieces - first;
    for (uint32_t i = 0; i < count;) {
        uint32_t piece = first + i;
        if (bits == NULL && piece % 8 == 0 && count - i >= 8) { /* runs may be as long as the file */
            want_byte(d, piece / 8, 0xff);
            i += 8;
        } else {
            if (bits == NULL || (bits[i / 8] >> i % 8 & 1)) {
                want_byte(d, piece / 8, (uint8_t)(1 << piece % 8));
            }
            i++;
        }
    }
}

void cast_stripe_round(struct cast_stripe *d, cw_time now)
{
    for (unsigned tree = 0; tree < CW_LINK_COUNT; tree++) {
        d->lane[tree].base = d->lane[tree].next = d->lane[tree].mark = 0;
        d->lane[tree].rate = 0;
        d->lane[tree].mark_at = now;
        d->lane[tree].careful = false;
    }
    d->cursor = 0;
}

void cast_stripe_careful(struct cast_stripe *d)
{
    for (unsigned tree = 0; tree < CW_LINK_COUNT; tree++) {
        d->lane[tree].careful = !CAST_MUTANT(CARELESS);
        d->lane[tree].careful_from = d->lane[tree].base;
    }
}

/* Rule 2. */
static uint32_t room_by_rate(const struct cast_lane *lane)
{
    if (lane->rate <= 0) {
        return CAST_SPREAD;
    }
    double room = CAST_AHEAD + lane->rate * (double)ahead.ns / 1e9;
    return room < CAST_SPREAD ? (uint32_t)room : CAST_SPREAD;
}

uint32_t cast_stripe_room(const struct cast_stripe *d, uint8_t tree)
{
    const struct cast_lane *lane = &d->lane[tree];
    uint32_t room = room_by_rate(lane), careful = CAST_CAREFUL + (lane->base - lane->careful_from) / 4;
    return lane->careful && careful < room ? careful : room;
}

bool cast_stripe_assign(struct cast_stripe *d, uint8_t tree, uint32_t *index)
{
    struct cast_lane *lane = &d->lane[tree];
    if (d->left == 0 || lane->next - lane->base >= cast_stripe_room(d, tree)) {
        return false;
    }
    uint32_t at = d->cursor;
    while (!(d->want[at / 8] >> at % 8 & 1)) {
        at += at % 8 == 0 && d->want[at / 8] == 0 ? 8 : 1;
    }
    d->want[at / 8] &= (uint8_t) ~(1 << at % 8);
    d->left--;
    d->cursor = at;
    *index = lane->next++;
    lane->piece[*index % CAST_WINDOW] = at;
    return true;
}

void cast_stripe_undo(struct cast_stripe *d, uint8_t tree)
{
    struct cast_lane *lane = &d->lane[tree];
    lane->next--;
    cast_stripe_want(d, lane->piece[lane->next % CAST_WINDOW], 1, NULL);
}

static void measure(struct cast_lane *lane, cw_time now)
{
    cw_span span = cw_time_since(now, lane->mark_at);
    if (span.ns < ahead.ns) {
        return;
    }
    double rate = (double)(lane->base - lane->mark) * 1e9 / (double)span.ns;
    lane->rate = lane->rate <= 0 ? rate : (lane->rate + rate) / 2;
    lane->mark = lane->base;
    lane->mark_at = now;
}

void cast_stripe_advance(struct cast_stripe *d, uint8_t tree, uint32_t base, cw_time now)
{
    struct cast_lane *lane = &d->lane[tree];
    if (base <= lane->base || base > lane->next) {
        return;
    }
    lane->base = base;
    measure(lane, now);
}
