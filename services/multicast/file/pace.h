/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pace.h - how fast a file comes to one member, and how long that will take: judged by what came in the last 5 to 10 s,
 * so that neither what was there before a sending that resumes, nor a member's early luck, is taken for its rate. It
 * begins with the first byte that comes, and is not known in the second after that.
 *
 * Pure; time comes in. A plain value with one owner; all zero is a pace of which nothing was noted.
 */
#ifndef SERVICES_MULTICAST_FILE_PACE_H
#define SERVICES_MULTICAST_FILE_PACE_H

#include "cubeway/time.h"

#include <stdbool.h>
#include <stdint.h>

struct file_pace {
    bool begun;
    /* The newest note, and two marks: notes that were the newest 5 s apart; the older one is what is compared with. */
    struct file_pace_note {
        cw_time at;
        uint64_t there;
    } newest, mark[2];
};

/* So many bytes are there. Fewer than before: the pace begins anew. */
void file_pace_note(struct file_pace *p, uint64_t there, cw_time now);
/* Bits a second; 0: not known yet, or nothing came lately. */
int64_t file_pace_rate(const struct file_pace *p, cw_time now);
/* How long it takes until `bytes` are there, if the rate stays; negative: not known. */
cw_span file_pace_left(const struct file_pace *p, uint64_t bytes, cw_time now);
/* The mean rate of so many bytes in such a span, in bits a second; 0: the span is none. */
int64_t file_pace_mean(uint64_t bytes, cw_span span);

#endif
