/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cut.h - one large packet of TCP or UDP cut into pieces, each as many whole segments as there is room for.
 *
 * A piece is a packet of its own, with the heads that the packet's own segments would have: whoever cuts the pieces
 * into single segments has byte for byte what Linux makes of the packet when it segments it in software
 * (tests/unit/services/tunnel/test_cut.c compares them). That is:
 *  - TCP: the sequence number moves; FIN and PSH stay on the last piece only, CWR on the first only (RFC 3168, 6.1.2);
 *  - IPv4: the identification counts the segments before the piece;
 *  - lengths, the IPv4 head's checksum and the sum of the pseudo-head are those of the piece.
 * So what a frame loses is whole segments, and nobody on the way keeps a state.
 */
#ifndef SERVICES_TUNNEL_CUT_H
#define SERVICES_TUNNEL_CUT_H

#include "services/tunnel/packet/vnet.h"

struct cut {
    /* Borrowed until the last piece. */
    struct ip_packet packet;
    struct offload offload;
    /* Payload bytes of each piece but the last, and those that were given already. */
    uint32_t step, done;
    /* Segments in the pieces that were given. */
    uint32_t segments;
    bool ended;
};

/*
 * Begins to cut the packet, of which the caller knows offload_fits(), into pieces of at most `room` bytes, heads
 * included. A packet that has room as it is becomes one piece. TUNNEL_GOOD; or TUNNEL_TOO_BIG: the packet, or one
 * segment of it with its heads, is longer than room.
 */
enum tunnel_cause cut_begin(struct cut *c, const struct ip_packet *packet, const struct offload *offload, size_t room);

/* Bytes of the next piece, and 0 when all pieces were given. */
size_t cut_next_bytes(const struct cut *c);

/*
 * Writes the next piece to out, which has room for cut_next_bytes() of it, and into *offload what the piece has. Gives
 * its bytes; 0: all were given, and nothing is written.
 */
size_t cut_next(struct cut *c, uint8_t *out, struct offload *offload);

#endif
