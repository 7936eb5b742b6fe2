/* SPDX-License-Identifier: Apache-2.0 */
/*
 * access.h - the access address table (NMU 4.1): who is speaking. A speaker is where words come in - the slot of a
 * service instance, the descriptor of an attached process - and says nothing about itself: job and process were written
 * here by whoever let it in.
 */
#ifndef NMU_ACCESS_H
#define NMU_ACCESS_H

#include "cubeway/types.h"

struct access_entry {
    cw_job job; /* 0: nobody speaks here */
    cw_process process;
    uint64_t generation; /* of the job when it was let in; 0: it lives through all (a service) */
    uint32_t home;       /* place of its job in the map */
};

struct access {
    struct access_entry *entry;
    uint32_t speakers;
};

/* For speakers 0..speakers-1. -ENOMEM. */
CW_MUST_CHECK int access_open(struct access *a, uint32_t speakers);
void access_close(struct access *a);
size_t access_bytes(const struct access *a);

/* Who speaks there, or NULL. Borrowed until the entry changes. */
static inline const struct access_entry *access_of(const struct access *a, uint32_t speaker)
{
    return speaker < a->speakers && a->entry[speaker].job != 0 ? &a->entry[speaker] : NULL;
}

/* The speaker (below speakers) is who from now on, and nobody when who->job is 0. */
void access_set(struct access *a, uint32_t speaker, const struct access_entry *who);

#endif
