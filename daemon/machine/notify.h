/* SPDX-License-Identifier: Apache-2.0 */
/*
 * notify.h - tells a service manager the state of the daemon (sd_notify(3)): one datagram to $NOTIFY_SOCKET, and
 * nothing where that is not set. The protocol is stable and a page long, so that no library is needed for it.
 */
#ifndef DAEMON_MACHINE_NOTIFY_H
#define DAEMON_MACHINE_NOTIFY_H

#include "cubeway/time.h"

#include <stdbool.h>

/*
 * state: "READY=1", "STOPPING=1", "WATCHDOG=1", "STATUS=..", or several with \n between them. 1 when it was sent, 0
 * when there is no socket, or -errno.
 */
int notify_send(const char *state);
/* How often to send WATCHDOG=1: half of what the manager asks for, to be safe. 0: it does not ask. */
cw_span notify_watchdog(void);

#endif
