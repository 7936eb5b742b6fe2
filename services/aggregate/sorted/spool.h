/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spool.h - the sorted runs of a task: batches that were full, as files, and the last one, which stays in memory.
 *
 *     run of the spool (a file)                  index, in memory
 *     +--------+-------+--------+-------+--      partition 0: offset, length
 *     | length | block | length | block | ..     partition 1: ..
 *     +--------+-------+--------+-------+--      each partition begins with a block of its own
 *       4 bytes, network order
 *
 * struct spool is the account of a server: a host, a folder, and how many bytes all tasks together may write there.
 * struct spool_share is what some of them may write together, as those of one job.
 * struct shelf is a task's runs. A shelf that has SHELF_RUNS runs merges them to one before it takes another.
 *
 * Guarantees
 *  - shelf_reader gives the records of a partition in ascending order, equal keys combined, in the order in which they
 *    came; from the same shelf the same records each time, from any key on.
 *  - What is written counts until the shelf is closed, and never exceeds the limits, whatever goes wrong.
 *  - Files have no names: nothing is left when the program ends.
 *
 * Threads: all functions but those that say so may wait for a disk, and are called by cw_offload(). Those of one shelf
 * one at a time; but any number of readers of one shelf at the same time, once nothing is put there any more.
 */
#ifndef SERVICES_AGGREGATE_SORTED_SPOOL_H
#define SERVICES_AGGREGATE_SORTED_SPOOL_H

#include "services/aggregate/sorted/batch.h"
#include "services/aggregate/sorted/host.h"
#include "services/aggregate/sorted/merge.h"

#include <stdatomic.h>

enum {
    SHELF_RUNS = 16,
    SHELF_BUFFER = 1 << 20, /* bytes that are written at a time */
};

struct spool {
    const struct spool_host *host; /* NULL: there is none */
    char folder[4096];             /* "": none is set */
    uint64_t limit;                /* bytes */
    _Atomic uint64_t used;
};

struct spool_share {
    uint64_t limit; /* bytes */
    _Atomic uint64_t used;
};

/* No host, or no folder: everything that would be written is refused (-ENOTDIR). On the server's thread. */
void spool_open(struct spool *s, const struct spool_host *host, const char *folder, uint64_t limit);

struct shelf_place {
    uint64_t offset, length;
};

struct shelf_run {
    struct spool_file *file;
    struct shelf_place *place; /* one for each partition */
    uint64_t bytes;
};

struct shelf {
    struct spool *spool;
    struct spool_share *share; /* NULL: none */
    struct combine combine;
    uint32_t partitions;
    unsigned runs;
    struct shelf_run run[SHELF_RUNS];
    const struct batch *last; /* sorted, in memory; NULL: none */
    uint64_t bytes;           /* of all runs, on the disk */
    cw_bytes key;             /* of a combiner's error; borrowed from failed_key */
    uint8_t failed_key[RECORD_KEY_MOST];
};

/*
 * An empty shelf. Borrows s, share (NULL: none), and what combine points at, until shelf_close(). On the server's
 * thread.
 */
void shelf_open(struct shelf *f, struct spool *s, struct spool_share *share, uint32_t partitions,
                const struct combine *combine);
/*
 * Writes a sorted batch as a run. 0; -ENOTDIR: there is no spool; -ENOSPC: the limit, or the disk; -EXFULL: the limit
 * of the share; -ENOMEM; -errno; or what the combiner says, of f->key. The shelf is as it was then.
 */
CW_MUST_CHECK int shelf_put(struct shelf *f, const struct batch *b);
/* Borrows a sorted batch as the last run, until shelf_close(). Any thread. */
void shelf_keep(struct shelf *f, const struct batch *b);
/* Frees all; readers have been closed. Any thread. */
void shelf_close(struct shelf *f);

struct shelf_reader;
/*
 * Gives a reader of a partition's records whose keys are above *after; NULL: of all. 0, -ENOMEM or -errno. It takes
 * some 300 KiB, and 64 KiB for each run.
 */
CW_MUST_CHECK int shelf_reader_open(const struct shelf *f, uint32_t partition, const cw_bytes *after,
                                    struct shelf_reader **out);
/*
 * Writes records to w. 1: w is full, and there may be more. 0: the partition has ended. -errno; then *key is the key
 * where it is the combiner's, and of no length otherwise; borrowed until the reader is closed.
 */
CW_MUST_CHECK int shelf_reader_next(struct shelf_reader *r, struct record_writer *w, cw_bytes *key);
/* Any thread. */
void shelf_reader_close(struct shelf_reader *r);

#endif
