/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lane.h - a packet socket hears either control frames or data frames. So the frames that keep a link alive never wait
 * behind a full queue of data, and are never lost with it (docs/shims.md, "Two lanes").
 *
 * A control frame is one whose first packet is a control packet other than a goodbye: a hello, a stream, or one of the
 * bootstrap's. All other frames are data, also those that cannot be understood. Goodbyes are data, because what was
 * sent before a goodbye must be delivered before it. A node never puts control and data into one frame. Each lane keeps
 * its order; that control overtakes data is what semantics 4.4 asks for.
 */
#ifndef SHIM_LANE_H
#define SHIM_LANE_H

#include "cubeway/types.h"

enum lane { LANE_DATA, LANE_CONTROL };

/*
 * Has the kernel drop, before they enter the queue of a SOCK_RAW packet socket (borrowed), frames that are not of this
 * lane, and frames that are addressed to somebody else (seen only because the interface is promiscuous). Every frame to
 * us is of exactly one lane. 0 or -errno.
 */
CW_MUST_CHECK int lane_filter(int fd, enum lane lane);

#endif
