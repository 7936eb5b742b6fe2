/* SPDX-License-Identifier: Apache-2.0 */
/*
 * merge.h - several streams of sorted records become one: children and the server itself, or runs of the spool.
 *
 * Guarantees
 *  - The records that come out are those that went in, in ascending order; with a combiner, one for each key, of all
 *    its values.
 *  - Equal keys meet in the order of their sources, and of one source in its order. So what comes out follows from what
 *    went in, and not from when blocks came, nor from where they were cut.
 *  - It holds no more than this struct, what it is given for each source, and at most one block of each, which is lent.
 *    It never allocates, and is a function of its inputs: any thread, one at a time.
 *
 * A record leaves when every source has shown a later one (with a combiner: one of a later key) or its end. So the
 * merge waits for one source at a time, but at its beginning for all.
 *
 *     merge_open(m, source, sources, &combine);
 *     for (;;) {
 *         rc = merge_run(m, &writer);
 *         MERGE_WAITS  the block of m->waits is yours again: merge_feed(m, m->waits, block) or merge_end(m, m->waits),
 *                      now or later; meanwhile a block that is not full may be sent, too
 *         MERGE_FULL   send the block, record_writer_init() another one
 *         MERGE_DONE   send what is in the block; all is in it
 *         < 0          see below
 *     }
 *
 * A tree of losers keeps for each head how many bytes it shares with the key that came out last: most comparisons look
 * at no bytes, none looks at those that are known to be equal, and the front coding of what comes out costs nothing.
 */
#ifndef SERVICES_AGGREGATE_SORTED_MERGE_H
#define SERVICES_AGGREGATE_SORTED_MERGE_H

#include "services/aggregate/sorted/combine.h"
#include "services/aggregate/sorted/record.h"

enum {
    MERGE_SOURCES = 4097, /* at most: all other servers, and itself */
};

enum merge_state {
    MERGE_WAITS = 0,
    MERGE_FULL = 1,
    MERGE_DONE = 2,
};

struct merge_source {
    struct record_reader reader;
    int32_t common; /* bytes that its head shares with the key that came out last; -1: it has ended */
    bool fed;       /* it has a block, or has ended */
    bool ended;
    /* Of node i of the tree (source 0: of the whole): who lost there; and who won, while the tree is built. */
    uint16_t loser, won;
};

struct merge {
    unsigned sources;
    unsigned waits;         /* for this source, after MERGE_WAITS */
    struct combine combine; /* table NULL: records stay apart */
    bool started;           /* the tree is built */
    bool behind;            /* the winner's record was used: its source must show the next one */
    /* source[0].loser is the winner; node n has children 2n and 2n+1, leaf i is node sources + i. */
    struct merge_source *source;
    /* The key whose values are gathered. */
    bool pending;
    uint32_t key_length, shared; /* shared: with the key before it */
    uint8_t key[RECORD_KEY_MOST];
    unsigned values;
    cw_bytes value[CW_COMBINE_VALUES]; /* in the sources' blocks, or in sum */
    unsigned half;                     /* of sum: where the next combination goes */
    uint64_t records_in, records_out;
    uint8_t sum[2][RECORD_BLOCK];
};

/*
 * Makes m a merge of 1..MERGE_SOURCES sources, in source[sources], which is lent until m is used no more, and need not
 * be filled. Copies *combine, whose table is borrowed as long; NULL, none, or not associative: records stay apart.
 */
void merge_open(struct merge *m, struct merge_source *source, unsigned sources, const struct combine *combine);
/*
 * Lends a block of source i, which has none, until m waits for i again, or is done. Sources that are not waited for may
 * be fed before the first merge_run() in any order.
 */
void merge_feed(struct merge *m, unsigned i, const void *block, size_t length);
/* Source i, which has no block, has ended. */
void merge_end(struct merge *m, unsigned i);
/* Does source i have neither a block nor its end? At the beginning all that are hungry must be fed. */
bool merge_hungry(const struct merge *m, unsigned i);
/*
 * Writes to w what it can. A state; or an error, which is for ever: -EBADMSG: source m->waits sent what is no block, or
 * keys that do not ascend. Others are the combiner's: merge_key() is the key of whose values it said so.
 */
int merge_run(struct merge *m, struct record_writer *w);
/* The key whose values are being combined. Borrowed until the next call. */
cw_bytes merge_key(const struct merge *m);

#endif
