/* SPDX-License-Identifier: Apache-2.0 */
/*
 * identity.h - the file `id`: whose store this is. It has two blocks of IDENTITY_BLOCK bytes, which are written in
 * turn; the whole one with the higher sequence counts. So the file is replaced as a whole, without a second name that a
 * loss of power could mix up with the first.
 */
#ifndef STORAGE_IDENTITY_H
#define STORAGE_IDENTITY_H

#include "cubeway/types.h"

#include <stdint.h>

enum { IDENTITY_BLOCK = 4096, IDENTITY_BYTES = 2 * IDENTITY_BLOCK };

struct identity {
    uint64_t sequence; /* of the times that it was written, from 1 on */
    uint64_t class_id;
    uint64_t store_id;
    uint64_t before;                            /* the store id before this one, 0 for none */
    uint64_t boot;                              /* how often the store was opened */
    uint32_t block, meta_segment, blob_segment; /* sizes that the files were made with */
    bool dead;                                  /* a write or sync failed: this store id must not answer again */
};

/* Writes IDENTITY_BLOCK bytes. */
void identity_encode(const struct identity *id, uint8_t *out);
/* The offset in the file at which this sequence is written. */
uint32_t identity_offset(uint64_t sequence);
/* The identity in `size` bytes of the file. -EBADMSG: neither block is whole. */
CW_MUST_CHECK int identity_decode(struct identity *id, const uint8_t *bytes, uint32_t size);

#endif
