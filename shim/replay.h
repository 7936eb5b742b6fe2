/* SPDX-License-Identifier: Apache-2.0 */
/*
 * replay.h - a capture (pcap or pcapng, Ethernet) is read back as input: each frame of our EtherTypes is received once,
 * in the order of the file. It serves to find out again what happened on a cable. Frames that are sent are counted and
 * go nowhere.
 *
 * There is a carrier from the beginning until the last frame has been received.
 */
#ifndef SHIM_REPLAY_H
#define SHIM_REPLAY_H

#include "shim/shim.h"

struct replay_options {
    const char *file;
    uint16_t ethertype, ethertype_control; /* as struct port_options */
    uint8_t from[6]; /* only frames from this source, which is one direction of a cable; all 0: from any source */
    bool timed;      /* frames come at the distances in time that they had; else as fast as they are asked for */
};

/*
 * Gives the shim. 0; or, with one sentence in why: -ENOENT or another -errno of the file, -EPROTO (no capture of
 * Ethernet).
 */
CW_MUST_CHECK int replay_open(struct shim **out, const struct replay_options *options, char why[static SHIM_WHY_BYTES]);

#endif
