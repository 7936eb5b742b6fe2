/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pcap.h - a cable on an Ethernet interface through libpcap in immediate mode, for systems and devices where raw
 * sockets cannot be had. It does what raw.h says, with two differences: each frame is sent by a system call of its own,
 * and the interface must be up when the shim is opened. Each lane has a capture of its own.
 */
#ifndef SHIM_PCAP_H
#define SHIM_PCAP_H

#include "shim/port.h"
#include "shim/shim.h"

/* As raw_open(); -ENETDOWN: the interface is down. */
CW_MUST_CHECK int pcap_shim_open(struct shim **out, const struct port_options *options,
                                 char why[static SHIM_WHY_BYTES]);

#endif
