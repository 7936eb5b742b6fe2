/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json.h - the control protocol as cwctl speaks it (docs/control-protocol.md): requests out, rows and ends in. Its one meeting with
 * jansson.
 */
#ifndef CTL_JSON_H
#define CTL_JSON_H

#include "cubeway/types.h"

#include <stdio.h>

/* ---- A request being put together. Without memory it becomes NULL, and stays it. --------------------------------------- */

struct json_request;

/* server may be NULL. */
struct json_request *json_request_open(const char *command, const char *server);
void json_request_word(struct json_request *r, const char *word);
void json_request_text(struct json_request *r, const char *option, const char *value);
void json_request_integer(struct json_request *r, const char *option, int64_t value);
void json_request_flag(struct json_request *r, const char *option);
/* One more element of an option that is a list. */
void json_request_element(struct json_request *r, const char *option, const char *value);
/* The line under that id, with its newline, to be freed; NULL: no memory. */
char *json_request_line(const struct json_request *r, int64_t id, size_t *length);
void json_request_close(struct json_request *r);

/* ---- A row ---------------------------------------------------------------------------------------------------------------- */

struct json_row;

bool json_row_has(const struct json_row *row, const char *field);
/* fallback when there is no such field, or it is of another type. Texts are borrowed. */
const char *json_row_text(const struct json_row *row, const char *field, const char *fallback);
int64_t json_row_integer(const struct json_row *row, const char *field, int64_t fallback);
bool json_row_flag(const struct json_row *row, const char *field);
/* Any field as text: numbers in digits, lists with a space between elements, truth as yes and no. False: it is not there. */
bool json_row_show(const struct json_row *row, const char *field, char *out, size_t room);
/* Field i in the order they came, NULL behind the last. */
const char *json_row_field(const struct json_row *row, size_t i);
/* One line of JSON, and a newline. */
void json_row_print(const struct json_row *row, FILE *out);
void json_row_close(struct json_row *row);
/* For rows that cwctl makes itself. */
struct json_row *json_row_open(void);
void json_row_set_integer(struct json_row *row, const char *field, int64_t value);
void json_row_set_text(struct json_row *row, const char *field, const char *value);

/* ---- An answer ------------------------------------------------------------------------------------------------------------- */

enum json_kind { JSON_ROW, JSON_DONE, JSON_STRANGE };

struct json_answer {
    enum json_kind kind;
    bool has_id;
    int64_t id;
    struct json_row *row; /* JSON_ROW: the caller's to close */
    int rc;               /* JSON_DONE */
    char error[512];      /* "" when there is none */
};
/* Reads one line. JSON_STRANGE: it is none of the protocol. */
void json_answer_read(const char *text, size_t length, struct json_answer *out);

#endif
