/* SPDX-License-Identifier: Apache-2.0 */
/*
 * head.h - a piece: what the tunnel sends in one packet of the torus. An IP packet, whole and correct by itself, behind
 * 16 bytes. Network order; a number behind a colon is a length in bits.
 *
 *      0        6        7         8             10           12            16
 *      sum:48   kind:8   strand:8  gso size:16   life:16      number:32     the IP packet
 *
 *  kind      1 PLAIN: the packet is as it would be on a cable. 2 PARTIAL: the checksum of its TCP or UDP head is left
 *            to whom it is for, and holds the sum of the pseudo-head (checksum.h)
 *  strand    packets of one strand keep their order; 0..TUNNEL_STRANDS-1
 *  gso size  0, or the payload bytes of each segment but the last that the packet stands for; with PARTIAL only
 *  life      of the sender's numbers: a later start of the sender has another one
 *  number    of the piece in its strand: consecutive, modulo 2^32
 *  sum       of the bytes behind it and of the two servers that the piece goes from and to: the low 48 bits of sum_of()
 *            (base/sum.h). TCP's and UDP's own checksums are not computed on the way; this sum is what finds damage.
 */
#ifndef SERVICES_TUNNEL_HEAD_H
#define SERVICES_TUNNEL_HEAD_H

#include "services/tunnel/packet/limits.h"

#include "cubeway/types.h"

enum piece_kind { PIECE_PLAIN = 1, PIECE_PARTIAL = 2 };

struct piece_head {
    enum piece_kind kind;
    uint8_t strand;
    uint16_t gso_size;
    uint16_t life;
    uint32_t number;
};

/*
 * Writes the head into the first TUNNEL_HEAD_BYTES of a piece of `length` bytes, of which the others are there already;
 * it goes from one server to the other. h must be one that piece_decode() gives.
 */
void piece_encode(const struct piece_head *h, cw_server from, cw_server to, uint8_t *piece, size_t length);

/*
 * Reads the head of a piece of length bytes. 0, or with *out undefined:
 *   -EPROTO    too short, or a field has a value that it cannot have
 *   -EBADMSG   the sum is wrong: the piece was damaged, or it is of other servers
 * What is said of the IP packet is not compared with it here: offload_fits() does that.
 */
CW_MUST_CHECK int piece_decode(const uint8_t *piece, size_t length, cw_server from, cw_server to,
                               struct piece_head *out);

#endif
