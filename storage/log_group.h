/* SPDX-License-Identifier: Apache-2.0 */
/*
 * log_group.h - a group: what one write and one sync bring to the disk. A header, then records, then zeros up to the
 * next block. Positions count groups: that of a store's next group is one more than that of the last, whatever segment
 * it is in. So the log is a chain, and a missing link is seen.
 *
 * The header has a checksum of its own beside the one of the records. A group whose header is whole and whose records
 * are not still proves that the group before it had been synced, since only one group is on its way at a time.
 */
#ifndef STORAGE_LOG_GROUP_H
#define STORAGE_LOG_GROUP_H

#include "cubeway/types.h"

#include <stdint.h>

enum { LOG_GROUP_HEAD = 64 };

struct log_group {
    uint64_t class_id, store_id;
    uint64_t position; /* 1 and up */
    uint64_t synced;   /* the last position that was known to be on the disk: position - 1 */
    uint32_t segment;  /* that it is in */
    uint32_t length;   /* bytes of records behind the header */
    uint32_t records;
    uint64_t sum; /* of these bytes */
};

/* The checksum of the records of a group that stands there. */
uint64_t log_group_sum(const struct log_group *g, uint32_t offset, const uint8_t *records);
/* Writes LOG_GROUP_HEAD bytes for the group at this offset of its segment. */
void log_group_encode(const struct log_group *g, uint32_t offset, uint8_t *out);
/*
 * The header in LOG_GROUP_HEAD bytes from this place. -EBADMSG: there is none of that class and store, for that place.
 * length is then still to be compared with what is there, and the records with their checksum.
 */
CW_MUST_CHECK int log_group_decode(struct log_group *g, uint64_t class_id, uint64_t store_id, uint32_t segment,
                                   uint32_t offset, const uint8_t *bytes);

#endif
