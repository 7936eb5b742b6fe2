/* SPDX-License-Identifier: Apache-2.0 */
#include "store_cellar.h"

#include "services/store/disk/host.h"
#include "suite.h"

#include <string.h>

static struct sim_disk *disk[STORE_TOWN];
static bool opened[STORE_TOWN], hung[STORE_TOWN], held;

static int open_disk(void *context, cw_coord self, const char *service, unsigned version, const char *folder,
                     struct disk **out, char why[static DISKS_WHY])
{
    (void)context;
    (void)service;
    (void)version;
    (void)folder;
    (void)why;
    cw_server s = (cw_server)self.x * 3 + self.y; /* as torus_id() of 3x3x1 */
    ck_assert(!opened[s]);
    opened[s] = true;
    *out = sim_disk_face(disk[s]);
    return 0;
}

static void close_disk(void *context, struct disk *face)
{
    (void)context;
    for (cw_server s = 0; s < STORE_TOWN; s++) {
        if (sim_disk_face(disk[s]) == face) {
            opened[s] = false;
            sim_disk_kill(disk[s]);
        }
    }
}

static const void *offer(cw_svc *s, const char *name, unsigned version)
{
    static const struct disks_host host = {.size = sizeof host, .open = open_disk, .close = close_disk};
    (void)s;
    return strcmp(name, DISKS_HOST_NAME) == 0 && version == DISKS_HOST_VERSION ? &host : NULL;
}

static void turn(struct fake_net *net)
{
    for (cw_server s = 0; s < STORE_TOWN && !held; s++) {
        if (opened[s] && !hung[s]) {
            sim_disk_run(disk[s], net->now);
        }
    }
}

static struct sim_disk *fresh(cw_server s)
{
    return sim_disk_open(&(struct sim_disk_config){.seed = s + 1, .sync = CW_US(120)});
}

struct fake_net *store_cellar_open(unsigned copies)
{
    static const char *const options[] = {"folder=cellar", "segment_mib=1", NULL};
    char line[40];
    for (cw_server s = 0; s < STORE_TOWN; s++) {
        disk[s] = fresh(s);
        opened[s] = false;
        hung[s] = false;
    }
    held = false;
    fake_offers = offer;
    store_town_turn = turn;
    struct fake_net *net = store_town_open_with(options);
    snprintf(line, sizeof line, "create disk copies=%u", copies);
    ck_assert(copies == 0 || store_town_ask(net, 0, line)->rc == 0);
    return net;
}

void store_cellar_close(struct fake_net *net)
{
    store_town_close(net);
    for (cw_server s = 0; s < STORE_TOWN; s++) {
        sim_disk_close(disk[s]);
    }
    fake_offers = NULL;
    store_town_turn = NULL;
}

void store_cellar_run(struct fake_net *net, cw_span span)
{
    for (cw_time end = cw_time_add(net->now, span); cw_time_before(net->now, end);) {
        fake_net_run(net, CW_MS(1));
        turn(net);
    }
}

void store_cellar_hold(bool is)
{
    held = is;
}

void store_cellar_hang(cw_server s, bool is)
{
    hung[s] = is;
}

struct sim_disk *store_cellar_disk(cw_server s)
{
    return disk[s];
}

void store_cellar_crash(cw_server s)
{
    sim_disk_crash(disk[s], NULL, SIM_DISK_KEEPS);
}

void store_cellar_empty(cw_server s)
{
    store_cellar_replace(s, fresh(s));
}

void store_cellar_replace(cw_server s, struct sim_disk *with)
{
    ck_assert(!opened[s]);
    sim_disk_close(disk[s]);
    disk[s] = with;
}
