/* SPDX-License-Identifier: Apache-2.0 */
/*
 * offload.h - work that would hold up the loop runs on a few threads of its own; that it is done is told on the loop's
 * thread.
 *
 * offload_give(), offload_collect() and offload_drain() are called by one thread, the loop's.
 */
#ifndef DAEMON_MACHINE_OFFLOAD_H
#define DAEMON_MACHINE_OFFLOAD_H

#include "cubeway/types.h"

struct offload;

struct offload_done {
    void *owner; /* as offload_give() was told */
    uint64_t ticket;
};

/* threads: 1..16; they start with the first work. 0, -ENOMEM, or the -errno of eventfd. */
CW_MUST_CHECK int offload_open(struct offload **out, unsigned threads);
/* Waits for work that runs; work that has not begun is dropped. */
void offload_close(struct offload *o);
/* A descriptor, readable when offload_collect() has something to give. */
int offload_fd(const struct offload *o);
/* Runs work(arg) on one of the threads, or here and now when no thread can be had. */
void offload_give(struct offload *o, void (*work)(void *), void *arg, void *owner, uint64_t ticket);
/* Gives up to count pieces of work that are done, in the order in which they ended, and how many these are. */
unsigned offload_collect(struct offload *o, struct offload_done *out, unsigned count);
/* Waits until all work that was given is done. What offload_collect() gives afterwards is all there is. */
void offload_drain(struct offload *o);

#endif
