/* SPDX-License-Identifier: Apache-2.0 */
#include "nmu/seals.h"

#include "base/check.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The entries of one table, as memory. */
struct rows {
    uint8_t *row;
    size_t size;
    uint32_t count;
};

static struct rows rows_of(const struct nmu_tables *t, enum sealed table)
{
    const struct spans *sets = &t->privilege.sets, *ranges = &t->map.ranges;
    const struct map *m = &t->map;
    const struct rows rows[SEALED_TABLES] = {
        [SEALED_ACCESS] = {(uint8_t *)t->access.entry, sizeof *t->access.entry, t->access.speakers},
        [SEALED_PRIVILEGE] = {(uint8_t *)t->privilege.slot, sizeof *t->privilege.slot, t->privilege.mask + 1},
        [SEALED_SET_LIST] = {(uint8_t *)sets->list, sizeof *sets->list, sets->owners},
        [SEALED_SET_SPAN] = {(uint8_t *)sets->span, sizeof *sets->span, sets->limit},
        [SEALED_JOB] = {(uint8_t *)m->job, sizeof *m->job, m->jobs},
        [SEALED_DOOR] = {(uint8_t *)m->door, sizeof *m->door, m->jobs},
        [SEALED_RANGE_LIST] = {(uint8_t *)ranges->list, sizeof *ranges->list, ranges->owners},
        [SEALED_RANGE_SPAN] = {(uint8_t *)ranges->span, sizeof *ranges->span, ranges->limit},
        [SEALED_JOB_SLOT] = {(uint8_t *)m->slot, sizeof *m->slot, m->slot_mask + 1},
    };
    return rows[table];
}

enum { ROW_MOST = sizeof(struct map_job) };
_Static_assert(sizeof(struct access_entry) <= ROW_MOST && sizeof(struct privilege_entry) <= ROW_MOST, "a row's room");
_Static_assert(sizeof(struct map_door) <= ROW_MOST && sizeof(struct nmu_span) <= ROW_MOST, "a row's room");

static struct siphash_tag tag_of(const struct siphash_key *key, const struct rows *rows, enum sealed table,
                                 uint32_t index)
{
    struct {
        uint64_t position;
        uint8_t row[ROW_MOST];
    } sealed = {.position = (uint64_t)table << 32 | index};
    memcpy(sealed.row, rows->row + index * rows->size, rows->size);
    return siphash(key, &sealed, sizeof sealed.position + rows->size);
}

int seals_open(struct seals *s, const struct siphash_key *key, const struct nmu_tables *t)
{
    *s = (struct seals){.key = *key};
    for (unsigned table = 0; table < SEALED_TABLES; table++) {
        s->first[table + 1] = s->first[table] + rows_of(t, (enum sealed)table).count;
    }
    s->tag = calloc(s->first[SEALED_TABLES], sizeof *s->tag);
    if (s->tag == NULL) {
        return -ENOMEM;
    }
    seals_write(s, t);
    return 0;
}

void seals_close(struct seals *s)
{
    free(s->tag);
    *s = (struct seals){.tag = NULL};
}

size_t seals_bytes(const struct seals *s)
{
    return s->tag != NULL ? s->first[SEALED_TABLES] * sizeof *s->tag : 0;
}

void seals_write(struct seals *s, const struct nmu_tables *t)
{
    for (unsigned table = 0; table < SEALED_TABLES; table++) {
        struct rows rows = rows_of(t, (enum sealed)table);
        for (uint32_t i = 0; i < rows.count; i++) {
            s->tag[s->first[table] + i] = tag_of(&s->key, &rows, (enum sealed)table, i);
        }
    }
}

static bool holds(struct seals *s, const struct rows *rows, enum sealed table, uint32_t index)
{
    const struct siphash_tag *kept = &s->tag[s->first[table] + index];
    struct siphash_tag tag = tag_of(&s->key, rows, table, index);
    if (((tag.word[0] ^ kept->word[0]) | (tag.word[1] ^ kept->word[1])) == 0) {
        return true;
    }
    s->found++;
    s->bad_table = table;
    s->bad_index = index;
    return false;
}

bool seals_hold(struct seals *s, const struct nmu_tables *t, enum sealed table, uint32_t index)
{
    struct rows rows = rows_of(t, table);
    if (index < rows.count) {
        return holds(s, &rows, table, index);
    }
    s->found++; /* old seals that came back with their entries: they hold, and lead nowhere */
    s->bad_table = table;
    s->bad_index = index;
    return false;
}

static uint32_t look(struct seals *s, const struct nmu_tables *t, enum sealed table, uint32_t from, uint32_t to)
{
    struct rows rows = rows_of(t, table);
    uint32_t bad = 0;
    for (uint32_t i = from; i < to; i++) {
        bad += !holds(s, &rows, table, i);
    }
    return bad;
}

bool seals_hold_all(struct seals *s, const struct nmu_tables *t)
{
    uint32_t bad = 0;
    for (unsigned table = 0; table < SEALED_TABLES; table++) {
        bad += look(s, t, (enum sealed)table, 0, s->first[table + 1] - s->first[table]);
    }
    return bad == 0;
}

uint32_t seals_sweep(struct seals *s, const struct nmu_tables *t, uint32_t entries)
{
    uint32_t bad = 0;
    for (unsigned table = 0; table < SEALED_TABLES && entries > 0; table++) {
        uint32_t count = s->first[table + 1] - s->first[table];
        uint32_t at = s->next - s->first[table];
        if (s->next < s->first[table + 1]) {
            uint32_t step = entries < count - at ? entries : count - at;
            bad += look(s, t, (enum sealed)table, at, at + step);
            s->next += step;
            entries -= step;
        }
    }
    if (s->next == s->first[SEALED_TABLES]) {
        s->next = 0;
    }
    return bad;
}

void seals_clear(struct seals *s, struct nmu_tables *t)
{
    for (unsigned table = 0; table < SEALED_TABLES; table++) {
        struct rows rows = rows_of(t, (enum sealed)table);
        memset(rows.row, 0, rows.count * rows.size);
    }
    t->map.used = t->map.ranges.used = 0;
    t->privilege.used = t->privilege.sets.used = 0;
    if (s->tag != NULL) {
        seals_write(s, t);
    }
}

const char *sealed_name(enum sealed table)
{
    static const char *const name[SEALED_TABLES] = {
        [SEALED_ACCESS] = "access",          [SEALED_PRIVILEGE] = "privilege",  [SEALED_SET_LIST] = "privilege.sets",
        [SEALED_SET_SPAN] = "privilege.set", [SEALED_JOB] = "map.job",          [SEALED_DOOR] = "map.door",
        [SEALED_RANGE_LIST] = "map.ranges",  [SEALED_RANGE_SPAN] = "map.range", [SEALED_JOB_SLOT] = "map.slot",
    };
    CHECK(table < SEALED_TABLES);
    return name[table];
}
