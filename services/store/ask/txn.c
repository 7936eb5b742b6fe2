/* SPDX-License-Identifier: Apache-2.0 */
#include "services/store/ask/asker.h"
#include "services/store/carry.h"
#include "services/store/common.h"
#include "services/store/held/bundle.h"

#include <errno.h>
#include <stdlib.h>

enum { LONG_TIMEOUT_S = 30 };

struct asked {
    cw_store_txn_done done;
    void *arg;
    unsigned guards, steps;
};

/* The asker has looked whether there is one for each step. */
static void answered(void *arg, const cw_store_result *result)
{
    struct asked *a = arg;
    cw_store_got got[CW_STORE_TXN_STEPS_MAX];
    cw_store_outcome out = {.size = sizeof out, .status = result->status};
    struct store_told told;
    size_t at = 0;
    if (result->status == CW_STORE_CONFLICT) {
        out.which = result->flags < a->guards ? result->flags : 0;
        out.version = result->version;
    }
    while (result->status == CW_STORE_OK && out.count < a->steps &&
           store_told_next(result->value, result->value_length, &at, &told)) {
        got[out.count++] = (cw_store_got){told.status, told.version, told.flags, told.value, told.value_length};
    }
    out.got = out.count > 0 ? got : NULL;
    a->done(a->arg, &out);
    free(a);
}

static bool read_step(const cw_store_step *from, cw_job job, struct store_step *to)
{
    if (from->ttl.ns < 0 || from->ttl.ns > CW_SEC(CW_STORE_TTL_MAX_S).ns) {
        return false;
    }
    *to = (struct store_step){.op = from->op,
                              .name = {job, from->name, from->name != NULL ? from->name_length : 0},
                              .value = from->value,
                              .value_length = from->value_length,
                              .flags = from->flags,
                              .ttl_ms = (uint32_t)((from->ttl.ns + CW_MS(1).ns - 1) / CW_MS(1).ns)};
    return from->value != NULL || from->value_length == 0;
}

/* 0, -EINVAL or -EMSGSIZE. Pointers are those of the user. */
static int read_txn(const cw_store_txn *x, struct store_bundle *b, struct store_name *tag)
{
    *b = (struct store_bundle){.guards = x->guards, .steps = x->steps};
    if (x->size < sizeof *x || x->job == 0 || x->guards > CW_STORE_TXN_GUARDS_MAX || x->steps < 1 ||
        x->steps > CW_STORE_TXN_STEPS_MAX || x->step == NULL || (x->guards > 0 && x->guard == NULL) ||
        !store_asker_waits(x->timeout)) {
        return -EINVAL;
    }
    for (unsigned i = 0; i < x->guards; i++) {
        const cw_store_guard *g = &x->guard[i];
        b->guard[i] =
            (struct store_guard){g->kind, g->version, {x->job, g->name, g->name != NULL ? g->name_length : 0}};
    }
    for (unsigned i = 0; i < x->steps; i++) {
        if (!read_step(&x->step[i], x->job, &b->step[i])) {
            return -EINVAL;
        }
        if (x->step[i].value_length > CW_STORE_TXN_VALUE_MAX) {
            return -EMSGSIZE;
        }
    }
    return store_bundle_tag(&b->step[0].name, tag) && store_bundle_valid(b, tag) ? 0 : -EINVAL;
}

int store_asker_txn(struct store *s, const cw_store_txn *x, cw_store_txn_done done, void *arg)
{
    struct store_bundle b;
    struct store_name tag;
    int rc = read_txn(x, &b, &tag);
    if (rc < 0) {
        return rc;
    }
    const size_t size = store_bundle_size(&b);
    uint8_t *bytes = malloc(size);
    struct asked *a = malloc(sizeof *a);
    if (bytes != NULL && a != NULL) {
        store_bundle_encode(&b, bytes);
        *a = (struct asked){done, arg, b.guards, b.steps};
        const struct store_order order = {.op = STORE_OP_TXN,
                                          .name = tag,
                                          .value = bytes,
                                          .value_length = size,
                                          .flags = store_bundle_first(&b) < b.steps ? STORE_TXN_WRITES : 0};
        const bool is_long = !store_carry_fits(s, STORE_ASK_HEAD + tag.length + size);
        const cw_span timeout = x->timeout.ns == 0 && is_long ? CW_SEC(LONG_TIMEOUT_S) : x->timeout;
        rc = store_asker_begin(s, &order, store_asker_until(s, timeout), answered, a);
    } else {
        rc = -ENOMEM;
    }
    free(bytes);
    if (rc < 0) {
        free(a);
        return rc;
    }
    store_note(s, STORE_COUNT_TXNS);
    return 0;
}
