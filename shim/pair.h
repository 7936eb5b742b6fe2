/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pair.h - a cable inside one process: what one end sends, the other receives. Both ends belong to one thread.
 *
 * Each way has a short bounded queue. Frames are copied into and out of its memory, which is allocated when the pair is
 * opened and never after. There is no descriptor: each end wakes the owner of the other end, after a send that gave the
 * other something to receive, and after a receive that made room for an end that had been refused. There is a carrier
 * until the cable is cut or an end is closed.
 */
#ifndef SHIM_PAIR_H
#define SHIM_PAIR_H

#include "shim/shim.h"

enum { PAIR_DEPTH = 8 }; /* a good depth */

/*
 * Gives both ends, each to be closed on its own. depth: how many frames each way holds, 1 or more; mtu: 1 or more;
 * name: what shim_info() calls the medium of both. 0 or -ENOMEM.
 */
CW_MUST_CHECK int pair_open(struct shim *ends[static 2], const char *name, uint32_t mtu, uint32_t depth);

/*
 * Cuts the cable of an end, or mends it. Both ends lose or find their carrier, frames under way are lost, both owners
 * are woken. False: it was so already.
 */
bool pair_cut(struct shim *end, bool cut);

#endif
