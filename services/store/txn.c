/* SPDX-License-Identifier: Apache-2.0 */
#include "services/store/txn.h"

#include "base/check.h"
#include "services/store/change.h"
#include "services/store/common.h"
#include "services/store/durable.h"
#include "services/store/quota.h"
#include "services/store/serve.h"

#include <errno.h>
#include <stdlib.h>

static const struct store_table *own(const struct store_lead *lead)
{
    return &lead->shard->acceptor.table;
}

static struct store_register *find(const struct store_lead *lead, const struct store_name *name)
{
    return store_table_find(own(lead), name);
}

struct store_write *store_txn_claims(const struct store_lead *lead, const struct store_name *name)
{
    for (struct list_node *n = list_first(&lead->groups); n != NULL; n = list_next(&lead->groups, n)) {
        const struct store_group *g = container_of(n, struct store_group, node);
        if (store_intent_names(&g->intent, name) && !STORE_MUTANT(TXN_UNCLAIMED)) {
            return g->write;
        }
    }
    return NULL;
}

/* Some of its changes are not made, and not under way. */
static bool owes(const struct store_lead *lead, const struct store_intent *in)
{
    for (unsigned i = 0; i < in->bundle.steps; i++) {
        const struct store_register *r = find(lead, &in->bundle.step[i].name);
        if (store_intent_lacks(own(lead), in, i) && (r == NULL || r->under_way == NULL)) {
            return true;
        }
    }
    return false;
}

struct store_write *store_txn_owed(const struct store_lead *lead)
{
    for (struct list_node *n = list_first(&lead->groups); n != NULL; n = list_next(&lead->groups, n)) {
        const struct store_group *g = container_of(n, struct store_group, node);
        if (g->chosen && owes(lead, &g->intent)) {
            return g->write;
        }
    }
    return NULL;
}

/* ---- Answers ----------------------------------------------------------------------------------------------------- */

/* When it is done its steps are told as of the registers that are there: before its changes, or long after them. */
static void tell(struct store_lead *lead, struct store_serving *o, const struct store_bundle *b,
                 const struct store_verdict *v)
{
    const bool done = v->status == CW_STORE_OK && v->kind != STORE_VERDICT_STALE;
    const bool told_again = v->kind == STORE_VERDICT_TOLD;
    const unsigned first = store_bundle_first(b);
    const uint64_t base = v->version - (first < b->steps ? first : 0);
    const size_t size = done ? store_bundle_tell(own(lead), b, base, told_again, NULL) : 0;
    const bool stale = v->kind == STORE_VERDICT_STALE;
    const struct store_register *have = stale && first < b->steps ? find(lead, &b->step[first].name) : NULL;
    struct store_answer answer = {
        .state = stale ? STORE_ANSWER_STALE : STORE_ANSWER_DONE,
        .status = v->status,
        .server = CW_SERVER_NONE,
        .n =
            have != NULL && have->tag.n > lead->settled ? have->tag.n : lead->settled, /* no write of it is under way */
        .version = v->version,
        .flags = v->status == CW_STORE_CONFLICT ? v->which : 0,
        .length = (uint32_t)size,
    };
    uint8_t *bytes = size > 0 && size <= CW_STORE_VALUE_MAX ? malloc(size) : NULL;
    if (size > CW_STORE_VALUE_MAX) {
        answer.status = CW_STORE_TOO_LARGE;
        answer.length = 0;
    } else if (size > 0 && o->right.call != 0 && !store_carry_fits(lead->store, STORE_ANSWER_HEAD + size)) {
        answer.state = STORE_ANSWER_LARGE;
    } else if (bytes != NULL) {
        (void)store_bundle_tell(own(lead), b, base, told_again, bytes);
        answer.value = bytes;
        answer.carries = true;
    } else if (size > 0) {
        answer.state = STORE_ANSWER_MAYBE; /* there is no memory for the answer: it is asked for again */
        answer.length = 0;
    }
    store_note(lead->store, STORE_COUNT_SERVED_TXNS);
    if (v->status == CW_STORE_CONFLICT) {
        store_note(lead->store, STORE_COUNT_CONFLICTS);
    }
    store_serve_answer(o, &answer);
    free(bytes);
}

/* ---- Before it begins -------------------------------------------------------------------------------------------- */

/* What has to be over first. */
static struct store_write *blocker(const struct store_lead *lead, const struct store_order *o,
                                   const struct store_bundle *b)
{
    uint8_t bytes[CW_STORE_NAME_MAX];
    const struct store_name *name;
    struct store_write *w = NULL;
    for (unsigned i = 0; w == NULL && (name = store_bundle_name(b, i)) != NULL; i++) {
        w = store_writing_blocks(lead, name);
    }
    if (w == NULL && !store_order_reads(o)) {
        const struct store_name intent = store_intent_name(&o->name, bytes);
        w = store_writing_blocks(lead, &intent);
    }
    return w;
}

/*
 * Store rule 40. Gives the last of the writes that were begun, or NULL: there was nothing to do, or, if *rc is not 0,
 * no memory.
 */
static struct store_write *touch(struct store_lead *lead, const struct store_bundle *b, int *rc)
{
    const struct store_name *name;
    struct store_write *last = NULL;
    *rc = 0;
    for (unsigned i = 0; *rc == 0 && (name = store_bundle_name(b, i)) != NULL; i++) {
        const struct store_register *r = find(lead, name);
        bool fresh = r != NULL && store_ballot_compare(r->tag.ballot, lead->ballot) == 0;
        if (fresh || store_bundle_only_gets(b, i) || STORE_MUTANT(TXN_UNTOUCHED)) {
            continue;
        }
        *rc = r != NULL ? store_writing_again(lead, r) : store_writing_absent(lead, name);
        last = *rc == 0 ? find(lead, name)->under_way : last;
    }
    return last;
}

/* What grows needs memory: a put, and a name that is not there and gets a register by being guarded or deleted. */
static bool has_space(const struct store_lead *lead, const struct store_bundle *b)
{
    const struct store_name *name;
    bool grows = false;
    for (unsigned i = 0; (name = store_bundle_name(b, i)) != NULL; i++) {
        grows = grows || (i >= b->guards && b->step[i - b->guards].op == CW_STORE_PUT) ||
                (!store_bundle_only_gets(b, i) && find(lead, name) == NULL);
    }
    return !grows || !store_lead_is_full(lead);
}

/* Its gets would fit the answer. False: it was answered. */
static bool fits(struct store_lead *lead, struct store_serving *o, const struct store_bundle *b)
{
    const size_t size = store_bundle_tell(own(lead), b, 0, false, NULL);
    struct store_answer answer = {.server = CW_SERVER_NONE, .n = lead->settled, .length = (uint32_t)size};
    if (size > CW_STORE_VALUE_MAX) {
        store_serve_deny(o, CW_STORE_TOO_LARGE, lead->settled);
        return false;
    }
    if (o->right.call != 0 && !store_carry_fits(lead->store, STORE_ANSWER_HEAD + size)) {
        answer.state = STORE_ANSWER_LARGE;
        store_serve_answer(o, &answer);
        return false;
    }
    return true;
}

/* ---- Its intent -------------------------------------------------------------------------------------------------- */

/* The refusal of a repetition is written down under the first name that it would have written (store rule 24). */
static void note_refusal(struct store_lead *lead, struct store_serving *o, const struct store_bundle *b,
                         struct store_verdict *v)
{
    struct store_order noted = o->order;
    noted.name = b->step[store_bundle_first(b)].name;
    struct store_register *r = store_verdict_write(find(lead, &noted.name), &noted, store_writing_tag(lead), v);
    if (r == NULL || store_writing_begin(lead, r, o, v) < 0) {
        store_serve_deny(o, CW_STORE_NO_SPACE, lead->settled);
    }
}

static void begin(struct store_lead *lead, struct store_serving *o, const struct store_bundle *b,
                  struct store_verdict *v)
{
    struct store *s = lead->store;
    struct store_group *g = calloc(1, sizeof *g);
    const struct store_tag tag = store_writing_tags(lead, b->steps);
    struct store_register *r = g != NULL ? store_intent_new(own(lead), &o->order, b, tag) : NULL;
    v->version = tag.n - (b->steps - 1) + store_bundle_first(b);
    const bool soon = r != NULL && store_durable_room(s, 1 + store_register_size(r), 0) == JOURNAL_ROOM_SOON;
    if (r == NULL || store_writing_begin(lead, r, o, v) < 0) {
        store_serve_deny(o, soon ? CW_STORE_BUSY : CW_STORE_NO_SPACE, lead->settled);
        free(g);
        return;
    }
    store_parcel_drop(o->parcel); /* what it says is in the register now */
    o->parcel = NULL;
    struct store_write *w = r->under_way;
    bool sound = store_intent_read(r, &g->intent);
    CHECK(sound);
    g->write = w;
    w->group = g;
    list_push_back(&lead->groups, &g->node);
}

static void write_it(struct store_lead *lead, struct store_serving *o, const struct store_bundle *b,
                     struct store_verdict *v)
{
    int rc;
    if (!fits(lead, o, b)) {
        return;
    }
    if (!has_space(lead, b)) {
        store_serve_no_space(lead, o);
        return;
    }
    if (!store_quota_allows_all(lead->store, own(lead), b)) {
        store_serve_deny(o, CW_STORE_QUOTA, lead->settled);
        return;
    }
    struct store_write *before = touch(lead, b, &rc);
    if (before != NULL) {
        store_serve_wait(lead, before, o);
    } else if (rc < 0) {
        store_serve_deny(o, CW_STORE_NO_SPACE, lead->settled);
    } else {
        begin(lead, o, b, v);
    }
}

void store_txn_go(struct store_lead *lead, struct store_serving *o)
{
    struct store_bundle b;
    bool sound = store_bundle_decode(o->order.value, o->order.value_length, &o->order.name, &b);
    CHECK(sound); /* it was when it came */
    struct store_write *before = blocker(lead, &o->order, &b);
    if (before != NULL && !(STORE_MUTANT(READS_IN_FLIGHT) && store_order_reads(&o->order))) {
        store_serve_wait(lead, before, o);
        return;
    }
    struct store_verdict v = store_bundle_verdict(own(lead), &o->order, &b);
    switch (v.kind) {
    case STORE_VERDICT_SAY:
        if (o->confirmed || STORE_MUTANT(NO_CONFIRM)) {
            tell(lead, o, &b, &v);
        } else {
            store_serve_confirm(lead, o);
        }
        return;
    case STORE_VERDICT_TOLD:
    case STORE_VERDICT_STALE:
        store_note(o->store, v.kind == STORE_VERDICT_TOLD ? STORE_COUNT_REPEATED : STORE_COUNT_STALE);
        tell(lead, o, &b, &v);
        return;
    case STORE_VERDICT_WRITE:
    case STORE_VERDICT_NOTE:
        if (store_change_stops(lead)) {
            list_push_back(&lead->waiting, &o->node);
        } else if (v.kind == STORE_VERDICT_WRITE) {
            write_it(lead, o, &b, &v);
        } else {
            note_refusal(lead, o, &b, &v);
        }
        return;
    }
}

/* ---- Its changes ------------------------------------------------------------------------------------------------- */

/* Begins those that are not there yet. Gives how many, or -ENOMEM: some could not be begun. */
static int change(struct store_lead *lead, const struct store_intent *in, struct store_write *of)
{
    int begun = 0;
    for (unsigned i = 0; i < in->bundle.steps; i++) {
        if (!store_intent_lacks(own(lead), in, i) || (STORE_MUTANT(TXN_PART) && i > store_bundle_first(&in->bundle))) {
            continue;
        }
        struct store_register *r = store_intent_write(own(lead), in, i, store_writing_tag(lead));
        if (r == NULL || store_writing_begin(lead, r, NULL, NULL) < 0) {
            return begun > 0 ? begun : -ENOMEM;
        }
        ((struct store_write *)r->under_way)->of = of;
        begun++;
    }
    return begun;
}

void store_txn_again(struct store_lead *lead, struct store_write *w)
{
    struct store_group *g = w->group;
    if (g->changes > 0) {
        return;
    }
    const int begun = change(lead, &g->intent, w);
    g->changes = begun > 0 ? (unsigned)begun : 0;
    if (begun == 0) {
        store_writing_retire(lead, w);
    }
}

void store_txn_chosen(struct store_lead *lead, struct store_write *w)
{
    struct store_serving *o = w->order;
    w->order = NULL;
    w->group->chosen = true;
    w->begun = cw_now(lead->store->svc);
    if (o != NULL) {
        tell(lead, o, &w->group->intent.bundle, &w->verdict);
    }
    store_txn_again(lead, w);
}

void store_txn_changed(struct store_lead *lead, struct store_write *w)
{
    w->group->changes--;
    store_txn_again(lead, w);
}

void store_txn_drop(struct store_write *w)
{
    if (w->group != NULL) {
        list_remove(&w->group->node);
        free(w->group);
        w->group = NULL;
    }
}

/* ---- What others have left --------------------------------------------------------------------------------------- */

/* Store rule 40, of what others began: nothing is changed before all of it is of this leader's ballot, and chosen. */
static bool is_touched(struct store_lead *lead, const struct store_register *r, const struct store_intent *in)
{
    int rc = 0;
    if (STORE_MUTANT(TXN_RESUMED_EARLY)) {
        return true;
    }
    if (touch(lead, &in->bundle, &rc) != NULL || rc < 0) {
        return false;
    }
    if (store_ballot_compare(r->tag.ballot, lead->ballot) != 0) {
        (void)!store_writing_again(lead, r); /* without memory it is tried again */
        return false;
    }
    return true;
}

static bool lacks_any(const struct store_table *t, const struct store_intent *in)
{
    bool any = false;
    for (unsigned i = 0; i < in->bundle.steps; i++) {
        any = any || store_intent_lacks(t, in, i);
    }
    return any;
}

bool store_txn_resume(struct store_lead *lead)
{
    const struct store_table *t = own(lead);
    struct store_intent in;
    bool done = true;
    for (unsigned i = 0; t->intents > 0 && i < STORE_BUCKETS && !STORE_MUTANT(TXN_UNFINISHED); i++) {
        const struct store_register *behind;
        for (const struct store_register *r = t->bucket[i].first; r != NULL; r = behind) {
            behind = r->next;
            if (r->job != STORE_INTENT_JOB || !store_intent_read(r, &in) || !store_intent_holds(t, &in) ||
                !lacks_any(t, &in)) {
                continue;
            }
            done = false; /* this is called again when what is begun here is over */
            if (is_touched(lead, r, &in) && change(lead, &in, NULL) > 0) {
                store_note(lead->store, STORE_COUNT_RESUMED);
            }
            behind = NULL; /* the bucket is another now; the next one is looked at when this is over */
        }
        if (!done) {
            return false;
        }
    }
    return done;
}
