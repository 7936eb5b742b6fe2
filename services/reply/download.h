/* SPDX-License-Identifier: Apache-2.0 */
/*
 * download.h - long values that operators read in pieces: what a service got is kept here between two pieces, so that
 * each piece need not get all of it again. Nothing is lost with one that is gone: whoever asks for its next piece gets
 * the value anew, and sees by its version whether it is the same one. There are few at one time, and each lives for a
 * short time.
 */
#ifndef SERVICES_REPLY_DOWNLOAD_H
#define SERVICES_REPLY_DOWNLOAD_H

#include "cubeway/service.h"

/* A piece has at most so many bytes: an answer that takes the daemon's thread well below a millisecond. */
enum { DOWNLOADS = 8, DOWNLOAD_LIFE_S = 10, DOWNLOAD_PIECE = 30 * 1024 };

/* Which value: of a job, by its name, in that version. The name is borrowed. */
struct download_of {
    cw_job job;
    const void *name;
    size_t name_length;
    uint64_t version;
};

/* All zero is empty. */
struct downloads {
    struct download {
        uint8_t *bytes; /* the value's and behind them the name's; NULL: free */
        size_t length, name_length;
        cw_job job;
        uint32_t flags;
        uint64_t version;
        cw_time latest;
    } download[DOWNLOADS];
};

/* Borrowed until the next call. NULL: it is not kept. */
const struct download *download_find(const struct downloads *s, const struct download_of *of);
/*
 * Keeps a copy of a value, unless it is kept already. -EBUSY: DOWNLOADS others are being read. -ENOMEM.
 */
CW_MUST_CHECK int download_keep(struct downloads *s, const struct download_of *of, uint32_t flags, const uint8_t *bytes,
                                size_t length, cw_time now);
/* Its bytes below `to` were read: with the last of them it is forgotten. Nothing happens when it is not kept. */
void download_was_read(struct downloads *s, const struct download_of *of, size_t to, cw_time now);
/* Forgets those of which nothing was read for DOWNLOAD_LIFE_S. True: others are kept, so call again in a second. */
bool download_expire(struct downloads *s, cw_time now);
void download_close(struct downloads *s);

#endif
