/* SPDX-License-Identifier: Apache-2.0 */
/*
 * raw.h - a cable on an Ethernet interface, by an AF_PACKET socket and batched calls (Linux). Why no mapped rings: docs/shims.md.
 *
 * Bound to one EtherType on one interface; frames that the interface shows only because it is promiscuous, and our own, are
 * filtered in the kernel. The interface need be neither up nor cabled when the shim is opened: state says so, and it is followed
 * from then on, through being renamed, deleted, and made again by the same name (carrier.h). An interface whose mtu has
 * become smaller than ours carries no whole frames: it counts as one without carrier.
 */
#ifndef SHIM_RAW_H
#define SHIM_RAW_H

#include "shim/port.h"
#include "shim/shim.h"

/*
 * Gives the shim. 0, or with one sentence in why: -ENODEV no such interface, -EPERM no CAP_NET_RAW, -EADDRINUSE another process
 * is on this interface, -EMSGSIZE its mtu is smaller than asked for, -EPROTOTYPE it is not Ethernet, or another -errno.
 */
CW_MUST_CHECK int raw_open(struct shim **out, const struct port_options *options, char why[static SHIM_WHY_BYTES]);

#endif
