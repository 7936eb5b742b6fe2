/* SPDX-License-Identifier: Apache-2.0 */
#include "nmu/privilege.h"

#include "base/check.h"

#include <errno.h>
#include <stdlib.h>

int privilege_open(struct privilege *p, uint32_t limit, uint32_t jobs, uint32_t sets)
{
    CHECK(limit >= 1 && limit <= UINT32_C(1) << 24);
    uint32_t bits = 1;
    while ((UINT64_C(1) << bits) < UINT64_C(2) * limit) {
        bits++;
    }
    *p = (struct privilege){.mask = (UINT32_C(1) << bits) - 1, .shift = 64 - bits, .limit = limit};
    p->slot = calloc((size_t)p->mask + 1, sizeof *p->slot);
    if (p->slot == NULL || spans_open(&p->sets, sets, jobs) < 0) {
        privilege_close(p);
        return -ENOMEM;
    }
    return 0;
}

void privilege_close(struct privilege *p)
{
    free(p->slot);
    spans_close(&p->sets);
    *p = (struct privilege){0};
}

size_t privilege_bytes(const struct privilege *p)
{
    return ((size_t)p->mask + 1) * sizeof *p->slot + spans_bytes(&p->sets);
}

void privilege_add(struct privilege *p, const struct privilege_entry *entry)
{
    CHECK(p->used < p->limit && entry->key != 0);
    uint32_t at = privilege_slot(p, entry->key);
    while (p->slot[at].key != 0) {
        CHECK(p->slot[at].key != entry->key);
        at = (at + 1) & p->mask;
    }
    p->slot[at] = *entry;
    p->used++;
}

struct privilege_entry *privilege_any_of(const struct privilege *p, uint32_t home, uint32_t *from)
{
    for (; *from <= p->mask; ++*from) {
        struct privilege_entry *entry = &p->slot[*from];
        if (entry->key >> 49 == home + 1) {
            return entry;
        }
    }
    return NULL;
}

/*
 * An entry behind the hole that would no longer be found moves into it. So a walk that removes entries looks at the
 * same slot again.
 */
void privilege_remove(struct privilege *p, struct privilege_entry *entry)
{
    CHECK(entry->key != 0);
    uint32_t hole = (uint32_t)(entry - p->slot);
    for (uint32_t at = (hole + 1) & p->mask; p->slot[at].key != 0; at = (at + 1) & p->mask) {
        uint32_t home = privilege_slot(p, p->slot[at].key);
        if (((at - home) & p->mask) >= ((at - hole) & p->mask)) {
            p->slot[hole] = p->slot[at];
            hole = at;
        }
    }
    p->slot[hole] = (struct privilege_entry){.key = 0};
    p->used--;
}
