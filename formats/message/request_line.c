/* SPDX-License-Identifier: Apache-2.0 */
#include "message/request_line.h"

#include "message/message.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- A client puts a request together ---------------------------------------------------------------------------- */

struct request_draft {
    struct message *line;    /* id, command, server, args; the options when it is complete */
    struct message *options; /* by name */
    unsigned fields;         /* of options */
    bool strange;            /* a text is not UTF-8 */
};

/* Can the text be part of the request? If not, the request will not become a line. */
static bool accept_text(struct request_draft *r, const char *text)
{
    if (r == NULL) {
        return false;
    }
    r->strange = r->strange || !message_holds(text);
    return true;
}

struct request_draft *request_draft_open(const char *command, const char *server)
{
    struct request_draft *r = calloc(1, sizeof *r);
    if (r == NULL) {
        return NULL;
    }
    r->line = message_open();
    r->options = message_open();
    message_integer(r->line, "id", 0); /* its place is the first; the number comes with the line */
    message_text(r->line, "command", command);
    request_draft_server(r, server);
    return r;
}

void request_draft_close(struct request_draft *r)
{
    if (r != NULL) {
        message_close(r->line);
        message_close(r->options);
        free(r);
    }
}

/* Gives the options, to set one more. */
static struct message *options_of(struct request_draft *r)
{
    if (r == NULL) {
        return NULL;
    }
    r->fields++;
    return r->options;
}

void request_draft_server(struct request_draft *r, const char *server)
{
    if (server != NULL && accept_text(r, server)) {
        message_text(r->line, "server", server);
    }
}

void request_draft_word(struct request_draft *r, const char *word)
{
    if (accept_text(r, word)) {
        message_element(r->line, "args", word);
    }
}

void request_draft_text(struct request_draft *r, const char *option, const char *value)
{
    if (accept_text(r, value)) {
        message_text(options_of(r), option, value);
    }
}

void request_draft_integer(struct request_draft *r, const char *option, int64_t value)
{
    message_integer(options_of(r), option, value);
}

void request_draft_flag(struct request_draft *r, const char *option)
{
    message_flag(options_of(r), option, true);
}

void request_draft_element(struct request_draft *r, const char *option, const char *value)
{
    if (accept_text(r, value)) {
        message_element(options_of(r), option, value);
    }
}

int request_draft_line(struct request_draft *r, int64_t id, char **line, size_t *length)
{
    if (r == NULL) {
        return -ENOMEM;
    }
    if (r->strange) {
        return -EILSEQ;
    }
    message_integer(r->line, "id", id);
    if (r->fields > 0) {
        message_inner(r->line, "options", message_share(r->options));
    }
    *line = message_line(r->line, length);
    return *line != NULL ? 0 : -ENOMEM;
}

/* ---- A daemon takes it apart ------------------------------------------------------------------------------------- */

static int refuse(char why[static REQUEST_LINE_WHY], const char *what)
{
    snprintf(why, REQUEST_LINE_WHY, "%s; a request is one line, {\"id\": 1, \"command\": \"status\"}", what);
    return -EINVAL;
}

static int read_arguments(struct request_line *line, char why[static REQUEST_LINE_WHY])
{
    const struct message *m = line->message;
    if (message_kind(m, "args") == MESSAGE_MISSING) {
        return 0;
    }
    if (message_kind(m, "args") != MESSAGE_LIST) {
        return refuse(why, "args is no list");
    }
    if (message_elements(m, "args") > REQUEST_LINE_WORDS) {
        return refuse(why, "args has more than 64 words");
    }
    for (size_t i = 0; i < message_elements(m, "args"); i++) {
        line->argv[i] = message_get_element(m, "args", i);
        if (line->argv[i] == NULL) {
            if (!message_show_element(m, "args", i, line->number[i], sizeof line->number[i])) {
                return refuse(why, "args holds something that is no text, no whole number and no truth value");
            }
            line->argv[i] = line->number[i];
        }
        line->argc++;
    }
    return 0;
}

static int check_member(const struct message *m, const char *name, char why[static REQUEST_LINE_WHY])
{
    enum message_kind kind = message_kind(m, name);
    if (strcmp(name, "id") == 0) {
        return kind == MESSAGE_INTEGER ? 0 : refuse(why, "id is no whole number");
    }
    if (strcmp(name, "command") == 0 || strcmp(name, "server") == 0) {
        return kind == MESSAGE_TEXT ? 0 : refuse(why, "command or server is no text");
    }
    if (strcmp(name, "options") == 0) {
        return kind == MESSAGE_INNER ? 0 : refuse(why, "options is no object");
    }
    if (strcmp(name, "args") == 0) {
        return 0; /* read_arguments() looks at it */
    }
    char what[160];
    snprintf(what, sizeof what, "unknown member '%.80s'", name);
    return refuse(why, what);
}

static int check_members(const struct request_line *line, char why[static REQUEST_LINE_WHY])
{
    const char *name;
    int rc = 0;
    for (size_t i = 0; rc == 0 && (name = message_name(line->message, i)) != NULL; i++) {
        rc = check_member(line->message, name, why);
    }
    if (rc == 0 && !line->has_id) {
        return refuse(why, "the request has no id");
    }
    if (rc == 0 && line->command == NULL) {
        return refuse(why, "the request has no command");
    }
    return rc;
}

int request_line_open(struct request_line *out, const char *text, size_t length, char why[static REQUEST_LINE_WHY])
{
    char what[REQUEST_LINE_WHY / 2];
    memset(out, 0, offsetof(struct request_line, number));
    const struct message *m = out->message = message_parse(text, length, what, sizeof what);
    if (m == NULL) {
        return refuse(why, what);
    }
    out->has_id = message_kind(m, "id") == MESSAGE_INTEGER;
    out->id = message_get_integer(m, "id", 0);
    out->command = message_get_text(m, "command", NULL);
    out->server = message_get_text(m, "server", NULL);
    int rc = check_members(out, why);
    return rc < 0 ? rc : read_arguments(out, why);
}

void request_line_close(struct request_line *line)
{
    message_close(line->message);
    line->message = NULL;
}

/* ---- Options ----------------------------------------------------------------------------------------------------- */

static const struct message *options(const struct request_line *line)
{
    return message_get_inner(line->message, "options");
}

static bool among(const char *name, const char *names)
{
    size_t length = strlen(name);
    while (*names != '\0') {
        size_t word = strcspn(names, " ");
        if (word == length && memcmp(name, names, word) == 0) {
            return true;
        }
        names += word + (names[word] == ' ');
    }
    return false;
}

const char *request_line_strange(const struct request_line *line, const char *names)
{
    const char *name;
    for (size_t i = 0; (name = message_name(options(line), i)) != NULL; i++) {
        if (!among(name, names)) {
            return name;
        }
    }
    return NULL;
}

/* 1: the option is there and of that kind. 0: it is not there. -EINVAL: it is of another kind. */
static int look_up(const struct request_line *line, const char *option, enum message_kind kind)
{
    enum message_kind found = message_kind(options(line), option);
    if (found == MESSAGE_MISSING) {
        return 0;
    }
    return found == kind ? 1 : -EINVAL;
}

int request_line_number(const struct request_line *line, const char *option, int64_t least, int64_t most, int64_t *out)
{
    int rc = look_up(line, option, MESSAGE_INTEGER);
    if (rc <= 0) {
        return rc;
    }
    int64_t number = message_get_integer(options(line), option, 0);
    if (number < least || number > most) {
        return -ERANGE;
    }
    *out = number;
    return 1;
}

int request_line_flag(const struct request_line *line, const char *option, bool *out)
{
    int rc = look_up(line, option, MESSAGE_FLAG);
    *out = rc > 0 ? message_get_flag(options(line), option) : *out;
    return rc;
}

int request_line_text(const struct request_line *line, const char *option, const char **out)
{
    int rc = look_up(line, option, MESSAGE_TEXT);
    *out = rc > 0 ? message_get_text(options(line), option, NULL) : *out;
    return rc;
}

const char *request_line_element(const struct request_line *line, const char *option, size_t i)
{
    return message_get_element(options(line), option, i);
}
