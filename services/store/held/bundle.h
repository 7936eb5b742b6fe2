/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bundle.h - what a transaction says: guards, which have to hold, and steps, all of which are done then, or none. Its
 * names are of one job and begin with one {tag}, so that they are in one shard. Pure: bytes, and what they mean for
 * the registers that are there.
 *
 *   bundle:  guards:8 steps:8 | for each guard kind:8 bytes of the name:16 version:64, name | for each step op:8 bytes
 *            of the name:16 flags:32 ttl in ms:32 bytes of the value:16, name, value
 *   told:    for each step status:8 version:64 flags:32 bytes of the value:32, value
 */
#ifndef SERVICES_STORE_HELD_BUNDLE_H
#define SERVICES_STORE_HELD_BUNDLE_H

#include "services/store/held/verdict.h"

struct store_guard {
    cw_store_guard_kind kind;
    uint64_t version;
    struct store_name name;
};

struct store_step {
    cw_store_op op; /* GET, PUT, DELETE */
    struct store_name name;
    const uint8_t *value;
    size_t value_length;
    uint32_t flags, ttl_ms;
};

struct store_bundle {
    unsigned guards, steps;
    struct store_guard guard[CW_STORE_TXN_GUARDS_MAX];
    struct store_step step[CW_STORE_TXN_STEPS_MAX];
};

enum { STORE_GUARD_HEAD = 11, STORE_STEP_HEAD = 13, STORE_TOLD_HEAD = 17 };
enum {
    STORE_BUNDLE_MOST = 2 + CW_STORE_TXN_GUARDS_MAX * (STORE_GUARD_HEAD + CW_STORE_NAME_MAX) +
                        CW_STORE_TXN_STEPS_MAX * (STORE_STEP_HEAD + CW_STORE_NAME_MAX + CW_STORE_TXN_VALUE_MAX),
};

/*
 * The {tag} that the name begins with, braces and all, at most CW_STORE_TAG_MAX bytes. False: it begins with none, or
 * with a longer one.
 */
bool store_bundle_tag(const struct store_name *name, struct store_name *tag);
/* Within the bounds of store.h, every name of that {tag}, and none written twice? */
bool store_bundle_valid(const struct store_bundle *b, const struct store_name *tag);
size_t store_bundle_size(const struct store_bundle *b);
void store_bundle_encode(const struct store_bundle *b, uint8_t *out);
/* Pointers it gives are into the bytes. False: it is none, or is not valid. */
CW_MUST_CHECK bool store_bundle_decode(const uint8_t *bytes, size_t size, const struct store_name *tag,
                                       struct store_bundle *out);

static inline bool store_step_writes(const struct store_step *s)
{
    return s->op == CW_STORE_PUT || s->op == CW_STORE_DELETE;
}
/* The first step that writes: its name's register remembers the transaction. b->steps: there is none. */
unsigned store_bundle_first(const struct store_bundle *b);
/* Name i of those of the guards and then of the steps; NULL: there are fewer. */
const struct store_name *store_bundle_name(const struct store_bundle *b, unsigned i);
/* Is that name one that is only read? Not one of a guard or of what is written. */
bool store_bundle_only_gets(const struct store_bundle *b, unsigned i);

/*
 * What the transaction is to the registers of the table: as store_verdict_of(). Where a guard does not hold it says
 * which is the first such one, and the version that was found. The order has its asker, number, since and again.
 */
struct store_verdict store_bundle_verdict(const struct store_table *t, const struct store_order *o,
                                          const struct store_bundle *b);
/*
 * What its steps are told, as of the registers of the table, when the first version that it made, or will make, is
 * `base`. told_again: it was done some time ago, so a get is told UNKNOWN when its name has been written since. Gives
 * the size; out NULL: that alone.
 */
size_t store_bundle_tell(const struct store_table *t, const struct store_bundle *b, uint64_t base, bool told_again,
                         uint8_t *out);
/* Reads what step *at was told and moves on. False: there is none, or none that can be read. */
struct store_told {
    cw_store_status status;
    uint64_t version;
    uint32_t flags;
    const uint8_t *value;
    size_t value_length;
};
bool store_told_next(const uint8_t *bytes, size_t size, size_t *at, struct store_told *out);

#endif
