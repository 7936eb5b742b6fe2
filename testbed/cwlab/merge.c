/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* getline */
#include "testbed/cwlab/merge.h"

#include "base/check.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { STAMP = 32 /* bytes of "2026-11-22T19:30:00.123456Z", and of its NUL */ };

struct source {
    char *name, *path;
    off_t used;       /* bytes of the file that were read */
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

void merge_print(struct merge *m, size_t last, bool named, bool colour, FILE *out)
{
    int width = 0;
    for (size_t i = 0; i < m->sources; i++) {
        int length = (int)strlen(m->source[i].name);
        width = length > width ? length : width;
    }
    if (m->lines > 0) {
        qsort(m->line, m->lines, sizeof *m->line, by_time);
    }
    for (size_t i = last > 0 && last < m->lines ? m->lines - last : 0; i < m->lines; i++) {
        const struct line *l = &m->line[i];
        const char *tint = colour ? colour_of(l->text) : "";
        if (named) {
            fprintf(out, "%-*s ", width, m->source[l->source].name);
        }
        fprintf(out, "%s%.*s%s\n", tint, (int)strlen(l->text) - 1, l->text, tint[0] != '\0' ? "\033[0m" : "");
    }
    forget(m);
}
