/* SPDX-License-Identifier: Apache-2.0 */
/*
 * holds.h - services that held the node's thread for too long: nothing else of the server ran meanwhile, and its
 * neighbours may have counted it out. What a machine without a free processor did to the thread is no service's fault,
 * and is left out: the kernel counts how long the thread has waited for a processor.
 */
#ifndef DAEMON_HOST_HOLDS_H
#define DAEMON_HOST_HOLDS_H

#include "cubeway/service.h"
#include "cubeway/time.h"

#include <stdbool.h>
#include <stdint.h>

enum { HOST_HOLDS_KEPT = 8, HOST_HOLD_NAME = 64 };

/* One upcall that held the thread. */
struct host_hold {
    cw_time ended;
    cw_span lasted;
    cw_server server; /* whose service it was */
    char service[HOST_HOLD_NAME];
    char upcall[24];
};

/* All 0: a process that begins. */
struct host_holds {
    uint64_t count;
    struct host_hold longest;
    struct host_hold at[HOST_HOLDS_KEPT]; /* a ring: number i is at i % HOST_HOLDS_KEPT, 0 the first */
    int64_t waited_ns;                    /* as holds_waited_ns() gave it at that time */
    cw_time looked;
};

/* For how long the calling thread has waited for a processor in its life; 0 where the kernel does not count that. */
int64_t holds_waited_ns(void);

/* Call when it is due, outside of upcalls: waits before that time do not excuse a service later. */
void holds_look(struct host_holds *h, cw_time now, int64_t waited_ns);
bool holds_is_due(const struct host_holds *h, cw_time now);

/*
 * An upcall of a service took that long, and has just ended. False, and nothing is kept: for half of that time or more
 * the thread may have waited for a processor, and without that the upcall was shorter than `enough`, so that the
 * machine is the cause.
 */
bool holds_note(struct host_holds *h, const struct host_hold *hold, cw_span enough, int64_t waited_ns);

/* For how long services held the thread in holds that ended after `from`. */
cw_span holds_since(const struct host_holds *h, cw_time from);
/* The last one of that server's services that took as long as `enough`; NULL: there is none. Borrowed as below. */
const struct host_hold *holds_last(const struct host_holds *h, cw_server server, cw_span enough);
/* The last one that ended between these instants; NULL: none did. Borrowed until the next holds_note(). */
const struct host_hold *holds_between(const struct host_holds *h, cw_time from, cw_time to);

#endif
