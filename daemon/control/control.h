/* SPDX-License-Identifier: Apache-2.0 */
/*
 * control.h - operators' requests over a Unix socket: one JSON object a line, answered by lines (docs/control-protocol.md).
 *
 * Guarantees, whatever a client does:
 *  1. every request that has an id gets exactly one "done" line, and no line after it, as long as the connection lives;
 *  2. what a client holds here is bounded: a line by REQUEST_LINE_MAX, requests under way by REQUEST_UNDER_WAY, what it does not read by
 *     CONTROL_BACKLOG; a turn of the loop serves it CONTROL_BURST requests at most. One that lets more pile up is cut off, and a last
 *     line says so; so is one that reads nothing for CONTROL_PATIENCE_S seconds, without a word that it would not read either;
 *  3. a client that goes away cancels what it asked for;
 *  4. of the open files that a client sends along (SCM_RIGHTS) one is kept, the newest, until a request takes it (request_file()) or the client goes.
 *
 * Knows no command and no node. One thread, the loop's.
 */
#ifndef DAEMON_CONTROL_CONTROL_H
#define DAEMON_CONTROL_CONTROL_H

#include "daemon/control/request.h"

struct event_base;
struct control;

enum {
    CONTROL_CONNECTIONS = 64,
    CONTROL_BURST = 16,
    CONTROL_PAUSE = 256 * 1024,         /* unread bytes from which a connection's next requests wait */
    CONTROL_BACKLOG = 16 * 1024 * 1024, /* unread bytes that are too many: one answer is never longer */
    CONTROL_PATIENCE_S = 10,
};

struct control_config {
    const char *path;
    unsigned mode;
    const char *group;                 /* NULL or "": as it is */
    const struct request_table *table; /* borrowed */
};

/*
 * Listens. Borrows base and the table until control_close(). -errno as control_socket_open(), or -ENOMEM, with why. SIGPIPE is
 * ignored from now on: writing to a client that has gone is an error like others.
 */
CW_MUST_CHECK int control_open(struct control **out, struct event_base *base, const struct control_config *config,
                               char why[static CONTROL_WHY]);
/* Cancels everything and closes. Requests that cannot be cancelled may still be answered afterwards, to nobody. NULL is allowed. */
void control_close(struct control *control);
/* Connections there are. */
unsigned control_clients(const struct control *control);

#endif
