/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/control/request.h"

#include "base/check.h"
#include "keyspace/torus.h"
#include "message/answer_line.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct request {
    struct list_node node;
    struct request_port *port; /* NULL: nobody listens any more */
    void *context;
    struct request_line line;
    struct message *row; /* NULL: none is begun */
    void (*cancel)(struct request *r, void *context);
    void *cancel_context;
    bool *ended; /* while it is being cancelled: set when it ends */
};

static struct request *request_at(struct list_node *node)
{
    return container_of(node, struct request, node);
}

/* Takes line, which may be NULL. */
static void put_line(struct request_port *port, char *line, size_t length)
{
    if (line != NULL) {
        port->write(port, line, length);
    }
    free(line);
}

static void put_done(struct request_port *port, bool has_id, int64_t id, int rc, const char *error)
{
    size_t length = 0;
    char *line = answer_line_done(has_id, id, rc, error, &length);
    put_line(port, line, length);
}

/* ---- The client's side ------------------------------------------------------------------------------------------- */

void request_port_init(struct request_port *port)
{
    list_init(&port->requests);
    port->count = 0;
}

static void let_go(struct request *r)
{
    CHECK(r->port->count > 0);
    list_remove(&r->node);
    r->port->count--;
    r->port = NULL;
}

/* Nobody hears the request any more. One that can be cancelled has ended when this returns. */
static void abandon(struct request *r)
{
    bool ended = false;
    let_go(r);
    if (r->cancel != NULL) {
        r->ended = &ended;
        r->cancel(r, r->cancel_context);
        CHECK(ended); /* request_on_cancel() demands it: nobody would end the request later */
    }
}

void request_port_leave(struct request_port *port)
{
    while (!list_is_empty(&port->requests)) {
        abandon(request_at(list_first(&port->requests)));
    }
}

static struct request *find(struct request_port *port, int64_t id)
{
    for (struct list_node *n = list_first(&port->requests); n != NULL; n = list_next(&port->requests, n)) {
        if (request_at(n)->line.id == id) {
            return request_at(n);
        }
    }
    return NULL;
}

/* ---- The commands of every table --------------------------------------------------------------------------------- */

static void run_cancel(struct request *r)
{
    const struct request_line *line = &r->line;
    char *end;
    long long id = line->argc == 1 ? strtoll(line->argv[0], &end, 10) : 0;
    if (line->argc != 1 || end == line->argv[0] || *end != '\0') {
        request_refuse(r, -EINVAL, "cancel takes the id of a request of this connection");
        return;
    }
    struct request *other = find(r->port, id);
    if (other == NULL || other == r) {
        request_refuse(r, -ENOENT, "no request %lld is under way on this connection", id);
        return;
    }
    put_done(r->port, true, id, -ECANCELED, "cancelled");
    abandon(other);
    request_done(r, 0);
}

static void tell_command(struct request *r, const struct request_command *c)
{
    request_text(r, "command", c->name);
    request_text(r, "words", c->words);
    request_text(r, "options", c->options);
    request_text(r, "help", c->help);
    request_row(r);
}

static const struct request_command own[] = {
    {"cancel", "ID", "", "end another request of this connection", 1, 1, run_cancel},
};

static void run_help(struct request *r, const struct request_table *table)
{
    for (size_t i = 0; i < table->commands; i++) {
        tell_command(r, &table->command[i]);
    }
    tell_command(r, &own[0]);
    request_done(r, 0);
}

/* ---- Taking one -------------------------------------------------------------------------------------------------- */

static const struct request_command *command_of(const struct request_table *table, const char *name)
{
    for (size_t i = 0; i < table->commands; i++) {
        if (strcmp(table->command[i].name, name) == 0) {
            return &table->command[i];
        }
    }
    return strcmp(own[0].name, name) == 0 ? &own[0] : NULL;
}

static void begin(struct request *r, const struct request_table *table)
{
    const struct request_line *line = &r->line;
    if (strcmp(line->command, "help") == 0) {
        run_help(r, table);
        return;
    }
    const struct request_command *c = command_of(table, line->command);
    if (c == NULL) {
        request_refuse(r, -ENOENT, "unknown command '%.60s'; the command \"help\" lists those of this daemon",
                       line->command);
        return;
    }
    if (line->argc < c->least || line->argc > c->most) {
        request_refuse(r, -EINVAL, "%s takes other words: %s%s%s", c->name, c->name, c->words[0] != '\0' ? " " : "",
                       c->words);
        return;
    }
    const char *strange = request_line_strange(line, c->options);
    if (strange != NULL) {
        request_refuse(r, -EINVAL, "%s has no option '%.60s'%s%s", c->name, strange,
                       c->options[0] != '\0' ? "; it has " : "", c->options);
        return;
    }
    c->run(r);
}

void request_take(struct request_port *port, const struct request_table *table, const char *text, size_t length)
{
    char why[CONTROL_WHY];
    struct request *r = calloc(1, sizeof *r);
    if (r == NULL) {
        put_done(port, false, 0, -ENOMEM, "out of memory");
        return;
    }
    int rc = request_line_open(&r->line, text, length, why);
    if (rc == 0 && port->count >= REQUEST_UNDER_WAY) {
        snprintf(why, sizeof why, "%d requests of this connection are under way; wait for one to end",
                 REQUEST_UNDER_WAY);
        rc = -EBUSY;
    }
    if (rc == 0 && find(port, r->line.id) != NULL) {
        /* Another answer is being written under that id, which this request must not end. */
        r->line.has_id = false;
        snprintf(why, sizeof why, "a request with the id %lld is under way on this connection", (long long)r->line.id);
        rc = -EEXIST;
    }
    if (rc < 0) {
        put_done(port, r->line.has_id, r->line.id, rc, why);
        request_line_close(&r->line);
        free(r);
        return;
    }
    r->port = port;
    r->context = table->context;
    list_push_back(&port->requests, &r->node);
    port->count++;
    begin(r, table);
}

/* ---- The command's side ------------------------------------------------------------------------------------------ */

void *request_context(const struct request *r)
{
    return r->context;
}

const struct request_line *request_line(const struct request *r)
{
    return &r->line;
}

int request_file(struct request *r)
{
    return r->port != NULL && r->port->file != NULL ? r->port->file(r->port) : -1;
}

/* The row that fields go to; NULL: nobody listens, or there is no memory. */
static struct message *row_of(struct request *r)
{
    if (r->row == NULL && r->port != NULL) {
        r->row = message_open();
    }
    return r->row;
}

void request_integer(struct request *r, const char *name, int64_t value)
{
    message_integer(row_of(r), name, value);
}

void request_flag(struct request *r, const char *name, bool value)
{
    message_flag(row_of(r), name, value);
}

void request_text(struct request *r, const char *name, const char *value)
{
    message_text(row_of(r), name, value);
}

void request_element(struct request *r, const char *name, const char *value)
{
    message_element(row_of(r), name, value);
}

void request_server(struct request *r, const char *name, cw_coord server)
{
    char text[TORUS_TEXT];
    torus_format(server, text);
    request_text(r, name, text);
}

void request_links(struct request *r, const char *name, cw_links links)
{
    static const char *const names[CW_LINK_COUNT] = {"+x", "-x", "+y", "-y", "+z", "-z"};
    request_element(r, name, NULL);
    for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
        if (links & cw_links_of(link)) {
            request_element(r, name, names[link]);
        }
    }
}

void request_row(struct request *r)
{
    struct message *row = r->row;
    r->row = NULL;
    if (r->port == NULL) {
        message_close(row);
    } else if (row != NULL) {
        size_t length = 0;
        char *line = answer_line_row(row, r->line.id, &length);
        put_line(r->port, line, length);
    }
}

size_t request_backlog(const struct request *r)
{
    return r->port != NULL && r->port->backlog != NULL ? r->port->backlog(r->port) : 0;
}

void request_on_cancel(struct request *r, void (*cancel)(struct request *r, void *context), void *context)
{
    r->cancel = cancel;
    r->cancel_context = context;
}

static void finish(struct request *r, int rc, const char *error)
{
    request_row(r);
    if (r->port != NULL) {
        put_done(r->port, true, r->line.id, rc, error);
        let_go(r);
    }
    if (r->ended != NULL) {
        *r->ended = true;
    }
    request_line_close(&r->line);
    free(r);
}

void request_done(struct request *r, int rc)
{
    finish(r, rc, rc < 0 ? strerror(-rc) : NULL);
}

void request_refuse(struct request *r, int rc, const char *format, ...)
{
    char why[CONTROL_WHY];
    va_list args;
    va_start(args, format);
    vsnprintf(why, sizeof why, format, args);
    va_end(args);
    finish(r, rc, why);
}
