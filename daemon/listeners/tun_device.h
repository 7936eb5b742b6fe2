/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tun_device.h - makes the device of a network: a tun with its addresses, its MTU and its routes.
 *
 * The routes say by which device the network's subnets go, and that TCP connections by it use ECN, so that marks of
 * full links reach them; nothing else on the machine changes. It takes CAP_NET_ADMIN, so it is done before the daemon
 * gives up its rights; the descriptor needs none. The device goes with the descriptor, unless somebody had made it
 * before, as a persistent one.
 */
#ifndef DAEMON_LISTENERS_TUN_DEVICE_H
#define DAEMON_LISTENERS_TUN_DEVICE_H

#include "services/tunnel/tunnel.h"

enum { TUN_DEVICE_WHY = 200 };

/*
 * Gives a descriptor that does not block; each read and write is a virtio head of 10 bytes, little-endian, and a
 * packet. *udp: the kernel takes and gives UDP packets with a gso size (Linux 6.2). *six: the device has its IPv6
 * address; false where IPv6 is switched off. -errno, and in why[] a sentence that names the device and what to do.
 */
CW_MUST_CHECK int tun_device_open(const char *name, const struct tunnel_place *place, bool *udp, bool *six,
                                  char why[static TUN_DEVICE_WHY]);

#endif
