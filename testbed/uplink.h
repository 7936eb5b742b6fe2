/* SPDX-License-Identifier: Apache-2.0 */
/*
 * uplink.h - a way out of a lab, with nothing of the machine changed: slirp4netns beside the lab's first gateway.
 *
 * It makes the device up0 in that server's namespace, with the address 10.0.2.100 and a default route, and does with
 * sockets of its own, as any program, whatever comes by it: TCP and UDP connections to the machine's networks, to the
 * machine's loopback (10.0.2.2), and to its name servers (10.0.2.3). Nobody outside reaches the lab.
 */
#ifndef TESTBED_UPLINK_H
#define TESTBED_UPLINK_H

#include "testbed/crew.h"
#include "testbed/lab.h"

/* What does the way out, a program of its own; and the name server that all of the lab has by it. */
#define UPLINK_PROGRAM "slirp4netns"
#define UPLINK_RESOLVER "10.0.2.3"

/* The server that has it: the first gateway. */
cw_server uplink_server(const struct lab *lab);
/* Starts it for the server whose namespace that descriptor is. -errno, as crew_start(). */
CW_MUST_CHECK int uplink_start(struct crew *c, const struct lab *lab, int ns);

#endif
