/* SPDX-License-Identifier: Apache-2.0 */
#include "services/kvcache/data/apply.h"

static uint32_t seconds(cw_time now)
{
    return (uint32_t)(now.ns / CW_SEC(1).ns);
}

static cw_time expires_at(cw_span left, cw_time now)
{
    if (left.ns == KV_NEVER.ns) {
        return CW_NEVER;
    }
    return left.ns < 0 ? now : cw_time_add(now, left);
}

struct op_value apply_value_of(struct item *i, cw_time now)
{
    if (i == NULL) {
        return (struct op_value){.there = false};
    }
    return (struct op_value){
        .there = true,
        .bytes = item_value(i),
        .length = i->length,
        .flags = i->flags,
        .cas = i->cas,
        .marks = i->marks,
        .left = i->expires.ns == CW_NEVER.ns ? KV_NEVER : cw_time_since(i->expires, now),
    };
}

static bool joins(enum kv_op op)
{
    return op == KV_APPEND || op == KV_PREPEND;
}

/* Gives the new item; i is the one before, or NULL. Returns NULL when there is no room: then all is as before. */
static struct item *store(struct items *t, struct item *i, const struct item_name *name, const struct kv_request *r,
                          const struct op_value *before, const struct op_outcome *o, cw_time now)
{
    bool again = i != NULL && i->length == o->length && !joins(r->op);
    i = again ? i : items_new(t, name, o->length);
    if (i == NULL) {
        return NULL;
    }
    if (again) {
        items_renew(t, i);
    }
    op_write(r, before, o,
             item_value(i)); /* it may read the value before, or another of the table: none has left yet */
    i->flags = o->flags;
    i->stamp = seconds(now);
    if (!again) {
        items_place(t, i, now);
    }
    return i;
}

static void count_use(struct item *i, const struct kv_request *r, cw_time now)
{
    bool looks = r->op == KV_GET || r->op == KV_GAT || r->op == KV_LOOK || r->op == KV_TOUCH;
    if (looks && !(r->meta & KV_META_UNUSED)) {
        i->marks |= KV_MARK_FETCHED;
        i->stamp = seconds(now);
    }
}

struct applied apply_op(struct items *t, struct item *i, const struct item_name *name, const struct kv_request *r,
                        cw_time now, uint64_t *cas)
{
    struct op_value before = apply_value_of(i, now);
    struct op_outcome o = op_decide(r, &before);
    cw_time expires = i != NULL && o.expiry_stays ? i->expires : expires_at(o.expiry, now);
    struct applied p = {.status = o.status,
                        .stored = o.change == OP_STORES,
                        .answers = o.answers,
                        .win_due = o.win_due,
                        .flags = o.flags,
                        .cas = before.cas,
                        .marks = before.marks | (o.won ? KV_MARK_WON : 0),
                        .idle_s = i != NULL ? seconds(now) - i->stamp : 0,
                        .left = o.left.ns < 0 ? CW_NS(1) : o.left};
    switch (o.change) {
    case OP_KEEPS:
        break;
    case OP_STORES:
        i = store(t, i, name, r, &before, &o, now);
        if (i == NULL) {
            p.status = KV_NO_MEMORY;
            return p;
        }
        break;
    case OP_REMOVES:
        items_remove(t, i);
        return p;
    case OP_RENEWS:
        break;
    }
    if (o.change == OP_STORES || o.change == OP_RENEWS) {
        i->expires = expires;
        i->marks = (uint8_t)o.marks;
        i->cas = o.change == OP_STORES || o.another_cas ? ++*cas : i->cas;
        p.cas = i->cas;
    }
    if (i != NULL && !o.win_due) { /* when a win is due the asker looks again: that counts */
        count_use(i, r, now);
    }
    p.item = i;
    return p;
}
