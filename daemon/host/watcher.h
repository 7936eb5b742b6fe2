/* SPDX-License-Identifier: Apache-2.0 */
/*
 * watcher.h - a small process that outlives the daemon by a moment and says goodbye for it, so that neighbours count it out at once
 * instead of waiting until it has been silent for `dead` (semantics 4.2; wire/goodbye.h, GOODBYE_DIED).
 *
 * It is the daemon's child, not its parent: the process that a service manager, an operator or `kill -9` means is the daemon itself. It
 * sleeps on a pipe whose other end only the daemon has: the kernel closes that when the daemon has died, of whatever, after its last
 * thread has run. Then it sends, on each link, the frame that the daemon had left for that case in memory they share (its "will"), by one
 * plain system call of the shim it inherited, and ends. One that is stopped has not died.
 *
 * A daemon that dumps core has its descriptors until the dump is written: it tells the watcher itself, from the signal's handler (watcher_on_crash). A watcher
 * that died, or was killed, is seen by SIGCHLD, and another is started (watcher_look).
 */
#ifndef DAEMON_HOST_WATCHER_H
#define DAEMON_HOST_WATCHER_H

#include "cubeway/types.h"
#include "shim/shim.h"

#include <sys/types.h>

struct watcher;

enum {
    WATCHER_WILL = 64,    /* longest frame of a will */
    WATCHER_TRIES = 10,   /* watchers that are started anew, and no more */
    WATCHER_CRASH_MS = 5, /* from a crash to the goodbye: the kernel stops our other threads meanwhile */
};

/*
 * Forks; before there are threads, and before anything is open that the watcher should not have. The shims (each may be NULL), borrowed until watcher_end(), are used by
 * the watcher only once we are dead. first: called in each child before all else (to give up privileges, to close); where a watcher is started anew there
 * are threads, and it may call only what is safe in a signal's handler. May be NULL. 0 or -errno.
 */
CW_MUST_CHECK int watcher_start(struct watcher **out, struct shim *const shims[static CW_LINK_COUNT],
                                void (*first)(void *context), void *context);
/* What to say on the link should we die now; length 0: nothing. context is the watcher: it fits host_options.will. */
void watcher_will(void *context, cw_link link, const uint8_t *bytes, uint32_t length);
/* After SIGCHLD: 0, the watcher is well; 1, it was dead and another watches now; -errno: it was dead and none could be started, or it was one too often (-ELOOP). */
int watcher_look(struct watcher *w);
/* From now on a crash of this process (a signal of those that dump core, unless somebody handles it already) is told to the watcher. One watcher a process. */
void watcher_on_crash(struct watcher *w);
/* Its process, for the log and for tests. */
pid_t watcher_process(const struct watcher *w);
/* We end in order: the watcher ends without a word; one that has not ended after 0.2 s (somebody stopped it) is killed. NULL is allowed. */
void watcher_end(struct watcher *w);

#endif
