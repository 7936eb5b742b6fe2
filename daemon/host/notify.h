/* SPDX-License-Identifier: Apache-2.0 */
/*
 * notify.h - tells a service manager how we are (sd_notify(3)): a datagram to $NOTIFY_SOCKET, nothing when there is none. The protocol is
 * stable and one page long, so that no library is needed for it.
 */
#ifndef DAEMON_HOST_NOTIFY_H
#define DAEMON_HOST_NOTIFY_H

#include "cubeway/time.h"

#include <stdbool.h>

/* "READY=1", "STOPPING=1", "WATCHDOG=1", "STATUS=..", several with \n between. 0, 1 when it was sent, or -errno. */
int notify_send(const char *state);
/* How often the manager wants to hear WATCHDOG=1, halved to be safe; 0: it does not. */
cw_span notify_watchdog(void);

#endif
