/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/diagnosis/finding.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { TEXT = 600 };

const char *finding_text(const struct message *m, const char *name)
{
    return message_get_text(m, name, "");
}

bool finding_is(const struct message *m, const char *name, const char *value)
{
    return strcmp(finding_text(m, name), value) == 0;
}

bool finding_is_any(const struct message *m, const char *name, const char *const *values)
{
    for (; *values != NULL; values++) {
        if (finding_is(m, name, *values)) {
            return true;
        }
    }
    return false;
}

bool finding_same(const struct message *a, const char *x, const struct message *b, const char *y)
{
    return finding_text(a, x)[0] != '\0' && strcmp(finding_text(a, x), finding_text(b, y)) == 0;
}

bool finding_same_end(const struct message *a, const char *server, const char *port, const struct message *b,
                      const char *other_server, const char *other_port)
{
    return finding_same(a, server, b, other_server) && finding_same(a, port, b, other_port);
}

bool finding_has_name(const char *names, const char *name)
{
    size_t length = strlen(name);
    if (length == 0) {
        return true;
    }
    for (const char *at = names; (at = strstr(at, name)) != NULL; at += length) {
        if ((at == names || at[-1] == ' ') && (at[length] == ' ' || at[length] == '\0')) {
            return true;
        }
    }
    return false;
}

void finding_put(struct message *m, const char *name, const char *format, ...)
{
    char text[TEXT];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    message_text(m, name, text);
}

void findings_drop(struct rows *rows, size_t i)
{
    message_close(rows->row[i]);
    rows->row[i] = NULL;
}

void findings_close_ranks(struct rows *rows)
{
    size_t kept = 0;
    for (size_t i = 0; i < rows->count; i++) {
        if (rows->row[i] != NULL) {
            rows->row[kept++] = rows->row[i];
        }
    }
    rows->count = kept;
}
