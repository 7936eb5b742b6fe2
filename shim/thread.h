/* SPDX-License-Identifier: Apache-2.0 */
/*
 * thread.h - how the daemon's threads begin. The daemon's loop handles signals, and its threads block them, except for
 * the signals of a crash: the daemon's handler must see these in whatever thread they come (daemon/machine/watcher.h),
 * and where such a signal is blocked, the kernel ends the process without calling the handler.
 */
#ifndef SHIM_THREAD_H
#define SHIM_THREAD_H

#include "cubeway/types.h"

#include <pthread.h>

/*
 * Runs work(context) in a thread with the caller's rights and priority. 0 and *out, which is to be joined; or -errno.
 */
CW_MUST_CHECK int thread_start(pthread_t *out, void *(*work)(void *context), void *context);

#endif
