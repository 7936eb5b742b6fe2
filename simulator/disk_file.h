/* SPDX-License-Identifier: Apache-2.0 */
/*
 * disk_file.h - the files of a simulated disk (simulator/disk.h). A page has what programs read of it, and where
 * sectors were written and not synced, what the disk's plate has. A page that nobody wrote takes no memory and reads as
 * zeros.
 */
#ifndef SIMULATOR_DISK_FILE_H
#define SIMULATOR_DISK_FILE_H

#include "base/prng.h"
#include "storage/disk.h"

#include <stddef.h>

enum { SIM_PAGE = 4096, SIM_PAGE_SECTORS = SIM_PAGE / DISK_SECTOR };

struct sim_page {
    uint8_t now[SIM_PAGE];
    uint8_t *plate; /* NULL: the same */
    uint8_t dirty;  /* a bit for each sector: written, not synced */
    uint8_t lost;   /* sectors that the kernel calls clean after an error, and that are not on the plate */
};

struct sim_file {
    struct disk_file about;
    uint64_t synced_size; /* its length at the last sync */
    uint32_t handle;
    bool named; /* its name is on the disk */
    struct sim_page **page;
    uint32_t pages;
};

/* The files, in the order of their names; and those that were removed and may come back. */
struct sim_files {
    struct sim_file **file, **ghost;
    uint32_t count, ghosts, next_handle;
};

struct sim_file *sim_files_find(const struct sim_files *fs, const char *name);
struct sim_file *sim_files_by_handle(const struct sim_files *fs, uint32_t handle);
struct sim_file *sim_files_make(struct sim_files *fs, const char *name);
void sim_files_remove(struct sim_files *fs, struct sim_file *f);
/* The sum of all lengths. */
uint64_t sim_files_bytes(const struct sim_files *fs);
/* What was removed will not come back. */
void sim_files_settle(struct sim_files *fs);
/* Names at a loss of power: are new ones forgotten, are removed ones back? */
void sim_files_crash(struct sim_files *fs, bool forget_new, bool return_old);
/* Into an empty *fs. */
void sim_files_copy(struct sim_files *fs, const struct sim_files *from);
void sim_files_close(struct sim_files *fs);

void sim_file_write(struct sim_file *f, uint64_t offset, const void *from, size_t size);
/* How many bytes there were before the file's end. */
size_t sim_file_read(const struct sim_file *f, uint64_t offset, void *to, size_t size);
void sim_file_lengthen(struct sim_file *f, uint64_t size);
/* The file ends at `size` if it was longer. */
void sim_file_cut(struct sim_file *f, uint64_t size);
/* What lies behind `from` is zero. */
void sim_file_blank(struct sim_file *f, uint64_t from);
void sim_file_sync(struct sim_file *f);
/* A write or sync failed: what was not synced is lost for the plate, and looks clean. */
void sim_file_spoil(struct sim_file *f);
uint32_t sim_file_unsynced(const struct sim_file *f);
/*
 * The unsynced sectors stay or go by bits of keep[] from `bit` on, or by chance when keep is NULL. Returns the bit
 * behind the file's last.
 */
uint32_t sim_file_crash(struct sim_file *f, const uint8_t *keep, uint32_t bit, struct prng *chance);
uint64_t sim_file_memory(const struct sim_file *f);

#endif
