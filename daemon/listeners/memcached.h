/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memcached.h - where memcached's clients come in: the front end of the service kvcache
 * (services/kvcache/memcached/gateway.h) on the daemon's loop, for as long as the service runs.
 *
 * It listens where the service's option `listen` says; without one at 127.0.0.1:11211 when the service stands in the
 * configuration or was loaded by a command, and nowhere when it only runs because it is built in. A process with
 * several servers takes one port each, by their index: 11211, 11212, ...
 */
#ifndef DAEMON_LISTENERS_MEMCACHED_H
#define DAEMON_LISTENERS_MEMCACHED_H

#include "daemon/host/host.h"

struct memcached_listener;

/*
 * Listens now if the service runs, and whenever it comes. Borrows the host, which it outlives not. -errno and why. What
 * goes wrong later, when the service is loaded by a command, is in the log.
 */
CW_MUST_CHECK int memcached_listener_open(struct memcached_listener **out, struct host *h, char why[static HOST_WHY]);
/* Before the host closes. NULL is allowed. */
void memcached_listener_close(struct memcached_listener *l);
/* Clients of all servers. */
unsigned memcached_listener_clients(const struct memcached_listener *l);

#endif
