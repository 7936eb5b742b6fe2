/* SPDX-License-Identifier: Apache-2.0 */
/*
 * upcall.h - what a node calls of a service: by name, where its thread is now, and how long that took.
 *
 * The node writes a mark at the beginning and the end of every upcall; whoever owns the mark reads it when something
 * has gone wrong: the handler of a crash, and the watcher of a daemon that has stopped moving. All nodes of one thread
 * may share one mark. It costs a few stores an upcall, and nothing that a node does depends on it. The node has no
 * clock: times are what its pump measured (node_meter, core/node.h).
 */
#ifndef BASE_UPCALL_H
#define BASE_UPCALL_H

#include "base/histogram.h"
#include "cubeway/time.h"
#include "cubeway/types.h"

/* Everything of a service that a node calls. */
enum upcall {
    UPCALL_OPEN,
    UPCALL_CLOSE,
    UPCALL_PACKET,
    UPCALL_EVENT,
    UPCALL_COMMAND,
    UPCALL_WRITABLE,
    UPCALL_NEXT_PACKET,
    UPCALL_PEEK_PACKET,
    UPCALL_TIMER,
    UPCALL_REPLY,   /* the function of a call that has ended */
    UPCALL_OFFLOAD, /* the function of offloaded work that has ended */
    UPCALL_VISIT,   /* node_visit(): a gateway asks what the service exports */
    UPCALLS,
};

/* "open", "on_packet" ..; "?" for what is none. Static; safe in the handler of a signal. */
const char *upcall_name(enum upcall upcall);

/* Where the thread of a node is. */
struct upcall_mark {
    const char *service; /* borrowed while the upcall runs; NULL: the thread is in no upcall */
    enum upcall upcall;  /* where service is not NULL */
    cw_coord server;
    cw_time now;    /* the node's time in the upcall: that of the entry under way */
    uint64_t moves; /* grows whenever an upcall begins or ends */
    /* The upcall that ended last: for who finds a thread that goes from one to the next for ever. NULL: none did. */
    const char *last; /* borrowed as long as the service runs */
    enum upcall last_upcall;
    /* Not 0: the process is being ended because the upcall has lasted for that long. A watchdog writes it. */
    int64_t watchdog_ns;
};

/* How long the upcalls of one service took. Zeroed is an empty set; a histogram is allocated for its first time. */
struct upcall_times {
    struct histogram *of[UPCALLS];
};

/* Adds one time. Without memory it is not noted. */
void upcall_times_note(struct upcall_times *t, enum upcall upcall, int64_t ns);
/* The memory of its histograms. */
uint64_t upcall_times_bytes(const struct upcall_times *t);
/* Frees all of them. */
void upcall_times_close(struct upcall_times *t);

#endif
