/* SPDX-License-Identifier: Apache-2.0 */
/*
 * head.h - the messages of a reduction, as bytes and as a struct. Network order; what is 0 must be 0.
 *
 *      0                      1      2
 *  all | 1:4 kind:4 | everyone | what (2) | 4 root | 8 life (8) | 16 number | 20 attempt | 24 ...
 *
 *  BLOCK     24 tree (1) 0 (3) | 28 position | 32 block                           to the parent; `what` is 0
 *  DEAL      24 tree (1) 0 (3) | 28 passed | 32 from | 36 runs of blocks          to a child; `what`: how many runs
 *            a run: first block (4), how many (4)
 *  ANNOUNCE  24 ticket | 28 spec (12) | 40 each | 44 window (2) ahead (2) | 48 dealt | 52 job | 56 servers
 *            60 members | .. dead
 *  VOID      24 who                                                              to the root; `what`: the errno
 *  END       24 ticket | 28 who | 32 servers | 36 the counted | .. a small result for all
 *                                                                                from the root; `what`: 0 or an errno
 *  PROBE                                                                         is this attempt alive at yours?
 *  JOIN      24 ticket | 28 spec (12) | 40 job | 44 digest (8) | 52 name | .. the vector, when it is small
 *                                                                                to the root; `what`: bytes of the name
 *  RESULT    24 first element (8) | 32 piece | 36 pieces | 40 elements           to all, by the service multicast
 *  HOLD      24 ticket | 28 pieces                                               do you have the whole result?
 *  GATHER    24 spec (12) | 36 job | 40 digest (8) | 48 records (2) 0 (2) | 52 name | .. records
 *                                                                                JOINs of several, to the root
 *  SPREAD    24 who | 28 servers | 32 records (2) bytes (2) | 36 the counted | .. records | .. a small result
 *                                                                                ENDs for several, from the root
 *            a record: server (2), ticket (4), and in a GATHER the vector, when it is small
 *
 *  spec: type (1) operation (1) flags (1) 0 (1) elements (8)
 *  members, dead, counted: sets of `servers` bits, in words of 64 bits: server s is bit s % 64 of word s / 64.
 *
 * root, life and number name the run: the server of the reducer, its service's incarnation there, and a number that
 * counts up. In a JOIN all three are 0 as long as the member has not heard of the run. A ticket is a member's own
 * number of its call; 0: the receiver is no member. In a GATHER root is the server that it goes to, `what` the bytes of
 * the name; in a SPREAD `what` is as in END.
 *
 * everyone: bits of an END or a SPREAD, otherwise 0. Bit 0: all members of the run are the counted; then that set is
 * not there, since each knows the members of its own call. Bits 1 to 5, with EINVAL: in what `who` and the root
 * disagree (CW_REDUCE_UNLIKE_TYPE is bit 1).
 *
 * A BLOCK is the head of a transport's message on port AGGREGATE_PORT_EDGE, whose bytes are the elements. Everything
 * else is a message of its own on port AGGREGATE_PORT_CALL.
 */
#ifndef SERVICES_AGGREGATE_DENSE_HEAD_H
#define SERVICES_AGGREGATE_DENSE_HEAD_H

#include "cubeway/aggregate.h"

enum {
    MESSAGE_VERSION = 4,
    MESSAGE_BLOCK_BYTES = 36,
    MESSAGE_RUNS_MOST = 128, /* in one DEAL */
    MESSAGE_NAME_MOST = CW_AGGREGATE_NAME_MAX,
    MESSAGE_SERVERS_MOST = 4096,
    MESSAGE_SET_WORDS = MESSAGE_SERVERS_MOST / 64,
    MESSAGE_SMALL_MOST = 1024, /* bytes of a vector that goes with its JOIN, and of a result that goes with the END */
    MESSAGE_RESULT_HEAD = 40,
    MESSAGE_RECORD_BYTES = 6, /* and the vector */
    /* Of a message that is no BLOCK and no RESULT: a packet of the frames that links carry at best. */
    MESSAGE_BYTES_MOST = 8192,
};

enum message_kind {
    MESSAGE_BLOCK = 1,
    MESSAGE_DEAL = 2,
    MESSAGE_ANNOUNCE = 3,
    MESSAGE_VOID = 4,
    MESSAGE_END = 5,
    MESSAGE_PROBE = 6,
    MESSAGE_JOIN = 7,
    MESSAGE_RESULT = 8,
    MESSAGE_HOLD = 9,
    MESSAGE_GATHER = 10,
    MESSAGE_SPREAD = 11,
};

struct run_name {
    cw_server root;
    uint64_t life;
    uint32_t number;
};

/* What is computed: all members and the root must say the same. */
struct spec {
    uint8_t type, combine, flags;
    uint64_t elements;
};

struct deal_run {
    uint32_t first, count;
};

struct message {
    enum message_kind kind;
    struct run_name run;
    uint32_t attempt;
    uint8_t tree;             /* BLOCK, DEAL */
    uint32_t position, block; /* BLOCK */
    /*
     * Borrowed, `bytes` of them. BLOCK: not of the codec, but what the transport's message holds. JOIN, END: the small
     * vector, or the small result. RESULT: decoded, the elements; encoded, only the head is written.
     */
    const uint8_t *elements;
    size_t bytes;
    uint64_t first;         /* RESULT: the first of the elements */
    uint32_t piece, pieces; /* RESULT, HOLD: how many pieces the result has, and which this is */
    uint32_t passed, from;  /* DEAL: positions that the parent has passed; the position of the first block below */
    unsigned runs;          /* DEAL */
    struct deal_run deal[MESSAGE_RUNS_MOST];
    uint32_t ticket;        /* ANNOUNCE, END, JOIN, HOLD */
    struct spec spec;       /* ANNOUNCE, JOIN */
    uint32_t each;          /* ANNOUNCE: elements of a block */
    uint16_t window, ahead; /* ANNOUNCE */
    uint32_t dealt;   /* ANNOUNCE: so many blocks are dealt with it, from the first on, one to each tree in turn */
    uint32_t servers; /* ANNOUNCE, END */
    uint64_t members[MESSAGE_SET_WORDS], dead[MESSAGE_SET_WORDS]; /* ANNOUNCE; END: members are the counted */
    bool everyone;    /* END, SPREAD: all members are counted, and there is no set of them */
    uint16_t status;  /* VOID, END: an errno */
    uint8_t unlike;   /* END, SPREAD: with EINVAL: CW_REDUCE_UNLIKE_.. */
    cw_server who;    /* VOID, END: whom the status is about; CW_SERVER_NONE: nobody */
    cw_job job;       /* JOIN, GATHER: of the caller; ANNOUNCE: of the root's */
    uint64_t digest;  /* JOIN: of the members */
    const char *name; /* JOIN, GATHER: decoded: borrowed */
    size_t name_length;
    const uint8_t *records; /* GATHER, SPREAD: `record_count` of them, as message_record() reads them; borrowed */
    unsigned record_count;
};

struct message_record {
    cw_server server;
    uint32_t ticket;
    const uint8_t *elements; /* of a GATHER: spec_join() bytes, borrowed */
};

static inline bool run_name_equal(const struct run_name *a, const struct run_name *b)
{
    return a->root == b->root && a->life == b->life && a->number == b->number;
}

static inline bool spec_equal(const struct spec *a, const struct spec *b)
{
    return a->type == b->type && a->combine == b->combine && a->flags == b->flags && a->elements == b->elements;
}

/*
 * A vector of at most MESSAGE_SMALL_MOST bytes is small: it goes with the JOIN, and there are no trees. spec_small()
 * gives its bytes; 0 also for a vector that is not small. The type and the operation fit. spec_join() gives the bytes
 * that go with a JOIN: none when the result is the root's vector.
 */
size_t spec_small(const struct spec *s);
size_t spec_join(const struct spec *s);
bool spec_is_small(const struct spec *s);

/* Bytes of one record of such a message. */
size_t message_record_size(const struct message *m);
/* Record i < m->record_count. */
struct message_record message_record(const struct message *m, unsigned i);
/* Writes a record of message_record_size() bytes. */
void message_record_put(const struct message *m, const struct message_record *record, uint8_t *out);

/* How many bytes message_encode() writes: of a RESULT its head alone. */
size_t message_size(const struct message *m);
/* Writes message_size() bytes. */
void message_encode(const struct message *m, uint8_t *out);
/*
 * Fills *out, which borrows bytes. -EPROTO: too short or too long, unknown, or impossible: then nothing in *out means
 * anything. What is decoded has a tree below CW_LINK_COUNT, at most MESSAGE_SERVERS_MOST servers with no bit beyond
 * them, a type and an operation that fit, and deals of at least one block each; numbers of blocks are as they are.
 */
CW_MUST_CHECK int message_decode(const uint8_t *bytes, size_t size, struct message *out);

#endif
