/* SPDX-License-Identifier: Apache-2.0 */
/*
 * watchdog.h - ends a simulation that stands still because a service does not return: no simulated time passes in an
 * upcall, so nothing else would ever notice. It is a thread beside the simulation, which only looks at the mark.
 */
#ifndef SIMULATOR_CWSIM_WATCHDOG_H
#define SIMULATOR_CWSIM_WATCHDOG_H

#include "base/upcall.h"

struct watchdog;

/*
 * From now on, when one upcall lasts for `limit` of the wall clock or longer, the calling thread gets SIGABRT, and the
 * report of crashes (services/crash.h) says that the watchdog has ended it. *mark is borrowed until watchdog_close(),
 * and written then only. The time during which the whole process is stopped does not count. limit: above 0. NULL: there
 * is no memory, or no thread to be had.
 */
struct watchdog *watchdog_open(struct upcall_mark *mark, cw_span limit);
/* NULL does nothing. By the thread that has opened it. */
void watchdog_close(struct watchdog *w);

#endif
