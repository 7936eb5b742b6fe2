/* SPDX-License-Identifier: Apache-2.0 */
/*
 * replay.h - a capture (pcap or pcapng, Ethernet) read back as input: each frame of our EtherType is received once, in the order of
 * the file. For finding out again what happened on a cable. What is sent goes nowhere and is counted.
 *
 * The carrier is there from the start until the last frame has been received.
 */
#ifndef SHIM_REPLAY_H
#define SHIM_REPLAY_H

#include "shim/shim.h"

struct replay_options {
    const char *file;
    uint16_t ethertype; /* 0: 0x88b5 */
    uint8_t from[6];    /* only frames of this source: one direction of a cable; all 0: all */
    bool timed; /* at the distances in time that they had, from the opening on; else as fast as they are asked for */
};

/* Gives the shim. 0, or with one sentence in why: -ENOENT or another -errno of the file, -EPROTO it is no capture of Ethernet. */
CW_MUST_CHECK int replay_open(struct shim **out, const struct replay_options *options, char why[static SHIM_WHY_BYTES]);

#endif
