/* SPDX-License-Identifier: Apache-2.0 */
/*
 * progress.h - what a member says of a file on its way to it, and what statuses mean for people.
 *
 *      0       1       2 3 | 4 status (4) | 8 there (8) | 16 id (16)        port FILE_PORT, to the source, about every half second; network order
 *      | kind 1 | state |
 *
 * Only to be shown: a note that is lost is not missed, and nothing is decided by one.
 */
#ifndef SERVICES_MULTICAST_FILE_PROGRESS_H
#define SERVICES_MULTICAST_FILE_PROGRESS_H

#include "services/multicast/file/part.h"

enum { FILE_PORT = 1, FILE_PROGRESS_BYTES = 32 };

struct file_progress {
    enum file_part_state state;
    int32_t status;
    uint64_t there; /* bytes */
    uint8_t id[CAST_ID_BYTES];
};

void file_progress_encode(const struct file_progress *n, uint8_t out[static FILE_PROGRESS_BYTES]);
/* -EBADMSG: no such note; *out is then undefined. */
CW_MUST_CHECK int file_progress_decode(const uint8_t *bytes, size_t length, struct file_progress *out);

/* A word: "opening", "taking", "finishing", "over"; static. */
const char *file_state_word(enum file_part_state state);
/* Why a member has not got a file, as a sentence's end; static, or strerror()'s for what has no words of its own. */
const char *file_reason(int status);

#endif
