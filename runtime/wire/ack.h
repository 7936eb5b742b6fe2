/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ack.h - "I hold this version of that server's record": the answer that an admission round waits for (semantics 4.2).
 *
 *      0               8              16              24             32
 *    0 |    acker x    |       y      |       z       |       0      |
 *    4 |                     acker's incarnation                     |
 *    8 |                                                             |  never 0
 *   12 |   origin x    |       y      |       z       |       0      |
 *   16 |                     origin's incarnation                    |
 *   20 |                                                             |  never 0
 *   24 |                             seq                             |  never 0
 */
#ifndef WIRE_ACK_H
#define WIRE_ACK_H

#include "wire/control.h"

enum { ACK_BYTES = ITEM_ACK_BYTES - ITEM_HEAD_BYTES };

struct ack {
    cw_coord acker;
    cw_coord origin;
    uint32_t seq;
    uint64_t acker_incarnation;
    uint64_t incarnation; /* origin's; together with seq it is the version of origin's record */
};

/* Reads an ack; see control.h for what every decoder promises. */
CW_MUST_CHECK enum wire_reason ack_decode(const uint8_t bytes[static ACK_BYTES], struct ack *out);

/* Writes ACK_BYTES. */
void ack_encode(const struct ack *ack, uint8_t bytes[static ACK_BYTES]);

#endif
