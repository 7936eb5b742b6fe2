/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lane.h - a packet socket hears either control or data, so that what keeps a link alive never waits, and is never lost, behind
 * a full queue of data (docs/shims.md, "Two lanes").
 *
 * Control is a frame whose first packet is a control packet other than a goodbye: hello, stream, and the bootstrap's. All else is data,
 * whatever cannot be understood included, and goodbyes: what was sent before a goodbye is delivered before it. A node never puts both
 * into one frame. Inside a lane the order stays; that control overtakes data is what semantics 4.4 asks for.
 */
#ifndef SHIM_LANE_H
#define SHIM_LANE_H

#include "cubeway/types.h"

enum lane { LANE_DATA, LANE_CONTROL };

/*
 * Has the kernel drop, before the queue of a SOCK_RAW packet socket (borrowed), what is not of this lane, and what is addressed to
 * somebody else (seen only because the interface is promiscuous). Every frame to us is of exactly one lane. 0 or -errno.
 */
CW_MUST_CHECK int lane_filter(int fd, enum lane lane);

#endif
