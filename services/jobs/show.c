/* SPDX-License-Identifier: Apache-2.0 */
/*
 * show.c - `list`, `show`, `status`: what is held here.
 */
#include "services/jobs/jobs_internal.h"

#include "base/base64.h"
#include "base/words.h"
#include "nmu/job_record.h"
#include "services/reply/refuse.h"
#include "services/reply/servers.h"

#include <errno.h>
#include <stdio.h>

enum { RAW_BYTES = 750 /* 1,000 characters */ };

static void decode(const struct records_item *item, struct job_record *r)
{
    enum wire_reason reason = job_record_decode(item->blob->bytes, item->blob->size - JOBS_SIGNATURE_BYTES, r);
    (void)reason; /* it was decoded when it came */
}

static uint64_t processes_of(const struct job_record *r)
{
    uint64_t processes = 0;
    for (unsigned i = 0; i < r->ranges; i++) {
        processes += job_record_range(r, i).count;
    }
    return processes;
}

static void tell_item(const struct records_item *item, cw_request *r)
{
    struct job_record record;
    decode(item, &record);
    cw_request_int(r, "job", record.job);
    cw_request_text(r, "name", record.name);
    cw_request_int(r, "version", (int64_t)record.version);
    cw_request_int(r, "generation", (int64_t)record.generation);
    cw_request_int(r, "destroyed", record.destroyed);
    cw_request_int(r, "processes", (int64_t)processes_of(&record));
    cw_request_int(r, "ports", record.ports);
    cw_request_int(r, "grants", record.grants);
    cw_request_int(r, "bytes", (int64_t)item->blob->size);
    cw_request_int(r, "kept", item->kept);
}

int jobs_command_list(struct jobs *j, cw_request *r)
{
    for (uint32_t i = 0; i < j->records.count; i++) {
        if (i > 0) {
            cw_request_row(r);
        }
        tell_item(&j->records.item[i], r);
    }
    return 0;
}

cw_job jobs_named(const struct jobs *j, const char *text, size_t length)
{
    char word[JOB_RECORD_NAME_BYTES];
    if (length == 0 || length >= sizeof word) {
        return 0;
    }
    memcpy(word, text, length);
    word[length] = '\0';
    uint64_t number;
    if (words_number(word, 1, UINT32_MAX, &number) == 0) {
        return (cw_job)number;
    }
    cw_job found = 0;
    for (uint32_t i = 0; i < j->records.count; i++) {
        struct job_record record;
        decode(&j->records.item[i], &record);
        if (strcmp(record.name, word) == 0 && (found == 0 || !record.destroyed)) {
            found = record.job;
        }
    }
    return found;
}

/* ---- One job ----------------------------------------------------------------------------------------------------- */

static void tell_ranges(const struct jobs *j, const struct job_record *record, cw_request *r)
{
    for (unsigned i = 0; i < record->ranges; i++) {
        struct job_range range = job_record_range(record, i);
        cw_request_row(r);
        cw_request_text(r, "what", "range");
        cw_request_int(r, "first", range.first);
        cw_request_int(r, "last", (int64_t)range.first + range.count - 1);
        if (range.server < j->servers) {
            tell_server_id(j->svc, r, "server", range.server);
        } else {
            cw_request_text(r, "server", "outside");
        }
    }
}

static void tell_ports(const struct job_record *record, cw_request *r)
{
    for (unsigned i = 0; i < record->ports; i++) {
        struct job_port port = job_record_port(record, i);
        cw_request_row(r);
        cw_request_text(r, "what", "port");
        cw_request_int(r, "port", port.port);
        cw_request_text(r, "name", port.name);
    }
}

/* "1-3,7,.." as far as there is room. */
static void format_spans(const struct job_grant *g, char *text, size_t size)
{
    size_t at = 0;
    text[0] = '\0';
    for (unsigned i = 0; i < g->spans && at + 28 < size; i++) {
        struct job_span s = job_grant_span(g, i);
        at += (size_t)snprintf(text + at, size - at, s.first == s.last ? "%s%u" : "%s%u-%u", i > 0 ? "," : "", s.first,
                               s.last);
        if (i + 1 < g->spans && at + 28 >= size) {
            snprintf(text + at, size - at, ",..");
        }
    }
}

static void format_ports(const struct job_grant *g, char *text, size_t size)
{
    size_t at = 0;
    text[0] = '\0';
    for (unsigned i = 0; i < g->ports && at + 12 < size; i++) {
        at += (size_t)snprintf(text + at, size - at, "%s%u", i > 0 ? "," : "", job_grant_port(g, i));
        if (i + 1 < g->ports && at + 12 >= size) {
            snprintf(text + at, size - at, ",..");
        }
    }
}

static void tell_grants(const struct job_record *record, cw_request *r)
{
    const uint8_t *at = record->grant_bytes;
    for (unsigned i = 0; i < record->grants; i++) {
        struct job_grant g = job_record_next_grant(&at);
        char spans[160] = "all", ports[160] = "all";
        if (!g.all_processes) {
            format_spans(&g, spans, sizeof spans);
        }
        if (!g.all_ports) {
            format_ports(&g, ports, sizeof ports);
        }
        cw_request_row(r);
        cw_request_text(r, "what", "grant");
        cw_request_int(r, "to", g.job);
        cw_request_text(r, "to_processes", spans);
        cw_request_text(r, "to_ports", ports);
    }
}

static void tell_raw(const struct records_item *item, cw_request *r)
{
    for (size_t at = 0; at < item->blob->size; at += RAW_BYTES) {
        size_t left = item->blob->size - at;
        char text[RAW_BYTES / 3 * 4 + 1];
        base64_encode(item->blob->bytes + at, left < RAW_BYTES ? left : RAW_BYTES, text);
        cw_request_row(r);
        cw_request_text(r, "record", text);
    }
}

int jobs_command_show(struct jobs *j, cw_request *r, int argc, const char *const *argv)
{
    uint64_t raw = 0;
    const struct words_option options[] = {{"raw", 0, 1, &raw}};
    if (argc < 1) {
        return refuse_request(r, "a job is missing; the command is: show JOB [raw=0|1]");
    }
    int good = 1 + words_options(argc - 1, argv + 1, options, 1);
    if (good < argc) {
        return refuse_option(r, argv[good], options, 1);
    }
    cw_job job = jobs_named(j, argv[0], strlen(argv[0]));
    const struct records_item *item = job != 0 ? records_find(&j->records, job) : NULL;
    if (item == NULL) {
        return refuse_with(r, -ENOENT, "no signed record of this job is held here: '%.60s'", argv[0]);
    }
    struct job_record record;
    char digest[17];
    decode(item, &record);
    snprintf(digest, sizeof digest, "%016llx", (unsigned long long)item->mark.digest);
    tell_item(item, r);
    cw_request_text(r, "digest", digest);
    if (raw != 0) {
        tell_raw(item, r);
        return 0;
    }
    tell_ranges(j, &record, r);
    tell_ports(&record, r);
    tell_grants(&record, r);
    return 0;
}

/* ---- All in all -------------------------------------------------------------------------------------------------- */

int jobs_command_status(struct jobs *j, cw_request *r)
{
    char digest[17];
    snprintf(digest, sizeof digest, "%016llx", (unsigned long long)j->records.sum.value);
    cw_request_int(r, "signed", j->host != NULL);
    cw_request_int(r, "jobs", j->records.count);
    cw_request_int(r, "bytes", (int64_t)j->records.bytes);
    cw_request_text(r, "digest", digest);
    cw_request_int(r, "changes", j->put_count);
    cw_request_int(r, "wanted", j->fetch.wants);
    cw_job none[1];
    cw_request_int(r, "missing", j->desk != NULL ? (int64_t)j->desk->missing(j->desk->node, none, 0) : 0);
    for (unsigned i = 0; i < JOBS_COUNTS; i++) {
        cw_request_int(r, jobs_counts[i].name, (int64_t)j->count[i]);
    }
    if (j->host == NULL) {
        cw_request_text(r, "note",
                        "no operator's key is configured here: no signed jobs, only those that are built in or local");
    }
    return 0;
}
