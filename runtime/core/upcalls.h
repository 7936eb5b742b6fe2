/* SPDX-License-Identifier: Apache-2.0 */
/*
 * upcalls.h - the upcalls of services by name, and how long those of one service took. The node has no clock: times are
 * what its pump measured (node_meter, node.h), and a node whose pump measures nothing keeps none.
 */
#ifndef CORE_UPCALLS_H
#define CORE_UPCALLS_H

#include "base/histogram.h"

/* Everything of a service that the node calls. */
enum upcall {
    UPCALL_OPEN,
    UPCALL_CLOSE,
    UPCALL_PACKET,
    UPCALL_EVENT,
    UPCALL_COMMAND,
    UPCALL_WRITABLE,
    UPCALL_NEXT_PACKET,
    UPCALL_TIMER,
    UPCALL_REPLY,   /* the function of a call that has ended */
    UPCALL_OFFLOAD, /* the function of offloaded work that has ended */
    UPCALL_VISIT,   /* node_visit(): a gateway asks what the service exports */
    UPCALLS,
};

/* "open", "on_packet" ..; static. */
const char *upcall_name(enum upcall upcall);

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
