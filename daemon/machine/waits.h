/* SPDX-License-Identifier: Apache-2.0 */
/*
 * waits.h - the descriptors that the loop sleeps on, in two epoll sets. *All* has every one. *Calm* has all but those
 * by which links give data: while the loop waits on that set, a frame of data wakes nobody, and its sender, in whose
 * system call that would happen, is spared the price of it (docs/shims.md, "The nap"). What asks for an answer at once
 * stays in both: control lanes, carriers, room to send, timers, offloaded work, and libevent's own descriptor.
 *
 * Level-triggered. One thread uses a struct waits.
 */
#ifndef DAEMON_MACHINE_WAITS_H
#define DAEMON_MACHINE_WAITS_H

#include "cubeway/time.h"
#include "cubeway/types.h"

#include <stdbool.h>
#include <stdint.h>

enum waits_set { WAITS_CALM, WAITS_ALL, WAITS_SETS };

#define WAITS_FOR_EVER CW_NS(-1) /* as a limit */

enum { WAITS_AT_ONCE = 64 }; /* items that one look calls at most; the others are the first of the next look */

/* A descriptor in the sets. It is in the caller's memory and stays there until it is removed. */
struct waits_item {
    /* The descriptor is ready, or has an error. It may remove its own item, but add or remove no other. */
    void (*fn)(void *context);
    void *context;
    int fd;    /* while `watched` */
    bool calm; /* it is in both sets, and not in WAITS_ALL alone */
    bool watched;
};

struct waits {
    int set[WAITS_SETS]; /* -1: not open */
};

/* 0 or -errno; waits_close() is due in any case. */
CW_MUST_CHECK int waits_open(struct waits *w);
/* Items need not be removed before. */
void waits_close(struct waits *w);

/*
 * Watches fd for events (EPOLLIN, EPOLLOUT) with item->fn, item->context and item->calm, which are set. A descriptor is
 * in a set at most once; a copy made by dup() counts as another. 0, or -errno and the item is not watched.
 */
CW_MUST_CHECK int waits_add(struct waits *w, struct waits_item *item, int fd, uint32_t events);
/* The descriptor is still open. Nothing happens when the item is not watched. */
void waits_remove(struct waits *w, struct waits_item *item);

/*
 * Waits until a descriptor of the set is ready, and calls the items of those that are. limit: how long it waits at most
 * (0: it only looks; WAITS_FOR_EVER: for as long as it takes). Returns how many it called; 0: the time is over, or a
 * signal came.
 */
unsigned waits_look(struct waits *w, enum waits_set set, cw_span limit);

/* Can waits_look() keep limits that are shorter than a millisecond? (epoll_pwait2(): Linux 5.11.) */
bool waits_are_fine(void);

/*
 * The epoll set of this process that watches fd, as /proc/self/fdinfo lists it. -ENOENT: there is none, or /proc cannot
 * be read; -EEXIST: there are several.
 */
int waits_find(int fd);

#endif
