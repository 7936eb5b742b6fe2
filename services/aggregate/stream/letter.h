/* SPDX-License-Identifier: Apache-2.0 */
/*
 * letter.h - what servers say to one another about a run of the sorted engine, as bytes and as a struct. Network order;
 * what is 0 must be 0.
 *
 *      0                      1      2
 *  all | 1:4 kind:4 | 0 | what (2) | 4 root | 8 life (8) | 16 number | 20 attempt | 24 ...
 *
 *  PREPARE   24 of | 28 digest (8) | 36 wish                from the lead to all that contribute or write, a request;
 *                                        PREPARED answers
 *  PREPARED  24 records (8) | 32 bytes (8) | 40 line (8) | 48 digest (8) | 56 limit (8)
 *            64 bytes of summary (2) 0 (2) | summary
 *  ORDER     24 first | 28 count | 32 bytes (8) | 40 wish       from the lead to a root, a request; ORDERED answers
 *  ORDERED   24 who | 28 attempts | 32 keys (8) | 40 bytes (8) | 48 limit (8)
 *  COLLECTED                             from a root to the lead: its partitions are whole, others may have the links
 *  COPY      24 wish                     from a root to a server that gets the result, a request; ORDERED answers
 *  COMMIT    24 servers | 28 members                      from the lead to who writes, a request: the result
 *                                        gets its name; ORDERED answers. And from each of them to the next
 *  ANNOUNCE  24 partitions | 28 each | 32 bytes of combine (1) open (1) way (1) 0 (1) | 36 lead | 40 its life (8)
 *            48 its number | 52 job | 56 servers | 60 members | .. others | combine
 *                                        from a root to all servers of the plan
 *  GRANT     24 tree (1) 0 (1) bytes of after (2) | 28 partition | 32 granted | after
 *                                        to a child: how many blocks it may have sent
 *  BLOCK     24 tree (1) last (1) 0 (2) | 28 partition | 32 sequence                       to the parent
 *  VOID      24 who | 28 limit (8)                               to the root; `what`: the errno
 *  END                                   from the lead: the run has ended, or its rounds up to `attempt`; or from a
 *                                        root: all its attempts; `what`: 0 or an errno
 *  PROBE                                 is this attempt (at the lead or root: this run) alive at yours?
 *
 *  wish: limit, ms | top | partitions | job | flags (1) 0 (3)
 *        bytes of the names of input, output, mapper, combine (1 each) | servers | members | others | the four names
 *  members, others: sets of `servers` bits, in words of 64 bits: server s is bit s % 64 of word s / 64. Members
 *        contribute; in COMMIT they are those who write the result. Others: in PREPARE those who write the result, or a
 *        part of it; in ORDER and COPY those who get a copy of it, but the root; in ANNOUNCE the dead.
 *  way: over arc-disjoint trees (0), straight to the root (1), over trees of shortest ways (2).
 *  of: whose input it is: the server's own, or that of another one, of which it has a copy. digest: of the bytes of the
 *        input; in PREPARE what it must be. 0: nobody knows.
 *  job: whose memory and spool it takes, of all servers. limit: of that job at the server that was in the way
 *        (account.h); 0: none was.
 *  after: in the first GRANT of a partition: records whose keys are above it are wanted. No bytes: all are.
 *  summary: how many keys the contributor has, if it was asked for that, as summary_distinct_encode() writes it.
 *
 * root, life and number name the run (dense/head.h). That of PREPARE, ORDER, COPY and COMMIT is the lead's, the server
 * where it was ordered, and `attempt` its round. Each root has a run of its own, of its partitions: the others name it.
 * A BLOCK is the head of a transport's message on port AGGREGATE_PORT_STREAM, whose bytes are sorted records.
 * Everything else is a message of its own on port AGGREGATE_PORT_STREAM_CALL.
 */
#ifndef SERVICES_AGGREGATE_STREAM_LETTER_H
#define SERVICES_AGGREGATE_STREAM_LETTER_H

#include "cubeway/types.h"
#include "services/aggregate/dense/head.h"
#include "services/aggregate/query/summary_distinct.h"
#include "services/aggregate/sorted/modules.h"
#include "services/aggregate/sorted/record.h"

enum {
    LETTER_VERSION = 6,
    LETTER_BLOCK_BYTES = 36,
    LETTER_NAME_MOST = 200,               /* of a file */
    LETTER_WORD_MOST = MODULES_WORD_MOST, /* of a mapper or a combine */
    LETTER_PARTITIONS_MOST = 10000,
    LETTER_EACH_LEAST = 1024, /* bytes of a block */
    LETTER_EACH_MOST = 64 << 10,
    LETTER_LIMIT_MOST_MS = 3600 * 1000,
    LETTER_SUMMARY_MOST = SUMMARY_DISTINCT_BYTES,
    LETTER_BYTES_MOST = 100 + LETTER_SUMMARY_MOST, /* of all messages */
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
    LETTER_COPY = 11,
    LETTER_COMMIT = 12,
    LETTER_COLLECTED = 13,
};

/* Flags of a wish. */
enum {
    LETTER_WITHOUT = 1,   /* goes on without servers that are gone */
    LETTER_CALLER = 2,    /* the result is not written, but given to whoever ordered it */
    LETTER_DIRECT = 4,    /* ORDER: straight to the root */
    LETTER_ASKS = 8,      /* PREPARE: tell how many keys there are */
    LETTER_SHORTEST = 16, /* ORDER: over trees of shortest ways; not with LETTER_DIRECT */
    LETTER_FLAGS = 31,    /* all of them */
};

/* How records come from contributors to a root. */
enum letter_way {
    LETTER_TREES, /* over arc-disjoint trees */
    LETTER_PAST,  /* past them: straight to the root */
    LETTER_SHORT, /* over trees of shortest ways (dense/ways.h) */
    LETTER_WAYS,
};

/* What whoever orders a run wants of it. */
struct wish {
    cw_job job;          /* ANNOUNCE, too */
    uint32_t limit_ms;   /* 1 to LETTER_LIMIT_MOST_MS */
    uint32_t top;        /* 0: all keys, in their order; else so many, by their values */
    uint32_t partitions; /* 1 to LETTER_PARTITIONS_MOST; of all roots together */
    uint8_t flags;
    char from[LETTER_NAME_MOST + 1], to[LETTER_NAME_MOST + 1];
    char mapper[LETTER_WORD_MOST + 1], combine[LETTER_WORD_MOST + 1];
};

struct letter {
    enum letter_kind kind;
    struct run_name run, lead; /* lead: ANNOUNCE */
    uint32_t attempt;
    uint32_t servers;                                               /* ORDER, PREPARE, COPY, ANNOUNCE, COMMIT */
    uint64_t members[MESSAGE_SET_WORDS], others[MESSAGE_SET_WORDS]; /* likewise; COMMIT: no others */
    struct wish wish;                                               /* ORDER, PREPARE, COPY */
    cw_server of;                                                   /* PREPARE: whose input; below `servers` */
    uint64_t digest;                                                /* PREPARE, PREPARED: of the input; 0: unknown */
    cw_server who;                                                  /* ORDERED, VOID; CW_SERVER_NONE: nobody */
    uint16_t status;                                                /* VOID, END: an errno */
    uint32_t attempts;                                              /* ORDERED */
    uint64_t records, keys, bytes; /* PREPARED: without keys; ORDERED, of the result: without records; ORDER: bytes of
                                      all inputs */
    uint64_t limit;                /* PREPARED, ORDERED, VOID: of the job, which was in the way; 0: none was */
    uint64_t line;                 /* PREPARED: where the input is wrong; 0: nowhere */
    const uint8_t *summary;        /* PREPARED: a summary of the keys (summary_distinct.h); borrowed */
    uint16_t summary_bytes;        /* 0 to LETTER_SUMMARY_MOST; 0: there is none */
    uint8_t tree;                  /* GRANT, BLOCK */
    bool last;                     /* BLOCK: no more of this partition follow */
    cw_bytes after;                /* GRANT: 0 to RECORD_KEY_MOST bytes; borrowed */
    uint32_t partition;            /* GRANT, BLOCK; below LETTER_PARTITIONS_MOST */
    uint32_t sequence;             /* BLOCK: from 0 on; GRANT: how many blocks the child may have sent in all */
    uint32_t partitions;           /* ANNOUNCE; its wish has the job and the combine alone */
    uint32_t first, count;         /* ORDER: the root's partitions, of those of the wish; count is 1 at least */
    uint32_t each;                 /* ANNOUNCE: bytes of a block, where no record is longer */
    uint8_t open;                  /* ANNOUNCE: partitions of a tree that may be under way; 1 at least */
    enum letter_way way;           /* ANNOUNCE */
};

/* How many bytes letter_encode() writes: at most LETTER_BYTES_MOST. */
size_t letter_size(const struct letter *l);
void letter_encode(const struct letter *l, uint8_t *out);
/*
 * Fills *out. -EPROTO: too short or too long, unknown, or impossible: then nothing in *out means anything. What is
 * decoded borrows the bytes (summary), is within the ranges above, has no bit of a set beyond `servers`, and names
 * without a NUL that are not empty (but `to`).
 */
CW_MUST_CHECK int letter_decode(const uint8_t *bytes, size_t size, struct letter *out);

#endif
