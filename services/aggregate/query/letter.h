/* SPDX-License-Identifier: Apache-2.0 */
/*
 * letter.h - the two messages of a question, as bytes and as a struct. Network order; what is 0 must be 0.
 *
 *      0                      1        2    3       4         8          16         20        24 ...
 *  all | version:4 kind:4 (1) | summary | by | flags | asker 4 | life 8 | number 4 | round 4 |
 *
 *  ASK   24 within 4 (us) | 28 servers 4 | 32 length of the source 1, 0 (3) | 36 members | .. dead | .. source
 *  PART  24 servers 4 | 28 length of the part 4 | 32 answered | .. without | .. part (part.h)
 *
 *  members, dead, answered, without: sets of `servers` bits, in words of 64 bits: server s is bit s % 64 of word
 *  s / 64.
 *
 * asker, life and number name the question: the server that asks, its service's incarnation there, and a number that
 * counts up. round is 1 along the tree, and 2 where a server is asked by the asker itself. summary: enum summary_kind.
 */
#ifndef SERVICES_AGGREGATE_QUERY_LETTER_H
#define SERVICES_AGGREGATE_QUERY_LETTER_H

#include "services/aggregate/query/part.h"

enum {
    LETTER_VERSION = 1,
    LETTER_SERVERS_MOST = 4096,
    LETTER_WORDS = LETTER_SERVERS_MOST / 64,
    LETTER_ASK_MOST = 36 + 16 * LETTER_WORDS + SUMMARY_NAME_MOST,
    LETTER_PART_HEAD = 32,
    LETTER_PART_MOST = LETTER_PART_HEAD + 16 * LETTER_WORDS + PART_BYTES_MOST,
    LETTER_WITHIN_MOST_US = 60 * 1000 * 1000,
};

enum letter_kind { LETTER_ASK = 1, LETTER_PART = 2 };

/* How servers are put together. The values are on the wire, and for ever. */
enum letter_by { LETTER_BY_NONE = 0, LETTER_BY_X = 1, LETTER_BY_Y = 2, LETTER_BY_Z = 3, LETTER_BY_SERVER = 4 };

enum letter_round { LETTER_TREE = 1, LETTER_DIRECT = 2 };

enum {
    LETTER_UNFIT = 1, /* a server has the source, and cannot make this of it */
    LETTER_LARGE = 2, /* what some servers say was left out: together it is too large */
    LETTER_MIXED = 4, /* what some servers say was left out: their source is of another kind */
    LETTER_FLAGS = 7, /* all of them */
};

/* Which question it is about. */
struct letter_name {
    cw_server asker;
    uint64_t life;
    uint32_t number;
};

struct query_letter {
    enum letter_kind kind;
    enum summary_kind summary;
    enum letter_by by;
    unsigned flags; /* PART */
    struct letter_name name;
    enum letter_round round;
    uint32_t servers;
    uint32_t within_us;                                     /* ASK: 1..LETTER_WITHIN_MOST_US */
    const char *source;                                     /* ASK: borrowed, not ended by a NUL */
    size_t source_length;                                   /* 0 when names are asked for */
    uint64_t members[LETTER_WORDS], dead[LETTER_WORDS];     /* ASK */
    uint64_t answered[LETTER_WORDS], without[LETTER_WORDS]; /* PART: without is within answered */
    const uint8_t *part;                                    /* PART: borrowed; it is not looked into */
    size_t part_length;
};

static inline bool letter_name_equal(const struct letter_name *a, const struct letter_name *b)
{
    return a->asker == b->asker && a->life == b->life && a->number == b->number;
}

size_t query_letter_size(const struct query_letter *l);
/* Writes query_letter_size() bytes. */
void query_letter_encode(const struct query_letter *l, uint8_t *out);
/* Fills *out, which borrows bytes. -EPROTO: too short or too long, unknown, or impossible. */
CW_MUST_CHECK int query_letter_decode(const uint8_t *bytes, size_t size, struct query_letter *out);

#endif
