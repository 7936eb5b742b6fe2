/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lab.h - a connection to a daemon that may belong to a lab of cwlab, and may have been started a moment ago.
 *
 * Such a daemon refuses connections until its start is over, exactly as a dead one does. The keeper of the lab, whose
 * socket lies beside the daemon's, knows which of the two it is.
 */
#ifndef CTL_ASK_LAB_H
#define CTL_ASK_LAB_H

#include "ctl/ask/client.h"

/* The name of the daemon, and of its socket, of a lab whose servers live in one process. */
extern const char lab_of_one_process[];

/*
 * As client_open(). Where the socket is in the folder of a lab, and the lab's keeper says that the daemon runs, the
 * socket is tried again until it opens, for `patience` at most: -ETIME then. -ECONNREFUSED: the daemon of that lab is
 * dead, or the lab is. The client of a lab's daemon knows that it is one (client_lab()).
 */
CW_MUST_CHECK int lab_client_open(struct client **out, const char *path, cw_span patience, char why[static CLIENT_WHY]);

/*
 * Orders the keeper of that socket's lab to do something, as cwlab does: "fail", "restore", "link" .. with its words.
 * 0: done. -ENOENT: the socket is of no lab; otherwise -errno; why says what is wrong.
 */
CW_MUST_CHECK int lab_order(const char *path, const char *command, int argc, const char *const *argv,
                            char why[static CLIENT_WHY]);

/* The socket is in the folder of a lab. */
bool lab_has(const char *path);

/* The keeper of that socket's lab says that the daemon of this server runs. False also: the socket is of no lab. */
bool lab_daemon_runs(const char *path, const char *server);

#endif
