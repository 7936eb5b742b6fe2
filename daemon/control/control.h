/* SPDX-License-Identifier: Apache-2.0 */
/*
 * control.h - operators' requests over a Unix socket: one JSON object a line, answered by lines
 * (docs/control-protocol.md).
 *
 * Guarantees, whatever a client does:
 *  1. Every request that has an id gets exactly one "done" line, and no line after it, as long as the connection lives.
 *  2. What a client can make this daemon hold is bounded: a line by REQUEST_LINE_MAX, requests under way by
 *     REQUEST_UNDER_WAY, answers that it does not read by CONTROL_BACKLOG; a turn of the loop serves it CONTROL_BURST
 *     requests at most. A client that lets more pile up is cut off, and a last line says so. A client that reads
 *     nothing for CONTROL_PATIENCE_S seconds is cut off without one, for it would not read that either.
 *  3. A client that goes away cancels what it asked for.
 *  4. Of the open files that a client sends along (SCM_RIGHTS), one is kept, the newest, until a request takes it
 *     (request_file()) or the client goes.
 *
 * This file knows no command and no node. One thread calls it, the loop's.
 */
#ifndef DAEMON_CONTROL_CONTROL_H
#define DAEMON_CONTROL_CONTROL_H

#include "daemon/control/request.h"

struct event_base;
struct control;

enum {
    CONTROL_CONNECTIONS = 64,
    CONTROL_BURST = 16,
    CONTROL_PAUSE = 256 * 1024,         /* bytes that a client has not read, from which its next requests wait */
    CONTROL_BACKLOG = 16 * 1024 * 1024, /* unread bytes at which it is cut off: one answer is never longer */
    CONTROL_PATIENCE_S = 10,
};

struct control_config {
    const char *path;
    unsigned mode;
    const char *group;                 /* of the socket file; NULL or "": the group of the process */
    const char *user;                  /* that the process will become; NULL or "": none */
    const struct request_table *table; /* borrowed */
    /*
     * Called when there is more to do at once that no descriptor tells of: the base is to be run again before the loop
     * sleeps. NULL: the loop sleeps inside of the base, which knows.
     */
    void (*soon)(void *context);
    void *context;
};

/*
 * Begins to listen. Borrows base and the table until control_close(). -errno as control_socket_open(), or -ENOMEM, with
 * why. SIGPIPE is ignored from now on: writing to a client that has gone is an error like any other.
 */
CW_MUST_CHECK int control_open(struct control **out, struct event_base *base, const struct control_config *config,
                               char why[static CONTROL_WHY]);
/*
 * Cancels all requests and closes. Those that cannot be cancelled may still be answered afterwards; nobody hears it.
 * NULL is allowed.
 */
void control_close(struct control *control);
/* How many connections there are. */
unsigned control_clients(const struct control *control);

#endif
