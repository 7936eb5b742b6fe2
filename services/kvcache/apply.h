/* SPDX-License-Identifier: Apache-2.0 */
/*
 * apply.h - an operation carried out on values in memory: what op.h decides, done to items.h. The root does it when it
 * may, a stand-in of tests always.
 */
#ifndef SERVICES_KVCACHE_APPLY_H
#define SERVICES_KVCACHE_APPLY_H

#include "services/kvcache/items.h"
#include "services/kvcache/op.h"

/* What of an item operations look at; of NULL: there is none. Borrows. */
struct op_value apply_value_of(struct item *i, cw_time now);

struct applied {
    enum kv_status status;
    struct item
        *item; /* what is there now: borrowed until the next call that may remove one; NULL: nothing, or nobody asks */
    bool stored;  /* it is new */
    bool answers; /* its value is part of the answer */
    bool win_due; /* op_outcome has it */
    uint32_t flags;
    uint64_t cas;
    unsigned marks; /* of enum kv_mark: as they were before, and WON */
    uint32_t idle_s;
    cw_span left; /* never negative; 0: for ever */
};

/*
 * Carries r out on i, the item of that name in t, or NULL: there is none. *cas is the last that was given, and grows.
 * Without room for a new value all is as before, and status says so.
 */
struct applied apply_op(struct items *t, struct item *i, const struct item_name *name, const struct kv_request *r,
                        cw_time now, uint64_t *cas);

#endif
