/* SPDX-License-Identifier: Apache-2.0 */
/*
 * numbers.h - a set of servers as operators write it, by their numbers: "0-8 12, 20-26".
 */
#ifndef SERVICES_REPLY_NUMBERS_H
#define SERVICES_REPLY_NUMBERS_H

#include "cubeway/types.h"

enum { NUMBERS_RANGES = 16 };

struct numbers {
    unsigned ranges; /* 0: no server */
    struct {
        cw_server first, last;
    } range[NUMBERS_RANGES];
};

/*
 * Reads numbers and ranges with spaces or commas between them, each below `servers`. 0; -EINVAL: the text is not that,
 * or it has no number or more than NUMBERS_RANGES ranges; *out means nothing then.
 */
CW_MUST_CHECK int numbers_read(const char *text, cw_server servers, struct numbers *out);

bool numbers_has(const struct numbers *n, cw_server server);
/* How many servers it names; one that is named twice counts twice. */
uint64_t numbers_count(const struct numbers *n);

#endif
