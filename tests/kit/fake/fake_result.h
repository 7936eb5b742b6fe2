/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fake_result.h - what a command answered, kept for a test to read; and the words of a command.
 */
#ifndef KIT_FAKE_RESULT_H
#define KIT_FAKE_RESULT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FAKE_FIELDS = 512, FAKE_TEXT = 160, FAKE_WORDS = 64 };

struct fake_field {
    unsigned row;
    char name[32];
    bool is_text;
    int64_t value;
    char text[FAKE_TEXT]; /* what fits of it */
    size_t length;        /* of all of it */
};

struct fake_result {
    bool done;
    int rc;
    unsigned rows; /* rows that have begun */
    unsigned fields;
    struct fake_field field[FAKE_FIELDS];
};

static inline void fake_result_init(struct fake_result *r)
{
    r->done = false;
    r->rc = 0;
    r->rows = 1;
    r->fields = 0;
}

static inline void fake_result_must(bool good, const char *what, const char *name)
{
    if (!good) {
        fprintf(stderr, "fake result: %s %s\n", what, name);
        abort();
    }
}

/* The four functions of a sink, whose context is a struct fake_result. */
static inline struct fake_field *fake_result_field(void *context, const char *name)
{
    struct fake_result *r = context;
    fake_result_must(!r->done, "a field after the answer,", name);
    fake_result_must(r->fields < FAKE_FIELDS, "no room for", name);
    struct fake_field *f = &r->field[r->fields++];
    f->row = r->rows - 1;
    f->is_text = false;
    snprintf(f->name, sizeof f->name, "%s", name);
    return f;
}

static inline void fake_result_row(void *context)
{
    struct fake_result *r = context;
    fake_result_must(!r->done, "a row", "after the answer");
    r->rows++;
}

static inline void fake_result_int(void *context, const char *name, int64_t value)
{
    fake_result_field(context, name)->value = value;
}

static inline void fake_result_text(void *context, const char *name, const char *value)
{
    struct fake_field *f = fake_result_field(context, name);
    f->is_text = true;
    f->length = strlen(value);
    snprintf(f->text, sizeof f->text, "%s", value);
}

static inline void fake_result_done(void *context, int rc)
{
    struct fake_result *r = context;
    fake_result_must(!r->done, "answered", "twice");
    r->done = true;
    r->rc = rc;
}

static inline const struct fake_field *fake_find(const struct fake_result *r, unsigned row, const char *name)
{
    for (unsigned i = 0; i < r->fields; i++) {
        if (r->field[i].row == row && strcmp(r->field[i].name, name) == 0) {
            return &r->field[i];
        }
    }
    return NULL;
}

static inline bool fake_has(const struct fake_result *r, unsigned row, const char *name)
{
    return fake_find(r, row, name) != NULL;
}

/* Read fields that must be there. */
static inline int64_t fake_int(const struct fake_result *r, unsigned row, const char *name)
{
    const struct fake_field *f = fake_find(r, row, name);
    fake_result_must(f != NULL && !f->is_text, "there is no number", name);
    return f->value;
}

static inline const char *fake_text(const struct fake_result *r, unsigned row, const char *name)
{
    const struct fake_field *f = fake_find(r, row, name);
    fake_result_must(f != NULL && f->is_text, "there is no text", name);
    return f->text;
}

/* A line cut at its spaces. Valid until the next call. */
struct fake_words {
    int argc;
    const char *argv[FAKE_WORDS];
};

static inline struct fake_words fake_words_of(const char *line)
{
    static char text[1024];
    struct fake_words words = {.argc = 0};
    fake_result_must(strlen(line) < sizeof text, "a long line:", line);
    strcpy(text, line);
    for (char *word = strtok(text, " "); word != NULL; word = strtok(NULL, " ")) {
        fake_result_must(words.argc < FAKE_WORDS, "many words:", line);
        words.argv[words.argc++] = word;
    }
    return words;
}

#endif
