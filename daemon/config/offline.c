/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/config/offline.h"

#include "cubeway/version.h"
#include "message/message.h"

#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { SENTENCE = 400 };

static void print(const struct offline *o, struct message *m)
{
    message_print(m, o->out);
    message_close(m);
}

void offline_version(const struct offline *o)
{
    if (!o->json) {
        fprintf(o->out, "cubewayd %s\n", CW_VERSION);
        return;
    }
    struct message *m = message_open();
    message_text(m, "program", "cubewayd");
    message_text(m, "version", CW_VERSION);
    print(o, m);
}

static void print_setting(void *context, const char *key, const char *value)
{
    struct message *m = message_open();
    message_text(m, "key", key);
    message_text(m, "value", value);
    print(context, m);
}

void offline_config(const struct offline *o, const struct daemon_config *config)
{
    if (o->json) {
        config_visit(config, print_setting, (void *)(uintptr_t)o);
    } else {
        config_write(config, o->out);
    }
}

/* line: of the file; UINT_MAX: of none. */
static void print_finding(const struct offline *o, const char *kind, const char *text, unsigned line)
{
    struct message *m = message_open();
    message_text(m, "kind", kind);
    message_text(m, "text", text);
    if (line != UINT_MAX) {
        message_integer(m, "line", line);
    }
    print(o, m);
}

static void tell(const struct offline *o, bool mistake, const char *text, unsigned line)
{
    if (o->json) {
        print_finding(o, mistake ? "mistake" : "warning", text, line);
    } else {
        fprintf(o->errors, "cubewayd: %s\n", text);
    }
}

void offline_mistake(void *context, const char *text)
{
    tell(context, true, text, UINT_MAX);
}

void offline_warning(void *context, const char *text)
{
    tell(context, false, text, UINT_MAX);
}

struct offline_line {
    unsigned line; /* of the file; UINT_MAX: of none */
    bool mistake;
    char *text;
    size_t place; /* as it was told */
};

/* "FILE:7: .." is 7. */
static unsigned line_of(const char *file, const char *text)
{
    size_t length = strlen(file);
    if (strncmp(text, file, length) != 0 || text[length] != ':' || text[length + 1] < '0' || text[length + 1] > '9') {
        return UINT_MAX;
    }
    return (unsigned)strtoul(text + length + 1, NULL, 10);
}

static void keep(struct offline_sorter *s, bool mistake, const char *text)
{
    char *copy = strdup(text);
    if (s->count == s->room) {
        size_t room = s->room == 0 ? 32 : 2 * s->room;
        struct offline_line *more = realloc(s->line, room * sizeof *more);
        s->line = more != NULL ? more : s->line;
        s->room = more != NULL ? room : s->room;
    }
    if (copy == NULL || s->count == s->room) { /* out of order rather than not at all */
        tell(s->offline, mistake, text, line_of(s->file, text));
        free(copy);
        return;
    }
    s->line[s->count] = (struct offline_line){line_of(s->file, text), mistake, copy, s->count};
    s->count++;
}

void offline_sort_mistake(void *context, const char *text)
{
    keep(context, true, text);
}

void offline_sort_warning(void *context, const char *text)
{
    keep(context, false, text);
}

static int by_line(const void *a, const void *b)
{
    const struct offline_line *x = a, *y = b;
    return x->line != y->line ? (x->line > y->line) - (x->line < y->line)
                              : (x->place > y->place) - (x->place < y->place);
}

void offline_sorted(struct offline_sorter *s)
{
    if (s->count > 0) {
        qsort(s->line, s->count, sizeof *s->line, by_line);
    }
    for (size_t i = 0; i < s->count; i++) {
        tell(s->offline, s->line[i].mistake, s->line[i].text, s->line[i].line);
        free(s->line[i].text);
    }
    free(s->line);
    s->line = NULL;
    s->count = s->room = 0;
}

void offline_note(const struct offline *o, const char *file, const char *format, ...)
{
    char text[SENTENCE];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (o->json) {
        print_finding(o, "note", text, UINT_MAX);
    } else {
        fprintf(o->out, "%s: %s\n", file, text);
    }
}

void offline_checked(const struct offline *o, const char *file, unsigned mistakes, unsigned warnings)
{
    if (o->json) {
        struct message *m = message_open();
        message_text(m, "file", file);
        message_flag(m, "good", mistakes == 0);
        message_integer(m, "mistakes", mistakes);
        message_integer(m, "warnings", warnings);
        print(o, m);
    } else if (mistakes == 0 && warnings == 0) {
        fprintf(o->out, "%s: good\n", file);
    } else if (mistakes == 0) {
        fprintf(o->out, "%s: good, with %u warning%s\n", file, warnings, warnings == 1 ? "" : "s");
    }
}
