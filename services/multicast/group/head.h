/* SPDX-License-Identifier: Apache-2.0 */
/*
 * head.h - the packets of groups and of datagrams, as bytes and as a struct. Network order; a number in parentheses is
 * a length in bytes.
 *
 *  ANNOUNCE  0 kind | 1 flags | 2 name bytes | 3 0 | 4 job (4) | 8 life (8) | 16 serial (4) | 20 the name
 *  MEMBERS   0 kind | 1 0     | 2 name bytes | 3 0 | 4 job (4) | 8 the name
 *  DATAGRAM  0 kind | 1 flags | 2 name bytes | 3 tree | 4 origin (4) | 8 life (8) | 16 number (8) | 24 job (4)
 *            28 servers (4) | 32 sum (8) | 40 members, bit i % 8 of byte i / 8 | the name | the bytes
 *  RECEIPT   0 kind | 1 0 0 0 | 4 status (4) | 8 life (8) | 16 number (8)
 *
 * ANNOUNCE and MEMBERS are calls to the group's key. The answer to ANNOUNCE is empty; that to MEMBERS is a SET: 0
 * servers (4) | 4 members, as above. A DATAGRAM goes to a server, down a tree or directly, and a RECEIPT from a member
 * to the origin. Who announces, and who sends a receipt, is the runtime's word: the packets do not name the sender.
 *
 * life names one run of the sender's service. sum is cast_sum() of the number, the job and everything behind the sum.
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

/* What a server is to a group; no flag: it has left. A keeper makes the group exist without being a member. */
enum { GROUP_MEMBER = 1, GROUP_KEEPER = 2, GROUP_FLAGS = 3 };
/* Flags of a DATAGRAM. */
enum {
    DATAGRAM_RELIABLE = 1, /* members answer with a RECEIPT */
    DATAGRAM_TO_GROUP = 2, /* the name is a group's; else a topic's */
    DATAGRAM_DIRECT = 4,   /* sent to one member, which does not pass it on */
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
    /* Decoding borrows these from the packet; encoding writes them into it. */
    const uint8_t *set;
    const char *name;
    size_t name_bytes;
    const uint8_t *bytes; /* DATAGRAM */
    size_t length;
};

/* The bytes of the whole packet. */
size_t group_head_bytes(const struct group_head *h);
/* Writes the whole packet. The sum of a DATAGRAM is computed, not taken from h. */
void group_head_encode(const struct group_head *h, uint8_t *out);
/*
 * -EBADMSG: no such packet (too short or long, an unknown kind or flag, a name of no or too many bytes, a status that
 * is none, bytes that must be zero, a DATAGRAM whose sum is not that of its bytes); *out is then undefined.
 */
CW_MUST_CHECK int group_head_decode(const uint8_t *bytes, size_t length, struct group_head *out);

/* Borrows the set of an answer to MEMBERS. NULL: the bytes are no SET for so many servers. */
const uint8_t *group_set_decode(const uint8_t *bytes, size_t length, uint32_t servers);

#endif
