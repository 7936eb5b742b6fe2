/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cabling.h - what each server says of its six ports, flooded among servers without a place (docs/bootstrap.md), and the
 * acknowledgement of it.
 *
 *      0               8              16              24             32
 *    0 | ver=1 | kind=4| type=5 or 6  |            length            |  6: the acknowledgement
 *    4 |                           session                           |  of the bootstrap on this port, never 0
 *    8 |                        heard session                        |  the receiver's, never 0
 *   12 |                              0                              |
 *   16   entries to the end, 1 or more
 *
 *   type 5, 104 bytes each                                   type 6, 12 bytes each
 *    0 |                    id                   |  never 0   0 |              id             |  never 0
 *    4 |                                         |            4 |                             |
 *    8 |                 version                 |  never 0   8 |            version          |  never 0
 *   12 | flags:8  | X - 1:8 | Y - 1:8 | Z - 1:8  |  with PLACED: dims it has, with TOLD: dims it was told, else 0
 *   16 |  x:8     | y:8     | z:8     |    0:8   |  with PLACED: where it stands, else 0
 *   20 |            announced solution           |
 *   24 |                                         |  64-bit digest; 0 = none
 *   28 |           name, 16 characters           |  printable ASCII, then zeros
 *   44 |  six times label:4 far port:4           |  label 0..5 a direction, 6 none, 7 no such port
 *   50 |        0:16         |
 *   52 |  six times far id                       |  the server at the other end; 0 = silent, its far port is then 0
 *  100 |                    0                    |
 */
#ifndef WIRE_CABLING_H
#define WIRE_CABLING_H

#include "wire/probe.h"

enum cabling_flags { CABLING_PLACED = 0x1, CABLING_TOLD = 0x2 };
enum { CABLING_NO_PORT = 7 };

struct cabling_port {
    uint64_t far_id; /* 0: silent */
    uint8_t far_port;
    uint8_t label; /* 0..5 no two alike, PROBE_UNLABELLED, or CABLING_NO_PORT (then silent) */
};

struct cabling {
    uint64_t id;
    uint32_t version;
    uint8_t flags; /* 0, CABLING_PLACED or CABLING_TOLD */
    cw_dims dims;  /* zeros without flags */
    cw_coord at;   /* inside the dims; zeros without PLACED */
    uint64_t solution;
    char name[PROBE_NAME_BYTES];
    struct cabling_port port[CW_LINK_COUNT];
};

struct cabling_ack {
    uint64_t id;
    uint32_t version;
};

/* A packet of either type. Entries in wire form: borrowed, read one at a time by index. */
struct cabling_list {
    uint32_t session, heard;
    const uint8_t *entries;
    uint32_t count;
};

/* Read the packet that fills bytes[size]; all entries are judged, so that getting them cannot fail. See control.h. */
CW_MUST_CHECK enum wire_reason cabling_decode(const uint8_t *bytes, size_t size, struct cabling_list *out);
CW_MUST_CHECK enum wire_reason cabling_ack_decode(const uint8_t *bytes, size_t size, struct cabling_list *out);

/* Entry i, below list->count, of a list of that type that was accepted. */
struct cabling cabling_get(const struct cabling_list *list, uint32_t i);
struct cabling_ack cabling_ack_get(const struct cabling_list *list, uint32_t i);

/* Entries at 0, 1, .. count - 1 of a packet that the caller is making in bytes, then its head; gives the bytes of the packet. */
void cabling_put(const struct cabling *entry, uint8_t *bytes, uint32_t i);
void cabling_ack_put(const struct cabling_ack *entry, uint8_t *bytes, uint32_t i);
uint32_t cabling_finish(uint32_t session, uint32_t heard, uint32_t count, uint8_t *bytes);
uint32_t cabling_ack_finish(uint32_t session, uint32_t heard, uint32_t count, uint8_t *bytes);

#endif
