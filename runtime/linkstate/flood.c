/* SPDX-License-Identifier: Apache-2.0 */
#include "linkstate/flood.h"

#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

void flood_init(struct flood *f, uint32_t servers, uint32_t limit, struct arena *arena)
{
    CHECK(limit >= FLOOD_CHUNK && (limit & (limit - 1)) == 0);
    *f = (struct flood){
        .limit = limit,
        .chunk = arena_carve(arena, limit / FLOOD_CHUNK, sizeof *f->chunk, alignof(struct flood_entry *)),
        .latest = arena_carve(arena, servers, sizeof *f->latest, alignof(uint32_t)),
        .first = 1,
        .end = 1,
    };
}

static void drop_chunk(struct flood *f, struct flood_entry **chunk)
{
    f->held -= *chunk != NULL;
    free(*chunk);
    *chunk = NULL;
}

void flood_close(struct flood *f)
{
    for (uint32_t i = 0; i < f->limit / FLOOD_CHUNK; i++) {
        drop_chunk(f, &f->chunk[i]);
    }
}

struct flood_entry *flood_append(struct flood *f, enum flood_kind kind, cw_links owed)
{
    if (f->end - f->first == f->limit) {
        return NULL;
    }
    struct flood_entry **chunk = flood_chunk(f, f->end);
    if (*chunk == NULL) {
        *chunk = malloc(FLOOD_CHUNK * sizeof **chunk);
        if (*chunk == NULL) {
            return NULL;
        }
        f->held++;
    }
    struct flood_entry *entry = *chunk + f->end % FLOOD_CHUNK;
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
    for (; position / FLOOD_CHUNK > f->first / FLOOD_CHUNK; f->first += FLOOD_CHUNK - f->first % FLOOD_CHUNK) {
        /* In a full log the last entries share a chunk with the first. */
        if (f->end - f->first + f->first % FLOOD_CHUNK <= f->limit) {
            drop_chunk(f, flood_chunk(f, f->first));
        }
    }
    f->first = position;
}
