/* SPDX-License-Identifier: Apache-2.0 */
/*
 * request_line.h - the line by which a client asks something of a daemon (docs/control-protocol.md): put together by
 * the client, taken apart by the daemon.
 *
 *     {"id": 1, "command": "ping", "server": "0,0,0", "args": ["1,2,0"], "options": {"count": 3}}
 */
#ifndef MESSAGE_REQUEST_LINE_H
#define MESSAGE_REQUEST_LINE_H

#include "cubeway/types.h"

enum {
    REQUEST_LINE_MAX = 64 * 1024, /* bytes of a request, its newline not counted */
    REQUEST_LINE_WORDS = 64,      /* args of a request */
    REQUEST_LINE_WHY = 512,       /* bytes of a sentence that says what is wrong with one */
};

/* ---- A client puts a request together ---------------------------------------------------------------------------- */

/* NULL when there was no memory for it, which every function here allows. Texts are copied. */
struct request_draft;

/* server: which of the servers in one process is meant; NULL: none is named. */
struct request_draft *request_draft_open(const char *command, const char *server);
void request_draft_close(struct request_draft *r);
/* As the argument of request_draft_open(), where the server is known later. */
void request_draft_server(struct request_draft *r, const char *server);
void request_draft_word(struct request_draft *r, const char *word);
/* Options. */
void request_draft_text(struct request_draft *r, const char *option, const char *value);
void request_draft_integer(struct request_draft *r, const char *option, int64_t value);
void request_draft_flag(struct request_draft *r, const char *option);
/* Appends to an option that is a list. */
void request_draft_element(struct request_draft *r, const char *option, const char *value);
/*
 * Gives the line of the request under that id, with its newline, for the caller to free. -ENOMEM; -EILSEQ: a word or
 * the text of an option is not UTF-8, which JSON cannot say.
 */
CW_MUST_CHECK int request_draft_line(struct request_draft *r, int64_t id, char **line, size_t *length);

/* ---- A daemon takes it apart ------------------------------------------------------------------------------------- */

struct request_line {
    bool has_id;
    int64_t id;
    const char *command;
    const char *server; /* NULL: none is named */
    int argc;
    const char *argv[REQUEST_LINE_WORDS + 1]; /* NULL from argc on; numbers and truth values stand here as text */
    struct message *message;                  /* private: owns the texts above */
    char number[REQUEST_LINE_WORDS][24];      /* private */
};

/*
 * Reads text[length], without its newline; it is not needed afterwards. 0 and *out, to be closed; or -EINVAL and why, a
 * sentence that says what was expected. out->id and out->has_id are set in both cases, as far as the line tells them.
 */
CW_MUST_CHECK int request_line_open(struct request_line *out, const char *text, size_t length,
                                    char why[static REQUEST_LINE_WHY]);
/* Also after a failed request_line_open(). */
void request_line_close(struct request_line *line);

/* The first option that is not among names (words parted by spaces), or NULL. */
const char *request_line_strange(const struct request_line *line, const char *names);
/*
 * 0, with *out untouched: the option is not there. 1: it is. -EINVAL: it is of another type; -ERANGE: not in
 * least..most.
 */
CW_MUST_CHECK int request_line_number(const struct request_line *line, const char *option, int64_t least, int64_t most,
                                      int64_t *out);
CW_MUST_CHECK int request_line_flag(const struct request_line *line, const char *option, bool *out);
/* *out is borrowed until the line is closed. */
CW_MUST_CHECK int request_line_text(const struct request_line *line, const char *option, const char **out);
/* Element i of an option that is a list of texts (or one text, which is a list of one); NULL: there is none. */
const char *request_line_element(const struct request_line *line, const char *option, size_t i);

#endif
