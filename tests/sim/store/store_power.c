/* SPDX-License-Identifier: Apache-2.0 */
#include "store_power.h"

#include "services/store/internal.h"
#include "store_talker.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The room is the least that the store takes, and no world fills it. */
static const char *option(void *context, const char *service, const char *name)
{
    (void)context;
    return strcmp(service, "store") != 0      ? NULL
           : strcmp(name, "folder") == 0      ? "disk"
           : strcmp(name, "segment_mib") == 0 ? "1"
           : strcmp(name, "bytes_max") == 0   ? "96"
                                              : NULL;
}

void power_open(struct power *p, struct world_config *config, unsigned servers, uint64_t seed, bool calm)
{
    uint64_t m = prng_mix(seed, 21);
    struct sim_disk_config disk = {.sync = CW_US(120), .per_kib = CW_NS(600), .read = CW_US(20)};
    *p = (struct power){.kind = calm ? POWER_DEATHS : (enum power_kind)(m % POWER_KINDS), .seed = seed};
    p->victim = (cw_server)(m >> 8) % servers;
    if (p->kind == POWER_SLOW) {
        disk.slow_in = 30;
        disk.slow_by = 10 + (uint32_t)(m >> 40) % 200;
    }
    p->disks = store_disks_open(servers, &disk, prng_mix(seed, 22));
    config->objects = store_disks_objects;
    config->objects_context = p->disks;
    config->option = option;
}

void power_close(struct power *p)
{
    if (p->disks != NULL) {
        store_disks_close(p->disks);
    }
}

/* ---- One server -------------------------------------------------------------------------------------------------- */

void power_died(struct power *p, cw_server s)
{
    uint64_t m = prng_mix(p->seed, 23 + s);
    if (p->disks == NULL) {
        return;
    }
    if (p->kind == POWER_OLDER && s == p->victim && store_disks_restore(p->disks, s)) {
        return;
    }
    if (p->kind == POWER_EMPTY && s == p->victim) {
        store_disks_empty(p->disks, s);
    } else if (m % 4 != 0) { /* else its process was killed, and the kernel writes what it has */
        store_disks_crash(p->disks, s, (unsigned)(m >> 8) % SIM_DISK_HABITS);
    }
}

static void start(struct world *w, void *arg)
{
    int rc = world_start(w, (cw_server)(uintptr_t)arg);
    if (rc < 0 && rc != -EALREADY) {
        seeds_fail(store_ledger->wrong, "started", "server %u does not start again: %s", (unsigned)(uintptr_t)arg,
                   strerror(-rc));
    }
}

static void kill_one(struct world *w, cw_server s, cw_span away)
{
    if (world_state(w, s) != WORLD_DEAD) {
        world_kill(w, s, true);
    }
    world_at(w, cw_time_add(world_now(w), away), start, (void *)(uintptr_t)s);
}

static void kill_victim(struct world *w, void *arg)
{
    const struct power *p = arg;
    kill_one(w, p->victim, CW_MS(20));
}

static void break_disk(struct world *w, void *arg)
{
    const struct power *p = arg;
    (void)w;
    sim_disk_fail_nth(store_disks_of(p->disks, p->victim), 1 + (uint32_t)(p->seed % 5),
                      1u << DISK_WRITE | 1u << DISK_SYNC, EIO);
}

static void copy_disk(struct world *w, void *arg)
{
    const struct power *p = arg;
    (void)w;
    store_disks_copy(p->disks, p->victim);
}

/* ---- All --------------------------------------------------------------------------------------------------------- */

void power_all(struct power *p, struct world *w)
{
    cw_server servers = world_torus(w)->servers;
    for (cw_server s = 0; s < servers; s++) {
        kill_one(w, s, CW_US(1000 + (int64_t)(prng_mix(p->seed, 99 + s) % 20000)));
    }
}

static void kill_all(struct world *w, void *arg)
{
    power_all(arg, w);
}

static cw_time between(const struct power *p, unsigned purpose, cw_time from, cw_time to)
{
    cw_span span = cw_time_since(to, from);
    return cw_time_add(from, CW_NS((int64_t)(prng_mix(p->seed, purpose) % (uint64_t)span.ns)));
}

void power_plan(struct power *p, struct world *w, cw_time from, cw_time to)
{
    cw_time middle = cw_time_add(from, CW_NS(cw_time_since(to, from).ns / 2));
    switch (p->kind) {
    case POWER_BROKEN:
        world_at(w, between(p, 51, from, middle), break_disk, p);
        world_at(w, between(p, 52, middle, to), kill_all, p);
        return;
    case POWER_OLDER:
        world_at(w, between(p, 51, from, middle), copy_disk, p);
        world_at(w, between(p, 52, middle, to), kill_victim, p);
        return;
    case POWER_EMPTY:
        world_at(w, between(p, 51, from, to), kill_victim, p);
        return;
    case POWER_ALL:
    case POWER_SLOW:
        world_at(w, between(p, 51, from, middle), kill_all, p);
        world_at(w, between(p, 52, middle, to), kill_all, p);
        return;
    case POWER_DEATHS:
    case POWER_KINDS:
        return;
    }
}

/* ---- Afterwards -------------------------------------------------------------------------------------------------- */

static void look(void *context, cw_svc *svc, const void *exports)
{
    const struct store *s = cw_state(svc);
    (void)exports;
    *(bool *)context = s->health == STORE_WELL && s->shards > 0;
}

bool power_is_whole(struct world *w, cw_server s)
{
    bool whole = false;
    return world_visit(w, s, "store", CW_STORE_API, look, &whole) == 0 && whole;
}
