/* SPDX-License-Identifier: Apache-2.0 */
/*
 * disks_host.h - disks for services of this machine (services/store/disk/host.h): a folder and two threads each, by
 * disk_desk.h. Who waits for an order is told at the end of the turn of the loop in which it was done, inside an upcall
 * of its service. A folder is locked as long as its disk is open.
 */
#ifndef DAEMON_HOST_DISKS_HOST_H
#define DAEMON_HOST_DISKS_HOST_H

#include "services/store/disk/host.h"

struct host;

/* Fills in what cw_find() gives to services; h is borrowed as long as that is used. */
void disks_host_open(struct disks_host *out, struct host *h);

#endif
