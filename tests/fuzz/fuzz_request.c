/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_request.c - any bytes as what a client of the control socket writes: every line is answered exactly once, in
 * lines that clients understand, and nothing is left when the client goes.
 */
#include "base/check.h"
#include "daemon/control/request.h"
#include "message/answer_line.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { HELD_MAX = 64 };

struct client {
    struct request_port port;
    size_t ends, lines;
    struct request *held[HELD_MAX];
    unsigned count;
};

static void check_line(struct request_port *port, const char *bytes, size_t length)
{
    struct client *c = container_of(port, struct client, port);
    struct answer_line answer;
    CHECK(length > 0 && bytes[length - 1] == '\n' && memchr(bytes, '\n', length) == bytes + length - 1);
    answer_line_read(bytes, length - 1, &answer);
    CHECK(answer.kind != ANSWER_STRANGE);
    c->ends += answer.kind == ANSWER_DONE;
    if (answer.kind == ANSWER_ROW) {
        message_close(answer.row);
    }
}

/* Everything there is to read, told again. */
static void run_echo(struct request *r)
{
    const struct request_line *line = request_line(r);
    int64_t number = 0;
    bool flag = false;
    const char *text = "";
    for (int i = 0; i < line->argc; i++) {
        request_element(r, "args", line->argv[i]);
    }
    CHECK(line->argv[line->argc] == NULL);
    if (request_line_number(line, "number", -100, 100, &number) > 0) {
        CHECK(number >= -100 && number <= 100);
    }
    (void)!request_line_flag(line, "flag", &flag);
    (void)!request_line_text(line, "text", &text);
    request_integer(r, "number", number);
    request_flag(r, "flag", flag);
    request_row(r);
    request_text(r, "text", text);
    for (size_t i = 0; (text = request_line_element(line, "list", i)) != NULL; i++) {
        request_element(r, "list", text);
    }
    request_refuse(r, (int)number, "%s", line->server != NULL ? line->server : "");
}

static void run_hold(struct request *r)
{
    struct client *c = request_context(r);
    if (c->count == HELD_MAX) {
        request_done(r, 1);
    } else {
        c->held[c->count++] = r;
    }
}

static void end_stream(struct request *r, void *context)
{
    (void)context;
    request_integer(r, "last", 1);
    request_done(r, 0);
}

static void run_stream(struct request *r)
{
    request_integer(r, "first", 1);
    request_row(r);
    request_on_cancel(r, end_stream, NULL);
}

static const struct request_command commands[] = {
    {"echo", "WORDS", "number flag text list", "", 0, REQUEST_LINE_WORDS, run_echo},
    {"hold", "", "", "", 0, 0, run_hold},
    {"stream", "", "", "", 0, 0, run_stream},
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct client c = {.port = {.write = check_line}};
    const struct request_table table = {commands, sizeof commands / sizeof *commands, &c};
    const char *at = (const char *)data, *end = at + size;
    request_port_init(&c.port);
    while (at < end) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        size_t length = (size_t)((newline != NULL ? newline : end) - at);
        c.lines++;
        request_take(&c.port, &table, at, length);
        CHECK(c.lines == c.ends + c.port.count);
        CHECK(c.port.count <= REQUEST_UNDER_WAY);
        at += length + 1;
    }
    CHECK(c.lines == c.ends + c.port.count);
    size_t ends = c.ends;
    request_port_leave(&c.port);
    CHECK(c.port.count == 0 && c.ends == ends); /* nothing is said to nobody */
    while (c.count > 0) {
        request_text(c.held[--c.count], "late", "word");
        request_done(c.held[c.count], 0);
    }
    CHECK(c.ends == ends);
    return 0;
}
