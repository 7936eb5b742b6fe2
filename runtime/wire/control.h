/* SPDX-License-Identifier: Apache-2.0 */
/*
 * control.h - the head of every control packet: of hello, goodbye and stream, and of the bootstrap's packets.
 *
 *      0       4       8              16                             32
 *    0 | ver=2 | kind=4|     type     |            length            |  length of the whole control packet
 *    4 |                          session                            |  the sender's, on this link; never 0
 *    8   body
 *
 * Every decoder of control packets (control, hello, goodbye, stream and its items, probe, cabling) promises this:
 *
 *   - it borrows bytes[size] for the call, reads nothing else, and allocates nothing;
 *   - with WIRE_OK, every field is inside its documented range, and encoding *out gives the same bytes (each value has
 *     one form);
 *   - with any other result *out is untouched;
 *   - coordinates are any three bytes, since this floor knows no torus: check them with torus_holds() before use.
 *
 * Every encoder demands that the struct, which is the caller's own, obeys the same ranges; otherwise a CHECK stops the
 * program. All functions are pure, and may be called from any thread.
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
    /* The bootstrap's three, which go in frames of their own and not in a node's. */
    CONTROL_PROBE = 4,
    CONTROL_CABLING = 5,
    CONTROL_CABLING_ACK = 6,
};

struct control_head {
    uint8_t type;     /* enum control_type */
    uint16_t length;  /* of the packet in bytes, this head included */
    uint32_t session; /* not 0 */
};

/*
 * Reads the head of bytes[size], which is one whole control packet. WIRE_OK says that version, kind and type are known,
 * that length is size, and that it fits the type: hello, goodbye and probe have one length; a stream packet is
 * STREAM_HEAD_BYTES or more, in steps of 4; cabling and its acknowledgement are a head and whole entries, at least one.
 */
CW_MUST_CHECK enum wire_reason control_decode(const uint8_t *bytes, size_t size, struct control_head *out);

/* Writes CONTROL_HEAD_BYTES. */
void control_encode(const struct control_head *head, uint8_t bytes[static CONTROL_HEAD_BYTES]);

#endif
