/* SPDX-License-Identifier: Apache-2.0 */
/*
 * disk.h - what a log, or whoever else keeps bytes, asks of a disk. Nothing waits: an order is submitted with a ticket,
 * and its outcome is told later. Two disks stand behind this contract: the daemon's, which has threads of its own
 * (daemon/files/disk_desk.h), and the simulator's, which loses power, lies and breaks by seed (simulator/disk.h).
 *
 * Files have names and lie in one flat folder. What the contract promises:
 *
 *   order       Orders of one lane are carried out one after another, in the order of submission, and told in that
 *               order. The two lanes go side by side: whoever needs an order of one lane done before an order of the
 *               other waits until it is told.
 *   durable     Bytes are on the disk when a DISK_SYNC of their file is told that was submitted behind them in the same
 *               lane, or after they were told. A DISK_WRITE with `sync` is told when its own bytes are there.
 *   crash       What was written and not synced is, after a loss of power, there or not, sector by sector (512 bytes),
 *               in any combination. So is the name of a file that was created and never synced: it may be gone. A file
 *               that was removed may come back. What was synced stays.
 *   failure     A write or a sync that failed is never repeated, for the kernel may call pages clean that it could not
 *               write ("fsyncgate", PostgreSQL 2018): what was written since the last good sync is then unknown, even
 *               when it can be read. The disk repeats nothing either.
 *
 * Ownership: an order is copied; its name and its bytes are borrowed until it is told. Offsets and sizes are in bytes.
 * One thread submits and is told. Nobody is told inside disk_submit().
 */
#ifndef STORAGE_DISK_H
#define STORAGE_DISK_H

#include "cubeway/types.h"

#include <stdint.h>

enum {
    DISK_NAME_BYTES = 32, /* of a file's name, with its NUL; letters, digits, '-' and '.', and no '.' at its start */
    DISK_SECTOR = 512,    /* what a loss of power does not tear */
};

enum disk_what {
    DISK_OPEN,     /* opens file `name`, makes it when `create` is set; told: a handle, 0 or more, good until the file
                    * is removed or the disk closed. A file that is open already is told its handle again. */
    DISK_ALLOCATE, /* makes the file `offset` bytes long and reserves their room: they read as zeros until written */
    DISK_WRITE,    /* size bytes at offset; may make the file longer. With `sync` a DISK_SYNC of the file follows */
    DISK_SYNC,     /* the file's bytes, its length and its name are on the disk */
    DISK_READ,     /* size bytes at offset; told how many there were before the file's end */
    DISK_REMOVE,   /* the file is gone, and its handle too */
    DISK_LIST,     /* told how many files there are; up to `size` of them are written to `list` */
};

/* The lane of what the log waits for, and the lane of everything else: reads, values, new segments. */
enum disk_lane { DISK_LANE_LOG, DISK_LANE_SIDE, DISK_LANES };

struct disk_file {
    char name[DISK_NAME_BYTES];
    uint64_t size;
};

/*
 * Who is told. result is 0 or what the order gives (see disk_what), else -errno: -ENOENT (no such file), -ENOSPC (no
 * room), -EIO and all others (the disk is broken; a short write is -EIO). The waiter is borrowed until then.
 */
struct disk_waiter {
    void (*told)(struct disk_waiter *waiter, uint64_t ticket, int64_t result);
};

struct disk_order {
    enum disk_what what;
    enum disk_lane lane;
    bool create;            /* DISK_OPEN */
    bool sync;              /* DISK_WRITE */
    uint32_t file;          /* handle: all but DISK_OPEN and DISK_LIST */
    uint32_t size;          /* bytes: DISK_WRITE, DISK_READ; entries: DISK_LIST */
    uint64_t offset;        /* DISK_WRITE, DISK_READ; the new length: DISK_ALLOCATE */
    const char *name;       /* DISK_OPEN */
    const void *from;       /* DISK_WRITE */
    void *to;               /* DISK_READ */
    struct disk_file *list; /* DISK_LIST */
    struct disk_waiter *waiter;
    uint64_t ticket; /* the waiter's own */
};

/* A disk of one kind; the kind's own struct holds it. */
struct disk {
    const struct disk_kind *kind;
};

struct disk_kind {
    /* Copies the order. Cannot fail: what goes wrong is told. */
    void (*submit)(struct disk *disk, const struct disk_order *order);
};

/* Submits an order, which is carried out and told later. */
static inline void disk_submit(struct disk *disk, const struct disk_order *order)
{
    disk->kind->submit(disk, order);
}

#endif
