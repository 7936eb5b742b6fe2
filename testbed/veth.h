/* SPDX-License-Identifier: Apache-2.0 */
/*
 * veth.h - a torus of network namespaces on this machine, wired with veth pairs, by netlink.
 *
 * One namespace for each server, with an Ethernet device for each of its cables: px mx py my pz mz. A namespace has no
 * name outside: it lives as long as a descriptor of it or a process in it, so that whoever holds a struct veth takes
 * everything along when it dies. Loopback is up in each, so that a daemon can serve clients of its server on 127.0.0.1.
 * Nothing speaks on the cables by itself: they have no IPv6, and no IPv4 address unless asked for.
 *
 * The two ends of a cable never have the same interface index: the kernel would tell the loss of carrier late
 * (docs/testbed.md). One thread; it is moved into each namespace and back while one is made.
 */
#ifndef TESTBED_VETH_H
#define TESTBED_VETH_H

#include "keyspace/torus.h"

enum { VETH_WHY = 256, VETH_MTU_LEAST = 1500, VETH_MTU_MOST = 65535, VETH_MILLION = 1000000 };

struct veth_plan {
    const struct torus *torus; /* borrowed while it is open */
    uint32_t mtu;              /* bytes behind the Ethernet header */
    uint64_t bits_per_second;  /* of each direction, framing and gap included, by tbf; 0: as fast as it goes */
    bool addresses;            /* an IPv4 address on each end, for UDP */
    bool ipv6;                 /* loopback and devices that daemons make may have IPv6; cables never have it */
    bool dark;                 /* no cable has carrier until veth_light() */
    /* Called now and then, may be NULL: so many are done of all "namespaces", and then of all "cables". */
    void (*progress)(void *context, const char *what, uint32_t done, uint32_t total);
    void *context;
};

struct veth;

/*
 * Makes all namespaces and cables. Copies the plan. -EPERM or what the kernel said, and why says what was not possible;
 * nothing is left then.
 */
CW_MUST_CHECK int veth_open(struct veth **out, const struct veth_plan *plan, char why[static VETH_WHY]);
/*
 * Gives all cables carrier. Daemons of a large lab start while the cables are dark, so that none of them floods
 * link-state records while others have yet to start.
 */
CW_MUST_CHECK int veth_light(struct veth *v);
void veth_close(struct veth *v); /* NULL is allowed */

/* Borrows the descriptor of a server's namespace. */
int veth_namespace(const struct veth *v, cw_server s);
/* "px"; static. */
const char *veth_device(cw_link link);
/*
 * The IPv4 address of the cable's end at s, in host byte order, for a plan with addresses. The address of the other end
 * has the two lowest bits inverted.
 */
uint32_t veth_address(cw_server s, cw_link link, const struct torus *torus);

/* The end of the cable at s goes down or up: both ends lose carrier or have it again. -ENODEV: no such cable. */
int veth_set_up(struct veth *v, cw_server s, cw_link link, bool up);
/*
 * From now on ppm of a million frames that s sends on the link are lost, unnoticed by either end; 0: none. To lose all
 * of them (VETH_MILLION) needs no privilege; to lose a share needs the right to load a program into the kernel: -EPERM.
 */
int veth_set_loss(struct veth *v, cw_server s, cw_link link, uint32_t ppm);

#endif
