/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shelf.h - the signed job records that a server holds: of each job the one that wins (wire.h, struct jobs_mark),
 * destroyed ones too.
 *
 * Guarantee: what is held of a job only ever goes up in the order of marks. So two shelves that were offered the same
 * records, in any order and however often, hold the same; and a record of a destroyed job does not bring it back.
 *
 * Bounded in jobs and in bytes. Knows no signature: whoever puts a record has checked it. One thread.
 */
#ifndef SERVICES_JOBS_SHELF_H
#define SERVICES_JOBS_SHELF_H

#include "base/digest.h"
#include "services/jobs/wire.h"

enum {
    SHELF_JOBS_MAX = 4096,
    SHELF_BYTES_MAX = 16 << 20,
    SHELF_RECORD_MAX = 256 << 10, /* one, with its signature: some 15,000 grants */
};

/* Bytes that several may be reading; gone with the last of them. */
struct shelf_blob {
    unsigned holders;
    size_t size;     /* the record and its signature */
    uint8_t bytes[]; /* as signed, sent and kept */
};
void shelf_hold(struct shelf_blob *blob);
void shelf_release(struct shelf_blob *blob); /* NULL is allowed */

struct shelf_item {
    struct jobs_mark mark;
    struct shelf_blob *blob; /* the shelf's hold */
    bool kept;               /* it outlives a restart */
    bool tried;              /* to keep it */
    uint64_t owed;           /* a ticket whose origin waits for our word; 0: none */
    cw_server origin;
};

struct shelf {
    struct shelf_item *item; /* rising by job */
    uint32_t count, capacity;
    size_t bytes;
    struct digest_set sum; /* of all marks */
};

/* All zero is a shelf with nothing on it. */
void shelf_close(struct shelf *s);

/* What is held of the job, borrowed until the next put, or NULL. */
struct shelf_item *shelf_find(const struct shelf *s, cw_job job);
/* The index of the first item whose job is not below that. */
uint32_t shelf_from(const struct shelf *s, cw_job job);

enum shelf_verdict { SHELF_NEWER, SHELF_SAME, SHELF_OLDER };
/* What a record of that mark would be here. fork as in jobs_mark_compare(). */
enum shelf_verdict shelf_judge(const struct shelf *s, const struct jobs_mark *mark, bool *fork);

/*
 * Takes in a newer record, whose signed bytes it copies: not kept yet, nothing owed. -ENOSPC: too many jobs, or bytes;
 * -ENOMEM. Gives the item in *out, borrowed until the next put.
 */
CW_MUST_CHECK int shelf_put(struct shelf *s, const struct jobs_mark *mark, const uint8_t *signed_record, size_t size,
                            struct shelf_item **out);

#endif
