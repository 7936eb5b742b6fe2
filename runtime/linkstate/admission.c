/* SPDX-License-Identifier: Apache-2.0 */
#include "linkstate/admission.h"

#include "linkstate/mutant.h"

#include <stdalign.h>
#include <string.h>

static void carve_set(struct reach *set, uint32_t servers, struct arena *arena)
{
    void *memory = arena_carve(arena, 1, reach_bytes(servers), alignof(uint64_t));
    if (!arena_is_measuring(arena)) {
        reach_init(set, servers, memory);
    }
}

void admission_init(struct admission *a, cw_server self, uint32_t servers, struct arena *arena)
{
    *a = (struct admission){
        .servers = servers,
        .self = self,
        .round = 1,
        .acked = arena_carve(arena, servers, sizeof *a->acked, alignof(uint32_t)),

    };
    carve_set(&a->waiting, servers, arena);
    carve_set(&a->owed, servers, arena);
    carve_set(&a->frozen, servers, arena);
}

void admission_reset(struct admission *a)
{
    memset(a->acked, 0, a->servers * sizeof *a->acked);
    a->round = 1;
    a->missing = 0;
}

void admission_gained(struct admission *a, uint32_t seq)
{
    admission_announced(a, seq + 1);
}

void admission_announced(struct admission *a, uint32_t seq)
{
    a->round = seq > a->round ? seq : a->round;
}

void admission_began(struct admission *a, const struct reach *optimistic)
{
    if (MUTANT(FROZEN_WAIT_SET)) {
        reach_copy(&a->frozen, optimistic);
    }
}

void admission_acked(struct admission *a, cw_server s, uint32_t seq)
{
    /*
     * Semantics 4.2, detail 1: an ack is of a version. Whoever knew an earlier one need not know what this one stands
     * for.
     */
    if (MUTANT(ACK_BY_INCARNATION)) {
        seq = UINT32_MAX;
    }
    a->acked[s] = seq > a->acked[s] ? seq : a->acked[s];
}

/*
 * Everybody in O has acked version least or a newer one, but for self and those in except (NULL: nobody). Begins with
 * whom it found missing last: over a round everybody is looked at about once, not once for every ack.
 */
static bool all_acked(struct admission *a, uint32_t least, const struct reach *optimistic, const struct reach *except)
{
    cw_server start = a->missing, end = a->servers;
    for (unsigned part = 0; part < 2; part++) {
        for (cw_server s = reach_next(optimistic, start); s < end; s = reach_next(optimistic, s + 1)) {
            if (a->acked[s] < least && s != a->self && !(except != NULL && reach_has(except, s))) {
                a->missing = s;
                return false;
            }
        }
        end = start;
        start = 0;
    }
    return true;
}

bool admission_wants_version(struct admission *a, uint32_t seq, const struct reach *optimistic,
                             const struct reach *held)
{
    return a->round > seq && !MUTANT(FROZEN_WAIT_SET) && all_acked(a, seq, optimistic, held);
}

bool admission_complete(struct admission *a, uint32_t listed, const struct reach *optimistic, const struct reach *held)
{
    if (MUTANT(FROZEN_WAIT_SET)) {
        return held->members == 0 && all_acked(a, listed, &a->frozen, NULL);
    }
    uint32_t least = listed > a->round ? listed : a->round;
    if (MUTANT(HELD_NOT_WAITED)) {
        return all_acked(a, least, optimistic, held);
    }
    /* Semantics 4.2, detail 4: who is in O now, not who was when the round began. */
    return held->members == 0 && all_acked(a, least, optimistic, NULL);
}

void admission_applied(struct admission *a, cw_server origin, const struct record *record, bool renewed)
{
    if (renewed) {
        a->acked[origin] = 0;
    }
    if (record->pending == CW_LINKS_NONE) {
        reach_remove(&a->waiting, origin);
        reach_remove(&a->owed, origin);
        return;
    }
    reach_add(&a->waiting, origin);
    if (origin != a->self) {
        reach_add(&a->owed, origin);
    }
}

void admission_repeat(struct admission *a)
{
    reach_copy(&a->owed, &a->waiting);
    reach_remove(&a->owed, a->self);
}
