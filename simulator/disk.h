/* SPDX-License-Identifier: Apache-2.0 */
/*
 * disk.h - a disk of the simulator behind the contract storage/disk.h: files in memory, in sparse pages, that know
 * which sectors were written and not synced. Everything that a real disk does to a log is done here by order or by
 * seed: it loses power, breaks, fills up, is slow, lies, rots, or comes back older.
 *
 * Time: an order is due after what the disk needs for it, behind the orders of its lane that came before. The world
 * asks sim_disk_next() when something is due and calls sim_disk_run(). Tests without a clock call sim_disk_step().
 *
 * Ownership: sim_disk_open() and sim_disk_copy() give a disk; sim_disk_close() takes it, with what is under way: nobody
 * is told of that. One thread. A disk without memory stops the program: it is a tool of tests.
 */
#ifndef SIMULATOR_DISK_H
#define SIMULATOR_DISK_H

#include "base/prng.h"
#include "cubeway/time.h"
#include "storage/disk.h"

#include <stddef.h>

struct sim_disk_config {
    uint64_t seed;     /* what the disk draws is drawn from here */
    uint64_t room;     /* bytes that files may be long together; 0: no limit */
    cw_span sync;      /* what a sync takes; 120 us is measured (docs/storage.md) */
    cw_span per_kib;   /* what each KiB written takes; 600 ns */
    cw_span read;      /* what a read takes */
    uint32_t slow_in;  /* one order of so many is slow; 0: none */
    uint32_t slow_by;  /* and takes so many times as long */
    uint32_t error_in; /* one order of so many fails with -EIO, for good when it is a write or a sync; 0: none */
    bool lies;         /* says that it synced, and did not: sim_disk_crash() may lose all of it */
};

/* How a file system treats names and lengths at a loss of power: what ALICE (OSDI 2014) found of real ones. */
enum sim_disk_habit {
    SIM_DISK_KEEPS = 0,        /* names and lengths survive */
    SIM_DISK_FORGETS_NEW = 1,  /* a file that was created and never synced is gone */
    SIM_DISK_RETURNS_OLD = 2,  /* a file that was removed since any sync is there again */
    SIM_DISK_CUTS_LENGTH = 4,  /* a file is as long as it was at its last sync: appended bytes are gone */
    SIM_DISK_LENGTH_FIRST = 8, /* a file has its new length, and where bytes were not synced behind the old: zeros */
    SIM_DISK_HABITS = 16,
};

struct sim_disk;

/* A disk without files. *config is copied. */
struct sim_disk *sim_disk_open(const struct sim_disk_config *config);
/* A disk with the same files, synced and unsynced sectors, and nothing under way. The original is borrowed. */
struct sim_disk *sim_disk_copy(const struct sim_disk *d);
void sim_disk_close(struct sim_disk *d);
/* What storage submits to: borrowed from the disk. */
struct disk *sim_disk_face(struct sim_disk *d);

/* Time. The disk's own clock is what it was told last, and orders count from there. */
cw_time sim_disk_next(const struct sim_disk *d);
void sim_disk_run(struct sim_disk *d, cw_time now);
/* Carries out the order that is due first and tells of it; false when there is none. */
bool sim_disk_step(struct sim_disk *d);
/* How many orders were carried out so far. */
uint64_t sim_disk_steps(const struct sim_disk *d);

/*
 * The n-th order from now that is of a kind in the set `kinds` (1 << enum disk_what; a DISK_WRITE with `sync` is of
 * both kinds) fails with -errno, once; 1 is the next. A write or sync that fails so loses, like a real one, all
 * unsynced sectors of its file: they can be read until a crash, and no sync brings them to the disk. 0 withdraws the
 * order.
 */
void sim_disk_fail_nth(struct sim_disk *d, uint32_t n, unsigned kinds, int errno_value);
bool sim_disk_fail_pending(const struct sim_disk *d);

/* Others take room on the disk, or give it back: as `room` of the config from now on. */
void sim_disk_room(struct sim_disk *d, uint64_t room);

/* How many sectors are written and not synced, in all files. */
uint32_t sim_disk_unsynced(const struct sim_disk *d);

/*
 * The power goes and comes back: of the unsynced sectors those stay whose bit is set in keep[], which has a bit for
 * each of them in a fixed order, bit 0 of the first byte first; NULL: drawn from the seed. Names and lengths go by the
 * set of habits. What is under way is forgotten, and nobody is told.
 */
void sim_disk_crash(struct sim_disk *d, const uint8_t *keep, unsigned habits);

/* The program is killed, and the power stays: what is under way is forgotten, and nobody is told. */
void sim_disk_kill(struct sim_disk *d);

/* Faults between two lives. file: its name, which must be there. */
void sim_disk_flip(struct sim_disk *d, const char *file, uint64_t bit);
void sim_disk_cut(struct sim_disk *d, const char *file, uint64_t size);
/* A page of the disk, for tests that look: copies size bytes at offset; what is behind the end is zero. */
void sim_disk_peek(const struct sim_disk *d, const char *file, uint64_t offset, void *to, size_t size);
/* The n-th file by name, or NULL: name and size are borrowed until the disk changes. */
const struct disk_file *sim_disk_file(const struct sim_disk *d, uint32_t n);
/* Writes a file from outside, synced: what an operator restored, or a fuzzer made. */
void sim_disk_put(struct sim_disk *d, const char *file, const void *bytes, size_t size);
/* How many bytes of memory the pages of all files take. */
uint64_t sim_disk_memory(const struct sim_disk *d);

#endif
