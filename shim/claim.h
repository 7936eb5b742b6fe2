/* SPDX-License-Identifier: Apache-2.0 */
/*
 * claim.h - one daemon on a cable. Two that both speak for one port would tear every adjacency of it.
 *
 * A claim is an abstract Unix socket bound to the interface's index and the EtherType: it lives in the same network namespace as the
 * interface, needs no folder and no permission, and ends with the process that holds it, however that dies.
 */
#ifndef SHIM_CLAIM_H
#define SHIM_CLAIM_H

#include <stdint.h>

/* Gives a descriptor that holds the claim until it is closed; -EADDRINUSE: somebody has it; or another -errno. */
int claim_interface(uint32_t index, uint16_t ethertype);

#endif
