/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tun_door.h - the door of the network `ip` (services/tunnel/tunnel.h): a tun on the daemon's loop.
 *
 * It is there when the configuration names the service: `service ip { options { device = cw0 } }`. The device is made
 * when the daemon starts, before its rights are given up, and goes when it ends. In a turn of the loop at most 16
 * packets and 256 KiB are read from it; what came from other servers in the turn is written at the turn's end, so that
 * pieces that came together are joined. A device that somebody removes meanwhile (ip link del) is told of by one line
 * of the log: the network is gone until the daemon is restarted.
 */
#ifndef DAEMON_LISTENERS_TUN_DOOR_H
#define DAEMON_LISTENERS_TUN_DOOR_H

#include "daemon/host/host.h"

struct tun_door;

/*
 * Makes the device if the service runs; *out is NULL if it does not. Borrows the host, which has to outlive it. -errno
 * and why: among others -EINVAL, when the process has more than one server, or its server has no place yet and so no
 * address.
 */
CW_MUST_CHECK int tun_door_open(struct tun_door **out, struct host *h, char why[static HOST_WHY]);
/* To be called before the host closes. NULL is allowed. */
void tun_door_close(struct tun_door *d);

#endif
