/* SPDX-License-Identifier: Apache-2.0 */
/*
 * watcher.h - a small process that outlives the daemon by a moment and says goodbye for it, so that neighbours stop
 * counting on it at once instead of waiting until it has been silent for `dead` (semantics 4.2; wire/goodbye.h,
 * GOODBYE_DIED).
 *
 * The watcher is the daemon's child and not its parent: the process that a service manager, an operator or `kill -9`
 * means is the daemon itself. The watcher sleeps on a pipe whose other end only the daemon holds. The kernel closes
 * that end when the daemon has died, of whatever cause, after its last thread has run. Then the watcher sends, on each
 * link, the frame that the daemon had left for this case in memory that both share (the "will"), by one plain system
 * call of the shim that it inherited, and ends. A daemon that is stopped has not died.
 *
 * A daemon that dumps core keeps its descriptors until the dump is written, so it wakes the watcher itself, from the
 * handler of the signal (watcher_crashed()). A watcher that dies is noticed by SIGCHLD, and another is started
 * (watcher_look()).
 *
 * The watcher also sees a daemon whose thread hangs in one upcall of a service: then it asks the daemon by a signal to
 * say so (services/crash.h), after one second, two, four and so on, and, when that lasts for as long as
 * watcher_limit() allows, ends it. Time counts only while the daemon computes or sleeps in that upcall: not while it is
 * stopped, and not while the machine gives it no processor.
 */
#ifndef DAEMON_MACHINE_WATCHER_H
#define DAEMON_MACHINE_WATCHER_H

#include "base/upcall.h"
#include "shim/shim.h"

#include <signal.h>

#include <sys/types.h>

struct watcher;
struct relay_state;

enum {
    WATCHER_WILL = 64,      /* longest frame of a will */
    WATCHER_TRIES = 10,     /* watchers are started anew this often, and no more */
    WATCHER_CRASH_MS = 5,   /* from a crash to the goodbye: by then the kernel has stopped our other threads */
    WATCHER_EVERY_MS = 250, /* it looks so often whether the daemon hangs */
    WATCHER_ASKS = SIGURG,  /* the signal that asks the daemon where it hangs: ignored by who has no handler for it */
};

/*
 * Forks the watcher: before there are threads, and before anything is open that the watcher should not have. The shims
 * (each may be NULL) and the relay's published value (NULL: there is none) are borrowed until watcher_end(); the
 * watcher uses them only once we are dead: it stops the relay, and says goodbye then. first (may be NULL) is called in
 * each child before all else, to give up privileges and to close descriptors; where a watcher is started anew there are
 * threads, so it may call only what is safe in a signal handler. 0 or -errno.
 */
CW_MUST_CHECK int watcher_start(struct watcher **out, struct shim *const shims[static CW_LINK_COUNT],
                                struct relay_state *relay, void (*first)(void *context), void *context);
/*
 * Sets the frame to send on the link should we die from now on; length 0: none. context is the watcher, so that the
 * function fits host_options.will.
 */
void watcher_will(void *context, cw_link link, const uint8_t *bytes, uint32_t length);
/*
 * To be called after SIGCHLD. 0: the watcher is well. 1: it was dead, and another one watches now. -errno: it was dead
 * and none could be started, or had been started too often (-ELOOP).
 */
int watcher_look(struct watcher *w);
/* Borrows the mark that the watcher looks at, which the nodes of this process are to write; w NULL: gives NULL. */
struct upcall_mark *watcher_mark(struct watcher *w);
/* A daemon that hangs in one upcall for that long is ended by SIGABRT; zero (the first value): it is not. */
void watcher_limit(struct watcher *w, cw_span limit);
/*
 * From now on watcher_crashed() tells this watcher that the process is about to die of a signal. There is one such
 * watcher in a process.
 */
void watcher_on_crash(struct watcher *w);
/* For the handler of the signal, and safe there. Without a watcher it does nothing. */
void watcher_crashed(int signal);
/* The process of the watcher, for the log and for tests. */
pid_t watcher_process(const struct watcher *w);
/*
 * We end in order, so the watcher ends without a goodbye. One that has not ended after 0.2 s (somebody stopped it) is
 * killed. NULL is allowed.
 */
void watcher_end(struct watcher *w);

#endif
