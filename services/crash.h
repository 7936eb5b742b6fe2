/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crash.h - what a process says when it crashes: in which service, in which upcall, on which server and when, with a
 * backtrace. A service shares the fate of its server, so its author needs more than "the daemon is gone".
 *
 * What is called in handlers of signals is safe there: it formats into a small buffer, writes with write(2), allocates
 * nothing and takes no lock. There is one report in a process, for the process's first thread, which runs the nodes.
 */
#ifndef SERVICES_CRASH_H
#define SERVICES_CRASH_H

#include "base/upcall.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CRASH_TEXT = 640 };

/* All pointers are borrowed for the life of the process, and may be NULL. */
struct crash_report {
    const struct upcall_mark *mark; /* where the nodes of this process are */
    bool logfmt;                    /* lines are written as the daemon's log writes them; false: plain sentences */
    const char *repeat;             /* the command that makes the same happen again */
    void (*then)(int signal);       /* called after the report; only what is safe in a handler */
};

/*
 * From now on a signal that dumps core (unless it has a handler already, as sanitizers have one) is reported on
 * standard error, and then kills the process as it would have. A later call replaces the report. Reserves a stack for
 * the handler, for the thread's own may be what overflowed.
 */
void crash_watch(const struct crash_report *report);
/*
 * From now on `signal` makes the first thread say which upcall it is in and for how long, with a backtrace, and go on;
 * it says nothing while it is in no upcall. For a watchdog. read: the clock of the mark's times.
 */
void crash_say_on(int signal, cw_time (*read)(void));

/*
 * Writes the sentence "crashed: SIGSEGV at address 0x0 in service lock, in on_command, on server 1,2,0, at 1.234567890
 * s" and gives its length; without a service, "crashed: SIGABRT outside of any service"; and "ended by the watchdog:
 * service lock, in on_command, on server 1,2,0, has held the thread for 10.0 s" where the mark says that. address NULL:
 * there is none, for example because a process sent the signal. Safe in a handler.
 */
size_t crash_sentence(int signal, const uintptr_t *address, const struct upcall_mark *mark,
                      char out[static CRASH_TEXT]);

/*
 * Takes "//" and "/./" out of the path with which a line of a backtrace begins, in place, and gives the new length: the
 * loader (loader.c) puts many of them before the path of a module. Safe in a handler.
 */
size_t crash_plain_path(char *line, size_t length);

#endif
