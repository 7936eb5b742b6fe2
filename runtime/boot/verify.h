/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verify.h - is this solution the torus? Knows nothing of how it was found, so that a mistake of those who find cannot put a
 * server in a wrong place.
 *
 * True when every server has a coordinate inside the dims and nobody shares one; servers that had a place kept it; every cable
 * leads from port +d to port -d of the server one step along d; the ports of a server have different directions, labelled ones
 * the direction of their label; and
 *
 *   - in a new torus (nobody was placed): there is a server for every coordinate and a cable for every direction of an axis longer
 *     than 1, and everybody who was told dims was told these; a port that takes no part is absent by its label, or the
 *     dims were told: else a plane of a torus whose other planes are still off would pass for a torus of two axes;
 *   - in a torus that runs: each server without a place hears more than half of its neighbours, and all its ports
 *     have a direction.
 *
 * Linear in servers. -ENOMEM, 0 when it is, 1 when it is not.
 */
#ifndef BOOT_VERIFY_H
#define BOOT_VERIFY_H

#include "boot/graph.h"

CW_MUST_CHECK int boot_verify(const struct graph *g, const struct solution *s);

#endif
