/* SPDX-License-Identifier: Apache-2.0 */
#include "core/flood.h"

#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

enum { ROOM_LEAST = 64 };

void flood_init(struct flood *f, uint32_t servers, uint32_t limit, struct arena *arena)
{
    CHECK(limit >= ROOM_LEAST && (limit & (limit - 1)) == 0);
    *f = (struct flood){
        .limit = limit,
        .latest = arena_carve(arena, servers, sizeof *f->latest, alignof(uint32_t)),
        .first = 1,
        .end = 1,
    };
}

void flood_close(struct flood *f)
{
    free(f->ring);
    f->ring = NULL;
    f->room = 0;
}

/* Doubles the ring. False when it may not or cannot. */
static bool grow(struct flood *f)
{
    uint32_t room = f->room == 0 ? ROOM_LEAST : f->room * 2;
    if (room > f->limit) {
        return false;
    }
    struct flood_entry *ring = malloc(room * sizeof *ring);
    if (ring == NULL) {
        return false;
    }
    for (uint64_t position = f->first; position < f->end; position++) {
        ring[position & (room - 1)] = *flood_at(f, position);
    }
    free(f->ring);
    f->ring = ring;
    f->room = room;
    return true;
}

struct flood_entry *flood_append(struct flood *f, enum flood_kind kind, cw_links owed)
{
    if (f->end - f->first == f->room && !grow(f)) {
        return NULL;
    }
    struct flood_entry *entry = &f->ring[f->end & (f->room - 1)];
    memset(entry, 0, sizeof *entry);
    entry->kind = (uint8_t)kind;
    entry->owed = owed;
    f->end++;
    return entry;
}

void flood_note(struct flood *f, cw_server origin)
{
    f->latest[origin] = (uint32_t)(f->end - 1);
}

bool flood_find(const struct flood *f, cw_server origin, const cw_coord *coord, uint64_t *position)
{
    uint32_t back = (uint32_t)f->end - f->latest[origin];
    if (back == 0 || back > f->end - f->first) {
        return false;
    }
    const struct flood_entry *entry = flood_at(f, f->end - back);
    if (entry->kind != FLOOD_RECORD || memcmp(&entry->record.origin, coord, sizeof *coord) != 0) {
        return false;
    }
    *position = f->end - back;
    return true;
}

void flood_trim(struct flood *f, uint64_t position)
{
    CHECK(position >= f->first && position <= f->end);
    f->first = position;
    if (f->first == f->end && f->room > ROOM_LEAST) {
        flood_close(f);
    }
}
