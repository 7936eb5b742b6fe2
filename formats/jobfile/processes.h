/* SPDX-License-Identifier: Apache-2.0 */
/*
 * processes.h - a set of processes of one job, to be changed: what a grant covers. As text "all", or "0-3,7".
 *
 * Guarantee: spans rise, do not touch, and are the set. "All" is more than every number: it covers processes to come, and keys (NMU 3); so
 * the set 0-4294967295 is not all, and taking anything from all leaves numbers.
 */
#ifndef JOBFILE_PROCESSES_H
#define JOBFILE_PROCESSES_H

#include "nmu/job_record.h"

#include <stdio.h>

struct processes {
    bool all; /* then no spans */
    uint32_t count, room;
    struct job_span *span;
};
/* {0} is the empty set. */
void processes_close(struct processes *s);
/* *to was empty or is closed first. -ENOMEM: *to is empty. */
CW_MUST_CHECK int processes_copy(struct processes *to, const struct processes *from);

/* first <= last. -ENOMEM: nothing changed. To all of them nothing can be added. */
CW_MUST_CHECK int processes_add(struct processes *s, cw_process first, cw_process last);
CW_MUST_CHECK int processes_remove(struct processes *s, cw_process first, cw_process last);
void processes_add_all(struct processes *s);
/* Union and difference. Taking all away leaves nothing. -ENOMEM: *s may have some of it. */
CW_MUST_CHECK int processes_join(struct processes *s, const struct processes *more);
CW_MUST_CHECK int processes_subtract(struct processes *s, const struct processes *less);

bool processes_is_empty(const struct processes *s);
bool processes_equal(const struct processes *a, const struct processes *b);
bool processes_hold(const struct processes *s, cw_process process);

/*
 * "all", or numbers and ranges parted by commas, in any order, blanks between; *s was empty. -EINVAL, -E2BIG (more
 * spans than a record holds), -ENOMEM, and then it is empty.
 */
CW_MUST_CHECK int processes_read(struct processes *s, const char *text);
/* What processes_read() reads as the same set; "" for none. */
void processes_write(const struct processes *s, FILE *out);

#endif
