/* SPDX-License-Identifier: Apache-2.0 */
/*
 * account.h - what the runs of a job hold on one server: memory, spool, inputs and results, each with a limit. So a job
 * that wants more than its share is refused by name, and another one's runs are not harmed.
 *
 *     option      memory   256M    all runs together          job_memory   half of it    those of one job
 *                 spool_limit 10G  likewise                   job_spool    half of it    likewise
 *
 * The job of a run is that of the service that has ordered it; of operators it is AGGREGATE_JOB. It comes with the
 * messages that announce a run: PREPARE, ORDER, COPY and ANNOUNCE (letter.h).
 *
 * Guarantees
 *  - memory_most, job_memory, the limit of the spool and job_spool are never exceeded by what is counted here.
 *  - What would go past a limit of its job gets an error of its own, and account_limit() says which limit that is:
 *    -ENOSR memory, -EXFULL spool, -EUSERS inputs or results at a time. -ENOBUFS and -ENOSPC: all jobs together.
 */
#ifndef SERVICES_AGGREGATE_STREAM_ACCOUNT_H
#define SERVICES_AGGREGATE_STREAM_ACCOUNT_H

#include "base/list.h"
#include "cubeway/service.h"
#include "services/aggregate/sorted/spool.h"

struct stream;

enum { ACCOUNT_RUNS = 32, /* of a job: inputs, and results, at a time; a server has room for STREAM_TASKS of all */ };

struct account {
    struct list_node link; /* the first member */
    struct stream *st;
    cw_job job;
    unsigned users;          /* calls of account_open() that were not closed */
    unsigned tasks, results; /* of them, inputs and results of a root */
    uint64_t memory;
    struct spool_share spool;
};

/* The job's account, until account_close(). NULL: no memory. */
struct account *account_open(struct stream *st, cw_job job);
/* NULL is allowed. What was taken has been given back. */
void account_close(struct account *a);
/* 0; -ENOSR, -ENOBUFS: there is no room for so many bytes of memory more. */
CW_MUST_CHECK int account_room(const struct account *a, uint64_t bytes);
/* The same, and takes them. */
CW_MUST_CHECK int account_take(struct account *a, uint64_t bytes);
void account_give(struct account *a, uint64_t bytes);
/*
 * Bytes of memory for a batch of the records of so many bytes of input: as much as they may need, a quarter of the
 * job's memory, or half of what is left. As account_room().
 */
CW_MUST_CHECK int account_batch(const struct account *a, uint64_t input, uint64_t *bytes);
/* Which limit of a job here an error is about; 0: none. */
uint64_t account_limit(const struct stream *st, int status);
/* A row for each job that holds something here. */
void account_status(const struct stream *st, cw_request *r, bool *first);

#endif
