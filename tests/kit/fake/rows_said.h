/* SPDX-License-Identifier: Apache-2.0 */
/* rows_said.h - rows that a daemon's part has told, each as one line: "name=value name=value". */
#ifndef KIT_ROWS_SAID_H
#define KIT_ROWS_SAID_H

#include "services/inquiry/rows.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { ROWS_SAID = 64, ROWS_LINE = 1400 };

struct rows_said {
    unsigned count;
    char row[ROWS_SAID][ROWS_LINE];
};

static inline void rows_said_text(void *context, const char *name, const char *text)
{
    struct rows_said *s = context;
    char *row = s->row[s->count < ROWS_SAID ? s->count : ROWS_SAID - 1];
    size_t used = strlen(row);
    snprintf(row + used, ROWS_LINE - used, "%s%s=%s", used > 0 ? " " : "", name, text);
}

static inline void rows_said_integer(void *context, const char *name, int64_t value)
{
    char text[32];
    snprintf(text, sizeof text, "%" PRId64, value);
    rows_said_text(context, name, text);
}

static inline void rows_said_row(void *context)
{
    struct rows_said *s = context;
    s->count += s->count < ROWS_SAID;
}

static inline struct rows_reader rows_said_reader(struct rows_said *s)
{
    memset(s, 0, sizeof *s);
    return (struct rows_reader){s, rows_said_integer, rows_said_text, rows_said_row};
}

/* The first row that holds the text, or NULL. */
static inline const char *rows_said_find(const struct rows_said *s, const char *text)
{
    for (unsigned i = 0; i < s->count; i++) {
        if (strstr(s->row[i], text) != NULL) {
            return s->row[i];
        }
    }
    return NULL;
}

#endif
