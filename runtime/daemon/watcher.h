/* SPDX-License-Identifier: Apache-2.0 */
/*
 * watcher.h - a small process that outlives the daemon by a moment and says goodbye for it, so that neighbours count it out at once
 * instead of waiting until it has been silent for `dead` (semantics 4.2; wire/goodbye.h, GOODBYE_DIED).
 *
 * It is the daemon's child, not its parent: the process that a service manager, an operator or `kill -9` means is the daemon itself. It
 * sleeps on a pipe whose other end only the daemon has: the kernel closes that when the daemon has died, of whatever, after its last
 * thread has run. Then it sends, on each link, the frame that the daemon had left for that case in memory they share (its "will"), by one
 * plain system call of the shim it inherited, and ends. A daemon that dumps core dies when the dump is written; one that is stopped has not died.
 */
#ifndef DAEMON_WATCHER_H
#define DAEMON_WATCHER_H

#include "cubeway/types.h"
#include "shim/shim.h"

struct watcher;

enum { WATCHER_WILL = 64 }; /* longest frame of a will */

/*
 * Forks; before there are threads. The shims (each may be NULL) are used by the watcher only once we are dead. tell: a function of the
 * child, called first (to give up privileges); may be NULL. 0 or -errno.
 */
CW_MUST_CHECK int watcher_start(struct watcher **out, struct shim *const shims[static CW_LINK_COUNT],
                                void (*first)(void *context), void *context);
/* What to say on the link should we die now; length 0: nothing. context is the watcher: it fits host_options.will. */
void watcher_will(void *context, cw_link link, const uint8_t *bytes, uint32_t length);
/* We end in order: the watcher ends without a word. NULL is allowed. */
void watcher_end(struct watcher *w);

#endif
