/* SPDX-License-Identifier: Apache-2.0 */
#include "store_talker.h"

#include "base/bytes.h"
#include "services/store/internal.h"
#include "store_groups.h"
#include "store_history.h"
#include "store_txns.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct store_talker_plan store_talker_plan;
struct store_ledger *store_ledger;

struct talker {
    cw_svc *svc, *store;
    const cw_store_api *api;
    uint64_t seen[STORE_TALKER_KEYS]; /* the version that was told last */
    uint64_t told[STORE_TALKER_KEYS]; /* by watching */
    cw_store_cursor cursor;
    int64_t watch_begun;
    struct watcher *watcher; /* asks; NULL: none does */
};

struct asked {
    struct talker *talker;
    struct store_entry *entry;
};

static int64_t now(void)
{
    return store_talker_plan.now(store_talker_plan.context).ns;
}

enum { LONG_LEAST = 2000, LONG_MORE = 60000 };

/* A value is its number, at its start and, where there is room, every 1,000 bytes and at its end. */
void store_talker_write(uint8_t *value, size_t length, uint64_t number)
{
    for (size_t at = 0; at + 8 <= length; at += 1000) {
        put_be64(value + at, number);
    }
    if (length >= 16) {
        put_be64(value + length - 8, number);
    }
}

uint64_t store_talker_read(const uint8_t *value, size_t length)
{
    uint64_t number = length >= 8 ? get_be64(value) : UINT64_MAX;
    for (size_t at = 0; at + 16 <= length; at += 1000) {
        number = get_be64(value + at) == number ? number : UINT64_MAX;
    }
    return length < 16 || get_be64(value + length - 8) == number ? number : UINT64_MAX;
}

static void answered(void *arg, const cw_store_result *r)
{
    struct asked *a = arg;
    struct store_entry *e = a->entry;
    e->answered = true;
    e->status = r->status;
    e->version = r->version;
    e->ended = now();
    if (e->op == CW_STORE_GET && r->status == CW_STORE_OK) {
        e->value = store_talker_read(r->value, r->value_length);
    }
    if (r->status == CW_STORE_OK || r->status == CW_STORE_CONFLICT || r->status == CW_STORE_NOT_FOUND) {
        a->talker->seen[e->key] = e->op == CW_STORE_DELETE || r->status == CW_STORE_NOT_FOUND ? 0 : r->version;
    }
    store_ledger->ended[r->status]++;
    store_ledger->silent--;
    free(a);
}

static void draw(struct talker *t, struct store_entry *e)
{
    static const cw_store_op writes[] = {CW_STORE_PUT, CW_STORE_PUT, CW_STORE_DELETE};
    bool write = cw_random_below(t->svc, 100) < store_talker_plan.writes;
    e->op = write ? writes[cw_random_below(t->svc, 3)] : cw_random_below(t->svc, 5) == 0 ? CW_STORE_HEAD : CW_STORE_GET;
    e->conditional = write && cw_random_below(t->svc, 2) == 0;
    e->wants = e->conditional && cw_random_below(t->svc, 8) != 0 ? t->seen[e->key] : 0;
}

/* ---- Lists ------------------------------------------------------------------------------------------------------- */

/* A page that is asked for: what it tells of a name is what a head would have told. */
struct paged {
    struct talker *talker;
    int64_t begun;
    char after[24]; /* "": from the first name on */
};

size_t store_talker_name(unsigned key, char out[static 24])
{
    return (size_t)snprintf(out, 24, "%sname %u", store_talker_plan.tagged ? "{t}" : "", key);
}

static const cw_store_entry *entry_of(const cw_store_page *page, const char *name, size_t length)
{
    for (size_t i = 0; i < page->count; i++) {
        if (page->entry[i].name_length == length && memcmp(page->entry[i].name, name, length) == 0) {
            return &page->entry[i];
        }
    }
    return NULL;
}

static bool is_sorted(const cw_store_page *page)
{
    for (size_t i = 1; i < page->count; i++) {
        const cw_store_entry *a = &page->entry[i - 1], *b = &page->entry[i];
        size_t shorter = a->name_length < b->name_length ? a->name_length : b->name_length;
        int order = memcmp(a->name, b->name, shorter);
        if (order > 0 || (order == 0 && a->name_length >= b->name_length)) {
            return false;
        }
    }
    return true;
}

/* The page covers the name: it lies behind where it began, and not behind its last name when there are more. */
static bool covers(const struct paged *p, const cw_store_page *page, const char *name)
{
    if (p->after[0] != '\0' && strcmp(name, p->after) <= 0) {
        return false;
    }
    if (!page->more) {
        return true;
    }
    const cw_store_entry *last = page->count > 0 ? &page->entry[page->count - 1] : NULL;
    char text[24];
    if (last == NULL || last->name_length >= sizeof text) {
        return false;
    }
    memcpy(text, last->name, last->name_length);
    text[last->name_length] = '\0';
    return strcmp(name, text) <= 0;
}

static void note_listed(struct paged *p, const cw_store_page *page)
{
    struct store_ledger *l = store_ledger;
    char name[24];
    for (unsigned key = 0; key < store_talker_plan.keys && l->count < STORE_LEDGER_MOST; key++) {
        size_t length = store_talker_name(key, name);
        const cw_store_entry *e = entry_of(page, name, length);
        if (e == NULL && !covers(p, page, name)) {
            continue;
        }
        l->entry[l->count++] = (struct store_entry){
            .op = CW_STORE_HEAD,
            .listed = true,
            .key = key,
            .answered = true,
            .status = e != NULL ? CW_STORE_OK : CW_STORE_NOT_FOUND,
            .version = e != NULL ? e->version : 0,
            .begun = p->begun,
            .ended = now(),
            .server = cw_server_id(p->talker->svc, cw_self(p->talker->svc)),
        };
    }
}

static bool list(struct talker *t, const void *after, size_t after_length);

static void listed(void *arg, const cw_store_page *page)
{
    struct paged *p = arg;
    store_ledger->ended[page->status]++;
    store_ledger->silent--;
    if (page->status == CW_STORE_OK) {
        store_ledger->lists++;
        note_listed(p, page);
        if (!is_sorted(page)) {
            seeds_fail(store_ledger->wrong, "list", "a page of %zu names is not in order", page->count);
        }
    }
    if (page->more && page->count > 0) {
        const cw_store_entry *last = &page->entry[page->count - 1];
        (void)list(p->talker, last->name, last->name_length);
    }
    free(p);
}

/* Asks for a page of a few names. */
static bool list(struct talker *t, const void *after, size_t after_length)
{
    const char *prefix = store_talker_plan.tagged ? "{t}" : "name ";
    struct paged *p = after_length < sizeof p->after ? calloc(1, sizeof *p) : NULL;
    if (p == NULL) {
        return false;
    }
    *p = (struct paged){t, now(), ""};
    if (after_length > 0) {
        memcpy(p->after, after, after_length);
    }
    const cw_store_list l = {CW_STORE_LIST_INIT,
                             .job = STORE_TALKER_JOB,
                             .prefix = prefix,
                             .prefix_length = strlen(prefix),
                             .after = p->after,
                             .after_length = after_length,
                             .limit = 1 + (unsigned)cw_random_below(t->svc, store_talker_plan.keys + 1),
                             .timeout = store_talker_plan.timeout};
    store_ledger->silent++;
    if (t->api->list(t->store, &l, listed, p) < 0) {
        store_ledger->silent--;
        store_ledger->refused++;
        free(p);
        return false;
    }
    return true;
}

/* ---- Watching ---------------------------------------------------------------------------------------------------- */

/* A call under way: it may outlive its talker. */
struct watcher {
    struct talker *talker; /* NULL: it is gone */
};

static void watch_due(cw_svc *s, void *state, void *arg);

/* What it is told of was read by the leader some time since it asked. */
static void note_change(struct talker *t, const cw_store_change *c)
{
    struct store_ledger *l = store_ledger;
    char name[24];
    for (unsigned key = 0; key < store_talker_plan.keys; key++) {
        size_t length = store_talker_name(key, name);
        if (c->entry.name_length != length || memcmp(c->entry.name, name, length) != 0) {
            continue;
        }
        t->told[key] = c->entry.version;
        l->changes++;
        if (l->count == STORE_LEDGER_MOST) {
            continue;
        }
        l->entry[l->count++] = (struct store_entry){.op = CW_STORE_HEAD,
                                                    .key = key,
                                                    .answered = true,
                                                    .status = c->deleted ? CW_STORE_NOT_FOUND : CW_STORE_OK,
                                                    .version = c->entry.version,
                                                    .begun = t->watch_begun,
                                                    .ended = now(),
                                                    .server = cw_server_id(t->svc, cw_self(t->svc))};
    }
}

static void changed(void *arg, const cw_store_changes *c)
{
    struct watcher *w = arg;
    struct talker *t = w->talker;
    free(w);
    if (t == NULL) {
        return;
    }
    t->watcher = NULL;
    for (size_t i = 0; i < c->count; i++) {
        note_change(t, &c->change[i]);
    }
    t->cursor = c->cursor;
    (void)!cw_timer_start(t->svc, c->status == CW_STORE_OK ? CW_NS(0) : CW_MS(5), watch_due, NULL);
}

static void watch_due(cw_svc *s, void *state, void *arg)
{
    struct talker *t = state;
    const cw_store_watch w = {CW_STORE_WATCH_INIT,
                              .job = STORE_TALKER_JOB,
                              .name = "{t}",
                              .name_length = 3,
                              .prefix = true,
                              .cursor = t->cursor,
                              .timeout = store_talker_plan.timeout};
    (void)arg;
    t->watch_begun = now();
    t->watcher = malloc(sizeof *t->watcher);
    if (t->watcher == NULL) {
        return;
    }
    *t->watcher = (struct watcher){t};
    if (t->api->watch(t->store, &w, changed, t->watcher) < 0) {
        free(t->watcher);
        t->watcher = NULL;
        (void)!cw_timer_start(s, CW_MS(5), watch_due, NULL);
    }
}

uint64_t store_talker_told(cw_svc *svc, unsigned key)
{
    const struct talker *t = cw_state(svc);
    return t->told[key];
}

static void talker_close(cw_svc *s, void *state)
{
    struct talker *t = state;
    (void)s;
    if (t->watcher != NULL) {
        t->watcher->talker = NULL;
    }
}

/* ---- Questions --------------------------------------------------------------------------------------------------- */

static void ask(struct talker *t)
{
    struct store_ledger *l = store_ledger;
    static uint8_t value[LONG_LEAST + LONG_MORE];
    char name[24];
    if (store_talker_plan.lists > 0 && cw_random_below(t->svc, store_talker_plan.lists) == 0) {
        (void)list(t, NULL, 0);
        return;
    }
    if (store_talker_plan.txns > 0 && cw_random_below(t->svc, store_talker_plan.txns) == 0) {
        store_txns_ask(t->svc, t->store, t->api, t->seen);
        return;
    }
    struct asked *a = l->count < STORE_LEDGER_MOST ? malloc(sizeof *a) : NULL;
    if (a == NULL) {
        return;
    }
    struct store_entry *e = &l->entry[l->count++];
    *e = (struct store_entry){.key = (uint32_t)cw_random_below(t->svc, store_talker_plan.keys), .begun = now()};
    e->server = cw_server_id(t->svc, cw_self(t->svc));
    draw(t, e);
    *a = (struct asked){t, e};
    cw_store_request r = {CW_STORE_REQUEST_INIT, .op = e->op, .job = STORE_TALKER_JOB, .name = name};
    r.name_length = store_talker_name(e->key, name);
    r.timeout = store_talker_plan.timeout;
    r.conditional = e->conditional;
    r.version = e->wants;
    if (e->op == CW_STORE_PUT) {
        r.value = value;
        if (store_talker_plan.ttls > 0 && cw_random_below(t->svc, store_talker_plan.ttls) == 0) {
            r.ttl = CW_MS(1 + (int64_t)cw_random_below(t->svc, (uint64_t)store_talker_plan.ttl_most.ns / 1000000));
            e->ttl = r.ttl.ns;
        }
        r.value_length = 8 + cw_random_below(t->svc, store_talker_plan.value_most);
        if (store_talker_plan.longs > 0 && cw_random_below(t->svc, store_talker_plan.longs) == 0) {
            r.value_length = LONG_LEAST + cw_random_below(t->svc, LONG_MORE);
        }
        store_talker_write(value, r.value_length, (uint64_t)(e - l->entry) + 1);
    }
    l->silent++;
    if (t->api->run(t->store, &r, answered, a) < 0) {
        e->op = 0;
        l->silent--;
        l->refused++;
        free(a);
    }
}

static void due(cw_svc *s, void *state, void *arg)
{
    (void)arg;
    if (store_talker_plan.talks) {
        ask(state);
    }
    cw_span pause = CW_NS((int64_t)cw_random_below(s, (uint64_t)store_talker_plan.pause_most.ns));
    (void)!cw_timer_start(s, pause, due, NULL);
}

static int talker_open(cw_svc *s, void *state)
{
    struct talker *t = state;
    t->svc = s;
    t->api = cw_find(s, "store", CW_STORE_API, &t->store);
    if (t->api == NULL) {
        return -1;
    }
    struct store *store = cw_state(t->store);
    const struct store_talker_plan *plan = &store_talker_plan;
    store->limits.hand_max = plan->hand_max;
    store->quota = plan->quota > 0 && store->quota == NULL ? malloc(sizeof *store->quota) : store->quota;
    if (plan->quota > 0 && store->quota != NULL) {
        *store->quota = (struct store_used){STORE_TALKER_JOB, plan->quota, UINT64_MAX};
        store->quotas = 1;
    }
    store->limits.attempt = plan->attempt;
    store->limits.tick = plan->tick;
    store->limits.patience = plan->patience;
    store->limits.slow = plan->slow;
    store->limits.hearing = plan->hearing;
    store->limits.settle = plan->settle;
    store->limits.away = plan->away;
    if (plan->watched && cw_timer_start(s, CW_MS(2), watch_due, NULL) == NULL) {
        return -1;
    }
    return cw_timer_start(s, CW_MS(1), due, NULL) != NULL ? 0 : -1;
}

static cw_verdict on_packet(cw_svc *s, void *state, cw_packet *p, const cw_rx *rx)
{
    (void)s;
    (void)state;
    (void)p;
    (void)rx;
    return CW_DROP;
}

const cw_service store_talker_service = {
    CW_SERVICE_INIT,
    .name = "storetalker",
    .version = "1",
    .job = STORE_TALKER_JOB,
    .state_size = sizeof(struct talker),
    .open = talker_open,
    .close = talker_close,
    .exports = &store_talker_plan, /* something, by which it can be visited */
    .exports_version = STORE_TALKER_API,
    .on_packet = on_packet,
};

/* ---- The ledger as a history ------------------------------------------------------------------------------------- */

static void become_write(struct store_event *ev, const struct store_entry *e, uint64_t place)
{
    bool ok = e->answered && e->status == CW_STORE_OK, unknown = !e->answered || e->status == CW_STORE_UNKNOWN;
    bool put = e->op == CW_STORE_PUT;
    ev->any = !e->conditional;
    ev->found = e->wants;
    ev->value = put ? place : 0;
    ev->ttl = e->ttl;
    ev->version = 0;
    if (ok || unknown) {
        ev->kind = put ? STORE_EVENT_PUT : STORE_EVENT_DELETE;
        ev->version = ok || e->txn > 0 ? e->version : 0; /* of a transaction one of whose values was read */
        ev->ended = ok ? e->ended : STORE_NO_END;
        return;
    }
    ev->kind = put ? STORE_EVENT_FAILED : STORE_EVENT_NONE;
}

/* What a refused write met: one more event. False: it says nothing. */
static bool refusal_met(struct store_event *ev, const struct store_entry *e)
{
    if (!e->answered || (e->status != CW_STORE_CONFLICT && e->status != CW_STORE_NOT_FOUND)) {
        return false;
    }
    bool value = e->status == CW_STORE_CONFLICT && e->version != 0;
    ev->kind = value ? STORE_EVENT_READ : e->status == CW_STORE_NOT_FOUND ? STORE_EVENT_ABSENT : STORE_EVENT_NOTHING;
    ev->version = e->version;
    ev->value = 0;
    return true;
}

/* A value with a ttl may go by itself, once, when its time has come: one more delete without an answer. */
static bool may_expire(struct store_event *ev, const struct store_entry *e)
{
    if (e->ttl == 0 || (e->answered && e->status != CW_STORE_OK && e->status != CW_STORE_UNKNOWN)) {
        return false;
    }
    ev->kind = STORE_EVENT_DELETE;
    ev->expires = true;
    ev->version = 0;
    ev->value = 0;
    ev->any = true;
    ev->begun = e->begun + e->ttl;
    ev->ended = STORE_NO_END;
    return true;
}

static bool become_read(struct store_event *ev, const struct store_entry *e)
{
    bool ok = e->answered && e->status == CW_STORE_OK;
    if (!ok && !(e->answered && e->status == CW_STORE_NOT_FOUND)) {
        return false;
    }
    ev->kind = !ok               ? e->listed ? STORE_EVENT_NOTHING : STORE_EVENT_ABSENT
               : e->version == 0 ? STORE_EVENT_SOME /* a guard, that it exists */
                                 : STORE_EVENT_READ;
    ev->value = ok ? e->value : 0;
    return true;
}

bool store_ledger_check(struct store_ledger *l, char *why, size_t room)
{
    struct store_event *event = malloc((3 * l->count + 1) * sizeof *event);
    size_t n = 0;
    store_txns_resolve(l);
    for (size_t i = 0; i < l->count; i++) {
        const struct store_entry *e = &l->entry[i];
        bool write = e->op == CW_STORE_PUT || e->op == CW_STORE_DELETE;
        struct store_event ev = {
            .key = e->key, .version = e->version, .begun = e->begun, .ended = e->ended, .server = e->server};
        ev.node = e->txn > 0 ? e->txn - 1 : (uint32_t)i;
        if (e->op == 0) {
            continue;
        }
        event[n] = ev;
        if (!write) {
            n += become_read(&event[n], e);
            continue;
        }
        become_write(&event[n++], e, i + 1);
        event[n] = ev;
        n += refusal_met(&event[n], e);
        event[n] = ev;
        n += may_expire(&event[n], e);
    }
    bool good = store_history_check(event, n, why, room) &&
                (store_talker_plan.txns == 0 || store_groups_check(event, n, l->count, why, room));
    free(event);
    return good;
}
