/* SPDX-License-Identifier: Apache-2.0 */
/*
 * records.h - the signed job records that a server holds: of each job the one that wins (wire.h, struct jobs_mark),
 * also those of destroyed jobs.
 *
 * Guarantee (jobs rule 2): what is held of a job only ever goes up in the order of marks. So two servers that were
 * offered the same records, in any order and however often, hold the same; and a record of a destroyed job does not
 * bring it back.
 *
 * Bounded in jobs and in bytes. Knows no signature: the caller has checked it. One thread.
 */
#ifndef SERVICES_JOBS_RECORDS_H
#define SERVICES_JOBS_RECORDS_H

#include "base/digest.h"
#include "services/jobs/wire.h"

enum {
    RECORDS_JOBS_MAX = 4096,
    RECORDS_BYTES_MAX = 16 << 20,
    RECORDS_RECORD_MAX = 256 << 10, /* bytes of one record with its signature: some 15,000 grants */
};

/* Bytes of a record with several holders: freed with the last hold. */
struct records_blob {
    unsigned holders;
    size_t size;     /* the record and its signature */
    uint8_t bytes[]; /* as signed, sent and kept */
};
void records_hold(struct records_blob *blob);
void records_release(struct records_blob *blob); /* NULL is allowed */

struct records_item {
    struct jobs_mark mark;
    struct records_blob *blob; /* one hold is the item's */
    bool kept;                 /* stored: it outlives a restart */
    bool tried;                /* storing it has ended, well or not */
    uint64_t owed;             /* the ticket of an acknowledgement that origin waits for; 0: none */
    cw_server origin;
};

struct records {
    struct records_item *item; /* rising by job */
    uint32_t count, capacity;
    size_t bytes;
    struct digest_set sum; /* of all marks */
};

/* A struct that is all zero holds nothing. */
void records_close(struct records *s);

/* What is held of the job, borrowed until the next put, or NULL. */
struct records_item *records_find(const struct records *s, cw_job job);
/* The index of the first item whose job is not below that. */
uint32_t records_from(const struct records *s, cw_job job);

enum records_verdict { RECORDS_NEWER, RECORDS_SAME, RECORDS_OLDER };
/* What a record of that mark would be here. *fork as in jobs_mark_compare(). */
enum records_verdict records_judge(const struct records *s, const struct jobs_mark *mark, bool *fork);

/*
 * Takes in a newer record, whose signed bytes it copies: not kept yet, nothing owed. -ENOSPC: too many jobs, or bytes;
 * -ENOMEM. Gives the item in *out, borrowed until the next put.
 */
CW_MUST_CHECK int records_put(struct records *s, const struct jobs_mark *mark, const uint8_t *signed_record,
                              size_t size, struct records_item **out);

#endif
