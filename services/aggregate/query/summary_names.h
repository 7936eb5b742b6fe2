/* SPDX-License-Identifier: Apache-2.0 */
/*
 * summary_names.h - the sources that there are: their names and kinds, and on how many servers. It is kept as bytes,
 * sorted by name and kind, and merged as such:
 *
 *     kind (1) length (1) servers (4) name | kind length servers name | ...
 *
 * Pure.
 */
#ifndef SERVICES_AGGREGATE_QUERY_SUMMARY_NAMES_H
#define SERVICES_AGGREGATE_QUERY_SUMMARY_NAMES_H

#include "services/aggregate/query/summary.h"

enum { SUMMARY_NAME_MOST = 64 };

struct summary_name {
    uint8_t of;       /* enum summary_of */
    uint8_t length;   /* 1..SUMMARY_NAME_MOST */
    uint32_t servers; /* at least 1 */
    const char *name; /* borrowed, not ended by a NUL; printable and without spaces */
};

/* True when a source may have this name. */
bool summary_name_valid(const char *name, size_t length);
/* < 0, 0, > 0: which one comes first. */
int summary_name_order(const struct summary_name *a, const struct summary_name *b);
/* Writes one; names are written in their order, each once. Gives the bytes written; 0: there is no room. */
size_t summary_name_put(const struct summary_name *n, uint8_t *out, size_t room);
/*
 * Reads the one that begins at bytes + *at, and moves *at behind it. 1; 0: there is none any more; -EPROTO: what is
 * there is none.
 */
int summary_name_next(const uint8_t *bytes, size_t size, size_t *at, struct summary_name *out);
/* 0, or -EPROTO: these bytes are no such list. */
CW_MUST_CHECK int summary_names_check(const uint8_t *bytes, size_t size);
/* Writes the list of both. Gives its length; -EPROTO: one of them is none; -EMSGSIZE: there is no room. */
CW_MUST_CHECK int64_t summary_names_merge(const uint8_t *a, size_t a_size, const uint8_t *b, size_t b_size,
                                          uint8_t *out, size_t room);

#endif
