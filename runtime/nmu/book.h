/* SPDX-License-Identifier: Apache-2.0 */
/*
 * book.h - a few jobs that are known beforehand: the built-in services, and what a scenario or a test grants.
 *
 * Each job in the book is a service: it has one process on each server, with the server's number, version 1 and
 * generation 1. Whoever opens a book owns it. It may allocate, so it is made before servers run, and only read while
 * they do.
 */
#ifndef NMU_BOOK_H
#define NMU_BOOK_H

#include "nmu/job_record.h"

enum { BOOK_JOBS_MAX = 256, BOOK_GRANTS_MAX = 1024, BOOK_SPANS_MAX = 16 };

struct book;

/* For a torus of so many servers (at least one). Gives *out. -ENOMEM. */
CW_MUST_CHECK int book_open(struct book **out, uint32_t servers);
/* NULL is allowed. */
void book_close(struct book *b);

/*
 * Gives the job a record under this name (copied, 1..31 of a-z A-Z 0-9 - _ .; NULL: "job-N"), unless it has one.
 * -EINVAL, -ENOSPC.
 */
CW_MUST_CHECK int book_add(struct book *b, cw_job job, const char *name);

struct book_grant {
    cw_job from, to;
    bool any_port;
    cw_port port; /* when not any */
    bool all_processes;
    struct job_span processes; /* when not all */
};
/*
 * Adds the grant to those of book_grant.from. Both jobs are in the book afterwards, even after -EINVAL or -ENOSPC, when
 * the grant was not added.
 */
CW_MUST_CHECK int book_allow(struct book *b, const struct book_grant *grant);

/*
 * Lends the record of a job, until the book changes or is asked again; NULL: the job is not in the book. Has the shape
 * of nmu_source.record (nmu/desk.h).
 */
const uint8_t *book_record(void *book, cw_job job, size_t *size);

#endif
