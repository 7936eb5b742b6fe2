/* SPDX-License-Identifier: Apache-2.0 */
/*
 * privileges.h - a daemon that parses what neighbours send holds nothing that it needs no more.
 *
 * privileges_limit() while links and sockets are being opened, privileges_drop() once they are: from then on no capability is left, none can
 * be had back, and what the daemon opens later (a service's file) it opens as its user. Sockets that are open stay good.
 */
#ifndef DAEMON_HOST_PRIVILEGES_H
#define DAEMON_HOST_PRIVILEGES_H

#include "cubeway/types.h"

#include <stdbool.h>

enum { PRIVILEGES_WHY = 256, PRIVILEGES_NICE = -10 };

/*
 * Keeps, of the capabilities that there are, CAP_NET_RAW (raw sockets), CAP_NET_ADMIN (their buffers), and those that opening files and
 * changing user take. No new ones by exec. 0 or -errno.
 */
CW_MUST_CHECK int privileges_limit(char why[static PRIVILEGES_WHY]);
/*
 * Goes before processes of usual priority: by nice -10, or, in real time, by SCHED_RR of the lowest rank, if it may; called first, while the right to
 * do so is there. 0, or -EACCES: it may not, and goes on with what it got (nice, where real time cannot be had).
 */
int privileges_hurry(bool realtime);
/* The calling thread is of usual priority from now on, whatever its process is. */
void privileges_take_time(void);
/* The calling thread has no capability from now on: to be called by one that may begin before privileges_drop(), which is of its caller's thread only (Linux). */
void privileges_have_none(void);
/* Becomes the user, with its groups ("": stays who it is), and gives up every capability. -ENOENT no such user, -EPERM, or another. */
CW_MUST_CHECK int privileges_drop(const char *user, char why[static PRIVILEGES_WHY]);

#endif
