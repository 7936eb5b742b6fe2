/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* getline, strptime, timegm */
#include "testbed/cwlab/outcome/merge.h"

#include "base/check.h"
#include "commandline/inorder.h"

#include "cubeway/time.h"
#include "scenario/report.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

enum { STAMP = 32 /* bytes of "2026-11-22T19:30:00.123456Z", and of its NUL */ };
/* While lines are followed: how long after its time a line may come into its file, and how long one waits at most. */
static const cw_span writing = CW_MS(100), patience = CW_SEC(3);

struct source {
    char *name, *path;
    off_t used;       /* bytes of the file that were read */
    bool journal;     /* its lines begin with the clock, not with a time of day */
    char last[STAMP]; /* the time of the line before */
};

struct line {
    char time[STAMP];
    bool timed; /* the time is its own, and not that of the line before */
    size_t source;
    char *text; /* owned; with its newline */
};

struct merge {
    struct source *source;
    size_t sources;
    struct inorder *waiting; /* of struct line */
    int64_t read_us;         /* the time of day when the last reading began */
};

struct merge *merge_new(void)
{
    struct merge *m = calloc(1, sizeof *m);
    CHECK(m != NULL);
    m->waiting = inorder_open();
    return m;
}

static void drop(void *line)
{
    struct line *l = line;
    free(l->text);
    free(l);
}

void merge_close(struct merge *m)
{
    inorder_close(m->waiting, drop);
    for (size_t i = 0; i < m->sources; i++) {
        free(m->source[i].name);
        free(m->source[i].path);
    }
    free(m->source);
    free(m);
}

void merge_add(struct merge *m, const char *name, const char *path)
{
    m->source = realloc(m->source, (m->sources + 1) * sizeof *m->source);
    CHECK(m->source != NULL);
    struct source *s = &m->source[m->sources++];
    *s = (struct source){.name = strdup(name), .path = strdup(path)};
    CHECK(s->name != NULL && s->path != NULL);
}

void merge_add_journal(struct merge *m, const char *name, const char *path)
{
    merge_add(m, name, path);
    m->source[m->sources - 1].journal = true;
}

static cw_time read_clock(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (cw_time){now.tv_sec * CW_NS_PER_SEC + now.tv_nsec};
}

/* "26039245513206 fail 1,1,1" as a daemon would have logged it; as it is when it has not that form. */
static void dress(const char *text, char *out, size_t room)
{
    long long ns;
    int length = 0;
    if (sscanf(text, "%lld %n", &ns, &length) != 1 || length == 0) {
        snprintf(out, room, "%s", text);
        return;
    }
    cw_time now = read_clock(CLOCK_REALTIME), booted = read_clock(CLOCK_BOOTTIME);
    cw_time at = cw_time_add(now, cw_time_since((cw_time){ns}, booted));
    time_t seconds = at.ns / CW_NS_PER_SEC;
    struct tm tm;
    char stamp[STAMP];
    gmtime_r(&seconds, &tm);
    strftime(stamp, sizeof stamp, "%Y-%m-%dT%H:%M:%S", &tm);
    snprintf(out, room, "time=%s.%06dZ level=info msg=\"the lab's keeper: %.*s\"\n", stamp,
             (int)(at.ns % CW_NS_PER_SEC / CW_US(1).ns), (int)strcspn(text + length, "\n"), text + length);
}

/* The time of the line, or that of the one before. True: it has one of its own. */
static bool read_time(struct source *s, const char *text)
{
    static const char prefix[] = "time=";
    if (strncmp(text, prefix, sizeof prefix - 1) != 0) {
        return false;
    }
    const char *from = text + sizeof prefix - 1;
    size_t length = strcspn(from, " \n");
    snprintf(s->last, sizeof s->last, "%.*s", (int)(length < STAMP ? length : STAMP - 1), from);
    return true;
}

/* The time of a stamp in us; INT64_MIN: it is none, and stands before all times. */
static int64_t read_stamp(const char *stamp)
{
    struct tm tm = {.tm_isdst = 0};
    const char *rest = strptime(stamp, "%Y-%m-%dT%H:%M:%S", &tm);
    int us = 0;
    if (rest == NULL || sscanf(rest, ".%6dZ", &us) != 1) {
        return INT64_MIN;
    }
    return (int64_t)timegm(&tm) * 1000000 + us;
}

static void take_line(struct merge *m, size_t source, const char *text)
{
    struct source *s = &m->source[source];
    struct line *l = malloc(sizeof *l);
    char dressed[512];
    CHECK(l != NULL);
    if (s->journal) {
        dress(text, dressed, sizeof dressed);
        text = dressed;
    }
    *l = (struct line){.timed = read_time(s, text), .source = source, .text = strdup(text)};
    CHECK(l->text != NULL);
    memcpy(l->time, s->last, sizeof l->time);
    inorder_add(m->waiting, read_stamp(l->time), read_clock(CLOCK_BOOTTIME), l);
}

static void read_source(struct merge *m, size_t source)
{
    struct source *s = &m->source[source];
    struct stat st;
    FILE *f = fopen(s->path, "re");
    if (f == NULL) {
        return;
    }
    s->used = fstat(fileno(f), &st) == 0 && st.st_size < s->used ? 0 : s->used;
    if (fseeko(f, s->used, SEEK_SET) == 0) {
        char *text = NULL;
        size_t room = 0;
        ssize_t length;
        while ((length = getline(&text, &room, f)) > 0 && text[length - 1] == '\n') {
            s->used += length;
            take_line(m, source, text);
        }
        free(text);
    }
    fclose(f);
}

size_t merge_read(struct merge *m)
{
    m->read_us = read_clock(CLOCK_REALTIME).ns / CW_US(1).ns;
    for (size_t i = 0; i < m->sources; i++) {
        read_source(m, i);
    }
    return inorder_count(m->waiting);
}

static const char *colour_of(const char *text)
{
    return strstr(text, "level=error") != NULL ? "\033[31m" : strstr(text, "level=warn") != NULL ? "\033[33m" : "";
}

static void print_object(const char *name, const struct line *l, bool late, FILE *out)
{
    struct report *r = report_open(NULL);
    char text[4096];
    snprintf(text, sizeof text, "%.*s", (int)strlen(l->text) - 1, l->text);
    report_text(r, "server", name);
    report_text(r, "time", l->time);
    report_text(r, "text", text);
    if (late) {
        report_flag(r, "late", true);
    }
    (void)!report_print_json(r, out);
    report_close(r);
}

struct printing {
    const struct merge *m;
    const struct merge_form *form;
    FILE *out;
    int width; /* of the names */
};

static void print_line(void *context, void *line, bool late)
{
    const struct printing *p = context;
    const struct line *l = line;
    const char *name = p->m->source[l->source].name, *tint = p->form->colour ? colour_of(l->text) : "";
    late = late && l->timed;
    if (p->form->json) {
        print_object(name, l, late, p->out);
    } else {
        if (p->form->named) {
            fprintf(p->out, "%-*s ", p->width, name);
        }
        fprintf(p->out, "%s%.*s%s%s\n", tint, (int)strlen(l->text) - 1, l->text, tint[0] != '\0' ? "\033[0m" : "",
                late ? " (late)" : "");
    }
    drop(line);
}

void merge_print(struct merge *m, const struct merge_form *form, FILE *out)
{
    struct printing p = {m, form, out, 0};
    for (size_t i = 0; i < m->sources; i++) {
        int length = (int)strlen(m->source[i].name);
        p.width = length > p.width ? length : p.width;
    }
    if (form->last > 0) {
        inorder_keep(m->waiting, form->last, drop);
    }
    inorder_give(m->waiting, form->more ? m->read_us - cw_span_us(writing) : INT64_MAX,
                 cw_time_add(read_clock(CLOCK_BOOTTIME), (cw_span){-patience.ns}), print_line, &p);
}
