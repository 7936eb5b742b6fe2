/* SPDX-License-Identifier: Apache-2.0 */
/*
 * threaded.h - wraps any shim: a thread of its own makes the system calls, and the owner finds frames in memory. It is
 * for a large server whose node has a processor to itself; docs/shims.md says what it costs elsewhere.
 *
 * Only the thread calls the shim inside. Frames are copied into memory of this shim and go through rings (base/ring.h),
 * so that the owner's packets, their reference counts and their pool stay the owner's. A side that sleeps is woken by
 * an eventfd; a side that does not is not signalled. Contract and behaviour are those of the shim inside, carrier and
 * state included, with these differences:
 *   - Its room is that of the ring, which is as short as a device's queue: OUTQ_SPAN_US of the medium, or 8 jumbo
 *     frames where its speed is not known, and 8 to 32 frames in any case.
 *   - A frame that send took, and that the shim inside then refuses for good (the carrier went), is counted in
 *     tx_errors.
 *   - shim_counters() and shim_info() may wait for one batch of the thread's calls; shim_close() waits up to
 *     IO_THREAD_LINGER_MS for sent frames to leave.
 * The thread is started by the first send, receive, room or service_events, with the rights and the priority that the
 * caller has then: a daemon has given up its capabilities by that time. The thread takes no signals.
 */
#ifndef SHIM_THREADED_H
#define SHIM_THREADED_H

#include "shim/shim.h"

/* Gives the shim, and takes the one inside. 0; or -errno with one sentence in why, and inside is still the caller's. */
CW_MUST_CHECK int threaded_open(struct shim **out, struct shim *inside, char why[static SHIM_WHY_BYTES]);

#endif
