/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stage.h - values that operators bring in pieces, as a request of the control protocol is shorter than a value may be. Few, for a short time.
 */
#ifndef SERVICES_KVCACHE_STAGE_H
#define SERVICES_KVCACHE_STAGE_H

#include "cubeway/time.h"
#include "cubeway/types.h"

enum { STAGES = 4, STAGE_S = 30 };

/* All zero is empty. */
struct stages {
    struct stage {
        uint64_t id; /* 0: free */
        cw_time latest;
        uint8_t *bytes;
        size_t length;
    } stage[STAGES];
};

/* Adds bytes to what is there under that number, which is not 0. -EBUSY: so many are under way; -EMSGSIZE: above a value's most, and it is gone; -ENOMEM. */
CW_MUST_CHECK int stage_add(struct stages *s, uint64_t id, const uint8_t *bytes, size_t length, cw_time now);
/* Gives the bytes, to be freed, and forgets them; NULL: there are none of that number. */
uint8_t *stage_take(struct stages *s, uint64_t id, size_t *length);
void stage_close(struct stages *s);

#endif
