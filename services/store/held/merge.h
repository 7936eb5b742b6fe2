/* SPDX-License-Identifier: Apache-2.0 */
/*
 * merge.h - one list of names out of those of many shards, which come in pieces: pure. It says which shard has to be
 * asked next, and gives names in order, each once it is certain that no shard has one before it.
 */
#ifndef SERVICES_STORE_HELD_MERGE_H
#define SERVICES_STORE_HELD_MERGE_H

#include "services/store/held/wire.h"

/* A shard whose names are merged. */
struct store_source {
    uint32_t shard;
    bool more;           /* it may have names behind its piece */
    uint8_t *bytes;      /* its last piece; NULL: it was never asked */
    size_t length, head; /* head: where its next name begins, or the last one once all were told */
};

struct store_merge {
    struct store_source *source;
    uint32_t sources, unknown; /* unknown: those whose next name nobody knows yet */
    uint32_t *heap;            /* sources with a next name, that with the first one at the top */
    uint32_t ready;
    uint32_t *to_ask; /* a stack of those that are to be asked */
    uint32_t asks;
};

/* Shards first .. first + count - 1, of which nothing is known. -ENOMEM: nothing was opened. */
CW_MUST_CHECK int store_merge_open(struct store_merge *m, uint32_t first, uint32_t count);
void store_merge_close(struct store_merge *m);

/* A source that is to be asked now, and is not named again before its piece has come. False: there is none. */
bool store_merge_ask(struct store_merge *m, uint32_t *source);
/* Behind which name it is to be asked: the last one of its last piece. False: it was not asked yet. Borrowed. */
bool store_merge_behind(const struct store_merge *m, uint32_t source, struct store_named *out);
/*
 * The piece of a source that was asked. Copies the bytes. -EBADMSG: they are no names in order, or none while there is
 * more behind them. -ENOMEM. In both cases the source remains unknown.
 */
CW_MUST_CHECK int store_merge_give(struct store_merge *m, uint32_t source, const uint8_t *bytes, size_t length,
                                   bool more);

/* The next name of all; borrowed until its source is given its next piece. False: it is not known, or there is none. */
bool store_merge_next(struct store_merge *m, struct store_named *out);
/* There are no names any more. */
static inline bool store_merge_is_over(const struct store_merge *m)
{
    return m->unknown == 0 && m->ready == 0;
}

#endif
