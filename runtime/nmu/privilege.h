/* SPDX-License-Identifier: Apache-2.0 */
/*
 * privilege.h - the privilege tables of all resident jobs (NMU 3, table 2; 4.1): one hash from (resident job, remote
 * job, port), and from (resident job, remote job, any port), to the set of processes that may be reached.
 *
 * An entry is 16 bytes. A grant to all processes needs no more; the lists of the others are in `sets`. A resident job
 * is named by its place in the map; a remote job by its number, and the entry holds its place. Open addressing, at most
 * half taken: a question is mostly one probe, and the processor predicts that well (at five eighths taken a check among
 * 10,000 grants took 12.9 ns, at one half 9.2 ns). A grant of all ports takes two questions.
 */
#ifndef NMU_PRIVILEGE_H
#define NMU_PRIVILEGE_H

#include "nmu/spans.h"

struct privilege_entry {
    uint64_t key;    /* 0: empty */
    uint16_t remote; /* place of the remote job in the map */
    uint16_t spans;  /* of the resident job's list, from `at` on; 0: all processes, also those to come */
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

/* port: a cw_port, or PRIVILEGE_ANY_PORT. Never 0, whatever is asked: an empty entry answers to no key. */
static inline uint64_t privilege_key(uint32_t home, cw_job remote, uint32_t port)
{
    return (uint64_t)(home + 1) << 49 | (uint64_t)port << 32 | remote;
}

/* At most limit entries of jobs resident jobs, with sets spans in their lists. -ENOMEM. */
CW_MUST_CHECK int privilege_open(struct privilege *p, uint32_t limit, uint32_t jobs, uint32_t sets);
void privilege_close(struct privilege *p);
size_t privilege_bytes(const struct privilege *p);

/* Adds an entry (there must be room, and none of that key). */
void privilege_add(struct privilege *p, const struct privilege_entry *entry);
/*
 * Borrows an entry of the resident job, or NULL: to be looked at and removed, one after the other. Linear the first
 * time.
 */
struct privilege_entry *privilege_any_of(const struct privilege *p, uint32_t home, uint32_t *from);
void privilege_remove(struct privilege *p, struct privilege_entry *entry);

static inline uint32_t privilege_slot(const struct privilege *p, uint64_t key)
{
    return (uint32_t)((key ^ key >> 32) * UINT64_C(0x9e3779b97f4a7c15) >> p->shift);
}

/* Borrows the entry of the key, or NULL. O(1). */
static inline const struct privilege_entry *privilege_find(const struct privilege *p, uint64_t key)
{
    uint32_t at = privilege_slot(p, key);
    while (p->slot[at].key != key) {
        if (p->slot[at].key == 0) {
            return NULL;
        }
        at = (at + 1) & p->mask;
    }
    return &p->slot[at];
}

/* May the process be reached by the entry of that resident job? Logarithmic in the spans of its set. */
static inline bool privilege_holds(const struct privilege *p, uint32_t home, const struct privilege_entry *entry,
                                   cw_process process)
{
    return entry->spans == 0 || spans_search(spans_of(&p->sets, home) + entry->at, entry->spans, process) != NULL;
}

#endif
