/* SPDX-License-Identifier: Apache-2.0 */
/*
 * claim.h - only one daemon speaks on a cable. Two daemons that spoke for one port would tear down each other's
 * adjacencies.
 *
 * A daemon claims an interface by its bound packet socket itself: the kernel lists all packet sockets of a network
 * namespace (/proc/net/packet), each with its interface and EtherType. So nobody without the right to packet sockets
 * can stand in a daemon's way; the claim ends with the last process that holds the socket, however that process dies;
 * and the claim follows the socket to another interface. Two daemons that bind at the same moment see each other, and
 * both give way.
 */
#ifndef SHIM_CLAIM_H
#define SHIM_CLAIM_H

#include "cubeway/types.h"

/*
 * Is a packet socket other than fds[count] (borrowed, already bound) bound to this interface and EtherType, in the
 * calling thread's network namespace? -EADDRINUSE: yes. 0: no, or this cannot be known because there is no /proc.
 */
CW_MUST_CHECK int claim_interface(uint32_t index, uint16_t ethertype, const int *fds, unsigned count);

#endif
