/* SPDX-License-Identifier: Apache-2.0 */
/*
 * letter.h - what servers say to one another about a run of the sorted engine, as bytes and as a struct. Network order;
 * what is 0 must be 0.
 *
 *      0                      1      2
 *  all | 1:4 kind:4 | 0 | what (2) | 4 root | 8 life (8) | 16 number | 20 attempt | 24 ...
 *
 *  ORDER     24 wish                                             from the desk to the root, a request; ORDERED answers
 *  ORDERED   24 who | 28 attempts | 32 took, ns (8) | 40 records (8) | 48 keys (8) | 56 bytes (8) | 64 servers
 *            68 the counted | .. refusals: server (4) errno (2) 0 (2) line (8)          `what`: how many refusals
 *  PREPARE   24 wish                                             from the root to a contributor; PREPARED answers
 *  PREPARED  24 records (8) | 32 bytes (8) | 40 line (8)
 *  ANNOUNCE  24 partitions | 28 each | 32 bytes of combine (1) 0 (3) | 36 servers | 40 members | .. dead | combine
 *                                                                from the root to all servers of the plan
 *  GRANT     24 tree (1) 0 (3) | 28 partition | 32 granted        to a child: how many blocks it may have sent
 *  BLOCK     24 tree (1) last (1) 0 (2) | 28 partition | 32 sequence                       to the parent
 *  VOID      24 who                                              to the root; `what`: the errno
 *  END                                                           from the root; `what`: 0 or an errno
 *  PROBE                                                        is this attempt (at the root: this run) alive at yours?
 *  CANCEL    24 desk's life (8) | 32 its number                  from the desk to the root
 *
 *  wish: desk's life (8) | its number | limit, ms | top | partitions | flags (1) 0 (3)
 *        bytes of the names of input, output, mapper, combine (1 each) | servers | members | the four names
 *  members, dead, counted: sets of `servers` bits, in words of 64 bits: server s is bit s % 64 of word s / 64.
 *
 * root, life and number name the run (dense/head.h). A BLOCK is the head of a transport's message on port
 * AGGREGATE_PORT_STREAM, whose bytes are sorted records. Everything else is a message of its own on port
 * AGGREGATE_PORT_STREAM_CALL. In an ORDER and a CANCEL the run and the attempt are 0.
 */
#ifndef SERVICES_AGGREGATE_STREAM_LETTER_H
#define SERVICES_AGGREGATE_STREAM_LETTER_H

#include "services/aggregate/dense/head.h"

enum {
    LETTER_VERSION = 1,
    LETTER_BLOCK_BYTES = 36,
    LETTER_NAME_MOST = 200, /* of a file */
    LETTER_WORD_MOST = 80,  /* of a mapper or a combine */
    LETTER_REFUSALS_MOST = 64,
    LETTER_PARTITIONS_MOST = 10000,
    LETTER_EACH_LEAST = 1024, /* bytes of a block */
    LETTER_EACH_MOST = 64 << 10,
    LETTER_LIMIT_MOST_MS = 3600 * 1000,
    LETTER_BYTES_MOST =
        100 + 2 * 8 * MESSAGE_SET_WORDS + 2 * LETTER_NAME_MOST + 2 * LETTER_WORD_MOST + 16 * LETTER_REFUSALS_MOST,
};

enum letter_kind {
    LETTER_ORDER = 1,
    LETTER_ORDERED = 2,
    LETTER_PREPARE = 3,
    LETTER_PREPARED = 4,
    LETTER_ANNOUNCE = 5,
    LETTER_GRANT = 6,
    LETTER_BLOCK = 7,
    LETTER_VOID = 8,
    LETTER_END = 9,
    LETTER_PROBE = 10,
    LETTER_CANCEL = 11,
};

enum { LETTER_WITHOUT = 1 /* a flag of a wish: goes on without contributors that are gone */ };

/* What an operator wants of a run. */
struct wish {
    uint64_t desk_life; /* never 0 */
    uint32_t desk_number;
    uint32_t limit_ms;   /* 1 to LETTER_LIMIT_MOST_MS */
    uint32_t top;        /* 0: all keys, in their order; else so many, by their values */
    uint32_t partitions; /* 1 to LETTER_PARTITIONS_MOST */
    uint8_t flags;
    char from[LETTER_NAME_MOST + 1], to[LETTER_NAME_MOST + 1];
    char mapper[LETTER_WORD_MOST + 1], combine[LETTER_WORD_MOST + 1];
};

/* A server that could not prepare its input. */
struct refusal {
    cw_server server;
    uint16_t status; /* an errno */
    uint64_t line;   /* of its input; 0: none */
};

struct letter {
    enum letter_kind kind;
    struct run_name run;
    uint32_t attempt;
    uint32_t servers;                                             /* ORDER, ORDERED, PREPARE, ANNOUNCE */
    uint64_t members[MESSAGE_SET_WORDS], dead[MESSAGE_SET_WORDS]; /* likewise; ORDERED: members are the counted */
    struct wish wish;                                             /* ORDER, PREPARE; CANCEL: the desk's alone */
    cw_server who;                                                /* ORDERED, VOID; CW_SERVER_NONE: nobody */
    uint16_t status;                                              /* VOID, END: an errno */
    uint32_t attempts;                                            /* ORDERED */
    uint64_t took_ns;                                             /* ORDERED */
    uint64_t records, keys, bytes; /* ORDERED: of all inputs, of the result, of the result; PREPARED, without keys */
    uint64_t line;                 /* PREPARED: where the input is wrong; 0: nowhere */
    unsigned refusals;             /* ORDERED */
    struct refusal refusal[LETTER_REFUSALS_MOST];
    uint8_t tree;        /* GRANT, BLOCK */
    bool last;           /* BLOCK: no more of this partition follow */
    uint32_t partition;  /* GRANT, BLOCK; below LETTER_PARTITIONS_MOST */
    uint32_t sequence;   /* BLOCK: from 0 on; GRANT: how many blocks the child may have sent in all */
    uint32_t partitions; /* ANNOUNCE; its wish has the combine alone */
    uint32_t each;       /* ANNOUNCE: bytes of a block, where no record is longer */
};

/* How many bytes letter_encode() writes: at most LETTER_BYTES_MOST. */
size_t letter_size(const struct letter *l);
void letter_encode(const struct letter *l, uint8_t *out);
/*
 * Fills *out. -EPROTO: too short or too long, unknown, or impossible: then nothing in *out means anything. What is
 * decoded is within the ranges above, has no bit of a set beyond `servers`, and names without a NUL that are not empty
 * (but `to`).
 */
CW_MUST_CHECK int letter_decode(const uint8_t *bytes, size_t size, struct letter *out);

#endif
