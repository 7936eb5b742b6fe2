/* SPDX-License-Identifier: Apache-2.0 */
/*
 * privilege.h - the privilege tables of all resident jobs (NMU 3, table 2; 4.1): one hash of (resident job, remote job, port), and beside
 * it (.., any port), to the set of processes that may be reached so.
 *
 * An entry is 24 bytes and holds all that most grants say: an only span of processes, or all of them. The lists of the others are in
 * `sets`. A resident job is named by its place in the map, a remote one by number, and its place stands in the entry. Open addressing, at
 * most half full: a question is one probe, or two where there are no grants of all ports.
 */
#ifndef NMU_PRIVILEGE_H
#define NMU_PRIVILEGE_H

#include "nmu/spans.h"

struct privilege_entry {
    uint64_t key;           /* 0: empty */
    cw_process first, last; /* no process outside is in the set */
    uint16_t spans;         /* 0: all of first..last; else so many of the resident job's, from `at` on */
    uint16_t remote;        /* place of the remote job in the map */
    uint32_t at;
};

struct privilege {
    struct privilege_entry *slot;
    uint32_t mask;
    uint32_t shift;
    uint32_t limit, used;
    struct spans sets; /* owner: the resident job's place */
};

#define PRIVILEGE_ANY_PORT (UINT32_C(1) << 16)

/* port: a cw_port, or PRIVILEGE_ANY_PORT. Never 0, as no job is. */
static inline uint64_t privilege_key(uint32_t home, cw_job remote, uint32_t port)
{
    return (uint64_t)home << 49 | (uint64_t)port << 32 | remote;
}

/* At most limit entries of jobs resident jobs, with sets spans in their lists. -ENOMEM. */
CW_MUST_CHECK int privilege_open(struct privilege *p, uint32_t limit, uint32_t jobs, uint32_t sets);
void privilege_close(struct privilege *p);
size_t privilege_bytes(const struct privilege *p);

/* Adds an entry (there must be room, and none of that key). */
void privilege_add(struct privilege *p, const struct privilege_entry *entry);
/* Borrows an entry of the resident job, or NULL: to be looked at and removed, one after the other. Linear the first time. */
struct privilege_entry *privilege_any_of(const struct privilege *p, uint32_t home, uint32_t *from);
void privilege_remove(struct privilege *p, struct privilege_entry *entry);

static inline uint32_t privilege_slot(const struct privilege *p, uint64_t key)
{
    return (uint32_t)((key ^ key >> 32) * UINT64_C(0x9e3779b97f4a7c15) >> p->shift);
}

/* Borrows the entry of the key, or NULL. O(1). */
static inline const struct privilege_entry *privilege_find(const struct privilege *p, uint64_t key)
{
    for (uint32_t at = privilege_slot(p, key);; at = (at + 1) & p->mask) {
        const struct privilege_entry *entry = &p->slot[at];
        if (entry->key == 0) {
            return NULL; /* first: an empty slot answers to no key, not even to 0 */
        }
        if (entry->key == key) {
            return entry;
        }
    }
}

/* May the process be reached by the entry of that resident job? Logarithmic in the spans of its set. */
static inline bool privilege_holds(const struct privilege *p, uint32_t home, const struct privilege_entry *entry,
                                   cw_process process)
{
    if (process < entry->first || process > entry->last) {
        return false;
    }
    return entry->spans == 0 || spans_search(spans_of(&p->sets, home) + entry->at, entry->spans, process) != NULL;
}

/* Does it cover all processes, those to come too? */
static inline bool privilege_holds_all(const struct privilege_entry *entry)
{
    return entry->first == 0 && entry->last == UINT32_MAX && entry->spans == 0;
}

#endif
