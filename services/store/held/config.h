/* SPDX-License-Identifier: Apache-2.0 */
/*
 * config.h - who the members of a shard are: an epoch, and that epoch's members, each a server and the id of its store.
 * The first epoch's are given by the torus (places.h); each later one differs from the one before in one place, where
 * another store stands. What an acceptor has sealed is the next one, which counts when all that stay have sealed it.
 */
#ifndef SERVICES_STORE_HELD_CONFIG_H
#define SERVICES_STORE_HELD_CONFIG_H

#include "services/store/held/ballot.h"
#include "services/store/held/places.h"

struct store_config {
    uint32_t epoch;
    uint8_t count;
    cw_server member[STORE_COPIES_MOST];
    uint64_t store_id[STORE_COPIES_MOST];
};

/* ballot none: nothing is sealed. */
struct store_seal {
    struct store_ballot ballot; /* of the leader that asked for it */
    struct store_config next;
};

enum {
    STORE_CONFIG_HEAD = 8,
    STORE_CONFIG_MEMBER = 12,
    STORE_CONFIG_MOST = STORE_CONFIG_HEAD + STORE_COPIES_MOST * STORE_CONFIG_MEMBER,
    STORE_SEAL_MOST = 16 + STORE_CONFIG_MOST,
};

size_t store_config_size(const struct store_config *c);
/* Gives the size. */
size_t store_config_encode(const struct store_config *c, uint8_t *out);
/* Nothing may be behind it. False: it is none. */
CW_MUST_CHECK bool store_config_decode(const uint8_t *bytes, size_t size, struct store_config *out);
/* A seal that is none takes no bytes. */
size_t store_seal_encode(const struct store_seal *seal, uint8_t out[static STORE_SEAL_MOST]);
CW_MUST_CHECK bool store_seal_decode(const uint8_t *bytes, size_t size, struct store_seal *out);

bool store_config_equal(const struct store_config *a, const struct store_config *b);
/* The place of the server among the members; count: it is none. */
unsigned store_config_place(const struct store_config *c, cw_server server);
/* The place in which the next one differs; count: it is no next one of c. */
unsigned store_config_changed(const struct store_config *c, const struct store_config *next);

/* What is known of a change of members from what those say who have promised a leader: see store_seal_judge(). */
enum store_seal_verdict {
    STORE_SEAL_NONE,    /* nothing was decided, and nothing will be by anybody below the leader: the epoch goes on */
    STORE_SEAL_DECIDED, /* the members are others now */
    STORE_SEAL_DOUBT,   /* it takes more promises to know */
};

/*
 * promised: the set of members whose promise came, with their seals. *which gets the place of one that has sealed what
 * is decided or in doubt. Of several seals only the highest can be decided: whoever asked for it knew that those below
 * are not. It is decided when all members have sealed it but the one that leaves; one that has promised the leader and
 * has not sealed it never will.
 */
enum store_seal_verdict store_seal_judge(const struct store_config *c, unsigned promised,
                                         const struct store_seal seal[static STORE_COPIES_MOST], unsigned *which);

#endif
