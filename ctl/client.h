/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client.h - a connection to a daemon, and one request at a time over it.
 */
#ifndef CTL_CLIENT_H
#define CTL_CLIENT_H

#include "cubeway/time.h"
#include "message/message.h"
#include "message/request_line.h"

enum { CLIENT_WHY = 1024 };

struct client;

/* -errno and, in why, what is wrong and what to do. */
CW_MUST_CHECK int client_open(struct client **out, const char *path, char why[static CLIENT_WHY]);
void client_close(struct client *c); /* NULL is allowed */

/*
 * Calls row for each row of the answer (it closes the row), and gives the rc of its end with its error in why ("" when there is none).
 * -EPIPE: the daemon has gone; -ETIME: nothing came for `patience` (zero or less: for ever); -EINTR: *stop was set; -EPROTO: it does not
 * speak the protocol. Then the connection is of no more use.
 */
CW_MUST_CHECK int client_ask(struct client *c, struct request_draft *request, cw_span patience,
                             void (*row)(void *context, struct message *row), void *context,
                             char why[static CLIENT_WHY]);

/* The next request goes with this open file beside it (SCM_RIGHTS). Borrowed until that has been asked; the daemon gets a descriptor of its own. */
void client_attach(struct client *c, int file);

/* What a handler of signals sets to end client_ask() soon. */
void client_stop_on(struct client *c, const volatile int *stop);

/* True for the errors above that come from here and not from the daemon. */
bool client_failed(const struct client *c);

#endif
