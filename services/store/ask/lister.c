/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lister.c - a list of names, at the server where it is asked for: every shard that may have some is asked for the
 * first ones, as a get is asked, and again as often as its piece is used up. A page is told when it is certain that no
 * shard has a name between those that are on it (store rule 34). And waiting for changes of names in one shard: the
 * leader is asked, and holds the question until there is one.
 */
#include "services/store/ask/asker.h"

#include "services/store/common.h"
#include "services/store/held/merge.h"
#include "services/store/held/mutant.h"
#include "services/store/held/page.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * A question holds a right to answer at the server that is asked, and the NMU gives a server 256 of these: lists have
 * 128 at most together. PIECE_NAMES: of one of many shards so many names are asked for at once.
 */
enum { ASKED_AT_ONCE = 128 / STORE_LISTINGS_MOST, PIECE_NAMES = 16 };

struct listing {
    struct store *store;
    cw_store_list_done done;
    void *arg;
    struct store_order order; /* of the first piece of each shard; its bytes are behind this struct */
    unsigned limit;
    cw_time until;
    struct store_merge merge;
    unsigned asked; /* questions under way */
    cw_store_status status;
    cw_store_entry *entry; /* their names are in `names`, and are pointed to in the end */
    unsigned count;
    uint8_t *names;
    size_t length, room;
    uint8_t bytes[];
};

/* A question to one shard. */
struct piece {
    struct listing *listing;
    uint32_t source;
};

/* ---- The end ----------------------------------------------------------------------------------------------------- */

static bool is_whole(const struct listing *l)
{
    return l->count == l->limit || (l->merge.ready == 0 && (l->merge.unknown == 0 || STORE_MUTANT(UNCOVERED)));
}

/* Frees it. */
static void finish(struct listing *l)
{
    bool good = l->status == CW_STORE_OK;
    cw_store_page page = {.size = sizeof page, .status = l->status, .entry = l->entry};
    page.count = good ? l->count : 0;
    page.more = good && !store_merge_is_over(&l->merge);
    const uint8_t *name = l->names;
    for (unsigned i = 0; i < l->count; i++) {
        l->entry[i].name = name;
        name += l->entry[i].name_length;
    }
    l->store->listings--;
    l->done(l->arg, &page);
    store_merge_close(&l->merge);
    free(l->entry);
    free(l->names);
    free(l);
}

/* ---- Names ------------------------------------------------------------------------------------------------------- */

static bool keep(struct listing *l, const struct store_named *n)
{
    if (l->length + n->name.length > l->room) {
        size_t room = 2 * l->room + n->name.length;
        uint8_t *names = realloc(l->names, room);
        if (names == NULL) {
            return false;
        }
        l->names = names;
        l->room = room;
    }
    memcpy(l->names + l->length, n->name.bytes, n->name.length);
    l->length += n->name.length;
    l->entry[l->count++] = (cw_store_entry){
        .name_length = n->name.length, .version = n->version, .flags = n->flags, .value_length = n->length};
    return true;
}

static void gather(struct listing *l)
{
    struct store_named n;
    while (l->count < l->limit && store_merge_next(&l->merge, &n)) {
        if (!keep(l, &n)) {
            l->status = CW_STORE_BUSY;
            return;
        }
    }
}

/* ---- Questions --------------------------------------------------------------------------------------------------- */

static void go_on(struct listing *l);

/* Are they names that were asked for, each of which is there? Whoever leads the shard may say anything. */
static bool is_asked_for(const struct listing *l, uint32_t source, const cw_store_result *r)
{
    const struct store_order *o = &l->order;
    struct store_named behind, n;
    bool later = store_merge_behind(&l->merge, source, &behind);
    if (!later) { /* the prefix, and the rest of the name behind which the list begins, are one behind the other */
        behind.name = (struct store_name){.bytes = l->bytes, .length = o->name.length + o->value_length};
    }
    for (size_t at = 0; at < r->value_length;) {
        if (!store_named_next(r->value, r->value_length, &at, &n) || n.length == STORE_NAMED_GONE ||
            !store_name_begins(&n.name, o->name.bytes, o->name.length) ||
            ((later || o->conditional) && store_name_compare(&n.name, &behind.name) <= 0)) {
            return false;
        }
    }
    return true;
}

static void answered(void *arg, const cw_store_result *r)
{
    struct piece *p = arg;
    struct listing *l = p->listing;
    int rc = 0;
    l->asked--;
    if (l->status == CW_STORE_OK && r->status == CW_STORE_OK) {
        rc = is_asked_for(l, p->source, r)
                 ? store_merge_give(&l->merge, p->source, r->value, r->value_length, r->flags == STORE_LIST_MORE)
                 : -EBADMSG;
    }
    free(p);
    if (rc < 0) {
        store_note(l->store, rc == -EBADMSG ? STORE_COUNT_MALFORMED : STORE_COUNT_BUSY);
        l->status = rc == -EBADMSG ? CW_STORE_NO_ANSWER : CW_STORE_BUSY;
    } else if (r->status != CW_STORE_OK && l->status == CW_STORE_OK) {
        l->status = r->status;
    }
    go_on(l);
}

static int ask(struct listing *l, uint32_t source)
{
    struct store_order o = l->order;
    struct store_named behind;
    struct piece *p = malloc(sizeof *p);
    if (p == NULL) {
        return -ENOMEM;
    }
    *p = (struct piece){l, source};
    o.shard = l->merge.source[source].shard;
    if (store_merge_behind(&l->merge, source, &behind)) {
        o.conditional = true;
        o.value = behind.name.bytes + o.name.length;
        o.value_length = behind.name.length - o.name.length;
    }
    int rc = store_asker_begin(l->store, &o, l->until, answered, p);
    if (rc < 0) {
        free(p);
    }
    return rc;
}

/* Asks as many as may be asked. */
static void ask_some(struct listing *l)
{
    uint32_t source;
    while (l->status == CW_STORE_OK && l->asked < ASKED_AT_ONCE && store_merge_ask(&l->merge, &source)) {
        int rc = ask(l, source);
        if (rc < 0) {
            l->status = rc == -ESHUTDOWN ? CW_STORE_NO_ANSWER : CW_STORE_BUSY;
            return;
        }
        l->asked++;
    }
}

/* l may be gone afterwards. Questions cannot be taken back: what has failed ends with the last one. */
static void go_on(struct listing *l)
{
    if (l->status == CW_STORE_OK) {
        gather(l);
    }
    if (l->status == CW_STORE_OK && !is_whole(l)) {
        ask_some(l);
    }
    if (l->asked == 0) {
        finish(l);
    }
}

/* ---- Asking ------------------------------------------------------------------------------------------------------ */

static int check(const struct store *s, const cw_store_list *r)
{
    bool behind = r->after_length > 0;
    if (r->size < sizeof *r || r->job == 0 || r->prefix_length > CW_STORE_NAME_MAX ||
        (r->prefix_length > 0 && r->prefix == NULL) || r->after_length > CW_STORE_NAME_MAX ||
        (behind && r->after == NULL) || r->limit > CW_STORE_LIST_MAX || !store_asker_waits(r->timeout)) {
        return -EINVAL;
    }
    const struct store_name after = {.bytes = r->after, .length = r->after_length};
    if (behind && !store_name_begins(&after, r->prefix, r->prefix_length)) {
        return -EINVAL;
    }
    if (s->closing) {
        return -ESHUTDOWN;
    }
    return s->listings < STORE_LISTINGS_MOST ? 0 : -ENOBUFS;
}

static void keep_order(struct listing *l, const cw_store_list *r)
{
    size_t rest = r->after_length > 0 ? r->after_length - r->prefix_length : 0;
    if (r->prefix_length > 0) {
        memcpy(l->bytes, r->prefix, r->prefix_length);
    }
    if (rest > 0) {
        memcpy(l->bytes + r->prefix_length, (const uint8_t *)r->after + r->prefix_length, rest);
    }
    l->limit = r->limit > 0 ? r->limit : CW_STORE_LIST_MAX;
    l->order = (struct store_order){
        .op = STORE_OP_LIST,
        .most = l->limit,
        .name = {r->job, l->bytes, r->prefix_length},
        .value = l->bytes + r->prefix_length,
        .value_length = rest,
        .conditional = r->after_length > 0,
    };
}

static int open_merge(struct listing *l)
{
    const struct torus *t = &l->store->torus;
    uint32_t one;
    return store_places_prefix(t, &l->order.name, &one)
               ? store_merge_open(&l->merge, one, 1)
               : store_merge_open(&l->merge, 0, t->servers * STORE_SHARDS_PER_SERVER);
}

int store_lister_do(struct store *s, const cw_store_list *r, cw_store_list_done done, void *arg)
{
    int rc = check(s, r);
    size_t size = r->prefix_length + r->after_length;
    struct listing *l = rc == 0 ? calloc(1, sizeof *l + size) : NULL;
    if (l == NULL) {
        return rc < 0 ? rc : -ENOMEM;
    }
    l->store = s;
    l->done = done;
    l->arg = arg;
    l->until = store_asker_until(s, r->timeout);
    keep_order(l, r);
    rc = open_merge(l);
    if (rc == 0 && l->merge.sources > 1 && l->limit > PIECE_NAMES) {
        l->order.most = PIECE_NAMES;
    }
    l->entry = rc == 0 ? calloc(l->limit, sizeof *l->entry) : NULL;
    if (rc == 0 && l->entry == NULL) {
        rc = -ENOMEM;
    }
    if (rc == 0) {
        ask_some(l); /* nobody is told anything from in here: questions are answered later */
    }
    if (rc < 0 || l->asked == 0) {
        store_merge_close(&l->merge);
        free(l->entry);
        free(l);
        return rc < 0 ? rc : -ENOBUFS;
    }
    s->listings++;
    store_note(s, STORE_COUNT_LISTS);
    return 0;
}

/* ---- Changes ----------------------------------------------------------------------------------------------------- */

enum { HOLD_ATTEMPTS = 3, CHANGES_MOST = 64 }; /* a leader holds a question as long as so many attempts wait */

struct watching {
    struct store *store;
    cw_store_watch_done done;
    void *arg;
    struct store_order order; /* its bytes are behind this struct: a cursor, and the name */
    cw_store_cursor cursor;
    cw_time until;
    uint8_t bytes[];
};

static void told(void *arg, const cw_store_result *r);

static int ask_for_changes(struct watching *w)
{
    struct store *s = w->store;
    cw_span left = cw_time_since(w->until, cw_now(s->svc)), hold = CW_NS(HOLD_ATTEMPTS * s->limits.attempt.ns);
    hold = left.ns < hold.ns ? left : hold;
    w->order.ttl_ms = (uint32_t)(hold.ns > 0 ? hold.ns / CW_MS(1).ns : 0);
    return store_asker_begin(s, &w->order, cw_time_add(w->until, CW_NS(2 * s->limits.attempt.ns)), told, w);
}

static bool is_watched(const struct watching *w, const struct store_name *name)
{
    const struct store_name *of = &w->order.name;
    return w->order.conditional ? store_name_begins(name, of->bytes, of->length) : store_name_compare(name, of) == 0;
}

/* Reads an answer. Gives how many changes there are; -EBADMSG: it is none. */
static int read_changes(struct watching *w, const cw_store_result *r, cw_store_change out[static CHANGES_MOST])
{
    struct store_named n;
    int count = 0;
    if (r->value_length < STORE_CURSOR_BYTES) {
        return -EBADMSG;
    }
    for (size_t at = STORE_CURSOR_BYTES; at < r->value_length; count++) {
        if (count == CHANGES_MOST || !store_named_next(r->value, r->value_length, &at, &n) || !is_watched(w, &n.name)) {
            return -EBADMSG;
        }
        bool gone = n.length == STORE_NAMED_GONE;
        out[count] = (cw_store_change){{n.name.bytes, n.name.length, n.version, n.flags, gone ? 0 : n.length}, gone};
    }
    memcpy(w->bytes, r->value, STORE_CURSOR_BYTES);
    w->order.value_length = STORE_CURSOR_BYTES;
    const struct store_cursor c = store_cursor_decode(w->bytes);
    w->cursor = (cw_store_cursor){{c.ballot.high, c.ballot.low, c.n}};
    return count;
}

static void told(void *arg, const cw_store_result *r)
{
    struct watching *w = arg;
    cw_store_change change[CHANGES_MOST];
    cw_store_changes changes = {.size = sizeof changes, .status = r->status, .change = change};
    int count = r->status == CW_STORE_OK ? read_changes(w, r, change) : 0;
    bool waits = r->status == CW_STORE_OK && count == 0 && cw_time_before(cw_now(w->store->svc), w->until);
    int rc = waits ? ask_for_changes(w) : 0;
    if (waits && rc == 0) {
        return;
    }
    if (rc < 0) {
        changes.status = rc == -ESHUTDOWN ? CW_STORE_NO_ANSWER : CW_STORE_BUSY;
    }
    if (count < 0) {
        store_note(w->store, STORE_COUNT_MALFORMED);
        changes.status = CW_STORE_NO_ANSWER;
    }
    changes.count = count > 0 ? (size_t)count : 0;
    changes.cursor = w->cursor;
    w->store->watches--;
    w->done(w->arg, &changes);
    free(w);
}

int store_watcher_do(struct store *s, const cw_store_watch *r, cw_store_watch_done done, void *arg)
{
    const struct store_name name = {r->job, r->name, r->name_length};
    const struct store_cursor cursor = {{r->cursor.word[0], r->cursor.word[1]}, r->cursor.word[2]};
    uint32_t shard;
    if (r->size < sizeof *r || r->job == 0 || r->name == NULL || r->name_length < 1 ||
        r->name_length > CW_STORE_NAME_MAX || !store_asker_waits(r->timeout) ||
        (r->prefix && !store_places_prefix(&s->torus, &name, &shard))) {
        return -EINVAL;
    }
    if (s->watches >= STORE_WATCHES_MOST) {
        return -ENOBUFS;
    }
    struct watching *w = calloc(1, sizeof *w + STORE_CURSOR_BYTES + r->name_length);
    if (w == NULL) {
        return -ENOMEM;
    }
    *w = (struct watching){.store = s, .done = done, .arg = arg, .cursor = r->cursor};
    w->until = store_asker_until(s, r->timeout);
    store_cursor_encode(cursor, w->bytes);
    memcpy(w->bytes + STORE_CURSOR_BYTES, r->name, r->name_length);
    w->order = (struct store_order){.op = STORE_OP_WATCH,
                                    .name = {r->job, w->bytes + STORE_CURSOR_BYTES, r->name_length},
                                    .conditional = r->prefix,
                                    .value = w->bytes,
                                    .value_length = cursor.n > 0 ? STORE_CURSOR_BYTES : 0};
    int rc = ask_for_changes(w);
    if (rc < 0) {
        free(w);
        return rc;
    }
    s->watches++;
    store_note(s, STORE_COUNT_WATCHES);
    return 0;
}
