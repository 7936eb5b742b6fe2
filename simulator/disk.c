/* SPDX-License-Identifier: Apache-2.0 */
#include "simulator/disk.h"

#include "base/check.h"
#include "base/container.h"
#include "simulator/disk_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { PURPOSE_FAULTS = 0xd15c, PURPOSE_CRASH = 0xc4a5, BROKEN_KINDS = 1 << DISK_WRITE | 1 << DISK_SYNC };

struct queued {
    struct queued *next;
    struct disk_order order;
    cw_time due;
};

struct lane {
    struct queued *first, *last;
    cw_time free; /* when the last order of the lane is done */
};

struct sim_disk {
    struct disk face;
    struct sim_disk_config config;
    struct prng faults, crashes;
    struct sim_files files;
    struct lane lane[DISK_LANES];
    cw_time now;
    uint64_t steps;
    uint32_t fail_in; /* which order of fail_kinds fails: 1 is the next, 0 none */
    unsigned fail_kinds;
    int fail_errno;
    bool broken; /* an error of error_in: no write or sync succeeds any more */
};

static cw_span cost(struct sim_disk *d, const struct disk_order *o)
{
    int64_t ns = 0;
    if (o->what == DISK_WRITE) {
        ns = d->config.per_kib.ns * ((o->size + 1023) / 1024) + (o->sync ? d->config.sync.ns : 0);
    } else if (o->what == DISK_READ) {
        ns = d->config.read.ns;
    } else {
        ns = d->config.sync.ns; /* a sync, or a name: a file system's journal */
    }
    if (d->config.slow_in != 0 && prng_chance(&d->faults, 1, d->config.slow_in)) {
        ns *= d->config.slow_by;
    }
    return (cw_span){ns};
}

static void submit(struct disk *face, const struct disk_order *order)
{
    struct sim_disk *d = container_of(face, struct sim_disk, face);
    struct lane *lane = &d->lane[order->lane];
    CHECK(order->lane < DISK_LANES && order->waiter != NULL);
    struct queued *q = malloc(sizeof *q);
    CHECK(q != NULL);
    *q = (struct queued){.order = *order, .due = cw_time_add(cw_time_max(d->now, lane->free), cost(d, order))};
    lane->free = q->due;
    if (lane->first == NULL) {
        lane->first = q;
    } else {
        lane->last->next = q;
    }
    lane->last = q;
}

static const struct disk_kind kind = {submit};

struct sim_disk *sim_disk_open(const struct sim_disk_config *config)
{
    struct sim_disk *d = calloc(1, sizeof *d);
    CHECK(d != NULL);
    d->face.kind = &kind;
    d->config = *config;
    d->faults = prng_stream(config->seed, 0, PURPOSE_FAULTS);
    d->crashes = prng_stream(config->seed, 0, PURPOSE_CRASH);
    return d;
}

struct sim_disk *sim_disk_copy(const struct sim_disk *d)
{
    struct sim_disk *copy = sim_disk_open(&d->config);
    copy->faults = d->faults;
    copy->crashes = d->crashes;
    copy->now = d->now;
    sim_files_copy(&copy->files, &d->files);
    return copy;
}

static void forget_orders(struct sim_disk *d)
{
    for (int i = 0; i < DISK_LANES; i++) {
        for (struct queued *q; (q = d->lane[i].first) != NULL;) {
            d->lane[i].first = q->next;
            free(q);
        }
        d->lane[i].free = d->now;
    }
}

void sim_disk_close(struct sim_disk *d)
{
    forget_orders(d);
    sim_files_close(&d->files);
    free(d);
}

struct disk *sim_disk_face(struct sim_disk *d)
{
    return &d->face;
}

/* The kinds that an order is of, as sim_disk_fail_nth() counts them. */
static unsigned kinds_of(const struct disk_order *o)
{
    return 1u << o->what | (o->what == DISK_WRITE && o->sync ? 1u << DISK_SYNC : 0);
}

/* The error that fate has for this order, or 0. */
static int fate(struct sim_disk *d, const struct disk_order *o)
{
    if (d->fail_in != 0 && (d->fail_kinds & kinds_of(o)) != 0 && --d->fail_in == 0) {
        return d->fail_errno;
    }
    if (d->config.error_in != 0 && prng_chance(&d->faults, 1, d->config.error_in)) {
        d->broken = d->broken || (kinds_of(o) & BROKEN_KINDS) != 0;
        return EIO;
    }
    return d->broken && (kinds_of(o) & BROKEN_KINDS) != 0 ? EIO : 0;
}

static int64_t list(struct sim_disk *d, const struct disk_order *o)
{
    for (uint32_t i = 0; i < d->files.count && i < o->size; i++) {
        o->list[i] = d->files.file[i]->about;
    }
    return d->files.count;
}

static int64_t open_file(struct sim_disk *d, const struct disk_order *o)
{
    struct sim_file *f = sim_files_find(&d->files, o->name);
    if (f == NULL && !o->create) {
        return -ENOENT;
    }
    return (f == NULL ? sim_files_make(&d->files, o->name) : f)->handle;
}

/* What a failed order of this kind does to the file: nobody knows what of it is on the disk. */
static void spoil(struct sim_disk *d, const struct disk_order *o)
{
    if ((kinds_of(o) & BROKEN_KINDS) == 0) {
        return;
    }
    struct sim_file *f = sim_files_by_handle(&d->files, o->file);
    if (o->what == DISK_WRITE && f != NULL) {
        sim_file_write(f, o->offset, o->from, o->size / 2);
    }
    if (f != NULL) {
        sim_file_spoil(f);
    }
}

static int64_t carry_out(struct sim_disk *d, const struct disk_order *o)
{
    int error = fate(d, o);
    if (error != 0) {
        spoil(d, o);
        return -error;
    }
    if (o->what == DISK_LIST) {
        return list(d, o);
    }
    if (o->what == DISK_OPEN) {
        return open_file(d, o);
    }
    struct sim_file *f = sim_files_by_handle(&d->files, o->file);
    CHECK(f != NULL); /* a handle of a file that was removed */
    uint64_t end = o->what == DISK_WRITE ? o->offset + o->size : o->what == DISK_ALLOCATE ? o->offset : 0;
    if (end > f->about.size && d->config.room != 0 &&
        sim_files_bytes(&d->files) + (end - f->about.size) > d->config.room) {
        return -ENOSPC;
    }
    switch (o->what) {
    case DISK_ALLOCATE:
        sim_file_lengthen(f, o->offset);
        return 0;
    case DISK_READ:
        return (int64_t)sim_file_read(f, o->offset, o->to, o->size);
    case DISK_REMOVE:
        sim_files_remove(&d->files, f);
        return 0;
    case DISK_WRITE:
        sim_file_write(f, o->offset, o->from, o->size);
        break;
    default:
        break;
    }
    if ((kinds_of(o) & 1u << DISK_SYNC) != 0 && !d->config.lies) {
        sim_file_sync(f);
        sim_files_settle(&d->files);
    }
    return 0;
}

/* The lane whose first order is due first, or DISK_LANES. */
static int next_lane(const struct sim_disk *d)
{
    int best = DISK_LANES;
    for (int i = 0; i < DISK_LANES; i++) {
        const struct queued *first = d->lane[i].first;
        if (first != NULL && (best == DISK_LANES || cw_time_before(first->due, d->lane[best].first->due))) {
            best = i;
        }
    }
    return best;
}

cw_time sim_disk_next(const struct sim_disk *d)
{
    int lane = next_lane(d);
    return lane == DISK_LANES ? CW_NEVER : d->lane[lane].first->due;
}

bool sim_disk_step(struct sim_disk *d)
{
    int lane = next_lane(d);
    if (lane == DISK_LANES) {
        return false;
    }
    struct lane *l = &d->lane[lane];
    struct queued *q = l->first;
    l->first = q->next;
    d->now = cw_time_max(d->now, q->due);
    int64_t result = carry_out(d, &q->order);
    d->steps++;
    struct disk_waiter *waiter = q->order.waiter;
    uint64_t ticket = q->order.ticket;
    free(q);
    waiter->told(waiter, ticket, result);
    return true;
}

void sim_disk_run(struct sim_disk *d, cw_time now)
{
    while (cw_time_due(sim_disk_next(d), now)) {
        sim_disk_step(d);
    }
    d->now = cw_time_max(d->now, now);
}

uint64_t sim_disk_steps(const struct sim_disk *d)
{
    return d->steps;
}

void sim_disk_fail_nth(struct sim_disk *d, uint32_t n, unsigned kinds, int errno_value)
{
    d->fail_in = n;
    d->fail_kinds = kinds;
    d->fail_errno = errno_value;
}

void sim_disk_room(struct sim_disk *d, uint64_t room)
{
    d->config.room = room;
}

bool sim_disk_fail_pending(const struct sim_disk *d)
{
    return d->fail_in != 0;
}

uint32_t sim_disk_unsynced(const struct sim_disk *d)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < d->files.count; i++) {
        count += sim_file_unsynced(d->files.file[i]);
    }
    return count;
}

void sim_disk_kill(struct sim_disk *d)
{
    forget_orders(d);
}

void sim_disk_crash(struct sim_disk *d, const uint8_t *keep, unsigned habits)
{
    uint32_t bit = 0;
    forget_orders(d);
    d->broken = false;
    for (uint32_t i = 0; i < d->files.count; i++) {
        bit = sim_file_crash(d->files.file[i], keep, bit, keep == NULL ? &d->crashes : NULL);
        if ((habits & (SIM_DISK_CUTS_LENGTH | SIM_DISK_LENGTH_FIRST)) == SIM_DISK_CUTS_LENGTH) {
            sim_file_cut(d->files.file[i], d->files.file[i]->synced_size);
        } else if ((habits & SIM_DISK_LENGTH_FIRST) != 0) {
            sim_file_blank(d->files.file[i], d->files.file[i]->synced_size);
        }
    }
    sim_files_crash(&d->files, (habits & SIM_DISK_FORGETS_NEW) != 0, (habits & SIM_DISK_RETURNS_OLD) != 0);
    for (uint32_t i = 0; i < d->files.count; i++) {
        sim_file_sync(d->files.file[i]); /* what is there now is what the disk has */
    }
}

static struct sim_file *must_find(const struct sim_disk *d, const char *name)
{
    struct sim_file *f = sim_files_find(&d->files, name);
    CHECK(f != NULL);
    return f;
}

void sim_disk_flip(struct sim_disk *d, const char *file, uint64_t bit)
{
    struct sim_file *f = must_find(d, file);
    uint8_t byte;
    CHECK(sim_file_read(f, bit / 8, &byte, 1) == 1);
    byte = (uint8_t)(byte ^ 1u << bit % 8);
    sim_file_write(f, bit / 8, &byte, 1);
    sim_file_sync(f);
}

void sim_disk_cut(struct sim_disk *d, const char *file, uint64_t size)
{
    struct sim_file *f = must_find(d, file);
    sim_file_cut(f, size);
    sim_file_sync(f);
}

void sim_disk_peek(const struct sim_disk *d, const char *file, uint64_t offset, void *to, size_t size)
{
    memset(to, 0, size);
    (void)sim_file_read(must_find(d, file), offset, to, size);
}

const struct disk_file *sim_disk_file(const struct sim_disk *d, uint32_t n)
{
    return n < d->files.count ? &d->files.file[n]->about : NULL;
}

void sim_disk_put(struct sim_disk *d, const char *file, const void *bytes, size_t size)
{
    struct sim_file *f = sim_files_find(&d->files, file);
    f = f == NULL ? sim_files_make(&d->files, file) : f;
    sim_file_cut(f, 0);
    sim_file_write(f, 0, bytes, size);
    sim_file_sync(f);
}

uint64_t sim_disk_memory(const struct sim_disk *d)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < d->files.count; i++) {
        bytes += sim_file_memory(d->files.file[i]);
    }
    return bytes;
}
