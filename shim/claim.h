/* SPDX-License-Identifier: Apache-2.0 */
/*
 * claim.h - one daemon on a cable. Two that both speak for one port would tear every adjacency of it.
 *
 * The claim is the bound packet socket itself: the kernel lists those of a network namespace (/proc/net/packet), each with its interface and EtherType. So
 * nobody without the right to packet sockets can stand in a daemon's way, it ends with the last process that holds the socket, however that dies, and
 * it follows the socket to another interface. Two who bind at one moment see each other, and both give way.
 */
#ifndef SHIM_CLAIM_H
#define SHIM_CLAIM_H

#include "cubeway/types.h"

/*
 * Is a packet socket other than fds[count] (borrowed, bound by now) bound to the interface and EtherType, in the calling thread's network namespace? 0: none
 * is, or it cannot be known, without /proc. -EADDRINUSE: one is.
 */
CW_MUST_CHECK int claim_interface(uint32_t index, uint16_t ethertype, const int *fds, unsigned count);

#endif
