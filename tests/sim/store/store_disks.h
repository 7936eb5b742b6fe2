/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_disks.h - a simulated disk (simulator/disk.h) for each server of a world, offered to the store as its host does
 * (services/store/disk/host.h). What the disk does, it does at the world's time.
 *
 * A server that dies leaves its disk as it is: store_disks_crash() says what a loss of power leaves of it. A disk comes
 * back older when a copy that was taken before is put in its place.
 */
#ifndef SIM_STORE_DISKS_H
#define SIM_STORE_DISKS_H

#include "services/store/disk/host.h"
#include "simulator/disk.h"
#include "simulator/world.h"

struct store_disks;

/* Disks for the servers of a world that will be opened with what store_disks_objects() gives. */
struct store_disks *store_disks_open(unsigned servers, const struct sim_disk_config *config, uint64_t seed);
/* After the world is closed. */
void store_disks_close(struct store_disks *d);
/* The world that the disks' servers live in. */
void store_disks_world(struct store_disks *d, struct world *w);
/* For world_config.objects; the context is the struct store_disks. */
const struct node_object *store_disks_objects(void *context, cw_server s);

struct sim_disk *store_disks_of(struct store_disks *d, cw_server s);
/* The power of a server that is dead went: of what was not synced some is lost, drawn from the seed. */
void store_disks_crash(struct store_disks *d, cw_server s, unsigned habits);
/* Puts an empty disk in the place of a dead server's. */
void store_disks_empty(struct store_disks *d, cw_server s);
/* Remembers what the disk holds at this moment; and puts that in its place when the server is dead. */
void store_disks_copy(struct store_disks *d, cw_server s);
bool store_disks_restore(struct store_disks *d, cw_server s);

#endif
