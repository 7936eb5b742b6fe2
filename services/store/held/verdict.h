/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verdict.h - what an operation makes of the register that its name has: pure, from the two alone.
 *
 * An operation is known by its asker and number. `since` is an n of the shard that a majority of its members had seen
 * when the operation was first sent, so that no leader does it under a lower one, and `again` is set on every attempt
 * but the first. A register remembers the last six operations; when it may have forgotten this one, the verdict is
 * STALE for a first attempt, which starts over with another number, and UNKNOWN for a later one (store rules 23 and
 * 24). An asker that has heard of no n says 0: no leader ever does that, so it is STALE at every attempt, and its
 * asker is never in doubt.
 */
#ifndef SERVICES_STORE_HELD_VERDICT_H
#define SERVICES_STORE_HELD_VERDICT_H

#include "services/store/held/table.h"

/* Between servers there are three operations more: the names of one shard, waiting for changes, and transactions. */
#define STORE_OP_LIST ((cw_store_op)5)
#define STORE_OP_WATCH ((cw_store_op)6)
#define STORE_OP_TXN ((cw_store_op)7)
enum { STORE_LIST_MOST = 1000 }; /* names that one question asks for */
enum { STORE_TXN_WRITES = 1 };   /* flags of a TXN: it changes something */

/*
 * An operation as it comes to the leader. Bytes are borrowed. LIST asks for the names of `shard` that begin with
 * `name`, which may be empty, in order, at most `most` of them; conditional: only those behind the name that is `name`
 * and then `value`. WATCH waits for changes of `name`, or if it is conditional of all that begin with it, for at most
 * ttl_ms; value: the cursor, page.h. TXN: `name` is the {tag}, value: a struct store_bundle.
 */
struct store_order {
    cw_store_op op;
    uint32_t shard, most; /* LIST */
    struct store_name name;
    const uint8_t *value;
    size_t value_length;
    uint32_t flags, ttl_ms;
    bool conditional, again;
    uint64_t version; /* that it is conditional on */
    uint64_t asker, number, since;
};

static inline bool store_order_reads(const struct store_order *o)
{
    return o->op == CW_STORE_GET || o->op == CW_STORE_HEAD || o->op == STORE_OP_LIST || o->op == STORE_OP_WATCH ||
           (o->op == STORE_OP_TXN && (o->flags & STORE_TXN_WRITES) == 0);
}

enum store_verdict_kind {
    STORE_VERDICT_SAY,   /* the answer, when the members have confirmed the leader: a read, or a refusal */
    STORE_VERDICT_TOLD,  /* it was done before: this is what came of it */
    STORE_VERDICT_WRITE, /* a new state is to be written */
    STORE_VERDICT_NOTE,  /* a refusal that is to be written down before it is told */
    STORE_VERDICT_STALE, /* nothing was done, and the asker is to start over */
};

struct store_verdict {
    enum store_verdict_kind kind;
    cw_store_status status;
    uint64_t version; /* WRITE: not known yet */
    unsigned which;   /* CONFLICT of a transaction: the first guard that does not hold */
};

/* The register remembers the operation, or may have forgotten it: *v says so. False: it is to be done. */
bool store_verdict_known(const struct store_register *have, const struct store_order *o, struct store_verdict *v);
/* A refusal: to be noted when it is that of a repetition which would have written (rule 24). */
struct store_verdict store_verdict_refusal(const struct store_order *o, bool writes, cw_store_status status,
                                           uint64_t version);
/* have: NULL when there is no register. */
struct store_verdict store_verdict_of(const struct store_register *have, const struct store_order *o);
/*
 * The register that a verdict WRITE or NOTE asks for, with that tag, to be freed or put into a table; *v gets the
 * version that the asker is told. NULL: no memory.
 */
struct store_register *store_verdict_write(const struct store_register *have, const struct store_order *o,
                                           struct store_tag tag, struct store_verdict *v);
/* The register after its value has gone by itself: deleted, with that tag. NULL: no memory. */
struct store_register *store_verdict_expire(const struct store_register *have, struct store_tag tag);
/* The same register with another tag, to be written again. NULL: no memory. */
struct store_register *store_register_again(const struct store_register *have, struct store_tag tag);

#endif
