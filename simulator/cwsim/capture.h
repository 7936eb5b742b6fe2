/* SPDX-License-Identifier: Apache-2.0 */
/*
 * capture.h - writes what crosses links of a simulated cluster into a capture file, both directions of each link, as
 * interfaces named like "0,0,0 +x".
 *
 * MAC addresses are made up: 02:<link>:<server id>, of the end that sends and of the end that receives. A frame has the
 * time at which it was given to the wire; the comment of a frame that does not arrive says why.
 */
#ifndef SIMULATOR_CWSIM_CAPTURE_H
#define SIMULATOR_CWSIM_CAPTURE_H

#include "capture/pcapng.h"
#include "simulator/world.h"

struct capture;

/* Begins a file; nothing is captured yet. Borrows the world. -errno. */
CW_MUST_CHECK int capture_open(struct capture **out, struct world *w, const char *path);
/*
 * Captures both directions of these links of s from now on. A direction that is named twice is captured once. -errno.
 */
CW_MUST_CHECK int capture_links(struct capture *c, cw_server s, cw_links links);
/* For world_watch.frame, with the capture as its context. */
void capture_frame(void *context, cw_server s, cw_link link, const struct cw_packet *frame, cw_time now,
                   const struct wire_flight *flight);
/* Frames written. */
uint64_t capture_frames(const struct capture *c);
/* 0, or the first error in writing. NULL is allowed. */
int capture_close(struct capture *c);

#endif
