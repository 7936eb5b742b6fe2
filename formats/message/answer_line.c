/* SPDX-License-Identifier: Apache-2.0 */
#include "message/answer_line.h"

/* Takes m. */
static char *line_of(struct message *m, size_t *length)
{
    char *line = message_line(m, length);
    message_close(m);
    return line;
}

char *answer_line_row(struct message *row, int64_t id, size_t *length)
{
    if (row == NULL) {
        return NULL;
    }
    struct message *m = message_open();
    message_integer(m, "id", id);
    message_inner(m, "row", row);
    return line_of(m, length);
}

char *answer_line_done(bool has_id, int64_t id, int rc, const char *error, size_t *length)
{
    struct message *m = message_open();
    if (has_id) {
        message_integer(m, "id", id);
    } else {
        message_null(m, "id");
    }
    message_flag(m, "done", true);
    message_integer(m, "rc", rc);
    if (error != NULL) {
        message_text(m, "error", error);
    }
    return line_of(m, length);
}

void answer_line_read(const char *text, size_t length, struct answer_line *out)
{
    *out = (struct answer_line){.kind = ANSWER_STRANGE};
    struct message *m = message_parse(text, length, NULL, 0);
    const struct message *row = message_get_inner(m, "row");
    out->has_id = message_kind(m, "id") == MESSAGE_INTEGER;
    out->id = message_get_integer(m, "id", 0);
    if (row != NULL && out->has_id) {
        out->kind = ANSWER_ROW;
        out->row = message_share(row);
    } else if (message_get_flag(m, "done") && message_kind(m, "rc") == MESSAGE_INTEGER) {
        out->kind = ANSWER_DONE;
        out->rc = (int)message_get_integer(m, "rc", 0);
        snprintf(out->error, sizeof out->error, "%s", message_get_text(m, "error", ""));
    }
    message_close(m);
}
