/* SPDX-License-Identifier: Apache-2.0 */
/*
 * await.h - waits until a daemon that has been started can be asked, and until one that leaves has ended.
 *
 * A daemon opens its control socket late in its start: the links, the watcher and the services come first, and on a
 * busy machine they take a second. Until then a client that tries the socket is refused, as it is when the daemon is
 * dead. The keeper knows the difference, and so these functions ask it before they call any daemon dead.
 */
#ifndef TESTBED_CWLAB_AWAIT_H
#define TESTBED_CWLAB_AWAIT_H

#include "cubeway/time.h"
#include "testbed/lab.h"

enum { AWAIT_WHY = 320 + LAB_PATH, AWAIT_ENDED = 64 };

/* How long commands wait for one daemon. */
cw_span await_patience(void);
/*
 * Waits until the control socket of the daemon that has server s takes connections. 0; -ESRCH: the keeper says that the
 * daemon is dead; -ETIMEDOUT: the daemon runs, and its socket was not open at that instant; -ECONNREFUSED: there is no
 * keeper. In these cases why is a sentence that says so, and what to do.
 */
CW_MUST_CHECK int await_daemon(const struct lab *lab, cw_server s, cw_time until, char why[static AWAIT_WHY]);
/*
 * Waits until the daemon that has server s does not leave any more: it has ended, or never was told to leave. 0, and in
 * ended how its last process ended, by the keeper's word ("": it runs); -ETIMEDOUT: it was still leaving at that
 * instant; -ECONNREFUSED: there is no keeper. In these two cases why is a sentence that says so, and what to do.
 */
CW_MUST_CHECK int await_leave(const struct lab *lab, cw_server s, cw_time until, char ended[static AWAIT_ENDED],
                              char why[static AWAIT_WHY]);

#endif
