/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client.h - a connection to a daemon, and one request at a time over it.
 */
#ifndef CTL_ASK_CLIENT_H
#define CTL_ASK_CLIENT_H

#include "commandline/keys.h"
#include "cubeway/time.h"
#include "message/message.h"
#include "message/request_line.h"

enum { CLIENT_WHY = 1024 };

struct client;

/* A daemon was there, left in order, and was not allowed to remove its socket. */
bool client_left(const char *path);
/* -errno, and why says what is wrong and what to do. */
CW_MUST_CHECK int client_open(struct client **out, const char *path, char why[static CLIENT_WHY]);
void client_close(struct client *c); /* NULL is allowed */

/*
 * Sends the request and waits for its answer. Calls row for each row, which it takes; gives the rc of the end, with its
 * error in why ("" when there is none). -EPIPE: the daemon has gone; -ETIME: nothing came for `patience` (zero or less:
 * waits for ever); -EINTR: *stop was set, or q pressed; -EPROTO: the other side does not speak the protocol: after one
 * of these the connection is of no more use, but to ask another question after -ETIME, whose late answer is passed
 * over. -EINVAL also when the request holds text that is not UTF-8.
 */
CW_MUST_CHECK int client_ask(struct client *c, struct request_draft *request, cw_span patience,
                             void (*row)(void *context, struct message *row), void *context,
                             char why[static CLIENT_WHY]);

/*
 * Sends this open file along with the next request (SCM_RIGHTS). Borrowed until client_ask() returns; the daemon gets a
 * descriptor of its own.
 */
void client_attach(struct client *c, int file);

/* *stop, set by a signal handler, ends client_ask() soon. Borrowed. */
void client_stop_on(struct client *c, const volatile int *stop);
/* So does the key q on that terminal. Borrowed; NULL, or keys that are off: no key does. */
void client_stop_by(struct client *c, struct keys *keys);

/*
 * The daemon is one of a lab of cwlab. option: "", or what names the lab in a line of cwlab ("--name x "); daemon: what
 * names the daemon there. client_lab() gives the option; NULL: the daemon is of no lab.
 */
void client_set_lab(struct client *c, const char *option, const char *daemon);
const char *client_lab(const struct client *c);
/* What names the daemon in its lab; NULL: it is of no lab. */
const char *client_daemon(const struct client *c);

/* The socket that was opened; borrowed from the client. */
const char *client_path(const struct client *c);

/*
 * Waits until the process of the daemon has ended, which is some time after its connections have: 0. -ETIME: it has not
 * within `patience` (zero or less: waits for ever); -EINTR: *stop was set; -ENOTSUP: the system cannot tell.
 */
CW_MUST_CHECK int client_outlive(struct client *c, cw_span patience);

/* True when the last error came from here and not from the daemon. */
bool client_failed(const struct client *c);

#endif
