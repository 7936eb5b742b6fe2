/* SPDX-License-Identifier: Apache-2.0 */
/*
 * control.h - the head of every control packet: hello, goodbye, stream; and the bootstrap's.
 *
 *      0       4       8              16                             32
 *    0 | ver=1 | kind=4|     type     |            length            |  length of the whole control packet
 *    4 |                          session                            |  the sender's, on this link; never 0
 *    8   body
 *
 * What is true of every decoder of this half of the folder (control, hello, goodbye, stream and its items):
 *
 *   - it borrows bytes[size] for the call, reads nothing else, and allocates nothing;
 *   - WIRE_OK: every field is inside its documented range, and encoding *out gives the same bytes (one form per value);
 *   - anything else: *out is untouched;
 *   - coordinates are any three bytes: this floor knows no torus. Check them with torus_holds() before use.
 *
 * And of every encoder: the struct is the caller's own and obeys the same ranges; if not, CHECK stops the program.
 * All functions are pure: any thread, no state.
 */
#ifndef WIRE_CONTROL_H
#define WIRE_CONTROL_H

#include "cubeway/types.h"
#include "wire/limits.h"
#include "wire/reason.h"

enum control_type {
    CONTROL_HELLO = 1,
    CONTROL_GOODBYE = 2,
    CONTROL_STREAM = 3,
    CONTROL_PROBE = 4, /* these three are the bootstrap's: in frames of their own, never the node's */
    CONTROL_CABLING = 5,
    CONTROL_CABLING_ACK = 6,
};

struct control_head {
    uint8_t type;     /* enum control_type */
    uint16_t length;  /* bytes of the packet with this head */
    uint32_t session; /* never 0 */
};

/*
 * Reads the head of bytes[size], which is one whole control packet. WIRE_OK says that the version, kind and type are
 * known, that length is size and fits the type (hello, goodbye and probe exactly, stream STREAM_HEAD_BYTES or more in steps of 4,
 * cabling and its acknowledgement a head and whole entries, one at least).
 */
CW_MUST_CHECK enum wire_reason control_decode(const uint8_t *bytes, size_t size, struct control_head *out);

/* Writes CONTROL_HEAD_BYTES. */
void control_encode(const struct control_head *head, uint8_t bytes[static CONTROL_HEAD_BYTES]);

#endif
