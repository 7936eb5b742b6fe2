/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ballot.h - the order in which leaders of a shard follow one another, and that of what they write. A ballot is (epoch
 * 32 bits, counter 32, server 24, boot 40), compared in that order; all zero is below every leader's. A tag is (ballot,
 * n): of two registers of one name that with the higher tag is the newer one.
 */
#ifndef SERVICES_STORE_HELD_BALLOT_H
#define SERVICES_STORE_HELD_BALLOT_H

#include <stdbool.h>
#include <stdint.h>

struct store_ballot {
    uint64_t high; /* epoch, counter */
    uint64_t low;  /* server, boot */
};

struct store_tag {
    struct store_ballot ballot;
    uint64_t n; /* the shard's counter, which grows over all ballots */
};

enum { STORE_BOOT_BITS = 40, STORE_EPOCH_FIRST = 1 };

/* Gives less than, equal to or more than 0 as a is below, equal to or above b. */
static inline int store_ballot_compare(struct store_ballot a, struct store_ballot b)
{
    if (a.high != b.high) {
        return a.high < b.high ? -1 : 1;
    }
    return a.low == b.low ? 0 : a.low < b.low ? -1 : 1;
}

static inline int store_tag_compare(struct store_tag a, struct store_tag b)
{
    int c = store_ballot_compare(a.ballot, b.ballot);
    return c != 0 ? c : (a.n > b.n) - (a.n < b.n);
}

static inline bool store_ballot_is_none(struct store_ballot b)
{
    return b.high == 0 && b.low == 0;
}

/* The server that the ballot is of; only of a ballot that is not none. */
static inline uint32_t store_ballot_server(struct store_ballot b)
{
    return (uint32_t)(b.low >> STORE_BOOT_BITS);
}

static inline uint32_t store_ballot_epoch(struct store_ballot b)
{
    return (uint32_t)(b.high >> 32);
}

/* A ballot of this server in this boot, of that epoch, above the one given, which is of no later epoch. */
static inline struct store_ballot store_ballot_above(struct store_ballot b, uint32_t epoch, uint32_t server,
                                                     uint64_t boot)
{
    uint64_t least = (uint64_t)epoch << 32;
    return (struct store_ballot){
        .high = (b.high > least ? b.high : least) + 1,
        .low = (uint64_t)server << STORE_BOOT_BITS | (boot & ((UINT64_C(1) << STORE_BOOT_BITS) - 1)),
    };
}

#endif
