/* SPDX-License-Identifier: Apache-2.0 */
/*
 * privileges.h - a daemon that parses what neighbours send holds no right that it no longer needs.
 *
 * Call privileges_limit() before links and sockets are opened, and privileges_drop() once they are. From then on the
 * process has no capability and can regain none, and what it opens later (a service's file) it opens as its user.
 * Sockets that are open stay usable.
 */
#ifndef DAEMON_MACHINE_PRIVILEGES_H
#define DAEMON_MACHINE_PRIVILEGES_H

#include "cubeway/types.h"

#include <stdbool.h>

enum { PRIVILEGES_WHY = 256, PRIVILEGES_NICE = -10 };

/*
 * Keeps only CAP_NET_RAW (raw sockets), CAP_NET_ADMIN (their buffers; the relay), CAP_BPF and CAP_PERFMON (the relay),
 * and the capabilities that opening files and changing user take, as far as the process has them. An exec gains none. 0
 * or -errno. namespaces: a device is to be made in another network namespace, so CAP_SYS_ADMIN (setns()) stays too, and
 * CAP_SYS_PTRACE, without which nobody is shown /proc/PID/ns of a process with more rights.
 */
CW_MUST_CHECK int privileges_limit(bool namespaces, char why[static PRIVILEGES_WHY]);
/*
 * Lets the process run before those of usual priority: by nice -10, or, with realtime, by SCHED_RR of the lowest rank.
 * It is called first, while the process has the right to do so. 0; or -EACCES: it may not, and the process goes on with
 * what it got (nice, where real time was refused).
 */
int privileges_hurry(bool realtime);
/*
 * Where the kernel groups processes by session (autogroups, the default of Debian's kernels), nice orders only the
 * processes of one session: all of them together get no more of a processor than another busy session does. So this
 * gives the session itself nice -10 (/proc/self/autogroup). 0: it has that now, or the kernel makes no such groups.
 * -EACCES: it takes CAP_SYS_NICE. -EXDEV: another process leads the session, for example a shell, whose other programs
 * would be preferred too; nothing was changed. Real-time priority needs none of this.
 */
CW_MUST_CHECK int privileges_hurry_session(void);
/* Gives the calling thread the usual priority, whatever the priority of its process is. */
void privileges_take_time(void);
/*
 * Takes every capability from the calling thread. For threads that may begin before privileges_drop(), which changes
 * only the thread that calls it (Linux).
 */
void privileges_have_none(void);
/*
 * Becomes the user, with the groups of that user ("": stays who it is), and gives up every capability. -ENOENT: no such
 * user; -EPERM, or another -errno.
 */
CW_MUST_CHECK int privileges_drop(const char *user, char why[static PRIVILEGES_WHY]);

#endif
