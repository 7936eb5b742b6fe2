/* SPDX-License-Identifier: Apache-2.0 */
/*
 * warden.h - looks after the members of this server's shards: who has come back may be another life, who is another
 * life is replaced after limits.settle, who is away after limits.away. In each shard one member sees to it: who leads,
 * else the first one in view. There is no timer while all members are there.
 */
#ifndef SERVICES_STORE_WARDEN_H
#define SERVICES_STORE_WARDEN_H

#include "services/store/internal.h"

/* This server votes again, after a restart: of nobody it knows what became of him meanwhile. */
void store_warden_begin(struct store *s);
/* A server has come or gone. */
void store_warden_seen(struct store *s, cw_server who, bool up);
/* Something may have to be done soon. */
void store_warden_wake(struct store *s);

/* What is amiss in the shards that this server leads, or would see to. */
struct store_warden_status {
    unsigned filling;      /* shards of which a newcomer is being filled */
    size_t to_go;          /* bytes that it is still to be given, about */
    unsigned replacing;    /* shards with a member that is lost or away */
    size_t copies_missing; /* registers of which fewer copies are there than there should be */
};
struct store_warden_status store_warden_status(const struct store *s);

#endif
