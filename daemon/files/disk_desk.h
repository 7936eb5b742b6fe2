/* SPDX-License-Identifier: Apache-2.0 */
/*
 * disk_desk.h - the daemon's disk behind the contract storage/disk.h: files in a folder, and two threads, one for each
 * lane, so that a slow disk holds up neither the loop nor other folders. Writes go through the page cache; a sync is
 * fdatasync(), and for a file that was created since its last sync, fsync() of the folder too. Whoever is told of a
 * created file's sync will find it after a loss of power.
 *
 * All functions are called by one thread, the loop's. Waiters are told inside disk_desk_collect() and nowhere else.
 */
#ifndef DAEMON_FILES_DISK_DESK_H
#define DAEMON_FILES_DISK_DESK_H

#include "cubeway/time.h"
#include "storage/disk.h"

struct disk_desk;

/*
 * folder: descriptor of an open folder, taken on success. The threads start with the first order of their lane.
 * 0, -ENOMEM, or the -errno of eventfd.
 */
CW_MUST_CHECK int disk_desk_open(struct disk_desk **out, int folder);
/* Waits for the orders that run; orders that have not begun are dropped, and nobody is told of either. */
void disk_desk_close(struct disk_desk *d);
/* What storage submits to: borrowed from the desk. */
struct disk *disk_desk_face(struct disk_desk *d);
/* A descriptor, readable when disk_desk_collect() has something to tell. */
int disk_desk_fd(const struct disk_desk *d);
/* Tells of the orders that are done. How many. */
unsigned disk_desk_collect(struct disk_desk *d);

struct disk_desk_counts {
    uint64_t orders, failed;
    uint64_t slow;    /* orders with a sync that took longer than a second */
    cw_span slowest;  /* of these orders with a sync */
    uint32_t waiting; /* orders that are not done */
};
void disk_desk_counts(struct disk_desk *d, struct disk_desk_counts *out);

#endif
