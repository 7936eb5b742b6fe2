/* SPDX-License-Identifier: Apache-2.0 */
#include "jobfile/job_right.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__attribute__((format(printf, 3, 4))) static int because(int rc, char why[static JOB_PLAN_WHY], const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(why, JOB_PLAN_WHY, format, args);
    va_end(args);
    return rc;
}

bool job_plan_name_good(const char *name)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ", others[] = "0123456789-_.";
    size_t length = strlen(name);
    if (length == 0 || length >= JOB_RECORD_NAME_BYTES || strchr(letters, name[0]) == NULL) {
        return false;
    }
    for (const char *c = name; *c != '\0'; c++) {
        if (strchr(letters, *c) == NULL && strchr(others, *c) == NULL) {
            return false;
        }
    }
    return true;
}

void job_plan_open(struct job_plan *p, cw_job id, const char *name)
{
    *p = (struct job_plan){.id = id, .version = 1, .generation = 1};
    snprintf(p->name, sizeof p->name, "%s", name);
}

static void empty(struct job_plan *p)
{
    for (unsigned i = 0; i < p->rights; i++) {
        job_right_close(&p->right[i]);
    }
    free(p->range);
    free(p->port);
    free(p->right);
    p->range = NULL;
    p->port = NULL;
    p->right = NULL;
    p->ranges = p->ports = p->rights = 0;
}

void job_plan_close(struct job_plan *p)
{
    empty(p);
    *p = (struct job_plan){.id = 0};
}

void job_plan_destroy(struct job_plan *p)
{
    empty(p);
    p->destroyed = true;
}

/* ---- Processes and where they live ------------------------------------------------------------------------------- */

/* One range where two were, when they go on without a gap. */
static void join_ranges(struct job_plan *p)
{
    unsigned kept = 0;
    for (unsigned i = 1; i < p->ranges; i++) {
        struct job_range *a = &p->range[kept];
        const struct job_range *b = &p->range[i];
        if ((uint64_t)a->first + a->count == b->first && (uint64_t)a->server + a->count == b->server) {
            a->count += b->count;
        } else {
            p->range[++kept] = *b;
        }
    }
    p->ranges = p->ranges > 0 ? kept + 1 : 0;
}

int job_plan_add_range(struct job_plan *p, cw_process first, cw_process last, cw_server server,
                       char why[static JOB_PLAN_WHY])
{
    if (last > JOB_RECORD_PROCESS_MAX) {
        return because(-EINVAL, why, "the highest process is %" PRIu32, (uint32_t)JOB_RECORD_PROCESS_MAX);
    }
    if (last < first || last - first >= CW_SERVER_NONE - server) {
        return because(-EINVAL, why, "processes %" PRIu32 "-%" PRIu32 " do not fit behind server %" PRIu32, first, last,
                       server);
    }
    unsigned at = 0;
    while (at < p->ranges && p->range[at].first < first) {
        at++;
    }
    const struct job_range *before = at > 0 ? &p->range[at - 1] : NULL;
    bool low = before != NULL && (uint64_t)before->first + before->count > first;
    if (low || (at < p->ranges && p->range[at].first <= last)) {
        return because(-EEXIST, why, "process %" PRIu32 " has a server already", low ? first : p->range[at].first);
    }
    struct job_range *more = realloc(p->range, (p->ranges + 1) * sizeof *more);
    if (more == NULL) {
        return because(-ENOMEM, why, "out of memory");
    }
    p->range = more;
    memmove(more + at + 1, more + at, (p->ranges - at) * sizeof *more);
    more[at] = (struct job_range){first, last - first + 1, server};
    p->ranges++;
    join_ranges(p);
    if (p->ranges > JOB_RECORD_RANGES_MAX) {
        return because(-EINVAL, why, "at most %d ranges of processes", JOB_RECORD_RANGES_MAX);
    }
    return 0;
}

/* ---- Ports ------------------------------------------------------------------------------------------------------- */

const struct job_port *job_plan_port_named(const struct job_plan *p, const char *name)
{
    for (unsigned i = 0; i < p->ports; i++) {
        if (strcmp(p->port[i].name, name) == 0) {
            return &p->port[i];
        }
    }
    return NULL;
}

const struct job_port *job_plan_port(const struct job_plan *p, cw_port port)
{
    for (unsigned i = 0; i < p->ports; i++) {
        if (p->port[i].port == port) {
            return &p->port[i];
        }
    }
    return NULL;
}

int job_plan_add_port(struct job_plan *p, cw_port port, const char *name, char why[static JOB_PLAN_WHY])
{
    const struct job_port *other = job_plan_port(p, port);
    if (!job_plan_name_good(name) || strcmp(name, "all") == 0) {
        return because(-EINVAL, why,
                       "'%.40s': expected a name of a letter and up to 30 of a-z A-Z 0-9 - _ . behind it, not \"all\"",
                       name);
    }
    if (other != NULL) {
        return because(-EEXIST, why, "port %u is called %s already", port, other->name);
    }
    other = job_plan_port_named(p, name);
    if (other != NULL) {
        return because(-EEXIST, why, "port %u has the name %s already", other->port, name);
    }
    if (p->ports == JOB_RECORD_PORTS_MAX) {
        return because(-EINVAL, why, "at most %d ports have names", JOB_RECORD_PORTS_MAX);
    }
    struct job_port *more = realloc(p->port, (p->ports + 1) * sizeof *more);
    if (more == NULL) {
        return because(-ENOMEM, why, "out of memory");
    }
    unsigned at = p->ports++;
    p->port = more;
    for (; at > 0 && more[at - 1].port > port; at--) {
        more[at] = more[at - 1];
    }
    more[at] = (struct job_port){.port = port};
    memcpy(more[at].name, name, strlen(name));
    return 0;
}

/* ---- Records ----------------------------------------------------------------------------------------------------- */

static int take_grants(struct job_plan *p, const struct job_record *record)
{
    const uint8_t *at = record->grant_bytes;
    p->right = record->grants > 0 ? calloc(record->grants, sizeof *p->right) : NULL;
    if (record->grants > 0 && p->right == NULL) {
        return -ENOMEM;
    }
    while (p->rights < record->grants) {
        struct job_grant g = job_record_next_grant(&at);
        int rc = job_right_from(&p->right[p->rights++], &g);
        if (rc < 0) {
            return rc;
        }
    }
    return job_plan_normalize(p);
}

int job_plan_from(struct job_plan *p, const struct job_record *record)
{
    job_plan_open(p, record->job, record->name);
    p->version = record->version;
    p->generation = record->generation;
    p->destroyed = record->destroyed;
    p->range = malloc((record->ranges + 1u) * sizeof *p->range);
    p->port = malloc((record->ports + 1u) * sizeof *p->port);
    if (p->range == NULL || p->port == NULL) {
        job_plan_close(p);
        return -ENOMEM;
    }
    for (; p->ranges < record->ranges; p->ranges++) {
        p->range[p->ranges] = job_record_range(record, p->ranges);
    }
    for (; p->ports < record->ports; p->ports++) {
        p->port[p->ports] = job_record_port(record, p->ports);
    }
    int rc = take_grants(p, record);
    if (rc < 0) {
        job_plan_close(p);
    }
    return rc;
}

static void put_all(const struct job_plan *p, struct job_record_writer *w)
{
    for (unsigned i = 0; i < p->ranges; i++) {
        job_record_put_range(w, &p->range[i]);
    }
    for (unsigned i = 0; i < p->ports; i++) {
        job_record_put_port(w, p->port[i].port, p->port[i].name);
    }
    for (unsigned i = 0; i < p->rights; i++) {
        const struct job_right *r = &p->right[i];
        job_record_put_grant(w, r->job, r->who.all ? NULL : r->who.span, r->who.count,
                             r->ports.all ? NULL : r->ports.port, r->ports.count);
    }
}

static bool too_many(const struct job_plan *p)
{
    bool spans = false;
    for (unsigned i = 0; i < p->rights; i++) {
        spans = spans || p->right[i].who.count > JOB_RECORD_GRANT_SPANS_MAX;
    }
    return spans || p->rights > JOB_RECORD_GRANTS_MAX || p->ranges > JOB_RECORD_RANGES_MAX;
}

int job_plan_record(const struct job_plan *p, uint8_t **bytes, size_t *size, char why[static JOB_PLAN_WHY])
{
    struct job_record head = {
        .job = p->id, .version = p->version, .generation = p->generation, .destroyed = p->destroyed};
    struct job_record_writer w;
    if (too_many(p)) {
        return because(-EINVAL, why, "job %s: too much for one record: at most %d grants of at most %d process ranges",
                       p->name, JOB_RECORD_GRANTS_MAX, JOB_RECORD_GRANT_SPANS_MAX);
    }
    uint8_t *room = malloc(JOB_RECORD_BYTES_LIMIT);
    if (room == NULL) {
        return because(-ENOMEM, why, "out of memory");
    }
    memcpy(head.name, p->name, sizeof head.name);
    job_record_begin(&w, room, JOB_RECORD_BYTES_LIMIT, &head);
    put_all(p, &w);
    enum wire_reason reason = job_record_finish(&w, size);
    if (reason != WIRE_OK) {
        free(room);
        return because(-EINVAL, why,
                       reason == WIRE_TRUNCATED
                           ? "job %.40s: a record has at most 1 MiB"
                           : "job %.40s: its number, version or generation is 0, or its name is bad",
                       p->name);
    }
    uint8_t *less = realloc(room, *size);
    *bytes = less != NULL ? less : room;
    return 0;
}
