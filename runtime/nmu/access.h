/* SPDX-License-Identifier: Apache-2.0 */
/*
 * access.h - the access address table (NMU 4.1; nmu rule 2): who is speaking. A speaker is the place where words come
 * in: the slot of a service instance, later the descriptor of an attached process. It says nothing about itself: job
 * and process were written here when it was let in.
 */
#ifndef NMU_ACCESS_H
#define NMU_ACCESS_H

#include "cubeway/types.h"

struct access_entry {
    cw_job job; /* 0: nobody speaks here */
    cw_process process;
    uint64_t generation; /* of the job when it was let in; 0: of all generations (a service) */
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

/* Borrows the entry of the speaker until it changes; NULL: nobody speaks there. */
static inline const struct access_entry *access_of(const struct access *a, uint32_t speaker)
{
    return speaker < a->speakers && a->entry[speaker].job != 0 ? &a->entry[speaker] : NULL;
}

/* From now on the speaker (below a->speakers) is *who, or nobody when who->job is 0. */
void access_set(struct access *a, uint32_t speaker, const struct access_entry *who);

#endif
