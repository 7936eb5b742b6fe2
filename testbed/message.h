/* SPDX-License-Identifier: Apache-2.0 */
/*
 * message.h - one line of JSON: what cwlab, its keeper and the daemons say to each other over Unix sockets.
 *
 *     {"id": 1, "command": "links", "args": ["+x"], "server": "0,1,2"}
 *     {"id": 1, "row": {...}} ... {"id": 1, "done": true, "rc": 0}     or "rc": -2, "error": "what"
 *
 * Names and texts are copied. Running out of memory ends the program (CHECK).
 */
#ifndef TESTBED_MESSAGE_H
#define TESTBED_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MESSAGE_LINE_MAX = 64 * 1024 };

struct message;

/* Gives the object that the line holds; NULL: it holds none. */
struct message *message_parse(const char *line, size_t length);
struct message *message_open(void);
void message_close(struct message *m); /* NULL is allowed */

void message_text(struct message *m, const char *name, const char *value);
void message_integer(struct message *m, const char *name, int64_t value);
void message_real(struct message *m, const char *name, double value);
void message_flag(struct message *m, const char *name, bool value);
/* One more text in the list of that name. */
void message_item(struct message *m, const char *name, const char *value);
/* Takes inner. */
void message_inner(struct message *m, const char *name, struct message *inner);

/* Borrowed; NULL: none of that name and kind. */
const char *message_get_text(const struct message *m, const char *name);
const struct message *message_get_inner(const struct message *m, const char *name);
const char *message_get_item(const struct message *m, const char *name, size_t i);
int64_t message_get_integer(const struct message *m, const char *name, int64_t otherwise);
double message_get_real(const struct message *m, const char *name, double otherwise); /* of any number */
bool message_get_flag(const struct message *m, const char *name);

/* Every field that is a text, a number or a flag, in order. */
struct message_visitor {
    void *context;
    void (*text)(void *context, const char *name, const char *value);
    void (*integer)(void *context, const char *name, int64_t value);
    void (*real)(void *context, const char *name, double value);
    void (*flag)(void *context, const char *name, bool value);
};
void message_visit(const struct message *m, const struct message_visitor *visitor);

/* Gives the line, ended by a newline and a NUL, and its length; the caller frees it. */
char *message_line(const struct message *m, size_t *length);

#endif
