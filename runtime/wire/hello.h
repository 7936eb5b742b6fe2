/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hello.h - "this is me, and this is what I heard of you last": sent on every link every few milliseconds (semantics
 * 4.6).
 *
 *      0               8              16              24             32
 *    0 | ver=2 | kind=4|     type=1   |          length=72           |
 *    4 |                           session                           |  never 0
 *    8 |                          cluster id                         |
 *   12 |                          config hash                        |
 *   16 |       x       |       y      |       z       |flags  | port  |  port 0..5: the sender's link id
 *   20 |                        heard session                        |  the receiver's session; 0 = not heard
 *   24 |                         incarnation                         |
 *   28 |                                                             |  never 0
 *   32 |                            clock                            |
 *   36 |                                                             |  the sender's clock, ns, 1..2^63 - 2
 *   40 |                            echo                             |
 *   44 |                                                             |  the receiver's clock, heard last; 0 = none
 *   48 |                       stream position                       |  of the last item, sent or waiting to be sent
 *   52 |                          stream ack                         |  of the last item received in order
 *   56 |                            digest                           |
 *   60 |                                                             |  of the sender's link-state database
 *   64 |            number            |            newest            |  of this hello; the receiver's, heard last
 *   68 |            before            |              0               |  which of the receiver's 16 before that came
 *
 * Hellos are numbered on each link, modulo 2^16. Bit 1 << i of `before` says whether hello newest - 1 - i of the
 * receiver came. So the receiver learns what the cable loses of its own hellos, and from the numbers what it loses of
 * the sender's. `newest` and `before` are 0 while heard session is 0.
 */
#ifndef WIRE_HELLO_H
#define WIRE_HELLO_H

#include "cubeway/time.h"
#include "wire/control.h"

enum hello_flags {
    HELLO_FENCED = 0x1,  /* the sender holds no lease */
    HELLO_LEAVING = 0x2, /* the sender is on its way out */
    HELLO_UP = 0x4,      /* the sender calls this link up */
    HELLO_SYNCED = 0x8,  /* the sender has done the full database exchange */
    HELLO_FLAGS = 0xf,
};

/*
 * clock and echo are instants of two different clocks: do not subtract one from the other. CW_NEVER is refused in both.
 */
struct hello {
    uint32_t session;
    uint32_t cluster;
    uint32_t config_hash;
    cw_coord server;
    uint8_t flags; /* set of enum hello_flags */
    cw_link port;
    uint32_t heard;
    uint64_t incarnation;
    cw_time clock;
    cw_time echo;
    uint32_t position;
    uint32_t ack;
    uint64_t digest;
    uint16_t number; /* of this hello, on this link */
    uint16_t newest; /* number of the receiver's hello that was heard last */
    uint16_t before; /* of the 16 hellos before that: 1 << i: number newest - 1 - i was heard */
};

/* Reads the hello that fills bytes[size]; see control.h for what every decoder promises. */
CW_MUST_CHECK enum wire_reason hello_decode(const uint8_t *bytes, size_t size, struct hello *out);

/* Writes HELLO_BYTES, head included. */
void hello_encode(const struct hello *hello, uint8_t bytes[static HELLO_BYTES]);

#endif
