/* SPDX-License-Identifier: Apache-2.0 */
#include "jobfile/processes.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

void processes_close(struct processes *s)
{
    free(s->span);
    *s = (struct processes){.all = false};
}

/* Room for one span more. */
static int make_room(struct processes *s)
{
    if (s->count < s->room) {
        return 0;
    }
    uint32_t room = s->room == 0 ? 4 : 2 * s->room;
    struct job_span *more = realloc(s->span, room * sizeof *more);
    if (more == NULL) {
        return -ENOMEM;
    }
    s->span = more;
    s->room = room;
    return 0;
}

int processes_copy(struct processes *to, const struct processes *from)
{
    processes_close(to);
    if (from->count > 0) {
        to->span = malloc(from->count * sizeof *to->span);
        if (to->span == NULL) {
            return -ENOMEM;
        }
        memcpy(to->span, from->span, from->count * sizeof *to->span);
        to->room = from->count;
    }
    to->count = from->count;
    to->all = from->all;
    return 0;
}

/* Spans from..to (to not among them) become `with` of them, 0 or 1 more than there were at most; there is room. */
static void replace(struct processes *s, uint32_t from, uint32_t to, const struct job_span *with, uint32_t count)
{
    memmove(s->span + from + count, s->span + to, (s->count - to) * sizeof *s->span);
    if (count > 0) {
        memcpy(s->span + from, with, count * sizeof *with);
    }
    s->count += count - (to - from);
}

int processes_add(struct processes *s, cw_process first, cw_process last)
{
    if (s->all) {
        return 0;
    }
    if (make_room(s) < 0) {
        return -ENOMEM;
    }
    uint32_t from = 0, to;
    while (from < s->count && (uint64_t)s->span[from].last + 1 < first) {
        from++;
    }
    struct job_span one = {first, last};
    for (to = from; to < s->count && s->span[to].first <= (uint64_t)last + 1; to++) {
        one.first = s->span[to].first < one.first ? s->span[to].first : one.first;
        one.last = s->span[to].last > one.last ? s->span[to].last : one.last;
    }
    replace(s, from, to, &one, 1);
    return 0;
}

int processes_remove(struct processes *s, cw_process first, cw_process last)
{
    if (make_room(s) < 0) {
        return -ENOMEM;
    }
    if (s->all) {
        s->all = false;
        s->span[0] = (struct job_span){0, UINT32_MAX};
        s->count = 1;
    }
    uint32_t from = 0, to, count = 0;
    struct job_span left[2];
    while (from < s->count && s->span[from].last < first) {
        from++;
    }
    for (to = from; to < s->count && s->span[to].first <= last; to++) {
        if (s->span[to].first < first) {
            left[count++] = (struct job_span){s->span[to].first, first - 1};
        }
        if (s->span[to].last > last) {
            left[count++] = (struct job_span){last + 1, s->span[to].last};
        }
    }
    replace(s, from, to, left, count);
    return 0;
}

void processes_add_all(struct processes *s)
{
    processes_close(s);
    s->all = true;
}

int processes_join(struct processes *s, const struct processes *more)
{
    int rc = 0;
    if (more->all) {
        processes_add_all(s);
    }
    for (uint32_t i = 0; rc == 0 && i < more->count; i++) {
        rc = processes_add(s, more->span[i].first, more->span[i].last);
    }
    return rc;
}

int processes_subtract(struct processes *s, const struct processes *less)
{
    int rc = 0;
    if (less->all) {
        processes_close(s);
    }
    for (uint32_t i = 0; rc == 0 && i < less->count; i++) {
        rc = processes_remove(s, less->span[i].first, less->span[i].last);
    }
    return rc;
}

bool processes_is_empty(const struct processes *s)
{
    return !s->all && s->count == 0;
}

bool processes_equal(const struct processes *a, const struct processes *b)
{
    return a->all == b->all && a->count == b->count &&
           (a->count == 0 || memcmp(a->span, b->span, a->count * sizeof *a->span) == 0);
}

bool processes_hold(const struct processes *s, cw_process process)
{
    for (uint32_t i = 0; i < s->count; i++) {
        if (s->span[i].first <= process && process <= s->span[i].last) {
            return true;
        }
    }
    return s->all;
}

/* ---- Text -------------------------------------------------------------------------------------------------------- */

/* Digits at *at, up to no digit. */
static bool take_number(const char **at, cw_process *out)
{
    uint64_t value = 0;
    const char *from = *at;
    for (; **at >= '0' && **at <= '9' && value <= UINT32_MAX; ++*at) {
        value = value * 10 + (uint64_t)(**at - '0');
    }
    *out = (cw_process)value;
    return *at > from && value <= UINT32_MAX;
}

static void skip_blanks(const char **at)
{
    while (**at == ' ' || **at == '\t') {
        ++*at;
    }
}

/* "7" or "0-3", with blanks before and behind. */
static bool take_span(const char **at, struct job_span *out)
{
    skip_blanks(at);
    bool good = take_number(at, &out->first);
    out->last = out->first;
    skip_blanks(at);
    if (good && **at == '-') {
        ++*at;
        skip_blanks(at);
        good = take_number(at, &out->last);
        skip_blanks(at);
    }
    return good && out->first <= out->last;
}

int processes_read(struct processes *s, const char *text)
{
    const char *at = text;
    struct job_span span;
    if (strcmp(text, "all") == 0) {
        processes_add_all(s);
        return 0;
    }
    do {
        bool good = take_span(&at, &span) && (*at == ',' || *at == '\0');
        int rc = good ? processes_add(s, span.first, span.last) : -EINVAL;
        rc = rc == 0 && s->count > JOB_RECORD_GRANT_SPANS_MAX ? -E2BIG : rc;
        if (rc < 0) {
            processes_close(s);
            return rc;
        }
    } while (*at++ == ',');
    return 0;
}

void processes_write(const struct processes *s, FILE *out)
{
    if (s->all) {
        fputs("all", out);
    }
    for (uint32_t i = 0; i < s->count; i++) {
        fprintf(out, "%s%" PRIu32, i > 0 ? "," : "", s->span[i].first);
        if (s->span[i].last > s->span[i].first) {
            fprintf(out, "-%" PRIu32, s->span[i].last);
        }
    }
}
