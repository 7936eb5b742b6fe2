/* SPDX-License-Identifier: Apache-2.0 */
/*
 * answer_line.h - the lines of an answer (docs/control-protocol.md): any number of rows and exactly one end, written by
 * the daemon, read by the client.
 *
 *     {"id": 1, "row": {"link": "+x", "heard_ns": 1200000, "up": true}}
 *     {"id": 1, "done": true, "rc": 0}
 */
#ifndef MESSAGE_ANSWER_LINE_H
#define MESSAGE_ANSWER_LINE_H

#include "message/message.h"

/* ---- Writing: a line with its newline, for the caller to free; NULL: no memory ----------------------------------- */

/* Takes the row (NULL is allowed, and gives NULL). */
char *answer_line_row(struct message *row, int64_t id, size_t *length);
/* The end. With has_id false it answers no request that is known; error may be NULL. */
char *answer_line_done(bool has_id, int64_t id, int rc, const char *error, size_t *length);

/* ---- Reading ----------------------------------------------------------------------------------------------------- */

enum answer_kind {
    ANSWER_ROW,
    ANSWER_DONE,
    ANSWER_STRANGE, /* it is no line of an answer */
};

struct answer_line {
    enum answer_kind kind;
    bool has_id; /* always true of a row */
    int64_t id;
    struct message *row; /* of a row: the caller's to close; NULL otherwise */
    int rc;              /* of an end */
    char error[512];     /* of an end; "" when there is none */
};
/* Reads text[length], without its newline. */
void answer_line_read(const char *text, size_t length, struct answer_line *out);

#endif
