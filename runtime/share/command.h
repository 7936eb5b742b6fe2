/* SPDX-License-Identifier: Apache-2.0 */
/*
 * command.h - what a process asks of its daemon: 64 bytes, and up to 192 behind them.
 *
 *   word 0   op:8 flags:8 endpoint:16 length:32
 *   word 1   user:64
 *   word 2   peer:32 tag:32
 *   word 3   region:16 generation:16 template:16 parts:8 channel:8
 *   word 4   offset:64
 *   word 5   value:64
 *   word 6   word:32 change:8 0:24
 *   word 7   timeout in us:32 0:32
 *   inline   the key, 24 (flag KEY); the remote offset, 8 (ops READ, WRITE); where the answer goes, 24 (flag WINDOW);
 *            then the body: bytes, or parts of 16
 *
 * Everything here works on copies: nothing sees shared memory. command_judge() says of a copy whether it is one that
 * this process may give, by numbers that are the daemon's own (struct share_tables). What a judged command means, and
 * whether the NMU allows it, is its taker's business.
 */
#ifndef SHARE_COMMAND_H
#define SHARE_COMMAND_H

#include "cubeway/types.h"
#include "share/layout.h"
#include "share/shared.h"

enum share_op {
    SHARE_OP_SHORT = 1,
    SHARE_OP_LONG,
    SHARE_OP_LIST,
    SHARE_OP_REQUEST,
    SHARE_OP_ANSWER,
    SHARE_OP_POST,
    SHARE_OP_POST_LIST,
    SHARE_OP_UNPOST,
    SHARE_OP_READ,
    SHARE_OP_WRITE,
    SHARE_OP_NOTIFY,
    SHARE_OP_EXPOSE,
    SHARE_OP_CONCEAL,
    SHARE_OP_TEMPLATE,
    SHARE_OP_PEER,
    SHARE_OP_UNPEER,
    SHARE_OP_NAME,
    SHARE_OP_UNNAME,
    SHARE_OP_JOIN,
    SHARE_OP_LEAVE,
    SHARE_OP_PORT,
    SHARE_OP_UNPORT,
    SHARE_OP_CANCEL,
    SHARE_OP_WATCH,
    SHARE_OP_WANT,
    SHARE_OP_KICK,
    SHARE_OPS, /* 64..127 are kept for calls of services; nobody takes them yet */
};

enum share_flag {
    SHARE_TELL = 0x01,     /* success is told too */
    SHARE_DATAGRAM = 0x02, /* sent once */
    SHARE_WINDOW = 0x04,   /* where the answer goes stands inline */
    SHARE_KEY = 0x08,      /* a key stands inline */
    SHARE_ITEMS = 0x10,    /* the parts are items */
    SHARE_KEEP = 0x20,     /* a window that stays posted */
    SHARE_AWAY = 0x40,     /* the body stands in a region (region, generation, offset), and not inline */
    SHARE_WORD = 0x80,     /* a word of the receiver is changed behind the last byte */
};

/* The 64 bytes, taken apart. */
struct share_command {
    uint64_t user; /* the process's own; comes back in the completion */
    uint64_t offset;
    uint64_t value;
    uint32_t length;
    uint32_t peer;
    uint32_t tag;
    uint32_t word;
    uint32_t timeout_us;
    uint16_t endpoint;
    uint16_t region;
    uint16_t generation;
    uint16_t template_id;
    uint8_t op, flags, parts, channel, change;
    bool reserved; /* bits were set that have no name */
};

enum { SHARE_COMMAND_WORDS = SHARE_COMMAND_BYTES / 8, SHARE_INLINE_WORDS = SHARE_INLINE_BYTES / 8 };

static inline struct share_command share_command_decode(const uint64_t word[static SHARE_COMMAND_WORDS])
{
    return (struct share_command){
        .op = (uint8_t)word[0],
        .flags = (uint8_t)(word[0] >> 8),
        .endpoint = (uint16_t)(word[0] >> 16),
        .length = (uint32_t)(word[0] >> 32),
        .user = word[1],
        .peer = (uint32_t)word[2],
        .tag = (uint32_t)(word[2] >> 32),
        .region = (uint16_t)word[3],
        .generation = (uint16_t)(word[3] >> 16),
        .template_id = (uint16_t)(word[3] >> 32),
        .parts = (uint8_t)(word[3] >> 48),
        .channel = (uint8_t)(word[3] >> 56),
        .offset = word[4],
        .value = word[5],
        .word = (uint32_t)word[6],
        .change = (uint8_t)(word[6] >> 32),
        .timeout_us = (uint32_t)word[7],
        .reserved = word[6] >> 40 != 0 || word[7] >> 32 != 0,
    };
}

/* `reserved` is not written. */
static inline void share_command_encode(const struct share_command *c, uint64_t word[static SHARE_COMMAND_WORDS])
{
    word[0] = c->op | (uint64_t)c->flags << 8 | (uint64_t)c->endpoint << 16 | (uint64_t)c->length << 32;
    word[1] = c->user;
    word[2] = c->peer | (uint64_t)c->tag << 32;
    word[3] = c->region | (uint64_t)c->generation << 16 | (uint64_t)c->template_id << 32 | (uint64_t)c->parts << 48 |
              (uint64_t)c->channel << 56;
    word[4] = c->offset;
    word[5] = c->value;
    word[6] = c->word | (uint64_t)c->change << 32;
    word[7] = c->timeout_us;
}

/* Memory of a region: 16 bytes as region:16 generation:16 length:32, offset:64. */
struct share_part {
    uint64_t offset;
    uint32_t length;
    uint16_t region, generation;
};

struct share_part share_part_decode(const uint64_t word[static 2]);
void share_part_encode(const struct share_part *p, uint64_t word[static 2]);

/* Why a command is refused. Values are counted and told, and stay as they are. */
enum share_verdict {
    SHARE_FINE = 0,
    SHARE_BAD_OP,       /* there is no such op */
    SHARE_BAD_FLAG,     /* a flag that the op does not have, or not with another one */
    SHARE_BAD_RESERVED, /* bits, or fields, that must be zero */
    SHARE_BAD_LENGTH,   /* more than there is room for, or nothing */
    SHARE_BAD_PARTS,    /* none, too many, or they do not add up to the length */
    SHARE_BAD_RANGE,    /* offset and length leave the region */
    SHARE_BAD_CHANNEL,
    SHARE_BAD_WORD,
    SHARE_NO_ENDPOINT, /* from here on: a number that is not its own */
    SHARE_NO_PEER,
    SHARE_NO_REGION, /* or another generation of it */
    SHARE_VERDICTS,
};

/* -EINVAL, -ENOENT for what is not its own, 0 for SHARE_FINE. */
int share_verdict_error(enum share_verdict v);
/* For people: "range". */
const char *share_verdict_name(enum share_verdict v);

/* A region as the daemon knows it. */
struct share_region {
    struct share_in in; /* its bytes; not set where there is none */
    uint64_t size;      /* 0: there is no region of this number */
    uint16_t generation;
};

/* What belongs to a process: the daemon's own numbers. Borrowed by those who judge; bit n of a set stands for n. */
struct share_tables {
    const struct share_region *region; /* [regions] */
    const uint64_t *endpoint;          /* set of open ones, [endpoints] bits */
    const uint64_t *peer;              /* set of open ones, [peers] bits; 0 is never one */
    uint32_t regions, endpoints, peers;
    uint32_t words; /* its own notification words */
};

/* What the body of an op is. */
enum share_body {
    SHARE_BODY_NONE,
    SHARE_BODY_BYTES, /* `length` bytes: a message, a name, elements of a template, members of a set */
    SHARE_BODY_PARTS, /* `parts` parts of 16 bytes */
    SHARE_BODY_ITEMS, /* `parts` items of a list, of 16 bytes: the template says what they are */
};

/* Where the pieces of a judged command stand, in bytes behind the first 64; `room` is left for the body. */
struct share_shape {
    enum share_body body;
    uint32_t key, remote, window; /* where they stand; 0 sized ones are not there */
    uint32_t at, room;            /* of the body, inline */
    bool has_remote;
};

/*
 * Judges a copy, all but its inline bytes. *shape says where those stand, when the verdict is SHARE_FINE. What the
 * judge lets through lies inside: the body's `length` bytes or 16 * parts bytes fit inline or into the region that it
 * names, and so does local memory that the op names.
 */
CW_MUST_CHECK enum share_verdict share_command_judge(const struct share_command *c, const struct share_tables *t,
                                                     struct share_shape *shape);

/* Is there such memory? length 0 is inside wherever the offset is. */
CW_MUST_CHECK enum share_verdict share_range_judge(const struct share_tables *t, uint16_t region, uint16_t generation,
                                                   uint64_t offset, uint64_t length);

/* Judges parts that were copied: each is inside of its region, and together they have `length` bytes. */
CW_MUST_CHECK enum share_verdict share_parts_judge(const struct share_tables *t, const struct share_part *part,
                                                   unsigned parts, uint32_t length);

#endif
