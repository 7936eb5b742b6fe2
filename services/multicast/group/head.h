/* SPDX-License-Identifier: Apache-2.0 */
/*
 * head.h - the packets of groups and of messages that fit one packet, as bytes and as a struct. Network order.
 *
 *  ANNOUNCE  0 kind | 1 flags | 2 name bytes | 3 0 | 4 job (4) | 8 life (8) | 16 serial (4) | 20 the name       a call to the group's key
 *  MEMBERS   0 kind | 1 0     | 2 name bytes | 3 0 | 4 job (4) | 8 the name                                     a call to the group's key
 *  DATAGRAM      0 kind | 1 flags | 2 name bytes | 3 tree | 4 origin (4) | 8 life (8) | 16 number (8) | 24 job (4) | 28 servers (4)
 *            32 sum (8) | 40 members, bit i % 8 of byte i / 8 | the name | the bytes                            to a vertex, or to a server
 *  RECEIPT     0 kind | 1 0 0 0 | 4 status (4) | 8 life (8) | 16 number (8)                                        a member to the origin
 *
 * The answer to MEMBERS is a SET: 0 servers (4) | 4 members, as above. That to ANNOUNCE is empty. Who announces, and who receipt, is the runtime's word.
 * life names one run of the sender's service; sum is cast_sum() of the number, the job and
 * all that stands behind it.
 */
#ifndef SERVICES_MULTICAST_GROUP_HEAD_H
#define SERVICES_MULTICAST_GROUP_HEAD_H

#include "cubeway/types.h"

enum {
    GROUP_NAME_MOST = 64,
    GROUP_ANNOUNCE_HEAD = 20,
    GROUP_MEMBERS_HEAD = 8,
    GROUP_DATAGRAM_HEAD = 40,
    GROUP_RECEIPT_BYTES = 24,
    GROUP_SET_HEAD = 4,
};

enum group_kind { GROUP_ANNOUNCE = 1, GROUP_MEMBERS = 2, GROUP_DATAGRAM = 3, GROUP_RECEIPT = 4 };

/* What a server is to a group. None: it has left. */
enum { GROUP_MEMBER = 1, GROUP_KEEPER = 2, GROUP_FLAGS = 3 };
/* What a datagram is. */
enum {
    DATAGRAM_RELIABLE = 1, /* members answer with RECEIPT */
    DATAGRAM_TO_GROUP = 2, /* the name is a group's; else a topic's */
    DATAGRAM_DIRECT = 4,   /* sent to a member and not passed on */
    DATAGRAM_FLAGS = 7,
};

/* Fields of other kinds are zero. */
struct group_head {
    enum group_kind kind;
    uint8_t flags;
    uint8_t tree; /* DATAGRAM: a cw_link */
    cw_job job;
    uint64_t life;
    uint32_t serial; /* ANNOUNCE */
    uint32_t origin; /* DATAGRAM */
    uint64_t number; /* DATAGRAM, RECEIPT */
    uint32_t servers;
    uint64_t sum;
    int32_t status; /* RECEIPT: 0 or -errno */
    /* Borrowed from what was decoded; when encoded, written too. */
    const uint8_t *set;
    const char *name;
    size_t name_bytes;
    const uint8_t *bytes; /* DATAGRAM */
    size_t length;
};

/* Bytes of the whole packet. */
size_t group_head_bytes(const struct group_head *h);
/* Writes them. The sum of a DATAGRAM is made, not taken from h. */
void group_head_encode(const struct group_head *h, uint8_t *out);
/*
 * -EBADMSG: no such packet (too short or long, an unknown kind or flag, a name of no or too many bytes, a status that is none, bytes that must be zero,
 * a DATAGRAM whose sum is not that of its bytes); *out is then undefined.
 */
CW_MUST_CHECK int group_head_decode(const uint8_t *bytes, size_t length, struct group_head *out);

/* The set of an answer, borrowed; NULL: it is none for so many servers. */
const uint8_t *group_set_decode(const uint8_t *bytes, size_t length, uint32_t servers);

#endif
