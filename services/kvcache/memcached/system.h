/* SPDX-License-Identifier: Apache-2.0 */
/*
 * system.h - what the memcached front end asks of the system besides its connections: the socket at which clients
 * arrive, time, and what the process has used. Any thread.
 */
#ifndef SERVICES_KVCACHE_MEMCACHED_SYSTEM_H
#define SERVICES_KVCACHE_MEMCACHED_SYSTEM_H

#include <stdint.h>

/*
 * "127.0.0.1:11211", "[::1]:11211". Gives a listening socket that does not block, or -errno; -EINVAL: no such address.
 */
int mc_system_listen(const char *listen_text);
/* What is wrong and what to do, of an errno of that; borrowed until the next call. */
const char *mc_system_problem(int error);
/*
 * Nanoseconds of a clock that never goes back, some milliseconds late, and stands still while the machine is suspended,
 * as memcached's own does: for how long clients are silent and for delayed flushes. No cw_time; it is compared with
 * none.
 */
int64_t mc_system_ns(void);
/* Processor time of the process. */
void mc_system_usage(int64_t *user_us, int64_t *system_us);

#endif
