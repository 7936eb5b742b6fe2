/* SPDX-License-Identifier: Apache-2.0 */
/*
 * progress.h - the packets by which a member shows how far a file is that comes to it, and whether another file of the
 * same name comes as well; and the words for people: of its state and of why it failed.
 *
 *      0        1       2    4            8           16
 *      | kind 1 | state | 0  | status (4) | there (8) | id (16) |    how far it is
 *      | kind 2 | 0     | 0  | source (4) | 0 (8)     | id (16) |    another file of this name comes, from that server
 *
 * They go to the source, at FILE_PORT, about every half second; network order. They are only shown: a packet that is
 * lost is not missed, and nothing is decided by one but the exit code of a sending that was contested.
 */
#ifndef SERVICES_MULTICAST_FILE_PROGRESS_H
#define SERVICES_MULTICAST_FILE_PROGRESS_H

#include "services/multicast/file/part.h"

enum { FILE_PORT = 1, FILE_PROGRESS_BYTES = 32 };

struct file_progress {
    bool contested; /* kind 2: only `rival` and id are said */
    cw_server rival;
    enum file_part_state state;
    int32_t status;
    uint64_t there; /* bytes */
    uint8_t id[CAST_ID_BYTES];
};

void file_progress_encode(const struct file_progress *n, uint8_t out[static FILE_PROGRESS_BYTES]);
/* -EBADMSG: the bytes are none of these packets; *out is then undefined. */
CW_MUST_CHECK int file_progress_decode(const uint8_t *bytes, size_t length, struct file_progress *out);

/* A word: "opening", "taking", "finishing", "over"; static. */
const char *file_state_word(enum file_part_state state);
/*
 * Why a member has not got a file, as the end of a sentence. Static, or strerror()'s for an error without words of its
 * own.
 */
const char *file_reason(int status);

#endif
