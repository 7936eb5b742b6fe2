/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verify.h - is this solution the torus? It knows nothing of how the solution was found, so that a mistake of solve.h
 * cannot put a server in a wrong place.
 *
 * A solution is the torus when every server has a coordinate inside the dims, and no two have the same; servers that
 * had a place have kept it; every cable goes from port +d to port -d of the server one step along d; the ports of a
 * server have different directions, and labelled ports that of their label; and
 *
 *   - in a new torus, where no server has a place yet: there is a server for every coordinate, and a cable for every
 *     direction of an axis longer than 1; every server that was told dims was told these; and a port that takes no part
 *     is absent by its label, or its server was told the dims. (Otherwise a plane of a torus whose other planes are
 *     still off would pass for a torus of two axes.)
 *   - in a running torus: each server without a place hears more than half of its neighbours, and all its ports have a
 *     direction.
 *
 * 0 when it is the torus, 1 when it is not, or -ENOMEM. Linear in the number of servers.
 */
#ifndef BOOT_VERIFY_H
#define BOOT_VERIFY_H

#include "boot/graph.h"

CW_MUST_CHECK int boot_verify(const struct graph *g, const struct solution *s);

#endif
