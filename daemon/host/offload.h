/* SPDX-License-Identifier: Apache-2.0 */
/*
 * offload.h - work that would hold up the loop, on a few threads of its own; what is done is told on the loop's thread.
 *
 * offload_give() and offload_collect() belong to one thread, the loop's.
 */
#ifndef DAEMON_HOST_OFFLOAD_H
#define DAEMON_HOST_OFFLOAD_H

#include "cubeway/types.h"

struct offload;

struct offload_done {
    void *owner; /* as given */
    uint64_t ticket;
};

/* threads 1..16 are started with the first work. 0, -ENOMEM, or -errno of eventfd. */
CW_MUST_CHECK int offload_open(struct offload **out, unsigned threads);
/* Waits for what runs; what waits is not run. */
void offload_close(struct offload *o);
/* Readable when offload_collect() has something. */
int offload_fd(const struct offload *o);
/* Runs work(arg) on one of the threads; here and now when none can be had. */
void offload_give(struct offload *o, void (*work)(void *), void *arg, void *owner, uint64_t ticket);
/* Up to count that are done, in the order of their end; how many. */
unsigned offload_collect(struct offload *o, struct offload_done *out, unsigned count);
/* Waits until everything that was given is done; what offload_collect() then gives is all there is. */
void offload_drain(struct offload *o);

#endif
