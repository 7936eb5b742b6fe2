/* SPDX-License-Identifier: Apache-2.0 */
/*
 * goodbye.h - "do not count on this incarnation any more": ends an adjacency at once, and the hold with it (semantics
 * 4.2, 4.6).
 *
 *      0               8              16              24             32
 *    0 | ver=2 | kind=4|     type=2   |          length=20           |
 *    4 |                           session                           |  never 0
 *    8 |                         incarnation                         |
 *   12 |                                                             |  never 0
 *   16 |       x       |       y      |       z       |    reason    |  reason 1..3
 */
#ifndef WIRE_GOODBYE_H
#define WIRE_GOODBYE_H

#include "wire/control.h"

enum goodbye_reason {
    GOODBYE_LEAVING = 1, /* an orderly leave */
    GOODBYE_DIED = 2,    /* sent by the supervisor on behalf of a dead daemon */
    GOODBYE_CLOSED = 3,  /* only this link is closed */
};

struct goodbye {
    uint32_t session;
    uint64_t incarnation;
    cw_coord server;
    uint8_t reason; /* enum goodbye_reason */
};

/* Reads the goodbye that fills bytes[size]; see control.h for what every decoder promises. */
CW_MUST_CHECK enum wire_reason goodbye_decode(const uint8_t *bytes, size_t size, struct goodbye *out);

/* Writes GOODBYE_BYTES, head included. */
void goodbye_encode(const struct goodbye *goodbye, uint8_t bytes[static GOODBYE_BYTES]);

#endif
