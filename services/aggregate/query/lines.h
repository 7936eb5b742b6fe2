/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lines.h - the words of a command by which a program hands in what it has read: `NAME keep_ms=N data=BASE64`. So feeds
 * are fed that questions are about, and those that are the input of a run.
 */
#ifndef SERVICES_AGGREGATE_QUERY_LINES_H
#define SERVICES_AGGREGATE_QUERY_LINES_H

#include "cubeway/service.h"

enum { LINES_WORDS = 3, LINES_BYTES = 48 * 1024 /* of data, at most */ };

struct lines {
    const char *name; /* borrowed: one that tallies_name_valid() takes */
    cw_span keep;     /* the feed lives for so long after this piece */
    uint8_t *bytes;   /* of malloc(): the caller frees them */
    size_t length;
};

/* Reads LINES_WORDS words. 0; -EINVAL: the request has the reason, and nothing is to be freed; -ENOMEM: likewise. */
CW_MUST_CHECK int lines_read(cw_request *r, const char *const *words, struct lines *out);

#endif
