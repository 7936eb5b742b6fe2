/* SPDX-License-Identifier: Apache-2.0 */
/*
 * upload.h - values that operators bring in pieces, as a request of the control protocol is shorter than a value may
 * be. Few, for a short time.
 */
#ifndef SERVICES_KVCACHE_UPLOAD_H
#define SERVICES_KVCACHE_UPLOAD_H

#include "cubeway/time.h"
#include "cubeway/types.h"

enum { UPLOADS = 4, UPLOAD_LIFE_S = 30 };

/* All zero is empty. */
struct uploads {
    struct upload {
        uint64_t id; /* 0: free */
        cw_time latest;
        uint8_t *bytes;
        size_t length;
    } upload[UPLOADS];
};

/*
 * Adds bytes to what is there under that number, which is not 0. -EBUSY: so many are under way; -EMSGSIZE: above a
 * value's most, and it is gone; -ENOMEM.
 */
CW_MUST_CHECK int upload_add(struct uploads *s, uint64_t id, const uint8_t *bytes, size_t length, cw_time now);
/* Gives the bytes, to be freed, and forgets them; NULL: there are none of that number. */
uint8_t *upload_take(struct uploads *s, uint64_t id, size_t *length);
void upload_close(struct uploads *s);

#endif
