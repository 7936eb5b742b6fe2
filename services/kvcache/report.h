/* SPDX-License-Identifier: Apache-2.0 */
/* report.h - what one server reports to operators of its cache: report.c. */
#ifndef SERVICES_KVCACHE_REPORT_H
#define SERVICES_KVCACHE_REPORT_H

#include "services/kvcache/internal.h"

enum { SURVEY_BYTES = 8000 }; /* of one server's report at most; a report also fits a packet */

/* Writes the numbers of this server; returns their bytes. */
size_t report_stats(const struct kvcache *k, uint8_t out[static SURVEY_BYTES]);
/* Adds such numbers to a reply, as fields of a row. */
void report_fields(cw_request *r, const uint8_t *bytes, size_t length);
/* Writes the keys that this server is asked for most; returns their bytes. */
size_t report_hot(struct kvcache *k, uint8_t out[static SURVEY_BYTES]);

struct report_hot_row {
    cw_job job;
    uint64_t rate, error; /* hot.h */
    bool root;            /* the server that reports is the key's root */
    const uint8_t *holders;
    unsigned holder_count; /* of 32 bits each */
    const uint8_t *key;
    size_t key_length;
};
/* Reads the first of such rows, which borrows the bytes; returns how many bytes it has, 0: there is none. */
size_t report_hot_next(const uint8_t *bytes, size_t length, struct report_hot_row *out);

#endif
