/* SPDX-License-Identifier: Apache-2.0 */
/* ether.h - what the tests of raw and pcap share: others who send on the same cable, errors that both must name. */
#ifndef UNIT_SHIM_ETHER_H
#define UNIT_SHIM_ETHER_H

#include "conformance.h"
#include "shim/port.h"

/*
 * Frames to the interface "left" that its shim must not give: of another EtherType, with a header and nothing else; and
 * one of our EtherType to a third interface.
 */
void ether_strangers(const struct cable *c);

/* Sends one frame from an interface. */
void ether_send(const char *interface, const uint8_t to[6], uint16_t ethertype, const void *bytes, size_t length);
void ether_address(const char *interface, uint8_t mac[6]);

/* The process has no capability any more. */
void ether_drop_capabilities(void);

typedef int ether_open_fn(struct shim **out, const struct port_options *options, char why[SHIM_WHY_BYTES]);

/* The shim opens with these options, or fails as told, with a sentence that has the words. */
struct shim *ether_open(ether_open_fn *open, const struct port_options *options);
void ether_open_fails(ether_open_fn *open, const struct port_options *options, int rc, const char *words);

/* Everything that both kinds refuse in the same way: in a fresh namespace with left and right. */
void ether_try_errors(ether_open_fn *open);

/* Where a destination is configured, frames to others are not given, although the interface is promiscuous. */
void ether_try_others(ether_open_fn *open);

/* More than the receiver's queue holds: what came and what is counted as dropped are all there was. */
void ether_try_drops(ether_open_fn *open);

/*
 * Links of 40 Mb/s, told or not: packets wait in the node and not in the kernel, room is told honestly, the line stays
 * busy, nothing is lost.
 */
void ether_try_shaped(ether_open_fn *open);

/* A device that refuses every frame is tried less and less often; when it takes one, all is as before. */
void ether_try_refusing(ether_open_fn *open);

#endif
