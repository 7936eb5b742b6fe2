/* SPDX-License-Identifier: Apache-2.0 */
/*
 * thread.h - how the daemon's threads begin: signals are its loop's, and a thread takes none but those of its own crash, which the daemon's
 * handler must hear of in whatever thread they come (daemon/host/watcher.h): where they are blocked the kernel ends the process without asking it.
 */
#ifndef SHIM_THREAD_H
#define SHIM_THREAD_H

#include "cubeway/types.h"

#include <pthread.h>

/* Runs work(context) in a thread with the rights and the priority of the caller. 0 and *out, which is to be joined; or -errno. */
CW_MUST_CHECK int thread_start(pthread_t *out, void *(*work)(void *context), void *context);

#endif
