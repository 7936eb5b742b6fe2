/* SPDX-License-Identifier: Apache-2.0 */
/* scenario_grant.c - who may send what: grant JOB -> JOB:PROCESSES:PORTS, with lists of 1, 3-5 or *. */
#include "scenario/scenario_internal.h"

#include "base/quantity.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

enum { LIST_MAX = 16 };
static const char expected[] = "JOB -> JOB:PROCESSES:PORTS, as 4096 -> 4096:*:0 or 1 -> 2:0-3,7:5,6";

struct span {
    uint64_t first, last;
};

/* The bytes of text before the first one that ends it. */
static size_t until(const char *text, size_t length, char end)
{
    const char *at = memchr(text, end, length);
    return at != NULL ? (size_t)(at - text) : length;
}

/* "3" or "3-5". */
static bool read_span(const char *text, size_t length, uint64_t most, struct span *out)
{
    size_t dash = until(text, length, '-');
    if (quantity_count(text, dash, &out->first) < 0) {
        return false;
    }
    out->last = out->first;
    if (dash < length && quantity_count(text + dash + 1, length - dash - 1, &out->last) < 0) {
        return false;
    }
    return out->first <= out->last && out->last <= most;
}

/* "*", or spans with commas between them. Gives how many there are, 0 for all; -1: neither. */
static int read_list(const char *text, size_t length, uint64_t most, struct span out[LIST_MAX])
{
    int count = 0;
    if (length == 1 && *text == '*') {
        return 0;
    }
    for (;;) {
        size_t one = until(text, length, ',');
        if (count == LIST_MAX || !read_span(text, one, most, &out[count])) {
            return -1;
        }
        count++;
        if (one == length) {
            return count;
        }
        text += one + 1;
        length -= one + 1;
    }
}

static int add(struct scenario_reader *r, const struct scenario_grant *grant)
{
    struct scenario *s = r->s;
    if (s->grants == SCENARIO_GRANTS_MAX) {
        return lines_wrong(&r->w, "more than %d grants, each of one range of processes and one port",
                           SCENARIO_GRANTS_MAX);
    }
    s->grant[s->grants++] = *grant;
    return 0;
}

/* One grant for each span of processes with each port. */
static int add_ports(struct scenario_reader *r, struct scenario_grant *grant, const struct span *ports, int count)
{
    grant->any_port = count == 0;
    int rc = count == 0 ? add(r, grant) : 0;
    for (int i = 0; i < count; i++) {
        for (uint64_t port = ports[i].first; port <= ports[i].last && rc == 0; port++) {
            grant->port = (cw_port)port;
            rc = add(r, grant);
        }
    }
    return rc;
}

static bool read_job(const char *text, size_t length, cw_job *out)
{
    uint64_t value;
    if (quantity_count(text, length, &value) < 0 || value == 0 || value > UINT32_MAX) {
        return false;
    }
    *out = (cw_job)value;
    return true;
}

int scenario_grant_read(struct scenario_reader *r)
{
    struct lines *w = &r->w;
    struct scenario_grant grant = {.from = 0};
    struct span processes[LIST_MAX], ports[LIST_MAX];
    if (!lines_more(w) || !read_job(w->word[w->at].text, w->word[w->at].length, &grant.from)) {
        return lines_unexpected(w, expected, NULL);
    }
    w->at++;
    if (!lines_skip(w, "->") || !lines_more(w)) {
        return lines_unexpected(w, expected, NULL);
    }
    const char *text = w->word[w->at].text;
    size_t length = w->word[w->at].length;
    size_t job = until(text, length, ':');
    if (job == length || !read_job(text, job, &grant.to)) {
        return lines_unexpected(w, expected, NULL);
    }
    text += job + 1;
    length -= job + 1;
    size_t list = until(text, length, ':');
    int process_spans = read_list(text, list, UINT32_MAX, processes);
    int port_spans = list < length ? read_list(text + list + 1, length - list - 1, UINT16_MAX, ports) : -1;
    if (process_spans < 0 || port_spans < 0) {
        return lines_unexpected(w, expected, NULL);
    }
    w->at++;
    grant.all_processes = process_spans == 0;
    int rc = process_spans == 0 ? add_ports(r, &grant, ports, port_spans) : 0;
    for (int i = 0; i < process_spans && rc == 0; i++) {
        grant.first = (cw_process)processes[i].first;
        grant.last = (cw_process)processes[i].last;
        rc = add_ports(r, &grant, ports, port_spans);
    }
    return rc;
}

void scenario_grant_write(const struct scenario_grant *g, FILE *out)
{
    fprintf(out, "grant %" PRIu32 " -> %" PRIu32 ":", g->from, g->to);
    if (g->all_processes) {
        fputc('*', out);
    } else {
        fprintf(out, "%" PRIu32 "-%" PRIu32, g->first, g->last);
    }
    if (g->any_port) {
        fputs(":*\n", out);
    } else {
        fprintf(out, ":%u\n", g->port);
    }
}
