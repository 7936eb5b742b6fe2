/* SPDX-License-Identifier: Apache-2.0 */
/*
 * message.h - one line of JSON: an object whose fields are texts, numbers, truth values, lists of texts, or objects.
 *
 *     {"state": "up", "heard_ns": 1200000, "by": ["+x", "-y"]}
 *
 * Rows of the control protocol are such objects (docs/control-protocol.md), and so is the file that describes a lab.
 * The lines around the rows are in request_line.h and answer_line.h.
 *
 * Names and texts are copied in, and fields keep the order in which they were set. Memory: an object that could not be
 * made is NULL, which every function here allows: nothing is written to it and nothing is found in it. A field for
 * which there was no memory is missing.
 */
#ifndef MESSAGE_MESSAGE_H
#define MESSAGE_MESSAGE_H

#include "cubeway/types.h"

#include <stdio.h>

struct message;

/* An empty object. */
struct message *message_open(void);
/*
 * Gives the object that the text is. NULL: it is none, there is something behind it, or a name occurs twice in it; why,
 * unless it is NULL, says which.
 */
struct message *message_parse(const char *text, size_t length, char *why, size_t room);
/* A second owner of the same object: both close it. */
struct message *message_share(const struct message *m);
void message_close(struct message *m);

/* ---- Writing: a field of the same name is replaced --------------------------------------------------------------- */

/* Can the text stand in JSON, that is, is it UTF-8? (False also when there is no memory to find out.) */
bool message_holds(const char *text);
/* In a text that is not UTF-8 each byte that is not ASCII becomes '?'. */
void message_text(struct message *m, const char *name, const char *value);
void message_integer(struct message *m, const char *name, int64_t value);
void message_real(struct message *m, const char *name, double value);
void message_flag(struct message *m, const char *name, bool value);
void message_null(struct message *m, const char *name);
/*
 * Appends a text to the list of that name. With value NULL the list is made where it is missing, and nothing is
 * appended.
 */
void message_element(struct message *m, const char *name, const char *value);
/* Takes inner. */
void message_inner(struct message *m, const char *name, struct message *inner);
/* Appends an object, which it takes, to the list of that name. */
void message_append(struct message *m, const char *name, struct message *inner);

/* ---- Reading: what is given is borrowed from the message --------------------------------------------------------- */

enum message_kind {
    MESSAGE_MISSING, /* there is no such field */
    MESSAGE_TEXT,
    MESSAGE_INTEGER,
    MESSAGE_REAL,
    MESSAGE_FLAG,
    MESSAGE_LIST,
    MESSAGE_INNER,
    MESSAGE_NULL,
};
enum message_kind message_kind(const struct message *m, const char *name);
bool message_has(const struct message *m, const char *name);
/* The name of field i, in order; NULL behind the last. */
const char *message_name(const struct message *m, size_t i);

/* otherwise: what is given when there is no such field, or it is of another kind. */
const char *message_get_text(const struct message *m, const char *name, const char *otherwise);
int64_t message_get_integer(const struct message *m, const char *name, int64_t otherwise);
double message_get_real(const struct message *m, const char *name, double otherwise); /* any number */
bool message_get_flag(const struct message *m, const char *name);
/* Elements of a list; 0 of anything else. */
size_t message_elements(const struct message *m, const char *name);
/* Element i of a list of texts (one text counts as a list of one); NULL: there is none, or it is no text. */
const char *message_get_element(const struct message *m, const char *name, size_t i);
/* Element i of a list of objects, borrowed; NULL: there is none, or it is no object. */
const struct message *message_get_object(const struct message *m, const char *name, size_t i);
/* Element i of a list as text: a text, a whole number in digits, "true" or "false". False: it is none of these. */
bool message_show_element(const struct message *m, const char *name, size_t i, char *out, size_t room);
const struct message *message_get_inner(const struct message *m, const char *name);
/*
 * Any field as text for people: whole numbers in digits, truth as yes and no, lists with a space between elements; cut
 * to what fits. A list of objects is not shown. False and "": there is no such field.
 */
bool message_show(const struct message *m, const char *name, char *out, size_t room);

/* ---- As a line --------------------------------------------------------------------------------------------------- */

/*
 * Gives the line, which ends with a newline and a NUL, for the caller to free, and its length without the NUL. NULL: no
 * memory.
 */
char *message_line(const struct message *m, size_t *length);
/* Writes the same line to a file. */
void message_print(const struct message *m, FILE *out);

#endif
