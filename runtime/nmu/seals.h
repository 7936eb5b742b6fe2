/* SPDX-License-Identifier: Apache-2.0 */
/*
 * seals.h - a keyed tag for each entry of the tables that decide, in an array of their own (NMU 6.2, the first of its
 * two ways): whoever writes to an entry without the key is not stopped, but found out.
 *
 * A seal is SipHash-2-4 with 128 bits over (table, index, all bytes of the entry): an entry that was moved, or another
 * entry's bytes, do not bear it either. A seal says nothing about time: an entry put back together with its own old
 * seal holds. Entries are covered, not the pointers and sizes of the tables. docs/nmu.md says why this is not HMAC.
 */
#ifndef NMU_SEALS_H
#define NMU_SEALS_H

#include "base/siphash.h"
#include "nmu/check.h"

enum sealed {
    SEALED_ACCESS,    /* by speaker */
    SEALED_PRIVILEGE, /* by slot, the empty ones as well: what is missing was not there */
    SEALED_SET_LIST,  /* by the resident job's place */
    SEALED_SET_SPAN,
    SEALED_JOB, /* by place, as the next three */
    SEALED_DOOR,
    SEALED_RANGE_LIST,
    SEALED_RANGE_SPAN,
    SEALED_JOB_SLOT,
    SEALED_TABLES,
};

struct seals {
    struct siphash_tag *tag; /* NULL: entries are not sealed */
    uint32_t first[SEALED_TABLES + 1];
    struct siphash_key key;
    uint32_t next;  /* of the sweep */
    uint64_t found; /* entries that did not bear their seal, each time one was met */
    enum sealed bad_table;
    uint32_t bad_index; /* the latest of them */
};

/* Seals what the tables, which are open, hold. -ENOMEM. */
CW_MUST_CHECK int seals_open(struct seals *s, const struct siphash_key *key, const struct nmu_tables *t);
void seals_close(struct seals *s);
size_t seals_bytes(const struct seals *s);

/* Seals every entry as it is now: at the end of a change that began with seals_hold_all(). Linear. */
void seals_write(struct seals *s, const struct nmu_tables *t);
/* True when there is such an entry and it bears its seal; otherwise counts it in s->found. */
bool seals_hold(struct seals *s, const struct nmu_tables *t, enum sealed table, uint32_t index);
bool seals_hold_all(struct seals *s, const struct nmu_tables *t);
/* Looks at the next `entries` entries; gives how many did not bear their seal. */
uint32_t seals_sweep(struct seals *s, const struct nmu_tables *t, uint32_t entries);
/* Empties the tables: default deny. */
void seals_clear(struct seals *s, struct nmu_tables *t);

/* "privilege" ..; static. */
const char *sealed_name(enum sealed table);

#endif
