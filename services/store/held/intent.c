/* SPDX-License-Identifier: Apache-2.0 */
#include "services/store/held/intent.h"

#include "base/bytes.h"
#include "services/store/held/mutant.h"

#include <string.h>

enum { JOB_BYTES = 4 };

struct store_name store_intent_name(const struct store_name *tag, uint8_t out[static CW_STORE_NAME_MAX])
{
    put_be32(out, tag->job);
    memcpy(out + JOB_BYTES, tag->bytes + 1, tag->length - 2);
    return (struct store_name){STORE_INTENT_JOB, out, JOB_BYTES + tag->length - 2};
}

static uint64_t last_noted(const struct store_register *r)
{
    return r != NULL && r->ops > 0 ? r->noted[r->ops - 1].n : 0;
}

struct store_register *store_intent_new(const struct store_table *t, const struct store_order *o,
                                        const struct store_bundle *b, struct store_tag tag)
{
    uint8_t bytes[CW_STORE_NAME_MAX];
    const struct store_name name = store_intent_name(&o->name, bytes);
    const size_t seen = (size_t)STORE_SEEN_BYTES * (b->guards + b->steps);
    struct store_register *r = store_register_new(&name, STORE_INTENT_HEAD + seen + store_bundle_size(b));
    if (r == NULL) {
        return NULL;
    }
    uint8_t *at = r->bytes + r->name_length;
    r->tag = tag;
    r->version = tag.n - (b->steps - 1);
    put_be64(at, o->asker);
    put_be64(at + 8, o->number);
    at[16] = (uint8_t)(b->guards + b->steps);
    at += STORE_INTENT_HEAD;
    for (unsigned i = 0; i < b->guards + b->steps; i++, at += STORE_SEEN_BYTES) {
        const struct store_register *have = store_table_find(t, store_bundle_name(b, i));
        put_be64(at, have != NULL ? have->version : 0);
        put_be64(at + 8, last_noted(have));
    }
    store_bundle_encode(b, at);
    return r;
}

bool store_intent_read(const struct store_register *r, struct store_intent *out)
{
    if (r->job != STORE_INTENT_JOB || r->deleted || r->name_length <= JOB_BYTES ||
        r->name_length > JOB_BYTES + CW_STORE_TAG_MAX || r->value_length < STORE_INTENT_HEAD + 2) {
        return false;
    }
    const uint8_t *value = store_register_value(r);
    out->tag_bytes[0] = '{';
    memcpy(out->tag_bytes + 1, r->bytes + JOB_BYTES, r->name_length - (size_t)JOB_BYTES);
    out->tag_bytes[r->name_length - JOB_BYTES + 1] = '}';
    out->tag = (struct store_name){get_be32(r->bytes), out->tag_bytes, r->name_length - (size_t)JOB_BYTES + 2};
    out->asker = get_be64(value);
    out->number = get_be64(value + 8);
    out->base = r->version;
    out->seen = value + STORE_INTENT_HEAD;
    const size_t at = STORE_INTENT_HEAD + (size_t)STORE_SEEN_BYTES * value[STORE_INTENT_HEAD - 1];
    return at <= r->value_length && store_bundle_decode(value + at, r->value_length - at, &out->tag, &out->bundle) &&
           out->bundle.guards + out->bundle.steps == value[STORE_INTENT_HEAD - 1];
}

/* ---- What has become of it --------------------------------------------------------------------------------------- */

/* The transaction was the last operation of the register, and was done. */
static bool is_made(const struct store_register *r, const struct store_intent *in)
{
    const struct store_noted *last = r != NULL && r->ops > 0 ? &r->noted[r->ops - 1] : NULL;
    return last != NULL && last->asker == in->asker && last->number == in->number && last->status == CW_STORE_OK;
}

static bool is_as_seen(const struct store_register *r, const struct store_intent *in, unsigned i)
{
    const uint8_t *seen = in->seen + (size_t)STORE_SEEN_BYTES * i;
    return (r != NULL ? r->version : 0) == get_be64(seen) && last_noted(r) == get_be64(seen + 8);
}

bool store_intent_holds(const struct store_table *t, const struct store_intent *in)
{
    const struct store_name *name;
    bool good = true;
    for (unsigned i = 0; good && (name = store_bundle_name(&in->bundle, i)) != NULL; i++) {
        const struct store_register *r = store_table_find(t, name);
        good = store_bundle_only_gets(&in->bundle, i) || is_as_seen(r, in, i) || is_made(r, in);
    }
    return good || STORE_MUTANT(TXN_ALWAYS);
}

bool store_intent_lacks(const struct store_table *t, const struct store_intent *in, unsigned i)
{
    const struct store_step *s = &in->bundle.step[i];
    return store_step_writes(s) && !is_made(store_table_find(t, &s->name), in);
}

/* As its own order would have done it, under the transaction's number. Deleting what is not there is a note. */
struct store_register *store_intent_write(const struct store_table *t, const struct store_intent *in, unsigned i,
                                          struct store_tag tag)
{
    const struct store_step *s = &in->bundle.step[i];
    const struct store_register *have = store_table_find(t, &s->name);
    const struct store_order o = {.op = s->op,
                                  .name = s->name,
                                  .value = s->value,
                                  .value_length = s->value_length,
                                  .flags = s->flags,
                                  .ttl_ms = s->ttl_ms,
                                  .asker = in->asker,
                                  .number = in->number};
    const bool nothing = s->op == CW_STORE_DELETE && (have == NULL || have->deleted);
    struct store_verdict v = {nothing ? STORE_VERDICT_NOTE : STORE_VERDICT_WRITE, CW_STORE_OK, in->base + i, 0};
    struct store_register *r = store_verdict_write(have, &o, tag, &v);
    if (r != NULL) {
        r->version = nothing ? r->version : in->base + i;
        r->noted[r->ops - 1].version = in->base + i;
    }
    return r;
}

bool store_intent_names(const struct store_intent *in, const struct store_name *name)
{
    const struct store_name *one;
    for (unsigned i = 0; (one = store_bundle_name(&in->bundle, i)) != NULL; i++) {
        if (store_name_equal(one, name)) {
            return true;
        }
    }
    return false;
}
