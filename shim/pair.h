/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pair.h - a cable inside one process: what one end sends, the other receives. Both ends belong to one thread.
 *
 * A short bounded queue each way, whose frames are copied in and out of memory that is allocated when the pair is opened and
 * never after. There is no descriptor: each end wakes the owner of the other, after a send that the other may receive, and
 * after a receive that makes room for an end which had been refused. The carrier is there until the cable is cut or an end is closed.
 */
#ifndef SHIM_PAIR_H
#define SHIM_PAIR_H

#include "shim/shim.h"

enum { PAIR_DEPTH = 8 };

/*
 * Gives both ends, each to be closed on its own. depth: frames that each way holds, 1 or more (PAIR_DEPTH is a good one); mtu 1 or more.
 * name is what info() says both are on. 0 or -ENOMEM.
 */
CW_MUST_CHECK int pair_open(struct shim *ends[static 2], const char *name, uint32_t mtu, uint32_t depth);

/* Cuts the cable of an end, or mends it: both ends lose or find their carrier, frames under way are lost, both owners are woken. */
void pair_cut(struct shim *end, bool cut);

#endif
