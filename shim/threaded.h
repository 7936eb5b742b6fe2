/* SPDX-License-Identifier: Apache-2.0 */
/*
 * threaded.h - wraps any shim: a thread of its own makes the system calls, the owner finds frames in memory. For a large server whose
 * node has a processor to itself; what it costs elsewhere is in docs/shims.md.
 *
 * The thread alone calls the shim inside. Frames are copied into memory of ours and go through rings, each way and back (base/ring.h): so the
 * owner's packets, their counts and their pool stay the owner's. Whoever sleeps is woken by an eventfd, and only then. Contract and
 * behaviour are those of the shim inside, carrier and state included, with these differences:
 *   - room is that of the ring, short as a device's queue is: OUTQ_SPAN_US of the medium, or 8 jumbo frames, and 8 to 32 frames in any case;
 *   - what send took and the shim inside then refuses for good (the carrier went) is counted in tx_errors;
 *   - shim_counters() and shim_info() may wait for one batch of the thread's calls; shim_close() waits up to
 *     IO_THREAD_LINGER_MS for what was sent to leave.
 * The thread is started by the first send, receive, room or service_events, with the rights and the priority that the caller then has: a daemon has
 * given up its capabilities by then. It takes no signals.
 */
#ifndef SHIM_THREADED_H
#define SHIM_THREADED_H

#include "shim/shim.h"

/* Gives the shim and takes the one inside. 0, or -errno with one sentence in why: then inside is still the caller's. */
CW_MUST_CHECK int threaded_open(struct shim **out, struct shim *inside, char why[static SHIM_WHY_BYTES]);

#endif
