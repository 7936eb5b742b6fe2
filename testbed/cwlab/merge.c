/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* getline */
#include "testbed/cwlab/merge.h"

#include "base/check.h"

#include "cubeway/time.h"
#include "scenario/report.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

enum { STAMP = 32 /* bytes of "2026-11-22T19:30:00.123456Z", and of its NUL */ };

struct source {
    char *name, *path;
    off_t used;       /* bytes of the file that were read */
    bool journal;     /* its lines begin with the clock, not with a time of day */
    char last[STAMP]; /* the time of the line before */
};

struct line {
    char time[STAMP];
    size_t source;
    char *text; /* owned; with its newline */
};

struct merge {
    struct source *source;
    size_t sources;
    struct line *line;
    size_t lines, room;
};

struct merge *merge_open(void)
{
    struct merge *m = calloc(1, sizeof *m);
    CHECK(m != NULL);
    return m;
}

static void forget(struct merge *m)
{
    for (size_t i = 0; i < m->lines; i++) {
        free(m->line[i].text);
    }
    m->lines = 0;
}

void merge_close(struct merge *m)
{
    forget(m);
    for (size_t i = 0; i < m->sources; i++) {
        free(m->source[i].name);
        free(m->source[i].path);
    }
    free(m->source);
    free(m->line);
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

/* "26039245513206 fail 1,1,1" as a daemon would have logged it; as it is when it has not that form. */
static void dress(const char *text, char *out, size_t room)
{
    long long ns;
    int length = 0;
    struct timespec day, boot;
    if (sscanf(text, "%lld %n", &ns, &length) != 1 || length == 0) {
        snprintf(out, room, "%s", text);
        return;
    }
    clock_gettime(CLOCK_REALTIME, &day);
    clock_gettime(CLOCK_BOOTTIME, &boot);
    cw_time now = {day.tv_sec * CW_NS_PER_SEC + day.tv_nsec}, booted = {boot.tv_sec * CW_NS_PER_SEC + boot.tv_nsec};
    cw_time at = cw_time_add(now, cw_time_since((cw_time){ns}, booted));
    time_t seconds = at.ns / CW_NS_PER_SEC;
    struct tm tm;
    char stamp[STAMP];
    gmtime_r(&seconds, &tm);
    strftime(stamp, sizeof stamp, "%Y-%m-%dT%H:%M:%S", &tm);
    snprintf(out, room, "time=%s.%06dZ level=info msg=\"the lab's keeper: %.*s\"\n", stamp,
             (int)(at.ns % CW_NS_PER_SEC / CW_US(1).ns), (int)strcspn(text + length, "\n"), text + length);
}

/* The time of the line, or that of the one before. */
static void read_time(struct source *s, const char *text)
{
    static const char prefix[] = "time=";
    if (strncmp(text, prefix, sizeof prefix - 1) == 0) {
        const char *from = text + sizeof prefix - 1;
        size_t length = strcspn(from, " \n");
        snprintf(s->last, sizeof s->last, "%.*s", (int)(length < STAMP ? length : STAMP - 1), from);
    }
}

static void take_line(struct merge *m, size_t source, const char *text)
{
    if (m->lines == m->room) {
        m->room = 2 * m->room + 256;
        m->line = realloc(m->line, m->room * sizeof *m->line);
        CHECK(m->line != NULL);
    }
    struct source *s = &m->source[source];
    struct line *l = &m->line[m->lines++];
    char dressed[512];
    if (s->journal) {
        dress(text, dressed, sizeof dressed);
        text = dressed;
    }
    read_time(s, text);
    *l = (struct line){.source = source, .text = strdup(text)};
    CHECK(l->text != NULL);
    memcpy(l->time, s->last, sizeof l->time);
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
    for (size_t i = 0; i < m->sources; i++) {
        read_source(m, i);
    }
    return m->lines;
}

/* Lines of one file stay in their order: they stand so in memory. */
static int by_time(const void *left, const void *right)
{
    const struct line *a = left, *b = right;
    int order = strcmp(a->time, b->time);
    if (order == 0) {
        order = a->source != b->source ? (a->source > b->source) - (a->source < b->source) : (a > b) - (a < b);
    }
    return order;
}

static const char *colour_of(const char *text)
{
    return strstr(text, "level=error") != NULL ? "\033[31m" : strstr(text, "level=warn") != NULL ? "\033[33m" : "";
}

static void print_object(const char *name, const struct line *l, FILE *out)
{
    struct report *r = report_open(NULL);
    char text[4096];
    snprintf(text, sizeof text, "%.*s", (int)strlen(l->text) - 1, l->text);
    report_text(r, "server", name);
    report_text(r, "time", l->time);
    report_text(r, "text", text);
    (void)!report_print_json(r, out);
    report_close(r);
}

void merge_print(struct merge *m, const struct merge_form *form, FILE *out)
{
    int width = 0;
    for (size_t i = 0; i < m->sources; i++) {
        int length = (int)strlen(m->source[i].name);
        width = length > width ? length : width;
    }
    if (m->lines > 0) {
        qsort(m->line, m->lines, sizeof *m->line, by_time);
    }
    for (size_t i = form->last > 0 && form->last < m->lines ? m->lines - form->last : 0; i < m->lines; i++) {
        const struct line *l = &m->line[i];
        const char *tint = form->colour ? colour_of(l->text) : "";
        if (form->json) {
            print_object(m->source[l->source].name, l, out);
            continue;
        }
        if (form->named) {
            fprintf(out, "%-*s ", width, m->source[l->source].name);
        }
        fprintf(out, "%s%.*s%s\n", tint, (int)strlen(l->text) - 1, l->text, tint[0] != '\0' ? "\033[0m" : "");
    }
    forget(m);
}
