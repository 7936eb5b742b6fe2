/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lane.h - two lanes on one Ethernet interface: control frames and data frames (wire/frame.h) have EtherTypes of their
 * own, and a socket each. So the frames that keep a link alive never wait behind a full queue of data, and are never
 * lost with it (docs/shims.md, "Two lanes"). Each lane keeps its order; that control overtakes data is what semantics
 * 4.4 asks for.
 */
#ifndef SHIM_LANE_H
#define SHIM_LANE_H

#include "shim/shim.h"
#include "wire/frame.h"

enum { LANES = 2 }; /* indexed by enum frame_lane */

/* Whose turn it is; zeros at first. */
struct lane_turns {
    bool control_next; /* there was no room to look for control behind the data that was given last: first now */
    unsigned unlooked; /* frames of data since the last look for control */
};

/* Fills frames with what one lane has: how many, 0 when it has none, or -errno. */
typedef int lane_receive_fn(struct shim *s, enum frame_lane lane, struct shim_frame *frames, unsigned count);

/*
 * A shim's receive over both lanes. It gives data, then control: what was sent before the last data that is given has
 * then been given too, and data that waits in the node for control (semantics 4.4) waits no longer than this call. In a
 * flood, when data takes all places, control is first in the next call. An attentive owner says when there is control:
 * without that, a call that gives data looks once in SHIM_BATCH frames, and what data waits for is told by the
 * descriptor before the owner sleeps.
 */
int lane_receive(struct shim *s, struct lane_turns *turns, lane_receive_fn *receive, struct shim_frame *frames,
                 unsigned count);

/*
 * Has the kernel drop, before they enter the queue of a SOCK_RAW packet socket (borrowed), frames that are addressed to
 * somebody else and are seen only because the interface is promiscuous. 0 or -errno.
 */
CW_MUST_CHECK int lane_drop_others(int fd);

#endif
