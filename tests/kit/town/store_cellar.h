/* SPDX-License-Identifier: Apache-2.0 */
/* store_cellar.h - a town of the store (store_town.h) in which each server has a simulated disk. */
#ifndef KIT_STORE_CELLAR_H
#define KIT_STORE_CELLAR_H

#include "simulator/disk.h"
#include "store_town.h"

/* A town with a store on disks; copies 0: there is no store yet. */
struct fake_net *store_cellar_open(unsigned copies);
/* Closes it, and holds that nothing was left. */
void store_cellar_close(struct fake_net *net);
/* Lets time pass, for disks too. */
void store_cellar_run(struct fake_net *net, cw_span span);
/* The disks do nothing from now on, or go on. */
void store_cellar_hold(bool held);
/* The same of one. */
void store_cellar_hang(cw_server s, bool hangs);
struct sim_disk *store_cellar_disk(cw_server s);
/* Of a server that is down: what was not synced is lost; the disk is empty; another one is in its place (takes it). */
void store_cellar_crash(cw_server s);
void store_cellar_empty(cw_server s);
void store_cellar_replace(cw_server s, struct sim_disk *with);

#endif
