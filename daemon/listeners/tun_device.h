/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tun_device.h - makes the device of a network: a tun, or a tap, with its addresses, its MTU and its routes.
 *
 * The routes say by which device the network's subnets go, that TCP connections by it use ECN, so that marks of full
 * links reach them, and that these connections use CUBIC where the machine's default is an algorithm that ignores marks
 * (BBR); nothing else on the machine changes. What is behind the network's gateways has routes by the device, too,
 * after all others: a machine with a default route of its own keeps it. It takes CAP_NET_ADMIN, so it is done before
 * the daemon gives up its rights; the descriptor needs none. The device goes with the descriptor, unless somebody had
 * made it before, as a persistent one.
 *
 * The thread that calls is in another network namespace for the time of the call, where one is wished for.
 */
#ifndef DAEMON_LISTENERS_TUN_DEVICE_H
#define DAEMON_LISTENERS_TUN_DEVICE_H

#include "services/tunnel/tunnel.h"

enum { TUN_DEVICE_WHY = 320 };

/* Which option of the service is at fault when a device cannot be had. */
enum tun_fault { TUN_FAULT_DEVICE, TUN_FAULT_SUBNET, TUN_FAULT_SUBNET6, TUN_FAULT_NETNS };
/* "device", "subnet", "subnet6", "netns"; static. */
const char *tun_fault_option(enum tun_fault fault);

struct tun_wish {
    const char *name;
    /* NULL, for tun_device_check() alone: not known. */
    const struct tunnel_place *place;
    /* The network may take addresses for which this machine has a route. */
    bool force;
    /*
     * The network namespace that the device is made in, with all that belongs to it: a name, as of ip-netns(8), or the
     * absolute path of a namespace's file. NULL: the caller's own. To enter another one takes CAP_SYS_ADMIN.
     */
    const char *netns;
    /* A tap, with the MAC address that its address implies (services/tunnel/neighbour.h), in place of a tun. */
    bool ethernet;
};

struct tun_device {
    /* Does not block; each read and write is a virtio head of 10 bytes, little-endian, and a packet. */
    int fd;
    /* The kernel takes and gives UDP packets with a gso size (Linux 6.2). */
    bool udp;
    /* The device has its IPv6 address; false where IPv6 is switched off. */
    bool six;
};

/*
 * Makes the device, whose descriptor the caller closes. -errno; what is at fault in *fault, and in why[] a sentence
 * that names the device and says what to do. 0: why[] is "", or such a sentence as a warning.
 */
CW_MUST_CHECK int tun_device_open(struct tun_device *out, const struct tun_wish *wish, enum tun_fault *fault,
                                  char why[static TUN_DEVICE_WHY]);

/*
 * Would tun_device_open() succeed? Makes nothing and needs no right; the device may be there, of a daemon that runs.
 * -errno and warnings as above; -EACCES: whoever asks may not open /dev/net/tun, which says nothing of the daemon. That
 * CAP_NET_ADMIN is missing is a warning, when it is root who asks.
 */
CW_MUST_CHECK int tun_device_check(const struct tun_wish *wish, enum tun_fault *fault, char why[static TUN_DEVICE_WHY]);

#endif
