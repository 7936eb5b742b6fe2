/* SPDX-License-Identifier: Apache-2.0 */
#include "services/aggregate/stream/account.h"

#include "services/aggregate/stream/internal.h"

#include <errno.h>
#include <stdlib.h>

static struct account *account_at(struct list_node *n)
{
    return (struct account *)(void *)n;
}

struct account *account_open(struct stream *st, cw_job job)
{
    for (struct list_node *n = list_first(&st->accounts); n != NULL; n = list_next(&st->accounts, n)) {
        if (account_at(n)->job == job) {
            account_at(n)->users++;
            return account_at(n);
        }
    }
    struct account *a = calloc(1, sizeof *a);
    if (a != NULL) {
        a->st = st;
        a->job = job;
        a->users = 1;
        a->spool.limit = st->job_spool;
        list_push_back(&st->accounts, &a->link);
    }
    return a;
}

void account_close(struct account *a)
{
    if (a != NULL && --a->users == 0) {
        list_remove(&a->link);
        free(a);
    }
}

/* No job has more than its share (aggregate rule 33). */
int account_room(const struct account *a, uint64_t bytes)
{
    const struct stream *st = a->st;
    bool more = bytes > st->job_memory || a->memory > st->job_memory - bytes;
    if (more && !STREAM_MUTANT(JOB_UNBOUND)) {
        return -ENOSR;
    }
    return bytes > st->memory_most || st->memory > st->memory_most - bytes ? -ENOBUFS : 0;
}

int account_take(struct account *a, uint64_t bytes)
{
    int rc = account_room(a, bytes);
    if (rc == 0) {
        a->memory += bytes;
        a->st->memory += bytes;
    }
    return rc;
}

void account_give(struct account *a, uint64_t bytes)
{
    a->memory -= bytes;
    a->st->memory -= bytes;
}

static uint64_t less(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/*
 * A record has at least two bytes of input, and takes at most EACH times as many in a batch, with its index. What is
 * left is halved, so that there is always some for the next input, and for windows.
 */
int account_batch(const struct account *a, uint64_t input, uint64_t *bytes)
{
    enum { EACH = 24, PARTS = 4, MOST = 64 << 20 };
    const struct stream *st = a->st;
    uint64_t mine = a->memory < st->job_memory ? st->job_memory - a->memory : 0;
    uint64_t all = st->memory < st->memory_most ? st->memory_most - st->memory : 0;
    uint64_t most = less(less(st->job_memory / PARTS, MOST), less(mine, all) / 2);
    uint64_t wanted = input < most / EACH ? less(input * EACH + BATCH_LEAST, most) : most;
    *bytes = wanted < BATCH_LEAST ? BATCH_LEAST : wanted & ~UINT64_C(7);
    return account_room(a, *bytes);
}

uint64_t account_limit(const struct stream *st, int status)
{
    switch (status) {
    case -ENOSR:
        return st->job_memory;
    case -EXFULL:
        return st->job_spool;
    default:
        return status == -EUSERS ? ACCOUNT_RUNS : 0;
    }
}

void account_status(const struct stream *st, cw_request *r, bool *first)
{
    for (struct list_node *n = list_first(&st->accounts); n != NULL; n = list_next(&st->accounts, n)) {
        const struct account *a = account_at(n);
        if (!*first) {
            cw_request_row(r);
        }
        *first = false;
        cw_request_text(r, "role", "job");
        cw_request_int(r, "job", a->job);
        cw_request_text(r, "state", "holds");
        cw_request_int(r, "inputs", a->tasks);
        cw_request_int(r, "results", a->results);
        cw_request_int(r, "memory_bytes", (int64_t)a->memory);
        cw_request_int(r, "memory_limit_bytes", (int64_t)st->job_memory);
        cw_request_int(r, "spool_bytes", (int64_t)atomic_load(&a->spool.used));
        cw_request_int(r, "spool_limit_bytes", (int64_t)st->job_spool);
    }
}
