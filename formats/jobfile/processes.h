/* SPDX-License-Identifier: Apache-2.0 */
/*
 * processes.h - a set of processes of one job, which can be changed: the processes that a grant covers. As text: "all",
 * or "0-3,7".
 *
 * Guarantee: the spans are in rising order, do not touch, and are the whole set. "All" is more than every number: it
 * also covers processes to come, and keys (NMU 3). So the set 0-4294967295 is not "all", and taking anything from "all"
 * leaves numbers.
 */
#ifndef JOBFILE_PROCESSES_H
#define JOBFILE_PROCESSES_H

#include "nmu/job_record.h"

#include <stdio.h>

struct processes {
    bool all; /* then there are no spans */
    uint32_t count, room;
    struct job_span *span;
};
/* {0} is the empty set. */
void processes_close(struct processes *s);
/* Copies into *to, which is emptied first. -ENOMEM: *to is empty. */
CW_MUST_CHECK int processes_copy(struct processes *to, const struct processes *from);

/* Adds or removes first..last, where first <= last. -ENOMEM: nothing has changed. Adding to "all" does nothing. */
CW_MUST_CHECK int processes_add(struct processes *s, cw_process first, cw_process last);
CW_MUST_CHECK int processes_remove(struct processes *s, cw_process first, cw_process last);
void processes_add_all(struct processes *s);
/* Union and difference. Subtracting "all" leaves nothing. -ENOMEM: a part of it may have been done. */
CW_MUST_CHECK int processes_join(struct processes *s, const struct processes *more);
CW_MUST_CHECK int processes_subtract(struct processes *s, const struct processes *less);

bool processes_is_empty(const struct processes *s);
bool processes_equal(const struct processes *a, const struct processes *b);
bool processes_hold(const struct processes *s, cw_process process);

/*
 * Reads "all", or numbers and ranges with commas and perhaps blanks between, in any order, into *s, which is empty.
 * -EINVAL, -E2BIG (more spans than a record holds) or -ENOMEM: *s is then still empty.
 */
CW_MUST_CHECK int processes_read(struct processes *s, const char *text);
/* Writes what processes_read() reads as the same set; nothing for the empty set. */
void processes_write(const struct processes *s, FILE *out);

#endif
