/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json.h - lines of the control protocol (docs/control-protocol.md), read and written. The daemon's one meeting with jansson.
 *
 *     {"id": 1, "command": "ping", "args": ["1,2,0"], "options": {"count": 3}, "server": "0,0,0"}
 *     {"id": 1, "row": {"link": "+x", "heard_ns": 1200000, "up": true, "next": ["+x", "-y"]}}
 *     {"id": 1, "done": true, "rc": 0}
 *
 * Running out of memory while a line is written ends in NULL, and only there.
 */
#ifndef DAEMON_CONTROL_JSON_H
#define DAEMON_CONTROL_JSON_H

#include "cubeway/types.h"

enum {
    CONTROL_WHY = 512,
    CONTROL_ARGS = 64,        /* words of a request */
    CONTROL_LINE = 64 * 1024, /* bytes of a request, its newline not counted */
};

/* ---- Requests ------------------------------------------------------------------------------------------------------ */

struct control_line {
    bool has_id;
    int64_t id;
    const char *command;
    const char *server; /* NULL: not said */
    int argc;
    const char *argv[CONTROL_ARGS + 1]; /* ended by NULL; numbers and truth values stand here as text */
    void *json;                         /* private; what the texts above belong to */
    char number[CONTROL_ARGS][24];      /* private */
};

/*
 * Borrows text[length], without newline. 0 and *out, to be closed; or -EINVAL and why (a sentence that says what was expected). out->id
 * and out->has_id are set either way as far as the line says them.
 */
CW_MUST_CHECK int control_line_open(struct control_line *out, const char *text, size_t length,
                                    char why[static CONTROL_WHY]);
/* After a failed open too. */
void control_line_close(struct control_line *line);

/* The first option that is not among names (words parted by spaces), or NULL. */
const char *control_line_strange(const struct control_line *line, const char *names);
/* 0 and *out untouched: the option is not there. 1: it is. -EINVAL: of another type, -ERANGE: not in least..most. */
CW_MUST_CHECK int control_line_number(const struct control_line *line, const char *option, int64_t least, int64_t most,
                                      int64_t *out);
CW_MUST_CHECK int control_line_flag(const struct control_line *line, const char *option, bool *out);
/* *out is borrowed until the line is closed. */
CW_MUST_CHECK int control_line_text(const struct control_line *line, const char *option, const char **out);
/* Element i of an option that is a list of texts (or one text, which is a list of one); NULL: there is none. */
const char *control_line_element(const struct control_line *line, const char *option, size_t i);

/* ---- Answers ------------------------------------------------------------------------------------------------------- */

struct control_row;

/* An empty row; NULL without memory, and then all below do nothing. Texts that are no UTF-8 are shown with question marks. */
struct control_row *control_row_open(void);
void control_row_integer(struct control_row *row, const char *name, int64_t value);
void control_row_flag(struct control_row *row, const char *name, bool value);
void control_row_text(struct control_row *row, const char *name, const char *value);
/* One more element of the list of that name; value NULL: makes the list and adds nothing. */
void control_row_element(struct control_row *row, const char *name, const char *value);
/* Takes the row (NULL is allowed). Gives a line with its newline, to be freed, or NULL. */
char *control_row_line(struct control_row *row, int64_t id, size_t *length);
void control_row_drop(struct control_row *row);

/* The last line of an answer; error may be NULL. To be freed. has_id false: nobody knows what it answers. */
char *control_done_line(bool has_id, int64_t id, int rc, const char *error, size_t *length);

#endif
