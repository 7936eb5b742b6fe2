/* SPDX-License-Identifier: Apache-2.0 */
/*
 * apply.h - an operation applied to values in memory: what op.h decides, done to items.h. The root applies it when it
 * may; a stand-in of tests always does.
 */
#ifndef SERVICES_KVCACHE_DATA_APPLY_H
#define SERVICES_KVCACHE_DATA_APPLY_H

#include "services/kvcache/data/items.h"
#include "services/kvcache/data/op.h"

/* The item as operations see it; NULL: there is no value. Borrows. */
struct op_value apply_value_of(struct item *i, cw_time now);

struct applied {
    enum kv_status status;
    /*
     * The item that is there now, borrowed until the next call that may remove one. NULL: none, or none that matters.
     */
    struct item *item;
    bool stored;  /* the item has a new value */
    bool answers; /* its value is part of the answer */
    bool win_due; /* as op_outcome's */
    uint32_t flags;
    uint64_t cas;
    unsigned marks; /* of enum kv_mark: as they were before, and WON */
    uint32_t idle_s;
    cw_span left; /* 0: for ever; never negative */
};

/*
 * Applies r to i, the item of that name in t; i is NULL if there is none. *cas is the last number that was given to a
 * value, and grows. Without room for a new value all is as before, and the status is KV_NO_MEMORY.
 */
struct applied apply_op(struct items *t, struct item *i, const struct item_name *name, const struct kv_request *r,
                        cw_time now, uint64_t *cas);

#endif
