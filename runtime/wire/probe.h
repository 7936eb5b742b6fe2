/* SPDX-License-Identifier: Apache-2.0 */
/*
 * probe.h - "who is at the other end of this cable?": what servers without a place ask on every port, and servers with
 * a place answer (CamCubeOS 3.1; docs/bootstrap.md).
 *
 *      0               8              16              24             32
 *    0 | ver=2 | kind=4|     type=4   |          length=56           |
 *    4 |                           session                           |  of the bootstrap on this port, never 0
 *    8 |                          cluster id                         |
 *   12 |                        heard session                        |  the receiver's; 0 = not heard
 *   16 |                              id                             |
 *   20 |                                                             |  the sender's, never 0
 *   24 |     port      |    label     |     flags     |       0      |  port 0..5; label 0..5, 6 none
 *   28 |     X - 1     |    Y - 1     |     Z - 1     |       0      |  PLACED: the dims; else 0
 *   32 |       x       |       y      |       z       |       0      |  PLACED: the coordinate; else 0
 *   36 |                      name, 16 characters                    |  printable ASCII, then zeros
 *   52 |                              0                              |
 */
#ifndef WIRE_PROBE_H
#define WIRE_PROBE_H

#include "wire/control.h"

enum probe_flags {
    PROBE_PLACED = 0x1, /* the sender has a place, for ever */
    PROBE_TAKEN = 0x2,  /* with PLACED: the server that belongs at the other end of this cable was found elsewhere */
    PROBE_FLAGS = 0x3,
};

enum { PROBE_UNLABELLED = 6 };

struct probe {
    uint32_t session;
    uint32_t cluster;
    uint32_t heard;
    uint64_t id;
    uint8_t port;
    uint8_t label; /* the port's direction; PROBE_UNLABELLED: not known, or with PLACED: the port takes no part */
    uint8_t flags; /* set of enum probe_flags */
    cw_dims dims;  /* zeros without PLACED */
    cw_coord at;   /* inside the dims; zeros without PLACED */
    char name[PROBE_NAME_BYTES];
};

/* Reads the probe that fills bytes[size]; see control.h for what every decoder promises. */
CW_MUST_CHECK enum wire_reason probe_decode(const uint8_t *bytes, size_t size, struct probe *out);

/* Writes PROBE_BYTES, head included. */
void probe_encode(const struct probe *probe, uint8_t bytes[static PROBE_BYTES]);

/* True when the name is printable ASCII without spaces, and then zeros to the end. */
bool probe_name_is_good(const char name[static PROBE_NAME_BYTES]);

#endif
