/* SPDX-License-Identifier: Apache-2.0 */
#include "store_txns.h"

#include "services/store/internal.h"

#include <stdlib.h>

enum { NAMES_LEAST = 2, NAMES_MORE = 3, NAMES_MOST = NAMES_LEAST + NAMES_MORE - 1, ROOM = 24, VALUE = 16 };

/* One that is under way. Its entries are, for each name, that of its guard and then that of its step. */
struct bargain {
    uint64_t *seen;
    struct store_entry *first;
    unsigned guards, steps;
    cw_store_guard guard[NAMES_MOST];
    cw_store_step step[NAMES_MOST];
    struct store_entry *of_guard[NAMES_MOST], *of_step[NAMES_MOST];
    char name[NAMES_MOST][ROOM];
    uint8_t value[NAMES_MOST][VALUE];
};

static int64_t now(void)
{
    return store_talker_plan.now(store_talker_plan.context).ns;
}

/* ---- What came of it --------------------------------------------------------------------------------------------- */

static void met_as(struct store_entry *e, cw_store_status status, uint64_t version)
{
    e->op = CW_STORE_HEAD;
    e->listed = true; /* an absence without a version */
    e->answered = true;
    e->status = status;
    e->version = version;
    e->ended = now();
}

/* It met that version, 0: no value. */
static void met(struct store_entry *e, uint64_t version)
{
    met_as(e, version != 0 ? CW_STORE_OK : CW_STORE_NOT_FOUND, version);
}

static void held(const struct bargain *b, unsigned i)
{
    const cw_store_guard *g = &b->guard[i];
    if (g->kind == CW_STORE_IF_EXISTS) {
        met_as(b->of_guard[i], CW_STORE_OK, 0); /* some value */
    } else {
        met(b->of_guard[i], g->kind == CW_STORE_IF_VERSION ? g->version : 0);
    }
}

static void done(const struct bargain *b, unsigned i, const cw_store_got *got)
{
    struct store_entry *e = b->of_step[i];
    if (got->status == CW_STORE_UNKNOWN) {
        e->op = b->step[i].op == CW_STORE_GET ? 0 : e->op;
        e->answered = true;
        e->status = CW_STORE_UNKNOWN;
        return;
    }
    if (b->step[i].op == CW_STORE_DELETE && got->version == 0) {
        met(e, 0);
        return;
    }
    e->op = b->step[i].op;
    e->answered = true;
    e->status = got->status;
    e->version = got->version;
    e->value =
        e->op == CW_STORE_GET && got->status == CW_STORE_OK ? store_talker_read(got->value, got->value_length) : 0;
    e->ended = now();
    b->seen[e->key] = e->op == CW_STORE_DELETE || got->status != CW_STORE_OK ? 0 : got->version;
}

/* Nothing was done, or nobody knows: what it would have put says so. */
static void not_done(const struct bargain *b, unsigned i, cw_store_status status)
{
    struct store_entry *e = b->of_step[i];
    bool unknown = status == CW_STORE_UNKNOWN;
    e->op = e->op == CW_STORE_PUT || (unknown && e->op == CW_STORE_DELETE) ? e->op : 0;
    e->answered = true;
    e->status = status == CW_STORE_CONFLICT ? CW_STORE_BUSY : status; /* the version is that of a guard's name */
    e->ended = now();
}

static void answered(void *arg, const cw_store_outcome *out)
{
    struct bargain *b = arg;
    bool ok = out->status == CW_STORE_OK, conflict = out->status == CW_STORE_CONFLICT;
    store_ledger->ended[out->status]++;
    store_ledger->txns[out->status]++;
    store_ledger->silent--;
    for (unsigned i = 0; i < b->guards; i++) {
        if (ok || (conflict && i < out->which)) {
            held(b, i);
        } else if (conflict && i == out->which) {
            met(b->of_guard[i], out->version);
            b->seen[b->of_guard[i]->key] = out->version;
        }
    }
    for (unsigned i = 0; i < b->steps; i++) {
        if (ok) {
            done(b, i, &out->got[i]);
        } else {
            not_done(b, i, out->status);
        }
    }
    free(b);
}

/* ---- Asking ------------------------------------------------------------------------------------------------------ */

static struct store_entry *entry(struct bargain *b, cw_svc *svc, unsigned key)
{
    struct store_ledger *l = store_ledger;
    struct store_entry *e = &l->entry[l->count++];
    *e = (struct store_entry){.key = key, .begun = now(), .server = cw_server_id(svc, cw_self(svc))};
    b->first = b->first != NULL ? b->first : e;
    e->txn = (uint32_t)(b->first - l->entry) + 1;
    return e;
}

static void add_guard(struct bargain *b, cw_svc *svc, unsigned key, const char *name, size_t length)
{
    uint64_t seen = b->seen[key];
    cw_store_guard *g = &b->guard[b->guards];
    *g = (cw_store_guard){.name = name, .name_length = length};
    g->kind = cw_random_below(svc, 4) == 0 ? CW_STORE_IF_EXISTS : seen != 0 ? CW_STORE_IF_VERSION : CW_STORE_IF_ABSENT;
    g->version = g->kind == CW_STORE_IF_VERSION ? seen : 0;
    b->of_guard[b->guards++] = entry(b, svc, key);
}

static void add_step(struct bargain *b, cw_svc *svc, unsigned key, const char *name, size_t length)
{
    static const cw_store_op ops[] = {CW_STORE_PUT, CW_STORE_PUT, CW_STORE_DELETE, CW_STORE_GET, CW_STORE_GET};
    struct store_entry *e = entry(b, svc, key);
    uint8_t *value = b->value[b->steps];
    cw_store_step *s = &b->step[b->steps];
    *s = (cw_store_step){.op = ops[cw_random_below(svc, 5)], .name = name, .name_length = length};
    e->op = s->op;
    e->step = b->steps;
    if (s->op == CW_STORE_PUT) {
        store_talker_write(value, VALUE, (uint64_t)(e - store_ledger->entry) + 1);
        s->value = value;
        s->value_length = VALUE;
    }
    if (s->op == CW_STORE_PUT && store_talker_plan.ttls > 0 && cw_random_below(svc, store_talker_plan.ttls) == 0) {
        s->ttl = CW_MS(1 + (int64_t)cw_random_below(svc, (uint64_t)store_talker_plan.ttl_most.ns / 1000000));
        e->ttl = s->ttl.ns;
    }
    b->of_step[b->steps++] = e;
}

void store_txns_ask(cw_svc *svc, cw_svc *store, const cw_store_api *api, uint64_t seen[static STORE_TALKER_KEYS])
{
    struct store_ledger *l = store_ledger;
    struct bargain *b = l->count + 2 * NAMES_MOST < STORE_LEDGER_MOST ? calloc(1, sizeof *b) : NULL;
    const unsigned keys = store_talker_plan.keys;
    unsigned names = NAMES_LEAST + (unsigned)cw_random_below(svc, NAMES_MORE);
    unsigned key = (unsigned)cw_random_below(svc, keys);
    if (b == NULL) {
        return;
    }
    b->seen = seen;
    names = names < keys ? names : keys;
    for (unsigned i = 0; i < names; i++, key = (key + 1) % keys) {
        const size_t length = store_talker_name(key, b->name[i]);
        const unsigned what = (unsigned)cw_random_below(svc, 5); /* 0: a guard alone; 1, 2: a step; else both */
        if (what == 0 || what > 2) {
            add_guard(b, svc, key, b->name[i], length);
        }
        if (what > 0 || (i + 1 == names && b->steps == 0)) {
            add_step(b, svc, key, b->name[i], length);
        }
    }
    const cw_store_txn x = {CW_STORE_TXN_INIT,
                            .job = STORE_TALKER_JOB,
                            .guard = b->guard,
                            .guards = b->guards,
                            .step = b->step,
                            .steps = b->steps,
                            .timeout = store_talker_plan.timeout};
    l->silent++;
    if (api->txn(store, &x, answered, b) < 0) {
        for (struct store_entry *e = b->first; e < &l->entry[l->count]; e++) {
            e->op = 0;
        }
        l->silent--;
        l->refused++;
        free(b);
    }
}

/* ---- The ledger -------------------------------------------------------------------------------------------------- */

static bool is_unknown(const struct store_entry *e, cw_store_op op)
{
    return e->txn > 0 && e->op == op && (!e->answered || e->status == CW_STORE_UNKNOWN);
}

/* Somebody met the absence that the delete would have made: so there was something to delete. */
static bool is_gone(const struct store_ledger *l, unsigned key, uint64_t version)
{
    for (size_t i = 0; i < l->count; i++) {
        const struct store_entry *e = &l->entry[i];
        if (e->key == key && e->version == version && e->answered && e->status == CW_STORE_NOT_FOUND) {
            return true;
        }
    }
    return false;
}

void store_txns_resolve(struct store_ledger *l)
{
    for (size_t i = 0; i < l->count; i++) {
        const struct store_entry *read = &l->entry[i];
        bool reads = read->op == CW_STORE_GET && read->answered && read->status == CW_STORE_OK;
        const struct store_entry *w =
            reads && read->value >= 1 && read->value <= l->count ? &l->entry[read->value - 1] : NULL;
        if (w == NULL || !is_unknown(w, CW_STORE_PUT) || w->version != 0) {
            continue;
        }
        const uint64_t base = read->version - w->step;
        for (struct store_entry *e = &l->entry[w->txn - 1]; e < &l->entry[l->count] && e->txn == w->txn; e++) {
            bool made =
                is_unknown(e, CW_STORE_PUT) || (is_unknown(e, CW_STORE_DELETE) && is_gone(l, e->key, base + e->step));
            e->version = made ? base + e->step : e->version;
        }
    }
}
