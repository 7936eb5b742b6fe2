/* SPDX-License-Identifier: Apache-2.0 */
/*
 * request.h - one request and its answer: what a command reads, what it says, and that it ends exactly once.
 *
 * It stands between the socket (control.h) and the commands (commands.h), and both know it. It calls no system: lines
 * come in and go out as bytes.
 */
#ifndef DAEMON_CONTROL_REQUEST_H
#define DAEMON_CONTROL_REQUEST_H

#include "base/list.h"
#include "message/request_line.h"

struct request;

enum {
    REQUEST_UNDER_WAY = 32, /* of one client */
    CONTROL_WHY = REQUEST_LINE_WHY,
};

struct request_command {
    const char *name;
    const char *words;   /* its args, as help shows them: "[SERVER]" */
    const char *options; /* names of its options, with spaces between; any other option is refused */
    const char *help;    /* one line */
    int least, most;     /* how many args it takes */
    void (*run)(struct request *r);
};

/* All that can be asked for. */
struct request_table {
    const struct request_command *command;
    size_t commands;
    void *context; /* request_context() */
};

/* ---- One client -------------------------------------------------------------------------------------------------- */

/* Where the answers to one client go. Its owner fills in the functions; requests holds those under way. */
struct request_port {
    void (*write)(struct request_port *port, const char *bytes, size_t length);
    size_t (*backlog)(const struct request_port *port); /* bytes written and not yet read by the client; NULL: none */
    int (*file)(struct request_port *port);             /* as request_file(); NULL: none ever comes */
    struct list requests;
    unsigned count;
};
void request_port_init(struct request_port *port);
/*
 * The client has gone: cancels the requests that can be cancelled, and lets the others end unheard. Nothing is written
 * any more.
 */
void request_port_leave(struct request_port *port);

/*
 * Takes what a client wrote as one line (borrowed, without newline): its request begins, and perhaps ends, in this
 * call. Every table has two commands more: "help" (a row for each command) and "cancel ID".
 */
void request_take(struct request_port *port, const struct request_table *table, const char *text, size_t length);

/* ---- A request, in the hands of a command's run() until request_done() ------------------------------------------- */

void *request_context(const struct request *r);
/* args, options and "server", as the client sent them; borrowed until request_done(). */
const struct request_line *request_line(const struct request *r);

/*
 * Gives the open file that the client sent along (SCM_RIGHTS), with the request or before it, for the caller to close;
 * -1: there is none. It was opened with the client's rights, so whoever reads for the client reads this descriptor, and
 * never a file by its name. To be called once, inside run().
 */
int request_file(struct request *r);

/* Fields go to the current row; a row begins with its first field and ends with request_row() or request_done(). */
void request_integer(struct request *r, const char *name, int64_t value);
void request_flag(struct request *r, const char *name, bool value);
void request_text(struct request *r, const char *name, const char *value);
/* Appends to a list; with value NULL the list is made, empty. */
void request_element(struct request *r, const char *name, const char *value);
void request_server(struct request *r, const char *name, cw_coord server);
/* A list of link names. */
void request_links(struct request *r, const char *name, cw_links links);
void request_row(struct request *r);
/* Bytes that the client has not read yet: a stream that can lose rows looks here first. */
size_t request_backlog(const struct request *r);

/*
 * Sets what to call when the client goes away or cancels: cancel must end the request with request_done() before it
 * returns. A request for which nothing is set stays open after that, heard by nobody, until its command is done with
 * it.
 */
void request_on_cancel(struct request *r, void (*cancel)(struct request *r, void *context), void *context);

/*
 * Ends the answer, and takes r. rc: 0, 1 (the answer is "no"), or -errno; the format gives a sentence that says what is
 * wrong, where, and what to do.
 */
void request_done(struct request *r, int rc);
__attribute__((format(printf, 3, 4))) void request_refuse(struct request *r, int rc, const char *format, ...);

#endif
