/* SPDX-License-Identifier: Apache-2.0 */
/*
 * intent.h - a transaction as one register, pure. It stands under a name that no job has: job 0, the job of the
 * transaction:32 and its tag without the braces, which is in the shard of the names of that tag. So it is accepted,
 * written down, compared, fetched and filled as any register is: all of it or nothing. Once it is chosen its changes
 * are: its leader makes them, register by register, and whoever comes to lead makes what is left (store rule 6).
 *
 * One that was never chosen may still be met by a later leader. Whether its changes may be made then is told by what it
 * has noted of each name that it guards or writes (store rule 38): the version that was there, and the last operation
 * that its register remembered. When all is as it was, or was changed by this very transaction, it may stand here; else
 * it is void for ever, or was over before. While it is chosen and not over nothing else changes these names (rule 39).
 *
 *   its value: asker:64 number:64 names:8 | for each name version:64 and n of the last operation:64 | the bundle
 *
 * Its version is that of its first step, step i makes version + i, and its n is that of the last one.
 */
#ifndef SERVICES_STORE_HELD_INTENT_H
#define SERVICES_STORE_HELD_INTENT_H

#include "services/store/held/bundle.h"

/* Of a register: valid as long as that is. */
struct store_intent {
    uint64_t asker, number;
    uint64_t base;       /* the version of step 0 */
    const uint8_t *seen; /* what was noted of guards and steps */
    struct store_name tag;
    struct store_bundle bundle;
    uint8_t tag_bytes[CW_STORE_TAG_MAX + 2];
};

enum { STORE_INTENT_HEAD = 17, STORE_SEEN_BYTES = 16 };

/* The name that the transactions of a {tag} stand under, in out. */
struct store_name store_intent_name(const struct store_name *tag, uint8_t out[static CW_STORE_NAME_MAX]);
/*
 * The register that says it, for the registers of the table as they are, to be freed or put into a table. tag: of its
 * last step; those before have the n before. NULL: no memory.
 */
struct store_register *store_intent_new(const struct store_table *t, const struct store_order *o,
                                        const struct store_bundle *b, struct store_tag tag);
/* False: it is none. */
bool store_intent_read(const struct store_register *r, struct store_intent *out);
/* May its changes be made, as the registers of the table are? */
bool store_intent_holds(const struct store_table *t, const struct store_intent *in);
/* Does step i change something, and has not yet? */
bool store_intent_lacks(const struct store_table *t, const struct store_intent *in, unsigned i);
/* The register that step i makes, with that tag, to be freed or put into a table. NULL: no memory. */
struct store_register *store_intent_write(const struct store_table *t, const struct store_intent *in, unsigned i,
                                          struct store_tag tag);
/* Is the name one of its guards or steps? */
bool store_intent_names(const struct store_intent *in, const struct store_name *name);

#endif
