/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tun_check.h - finds in advance what would keep a daemon from making the device of its network: for
 * `cubewayd --check-config`.
 */
#ifndef DAEMON_LISTENERS_TUN_CHECK_H
#define DAEMON_LISTENERS_TUN_CHECK_H

#include "daemon/host/preflight.h"

/*
 * Tells of the service `ip` of a configuration, with the line and the option: a device that cannot be had, or a subnet
 * for which this machine has a route. What is wrong with the options by themselves was told before (preflight()).
 * Makes nothing, and needs no right.
 */
void tun_check(const struct daemon_config *config, struct preflight *p);

#endif
