/* SPDX-License-Identifier: Apache-2.0 */
#include "simulator/disk_file.h"

#include "base/check.h"

#include <stdlib.h>
#include <string.h>

static void *grown(void *array, size_t count, size_t size)
{
    void *more = realloc(array, (count == 0 ? 1 : count) * size);
    CHECK(more != NULL);
    return more;
}

static struct sim_page *page_at(struct sim_file *f, uint32_t n)
{
    if (n >= f->pages) {
        f->page = grown(f->page, n + 1, sizeof *f->page);
        memset(f->page + f->pages, 0, (n + 1 - f->pages) * sizeof *f->page);
        f->pages = n + 1;
    }
    if (f->page[n] == NULL) {
        f->page[n] = calloc(1, sizeof *f->page[n]);
        CHECK(f->page[n] != NULL);
    }
    return f->page[n];
}

static void page_free(struct sim_page *p)
{
    if (p != NULL) {
        free(p->plate);
        free(p);
    }
}

/* Sectors of the page are about to be written: the plate keeps what it has. */
static void page_touch(struct sim_page *p, uint8_t sectors)
{
    if (p->plate == NULL) {
        p->plate = malloc(SIM_PAGE);
        CHECK(p->plate != NULL);
        memcpy(p->plate, p->now, SIM_PAGE);
    }
    p->dirty |= sectors;
    p->lost &= (uint8_t)~sectors;
}

/* The sectors that bytes from..from + size - 1 of a page lie in. */
static uint8_t sectors_of(uint32_t from, uint32_t size)
{
    uint32_t first = from / DISK_SECTOR, last = (from + size - 1) / DISK_SECTOR;
    return (uint8_t)((2u << last) - (1u << first));
}

/* Copies sectors of a page to or from the plate, and drops the plate when both are the same. */
static void page_settle(struct sim_page *p, uint8_t keep, uint8_t drop)
{
    if (p->plate == NULL) {
        return;
    }
    for (unsigned s = 0; s < SIM_PAGE_SECTORS; s++) {
        uint8_t *now = p->now + s * DISK_SECTOR, *plate = p->plate + s * DISK_SECTOR;
        if ((keep >> s & 1) != 0) {
            memcpy(plate, now, DISK_SECTOR);
        } else if ((drop >> s & 1) != 0) {
            memcpy(now, plate, DISK_SECTOR);
        }
    }
    p->dirty &= (uint8_t) ~(keep | drop);
    p->lost &= (uint8_t) ~(keep | drop);
    if (p->dirty == 0 && p->lost == 0) {
        free(p->plate);
        p->plate = NULL;
    }
}

void sim_file_write(struct sim_file *f, uint64_t offset, const void *from, size_t size)
{
    const uint8_t *at = from;
    sim_file_lengthen(f, offset + size);
    while (size > 0) {
        uint32_t in = (uint32_t)(offset % SIM_PAGE);
        size_t step = size < SIM_PAGE - in ? size : SIM_PAGE - in;
        struct sim_page *p = page_at(f, (uint32_t)(offset / SIM_PAGE));
        page_touch(p, sectors_of(in, (uint32_t)step));
        memcpy(p->now + in, at, step);
        at += step;
        offset += step;
        size -= step;
    }
}

size_t sim_file_read(const struct sim_file *f, uint64_t offset, void *to, size_t size)
{
    uint8_t *at = to;
    size_t done = 0;
    uint64_t left = offset < f->about.size ? f->about.size - offset : 0;
    size = size < left ? size : (size_t)left;
    while (done < size) {
        uint32_t n = (uint32_t)((offset + done) / SIM_PAGE), in = (uint32_t)((offset + done) % SIM_PAGE);
        size_t step = size - done < SIM_PAGE - in ? size - done : SIM_PAGE - in;
        if (n < f->pages && f->page[n] != NULL) {
            memcpy(at + done, f->page[n]->now + in, step);
        } else {
            memset(at + done, 0, step);
        }
        done += step;
    }
    return done;
}

void sim_file_lengthen(struct sim_file *f, uint64_t size)
{
    f->about.size = size > f->about.size ? size : f->about.size;
}

void sim_file_cut(struct sim_file *f, uint64_t size)
{
    if (size >= f->about.size) {
        return;
    }
    sim_file_blank(f, size);
    f->about.size = size;
    f->synced_size = f->synced_size < size ? f->synced_size : size;
}

void sim_file_blank(struct sim_file *f, uint64_t from)
{
    for (uint32_t n = (uint32_t)(from / SIM_PAGE); n < f->pages; n++) {
        uint64_t start = (uint64_t)n * SIM_PAGE;
        uint32_t in = start >= from ? 0 : (uint32_t)(from - start);
        if (f->page[n] != NULL) {
            page_touch(f->page[n], sectors_of(in, SIM_PAGE - in));
            memset(f->page[n]->now + in, 0, SIM_PAGE - in);
        }
    }
}

void sim_file_sync(struct sim_file *f)
{
    for (uint32_t n = 0; n < f->pages; n++) {
        if (f->page[n] != NULL && f->page[n]->dirty != 0) {
            page_settle(f->page[n], f->page[n]->dirty, 0);
        }
    }
    f->synced_size = f->about.size;
    f->named = true;
}

void sim_file_spoil(struct sim_file *f)
{
    for (uint32_t n = 0; n < f->pages; n++) {
        if (f->page[n] != NULL) {
            f->page[n]->lost |= f->page[n]->dirty;
            f->page[n]->dirty = 0;
        }
    }
}

uint32_t sim_file_unsynced(const struct sim_file *f)
{
    uint32_t count = 0;
    for (uint32_t n = 0; n < f->pages; n++) {
        count += f->page[n] == NULL ? 0 : (uint32_t)__builtin_popcount(f->page[n]->dirty);
    }
    return count;
}

uint32_t sim_file_crash(struct sim_file *f, const uint8_t *keep, uint32_t bit, struct prng *chance)
{
    for (uint32_t n = 0; n < f->pages; n++) {
        struct sim_page *p = f->page[n];
        uint8_t kept = 0;
        for (unsigned s = 0; p != NULL && s < SIM_PAGE_SECTORS; s++) {
            if ((p->dirty >> s & 1) == 0) {
                continue;
            }
            bool stays = keep == NULL ? prng_chance(chance, 1, 2) : (keep[bit / 8] >> bit % 8 & 1) != 0;
            kept |= (uint8_t)((unsigned)stays << s);
            bit++;
        }
        if (p != NULL) {
            page_settle(p, kept, (uint8_t)((p->dirty | p->lost) & ~kept));
        }
    }
    return bit;
}

uint64_t sim_file_memory(const struct sim_file *f)
{
    uint64_t bytes = 0;
    for (uint32_t n = 0; n < f->pages; n++) {
        if (f->page[n] != NULL) {
            bytes += sizeof *f->page[n] + (f->page[n]->plate != NULL ? SIM_PAGE : 0);
        }
    }
    return bytes;
}

struct sim_file *sim_files_find(const struct sim_files *fs, const char *name)
{
    for (uint32_t i = 0; i < fs->count; i++) {
        if (strcmp(fs->file[i]->about.name, name) == 0) {
            return fs->file[i];
        }
    }
    return NULL;
}

struct sim_file *sim_files_by_handle(const struct sim_files *fs, uint32_t handle)
{
    for (uint32_t i = 0; i < fs->count; i++) {
        if (fs->file[i]->handle == handle) {
            return fs->file[i];
        }
    }
    return NULL;
}

static void file_free(struct sim_file *f)
{
    for (uint32_t n = 0; n < f->pages; n++) {
        page_free(f->page[n]);
    }
    free(f->page);
    free(f);
}

/* Puts a file into its place among the names. */
static void insert(struct sim_files *fs, struct sim_file *f)
{
    uint32_t at = fs->count;
    fs->file = grown(fs->file, fs->count + 1, sizeof(struct sim_file *));
    for (; at > 0 && strcmp(fs->file[at - 1]->about.name, f->about.name) > 0; at--) {
        fs->file[at] = fs->file[at - 1];
    }
    fs->file[at] = f;
    fs->count++;
}

static void drop_ghost(struct sim_files *fs, const char *name)
{
    for (uint32_t i = 0; i < fs->ghosts; i++) {
        if (strcmp(fs->ghost[i]->about.name, name) == 0) {
            file_free(fs->ghost[i]);
            fs->ghost[i--] = fs->ghost[--fs->ghosts];
        }
    }
}

struct sim_file *sim_files_make(struct sim_files *fs, const char *name)
{
    struct sim_file *f = calloc(1, sizeof *f);
    CHECK(f != NULL && name[0] != '\0' && name[0] != '.' && strlen(name) < sizeof f->about.name);
    strcpy(f->about.name, name);
    f->handle = fs->next_handle++;
    drop_ghost(fs, name);
    insert(fs, f);
    return f;
}

static void take_out(struct sim_files *fs, const struct sim_file *f)
{
    uint32_t at = 0;
    while (fs->file[at] != f) {
        at++;
    }
    memmove(fs->file + at, fs->file + at + 1, (--fs->count - at) * sizeof(struct sim_file *));
}

void sim_files_remove(struct sim_files *fs, struct sim_file *f)
{
    take_out(fs, f);
    fs->ghost = grown(fs->ghost, fs->ghosts + 1, sizeof(struct sim_file *));
    fs->ghost[fs->ghosts++] = f;
}

uint64_t sim_files_bytes(const struct sim_files *fs)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < fs->count; i++) {
        bytes += fs->file[i]->about.size;
    }
    return bytes;
}

void sim_files_settle(struct sim_files *fs)
{
    while (fs->ghosts > 0) {
        file_free(fs->ghost[--fs->ghosts]);
    }
}

void sim_files_crash(struct sim_files *fs, bool forget_new, bool return_old)
{
    for (uint32_t i = 0; forget_new && i < fs->count; i++) {
        struct sim_file *f = fs->file[i];
        if (!f->named) {
            take_out(fs, f);
            file_free(f);
            i--;
        }
    }
    while (return_old && fs->ghosts > 0) {
        struct sim_file *f = fs->ghost[--fs->ghosts];
        for (uint32_t n = 0; n < f->pages; n++) {
            if (f->page[n] != NULL) {
                page_settle(f->page[n], 0, (uint8_t)(f->page[n]->dirty | f->page[n]->lost));
            }
        }
        insert(fs, f);
    }
    sim_files_settle(fs);
}

void sim_files_copy(struct sim_files *fs, const struct sim_files *from)
{
    CHECK(fs->count == 0 && fs->ghosts == 0);
    for (uint32_t i = 0; i < from->count + from->ghosts; i++) {
        const struct sim_file *old = i < from->count ? from->file[i] : from->ghost[i - from->count];
        struct sim_file *f = malloc(sizeof *f);
        CHECK(f != NULL);
        *f = *old;
        f->page = grown(NULL, old->pages, sizeof *f->page);
        for (uint32_t n = 0; n < old->pages; n++) {
            f->page[n] = NULL;
            if (old->page[n] == NULL) {
                continue;
            }
            f->page[n] = malloc(sizeof *f->page[n]);
            CHECK(f->page[n] != NULL);
            *f->page[n] = *old->page[n];
            if (old->page[n]->plate != NULL) {
                f->page[n]->plate = malloc(SIM_PAGE);
                CHECK(f->page[n]->plate != NULL);
                memcpy(f->page[n]->plate, old->page[n]->plate, SIM_PAGE);
            }
        }
        if (i < from->count) {
            insert(fs, f);
        } else {
            fs->ghost = grown(fs->ghost, fs->ghosts + 1, sizeof(struct sim_file *));
            fs->ghost[fs->ghosts++] = f;
        }
    }
    fs->next_handle = from->next_handle;
}

void sim_files_close(struct sim_files *fs)
{
    for (uint32_t i = 0; i < fs->count; i++) {
        file_free(fs->file[i]);
    }
    sim_files_settle(fs);
    free(fs->file);
    free(fs->ghost);
    *fs = (struct sim_files){0};
}
