/* SPDX-License-Identifier: Apache-2.0 */
/*
 * raw.h - a cable on an Ethernet interface, by an AF_PACKET socket and batched calls (Linux). Why no mapped rings:
 * docs/shims.md.
 *
 * Two sockets, one for data and one for control, are bound to an EtherType each on one interface. The kernel filters
 * out frames that we sent, and, where a destination is configured, those to others that the interface shows only
 * because it is promiscuous. The interface need be neither up nor cabled when the shim is opened: the state then says
 * so. The interface is followed from then on, also when it is renamed, or deleted and made again by the same name
 * (carrier.h). An interface whose mtu has become smaller than ours does not carry whole frames, and counts as one
 * without a carrier.
 */
#ifndef SHIM_RAW_H
#define SHIM_RAW_H

#include "shim/port.h"
#include "shim/shim.h"

/*
 * Gives the shim. 0; or, with one sentence in why: -ENODEV (no such interface), -EPERM (no CAP_NET_RAW), -EADDRINUSE
 * (another process is on this interface), -EMSGSIZE (its mtu is smaller than the one asked for), -EPROTOTYPE (it is not
 * Ethernet), or another -errno.
 */
CW_MUST_CHECK int raw_open(struct shim **out, const struct port_options *options, char why[static SHIM_WHY_BYTES]);

#endif
