/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memcached.h - the daemon's listener for memcached's clients: the front end of the service kvcache
 * (services/kvcache/memcached/gateway.h) on the daemon's loop, for as long as the service runs.
 *
 * It listens where the service's option `listen` says. Without that option it listens at 127.0.0.1:11211 when the
 * service stands in the configuration or was loaded by a command, and nowhere when the service only runs because it is
 * built in. A process with several servers takes one port for each, by their index: 11211, 11212, ...
 */
#ifndef DAEMON_LISTENERS_MEMCACHED_H
#define DAEMON_LISTENERS_MEMCACHED_H

#include "daemon/host/host.h"

struct memcached_listener;

/*
 * Listens now if the service runs, and whenever it is loaded later. Borrows the host, which has to outlive it. -errno
 * and why. What goes wrong later, when a command loads the service, is logged.
 */
CW_MUST_CHECK int memcached_listener_open(struct memcached_listener **out, struct host *h, char why[static HOST_WHY]);
/* To be called before the host closes. NULL is allowed. */
void memcached_listener_close(struct memcached_listener *l);
/* Connected clients, of all servers of the process. */
unsigned memcached_listener_clients(const struct memcached_listener *l);

#endif
