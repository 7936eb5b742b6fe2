/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tun_door.h - the doors of networks (services/tunnel/tunnel.h): for each a tun on the daemon's loop.
 *
 * They are there when the configuration names the networks: `network ip { device = cw0 }`. The device is made
 * when the daemon starts, before its rights are given up, and goes when it ends. In a turn of the loop at most 16
 * packets and 256 KiB are read from it; what came from other servers in the turn is written at the turn's end, so that
 * pieces that came together are joined. A device that somebody removes meanwhile (ip link del) is told of by one line
 * of the log: the network is gone until the daemon is restarted.
 */
#ifndef DAEMON_LISTENERS_TUN_DOOR_H
#define DAEMON_LISTENERS_TUN_DOOR_H

#include "daemon/host/host.h"

struct tun_door; /* and those of all other networks, behind it */

/*
 * Makes the device of each network that runs; *out is NULL if none does. Borrows the host, which has to outlive it.
 * -errno and why: among others -EINVAL, when the process has more than one server, or its server has no place yet and
 * so no address.
 */
CW_MUST_CHECK int tun_door_open(struct tun_door **out, struct host *h, char why[static HOST_WHY]);
/* Closes all, and is to be called before the host closes. NULL is allowed. */
void tun_door_close(struct tun_door *d);

#endif
