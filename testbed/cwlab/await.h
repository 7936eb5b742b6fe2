/* SPDX-License-Identifier: Apache-2.0 */
/*
 * await.h - waits until a daemon that has been started can be asked.
 *
 * A daemon opens its control socket late in its start: the links, the watcher and the services come first, and on a
 * busy machine they take a second. Until then a client that tries the socket is refused, as it is when the daemon is
 * dead. The keeper knows the difference, and so these functions ask it before they call any daemon dead.
 */
#ifndef TESTBED_CWLAB_AWAIT_H
#define TESTBED_CWLAB_AWAIT_H

#include "cubeway/time.h"
#include "testbed/lab.h"

enum { AWAIT_WHY = 320 + LAB_PATH };

/* How long commands wait for one daemon. */
cw_span await_patience(void);
/*
 * Waits until the control socket of the daemon that has server s takes connections. 0; -ESRCH: the keeper says that the
 * daemon is dead; -ETIMEDOUT: the daemon runs, and its socket was not open at that instant; -ECONNREFUSED: there is no
 * keeper. In these cases why is a sentence that says so, and what to do.
 */
CW_MUST_CHECK int await_daemon(const struct lab *lab, cw_server s, cw_time until, char why[static AWAIT_WHY]);

#endif
