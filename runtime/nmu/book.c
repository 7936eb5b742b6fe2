/* SPDX-License-Identifier: Apache-2.0 */
#include "nmu/book.h"

#include "base/check.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { PORT_BYTES = 4 }; /* one port of a grant, and its zeros */
enum { ANY_PORT = 0 };   /* else the port and one: as grants stand in a record */

/* What one job may send to one port of another job, or to all its ports. */
struct entry {
    cw_job from, to;
    uint32_t port;
    unsigned spans; /* 0: all processes */
    struct job_span span[BOOK_SPANS_MAX];
};

struct named {
    cw_job job;
    char name[JOB_RECORD_NAME_BYTES];
};

struct book {
    uint32_t servers;
    unsigned jobs, entries;
    struct named job[BOOK_JOBS_MAX];
    struct entry entry[BOOK_GRANTS_MAX]; /* by (from, to, port) */
    uint8_t bytes[JOB_RECORD_HEAD_BYTES + JOB_RECORD_RANGE_BYTES +
                  BOOK_GRANTS_MAX * (JOB_RECORD_GRANT_BYTES + BOOK_SPANS_MAX * JOB_RECORD_SPAN_BYTES + PORT_BYTES)];
};

int book_open(struct book **out, uint32_t servers)
{
    CHECK(servers > 0);
    struct book *b = calloc(1, sizeof *b);
    if (b == NULL) {
        return -ENOMEM;
    }
    b->servers = servers;
    *out = b;
    return 0;
}

void book_close(struct book *b)
{
    free(b);
}

static const struct named *find(const struct book *b, cw_job job)
{
    for (unsigned i = 0; i < b->jobs; i++) {
        if (b->job[i].job == job) {
            return &b->job[i];
        }
    }
    return NULL;
}

/* "job-N" */
static void name_by_number(cw_job job, char name[JOB_RECORD_NAME_BYTES])
{
    char digit[10];
    unsigned digits = 0, at = 4;
    memcpy(name, "job-", 4);
    do {
        digit[digits++] = (char)('0' + job % 10);
        job /= 10;
    } while (job > 0);
    while (digits > 0) {
        name[at++] = digit[--digits];
    }
    name[at] = '\0';
}

static struct job_record head_of(const struct named *job)
{
    struct job_record head = {.job = job->job, .version = 1, .generation = 1};
    memcpy(head.name, job->name, sizeof head.name);
    return head;
}

static void begin(const struct book *b, const struct named *job, uint8_t *room, size_t size,
                  struct job_record_writer *w)
{
    const struct job_record head = head_of(job);
    const struct job_range range = {.first = 0, .count = b->servers, .server = 0};
    job_record_begin(w, room, size, &head);
    job_record_put_range(w, &range);
}

int book_add(struct book *b, cw_job job, const char *name)
{
    if (find(b, job) != NULL) {
        return 0;
    }
    if (b->jobs == BOOK_JOBS_MAX) {
        return -ENOSPC;
    }
    struct named *new = &b->job[b->jobs];
    *new = (struct named){.job = job};
    if (name == NULL) {
        name_by_number(job, new->name);
    } else if (strlen(name) < sizeof new->name) {
        memcpy(new->name, name, strlen(name) + 1);
    } else {
        return -EINVAL;
    }
    uint8_t bytes[JOB_RECORD_HEAD_BYTES + JOB_RECORD_RANGE_BYTES];
    struct job_record_writer w;
    size_t size;
    begin(b, new, bytes, sizeof bytes, &w);
    if (job_record_finish(&w, &size) != WIRE_OK) {
        return -EINVAL;
    }
    b->jobs++;
    return 0;
}

/* ---- Grants ------------------------------------------------------------------------------------------------------ */

static int compare(const struct entry *e, cw_job from, cw_job to, uint32_t port)
{
    if (e->from != from) {
        return e->from < from ? -1 : 1;
    }
    if (e->to != to) {
        return e->to < to ? -1 : 1;
    }
    return e->port < port ? -1 : e->port > port;
}

/* The place of the entry, or where it would be inserted. */
static unsigned place_of(const struct book *b, cw_job from, cw_job to, uint32_t port)
{
    unsigned at = 0;
    while (at < b->entries && compare(&b->entry[at], from, to, port) < 0) {
        at++;
    }
    return at;
}

/* Adds a span to a rising set of spans that do not touch. False: there would be too many. */
static bool unite(struct entry *e, struct job_span add)
{
    struct job_span span[BOOK_SPANS_MAX + 1];
    unsigned spans = 0, i = 0;
    while (i < e->spans && e->span[i].last < add.first && add.first - e->span[i].last > 1) {
        span[spans++] = e->span[i++];
    }
    for (; i < e->spans && (e->span[i].first <= add.last || e->span[i].first - add.last == 1); i++) {
        add.first = e->span[i].first < add.first ? e->span[i].first : add.first;
        add.last = e->span[i].last > add.last ? e->span[i].last : add.last;
    }
    span[spans++] = add;
    while (i < e->spans) {
        span[spans++] = e->span[i++];
    }
    if (spans > BOOK_SPANS_MAX) {
        return false;
    }
    memcpy(e->span, span, spans * sizeof *span);
    e->spans = spans;
    return true;
}

int book_allow(struct book *b, const struct book_grant *g)
{
    if (!g->all_processes && g->processes.first > g->processes.last) {
        return -EINVAL;
    }
    int rc = book_add(b, g->from, NULL);
    rc = rc < 0 ? rc : book_add(b, g->to, NULL);
    if (rc < 0) {
        return rc;
    }
    uint32_t port = g->any_port ? ANY_PORT : g->port + UINT32_C(1);
    unsigned at = place_of(b, g->from, g->to, port);
    struct entry *e = &b->entry[at];
    if (at < b->entries && compare(e, g->from, g->to, port) == 0) {
        if (e->spans == 0) {
            return 0;
        }
        if (g->all_processes) {
            e->spans = 0;
            return 0;
        }
        return unite(e, g->processes) ? 0 : -ENOSPC;
    }
    if (b->entries == BOOK_GRANTS_MAX) {
        return -ENOSPC;
    }
    memmove(e + 1, e, (b->entries - at) * sizeof *e);
    b->entries++;
    *e = (struct entry){g->from, g->to, port, g->all_processes ? 0 : 1, {g->processes}};
    return 0;
}

const uint8_t *book_record(void *book, cw_job job, size_t *size)
{
    struct book *b = book;
    const struct named *named = find(b, job);
    if (named == NULL) {
        return NULL;
    }
    struct job_record_writer w;
    begin(b, named, b->bytes, sizeof b->bytes, &w);
    for (unsigned i = 0; i < b->entries; i++) {
        const struct entry *e = &b->entry[i];
        const cw_port port = (cw_port)(e->port - 1);
        if (e->from == job) {
            job_record_put_grant(&w, e->to, e->spans > 0 ? e->span : NULL, e->spans, e->port != ANY_PORT ? &port : NULL,
                                 e->port != ANY_PORT);
        }
    }
    enum wire_reason reason = job_record_finish(&w, size);
    CHECK(reason == WIRE_OK); /* all that is in the book was judged when it came, and the most of it fits */
    return b->bytes;
}
