/* SPDX-License-Identifier: Apache-2.0 */
/*
 * upload.h - values that operators send in pieces, because a request of the control protocol is shorter than a value
 * may be. There are few at one time, and each lives for a short time.
 */
#ifndef SERVICES_REPLY_UPLOAD_H
#define SERVICES_REPLY_UPLOAD_H

#include "cubeway/time.h"
#include "cubeway/types.h"

enum { UPLOADS = 16, UPLOAD_LIFE_S = 30 };

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
 * Adds bytes to the upload with that number, which is not 0. -EBUSY: UPLOADS others are under way. -EMSGSIZE: the value
 * became longer than `most`, and the upload is gone. -ENOMEM.
 */
CW_MUST_CHECK int upload_add(struct uploads *s, uint64_t id, const uint8_t *bytes, size_t length, size_t most,
                             cw_time now);
/* Gives the bytes, for the caller to free, and forgets the upload. NULL: there is none with that number. */
uint8_t *upload_take(struct uploads *s, uint64_t id, size_t *length);
void upload_close(struct uploads *s);

#endif
