/* SPDX-License-Identifier: Apache-2.0 */
#include "store_disks.h"

#include "base/container.h"
#include "cubeway/store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The disk of one server. Its face passes orders on, and has the world come back when the next one is done. */
struct drive {
    struct disk face;
    struct store_disks *all;
    cw_server server;
    struct sim_disk *disk, *older; /* older: NULL, or what it held once */
    bool open;
    uint64_t life; /* visits of a former life come to nothing */
    cw_time due;   /* when a visit is planned; CW_NEVER: none is */
    struct node_object object[2];
    struct disks_host host;
};

struct store_disks {
    struct world *world;
    struct sim_disk_config config;
    uint64_t seed;
    unsigned count;
    struct drive drive[];
};

struct visit {
    struct drive *drive;
    uint64_t life;
    cw_time due;
};

static void plan(struct drive *d);

static void run(void *context, cw_svc *svc, const void *exports)
{
    struct drive *d = context;
    (void)svc;
    (void)exports;
    sim_disk_run(d->disk, world_now(d->all->world));
}

static void on_time(struct world *w, void *arg)
{
    struct visit v = *(struct visit *)arg;
    struct drive *d = v.drive;
    free(arg);
    if (!d->open || d->life != v.life || d->due.ns != v.due.ns) {
        return;
    }
    d->due = CW_NEVER;
    if (world_visit(w, d->server, "store", CW_STORE_API, run, d) == 0 && d->open) {
        plan(d);
    }
}

static void plan(struct drive *d)
{
    cw_time at = sim_disk_next(d->disk), now = world_now(d->all->world);
    if (at.ns == CW_NEVER.ns || (d->due.ns != CW_NEVER.ns && d->due.ns <= at.ns)) {
        return;
    }
    struct visit *v = malloc(sizeof *v);
    if (v == NULL) {
        abort();
    }
    d->due = cw_time_max(at, now);
    *v = (struct visit){d, d->life, d->due};
    world_at(d->all->world, d->due, on_time, v);
}

static void submit(struct disk *disk, const struct disk_order *order)
{
    struct drive *d = container_of(disk, struct drive, face);
    disk_submit(sim_disk_face(d->disk), order);
    plan(d);
}

static int open_drive(void *context, cw_coord self, const char *service, unsigned version, const char *folder,
                      struct disk **out, char why[static DISKS_WHY])
{
    struct drive *d = context;
    (void)self;
    (void)service;
    (void)version;
    (void)folder;
    (void)why;
    d->open = true;
    d->life++;
    d->due = CW_NEVER;
    /* The disk's own clock stands still while nobody uses it. */
    sim_disk_run(d->disk, world_now(d->all->world));
    *out = &d->face;
    return 0;
}

static void close_drive(void *context, struct disk *disk)
{
    struct drive *d = context;
    (void)disk;
    d->open = false;
    sim_disk_kill(d->disk);
}

struct store_disks *store_disks_open(unsigned servers, const struct sim_disk_config *config, uint64_t seed)
{
    static const struct disk_kind kind = {submit};
    struct store_disks *all = calloc(1, sizeof *all + servers * sizeof all->drive[0]);
    if (all == NULL) {
        abort();
    }
    all->count = servers;
    all->config = *config;
    all->seed = seed;
    for (cw_server s = 0; s < servers; s++) {
        struct drive *d = &all->drive[s];
        d->face.kind = &kind;
        d->all = all;
        d->server = s;
        d->due = CW_NEVER;
        d->host = (struct disks_host){.size = sizeof d->host, .context = d, .open = open_drive, .close = close_drive};
        d->object[0] = (struct node_object){DISKS_HOST_NAME, DISKS_HOST_VERSION, &d->host};
        store_disks_empty(all, s);
    }
    return all;
}

void store_disks_close(struct store_disks *all)
{
    for (cw_server s = 0; s < all->count; s++) {
        sim_disk_close(all->drive[s].disk);
        if (all->drive[s].older != NULL) {
            sim_disk_close(all->drive[s].older);
        }
    }
    free(all);
}

void store_disks_world(struct store_disks *d, struct world *w)
{
    d->world = w;
}

const struct node_object *store_disks_objects(void *context, cw_server s)
{
    struct store_disks *all = context;
    return all->drive[s].object;
}

struct sim_disk *store_disks_of(struct store_disks *all, cw_server s)
{
    return all->drive[s].disk;
}

void store_disks_crash(struct store_disks *all, cw_server s, unsigned habits)
{
    sim_disk_crash(all->drive[s].disk, NULL, habits);
}

static void replace(struct drive *d, struct sim_disk *with)
{
    if (d->disk != NULL) {
        sim_disk_close(d->disk);
    }
    d->disk = with;
}

void store_disks_empty(struct store_disks *all, cw_server s)
{
    struct sim_disk_config config = all->config;
    config.seed = prng_mix(all->seed, s);
    replace(&all->drive[s], sim_disk_open(&config));
}

void store_disks_copy(struct store_disks *all, cw_server s)
{
    struct drive *d = &all->drive[s];
    if (d->older != NULL) {
        sim_disk_close(d->older);
    }
    d->older = sim_disk_copy(d->disk);
}

bool store_disks_restore(struct store_disks *all, cw_server s)
{
    struct drive *d = &all->drive[s];
    if (d->older == NULL) {
        return false;
    }
    replace(d, d->older);
    d->older = NULL;
    return true;
}
