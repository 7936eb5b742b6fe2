/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cabling.h - what each server says of its six ports, flooded among servers that have no place yet (docs/bootstrap.md),
 * and its acknowledgement.
 *
 *      0               8              16              24             32
 *    0 | ver=2 | kind=4| type=5 or 6  |            length            |  6: the acknowledgement
 *    4 |                           session                           |  of the bootstrap on this port, never 0
 *    8 |                        heard session                        |  the receiver's, never 0
 *   12 |                              0                              |
 *   16   entries to the end, 1 or more
 *
 *   type 5, 104 bytes each                                   type 6, 12 bytes each
 *    0 |                    id                   |  never 0   0 |              id             |  never 0
 *    4 |                                         |            4 |                             |
 *    8 |                 version                 |  never 0   8 |            version          |  never 0
 *   12 | flags:8  | X - 1:8 | Y - 1:8 | Z - 1:8  |  PLACED: the dims it has; TOLD: the dims it was told; else 0
 *   16 |  x:8     | y:8     | z:8     |    0:8   |  PLACED: its coordinate; else 0
 *   20 |            announced solution           |
 *   24 |                                         |  64-bit digest; 0 = none
 *   28 |           name, 16 characters           |  printable ASCII, then zeros
 *   44 |  six times label:4 far port:4           |  label: 0..5 a direction, 6 none, 7 no such port
 *   50 |        0:16         |
 *   52 |  six times far id                       |  the server at the other end; 0 = silent, then the far port is 0
 *  100 |                    0                    |
 */
#ifndef WIRE_CABLING_H
#define WIRE_CABLING_H

#include "wire/probe.h"

enum cabling_flags { CABLING_PLACED = 0x1, CABLING_TOLD = 0x2 };
enum { CABLING_NO_PORT = 7 };

/* One port of a server, as that server sees it. */
struct cabling_port {
    uint64_t far_id;  /* the server at the other end of the cable; 0: nobody answers there */
    uint8_t far_port; /* that server's port */
    uint8_t label;    /* 0..5, no two of a server alike; PROBE_UNLABELLED; CABLING_NO_PORT: silent */
};

/* What one server says. */
struct cabling {
    uint64_t id;       /* of the server; not 0 */
    uint32_t version;  /* of what it says; not 0 */
    uint8_t flags;     /* 0, CABLING_PLACED or CABLING_TOLD */
    cw_dims dims;      /* zeros without flags */
    cw_coord at;       /* inside the dims; zeros without PLACED */
    uint64_t solution; /* the digest of the solution that it announces; 0: none */
    char name[PROBE_NAME_BYTES];
    struct cabling_port port[CW_LINK_COUNT];
};

/* "I hold this version of what that server says." */
struct cabling_ack {
    uint64_t id;
    uint32_t version;
};

/* A packet of either type, whose entries stay in wire form: they are borrowed, and read one at a time by index. */
struct cabling_list {
    uint32_t session, heard;
    const uint8_t *entries;
    uint32_t count;
};

/*
 * Read the packet that fills bytes[size], and judge all entries, so that getting them cannot fail. See control.h for
 * what every decoder promises.
 */
CW_MUST_CHECK enum wire_reason cabling_decode(const uint8_t *bytes, size_t size, struct cabling_list *out);
CW_MUST_CHECK enum wire_reason cabling_ack_decode(const uint8_t *bytes, size_t size, struct cabling_list *out);

/* Entry i, which is below list->count, of a list of that type that was accepted. */
struct cabling cabling_get(const struct cabling_list *list, uint32_t i);
struct cabling_ack cabling_ack_get(const struct cabling_list *list, uint32_t i);

/*
 * For a packet that the caller makes in bytes, which has room for it: first put entries 0 .. count - 1, then finish it
 * with its head. The latter gives the packet's size in bytes.
 */
void cabling_put(const struct cabling *entry, uint8_t *bytes, uint32_t i);
void cabling_ack_put(const struct cabling_ack *entry, uint8_t *bytes, uint32_t i);
uint32_t cabling_finish(uint32_t session, uint32_t heard, uint32_t count, uint8_t *bytes);
uint32_t cabling_ack_finish(uint32_t session, uint32_t heard, uint32_t count, uint8_t *bytes);

#endif
