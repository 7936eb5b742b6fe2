/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_s3_world.c - objects over a store that is a table and fails as stores may: each seed draws sizes of chunks and
 * windows, failures, and servers that die in the middle of everything; puts, gets, copies and deletes on a few keys, at
 * most one on each at a time. Of each key the judge knows which contents it may have: one, as long as every answer is
 * definite. At the end, when nothing fails any more, every key has one of these, whole; lists tell what a naive list
 * tells; and after a day nothing is in the store that no object needs.
 *
 *   test_s3_world [the options of seeds.h]. Exit code 1: a seed failed.
 */
#include "base/prng.h"
#include "sanitized.h"
#include "seeds.h"
#include "services/s3/object/copy.h"
#include "services/s3/object/drop.h"
#include "services/s3/object/get.h"
#include "services/s3/object/listing.h"
#include "services/s3/object/put.h"
#include "services/s3/object/remove.h"
#include "services/s3/object/sweep.h"
#include "store_standin.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KEYS = 8, POSSIBLE_MOST = 512, SIZE_MOST = 120, JOB = 77, STEPS = 3000, LIMIT = 200000 };

struct ledger {
    char wrong[SEEDS_WRONG_BYTES];
    uint64_t puts, gets, copies, removals, lists, good, kills;
};
static struct ledger *ledger, sums;

#define WRONG(rule, ...) seeds_fail(ledger->wrong, rule, __VA_ARGS__)

static const char *const keys[KEYS] = {"a", "a/b", "a/c", "a/c/d", "b", "b//", "z", "\xc3\xa4"};

enum what { NOTHING, PUT, GET, COPY, REMOVE };

struct content {
    uint32_t id; /* 0: no object */
    uint32_t size;
};

struct key {
    unsigned index;
    enum what what;
    struct content possible[POSSIBLE_MOST];
    unsigned count;
    struct content ghost[POSSIBLE_MOST]; /* puts that ended unknown: they may yet be done when there is no object */
    unsigned ghosts;
    struct content now; /* put, copied */
    uint32_t fed, first, length, got;
    uint32_t give_up; /* after so many bytes; UINT32_MAX: never */
    bool bad_md5, if_none, headed, over;
    uint8_t md5[HASH_MD5_BYTES];
    struct s3_put *put;
    struct s3_get *get;
    struct s3_copy *copy;
    struct key *source, *sink; /* of a copy: both are busy */
};

static struct world {
    struct prng prng;
    struct store_standin store;
    struct s3_desk *desk;
    struct s3_desk_config config;
    int64_t now_s;
    uint32_t ids;
    bool calm;
    struct key key[KEYS];
} w;

static int64_t clock_s(void *context)
{
    (void)context;
    return w.now_s;
}

static uint64_t draw64(void *context)
{
    (void)context;
    return prng_next(&w.prng);
}

static uint32_t below(uint32_t n)
{
    return (uint32_t)prng_below(&w.prng, n);
}

static uint8_t byte_of(uint32_t id, uint32_t at)
{
    return (uint8_t)(id * 37 + at * 11 + at / 13);
}

static void write_content(struct content c, uint8_t *out)
{
    for (uint32_t i = 0; i < c.size; i++) {
        out[i] = byte_of(c.id, i);
    }
}

static void md5_of(struct content c, uint8_t out[static HASH_MD5_BYTES])
{
    uint8_t bytes[SIZE_MOST];
    struct hash_md5 s;
    write_content(c, bytes);
    hash_md5_begin(&s);
    hash_md5_add(&s, bytes, c.size);
    hash_md5_end(&s, out);
}

/* ---- What may be there ------------------------------------------------------------------------------------------- */

static void add_possible(struct key *k, struct content c)
{
    if (k->count < POSSIBLE_MOST) {
        k->possible[k->count++] = c;
    } else {
        WRONG("judge", "too many contents are possible");
    }
}

static void may_become(struct key *k, struct content c)
{
    add_possible(k, c);
    if (c.id != 0 && k->ghosts < POSSIBLE_MOST) {
        k->ghost[k->ghosts++] = c;
    }
    for (unsigned i = 0; c.id == 0 && i < k->ghosts; i++) {
        add_possible(k, k->ghost[i]);
    }
}

static void becomes(struct key *k, struct content c)
{
    k->count = 0;
    if (c.id == 0) {
        may_become(k, c);
    } else {
        add_possible(k, c);
    }
}

static bool may_be_absent(const struct key *k)
{
    for (unsigned i = 0; i < k->count; i++) {
        if (k->possible[i].id == 0) {
            return true;
        }
    }
    return false;
}

static struct content found(struct key *k, const struct s3_manifest *m)
{
    uint8_t md5[HASH_MD5_BYTES];
    for (unsigned i = 0; i < k->count; i++) {
        md5_of(k->possible[i], md5);
        if (k->possible[i].id != 0 && k->possible[i].size == m->size && memcmp(md5, m->etag.md5, sizeof md5) == 0) {
            return k->possible[i];
        }
    }
    WRONG("ledger", "key %s has %u bytes that nobody put there", keys[k->index], (unsigned)m->size);
    return (struct content){0};
}

/* Is it a fault of the store's, which may always be? */
static bool is_excused(s3_fault fault)
{
    return !w.calm && (fault == S3_INTERNAL || fault == S3_SLOW_DOWN || fault == S3_UNAVAILABLE || fault == S3_FULL ||
                       fault == S3_QUOTA);
}

static void finish(struct key *k)
{
    if (k->source != NULL) {
        k->source->what = NOTHING;
        k->source->sink = NULL;
        k->source = NULL;
    }
    k->what = NOTHING;
    k->put = NULL;
    k->get = NULL;
    k->copy = NULL;
}

/* ---- Puts -------------------------------------------------------------------------------------------------------- */

static void judge_put(struct key *k, const struct s3_put_outcome *o)
{
    uint8_t md5[HASH_MD5_BYTES];
    ledger->good += o->fault == S3_OK;
    if (o->fault == S3_OK) {
        md5_of(k->now, md5);
        if (memcmp(md5, o->etag.md5, sizeof md5) != 0 || o->changed_s > w.now_s) {
            WRONG("put", "the ETag or the date is another");
        }
        if (k->bad_md5) {
            WRONG("put", "it was put in spite of its MD5");
        }
        if (k->if_none && !may_be_absent(k)) {
            WRONG("put", "it was put though something was there");
        }
        becomes(k, k->now);
    } else if (o->fault == S3_BAD_DIGEST) {
        if (!k->bad_md5) {
            WRONG("put", "the MD5 was right");
        }
    } else if (o->fault == S3_PRECONDITION_FAILED) {
        if (!k->if_none || (k->count == 1 && may_be_absent(k))) {
            WRONG("put", "nothing was there");
        }
    } else if (o->fault == S3_INTERNAL) {
        may_become(k, k->now);
    }
    if (o->fault != S3_OK && o->fault != S3_BAD_DIGEST && o->fault != S3_PRECONDITION_FAILED && !is_excused(o->fault)) {
        WRONG("put", "%s", s3_fault_code(o->fault));
    }
}

static void put_done(void *arg, const struct s3_put_outcome *o)
{
    struct key *k = arg;
    judge_put(k, o);
    finish(k);
}

static void put_room(void *arg)
{
    (void)arg;
}

static void begin_put(struct key *k)
{
    k->now = (struct content){++w.ids, below(4) == 0 ? below(10) : below(SIZE_MOST)};
    k->fed = 0;
    k->bad_md5 = below(20) == 0;
    k->if_none = below(6) == 0;
    k->give_up = below(12) == 0 ? below(k->now.size + 2) : UINT32_MAX;
    md5_of(k->now, k->md5);
    k->md5[3] ^= k->bad_md5;
    const struct s3_meta meta = {"content-type", "image/jpeg"};
    const struct s3_put_order order = {.job = JOB,
                                       .bucket = {"bucket", 6},
                                       .key = {keys[k->index], strlen(keys[k->index])},
                                       .size = k->now.size,
                                       .metas = 1,
                                       .meta = &meta,
                                       .put_if = k->if_none ? S3_PUT_IF_NONE : S3_PUT_ALWAYS,
                                       .md5 = k->bad_md5 || below(2) == 0 ? k->md5 : NULL};
    k->put = s3_put_open(w.desk, &order, (struct s3_put_hooks){put_room, put_done}, k);
    k->what = PUT;
    ledger->puts++;
}

static void go_on_put(struct key *k)
{
    uint8_t bytes[SIZE_MOST];
    if (k->fed >= k->give_up || (k->fed > k->now.size && k->give_up == k->now.size + 1)) {
        struct s3_put *put = k->put;
        if (k->fed > k->now.size) {
            may_become(k, k->now); /* its end had been said */
        }
        finish(k);
        s3_put_cancel(put);
        return;
    }
    if (k->fed < k->now.size) {
        uint32_t length = 1 + below(k->now.size - k->fed);
        write_content(k->now, bytes);
        uint32_t fed = k->fed;
        size_t n = s3_put_feed(k->put, bytes + fed, length); /* perhaps the put is over by now */
        k->fed = fed + (uint32_t)n;
    } else if (k->fed == k->now.size) {
        k->fed++;
        s3_put_end(k->put);
    }
}

/* ---- Gets -------------------------------------------------------------------------------------------------------- */

static void end_get(struct key *k)
{
    struct s3_get *get = k->get;
    finish(k);
    s3_get_close(get);
}

static void get_head(void *arg, s3_fault fault, const struct s3_manifest *m)
{
    struct key *k = arg;
    if (fault == S3_NO_KEY) {
        if (!may_be_absent(k)) {
            WRONG("ledger", "key %s is gone", keys[k->index]);
        }
    } else if (fault != S3_OK && !is_excused(fault)) {
        WRONG("get", "%s", s3_fault_code(fault));
    }
    ledger->good += fault == S3_OK;
    if (fault != S3_OK) {
        end_get(k);
        return;
    }
    k->now = found(k, m);
    if (strcmp(s3_manifest_meta(m, "Content-Type"), "image/jpeg") != 0) {
        WRONG("get", "its type is another");
    }
    k->first = m->size > 0 ? below((uint32_t)m->size) : 0;
    k->length = m->size > 0 ? below((uint32_t)m->size - k->first + 1) : 0;
    if (below(2) == 0) {
        k->first = 0;
        k->length = (uint32_t)m->size;
    }
    k->headed = true;
    s3_get_range(k->get, k->first, k->length);
}

static void get_ready(void *arg)
{
    (void)arg;
}

static void begin_get(struct key *k)
{
    const struct s3_get_order order = {.job = JOB,
                                       .bucket = "bucket",
                                       .bucket_length = 6,
                                       .key = keys[k->index],
                                       .key_length = strlen(keys[k->index])};
    k->headed = false;
    k->got = 0;
    k->give_up = below(12) == 0 ? below(SIZE_MOST) : UINT32_MAX;
    k->get = s3_get_open(w.desk, &order, (struct s3_get_hooks){get_head, get_ready}, k);
    k->what = k->get != NULL ? GET : NOTHING;
    if (k->get == NULL && w.calm) {
        WRONG("get", "it was refused");
    }
    ledger->gets++;
}

static void go_on_get(struct key *k)
{
    size_t length;
    if (!k->headed) {
        return;
    }
    const uint8_t *bytes = s3_get_peek(k->get, &length);
    if (bytes != NULL) {
        length = 1 + below((uint32_t)length);
        for (size_t i = 0; i < length; i++) {
            if (bytes[i] != byte_of(k->now.id, k->first + k->got + (uint32_t)i)) {
                WRONG("bytes", "key %s: byte %u is another", keys[k->index], k->first + k->got + (uint32_t)i);
                break;
            }
        }
        k->got += (uint32_t)length;
        s3_get_take(k->get, length);
    } else if (s3_get_fault(k->get) != S3_OK) {
        if (!is_excused(s3_get_fault(k->get))) {
            WRONG("get", "in the middle: %s", s3_fault_code(s3_get_fault(k->get)));
        }
        end_get(k);
        return;
    }
    if (s3_get_left(k->get) == 0 || k->got >= k->give_up) {
        if (s3_get_left(k->get) != k->length - k->got) {
            WRONG("get", "it has another length");
        }
        end_get(k);
    }
}

/* ---- Copies and deletes ------------------------------------------------------------------------------------------ */

static s3_fault copy_judge(void *arg, const struct s3_manifest *source, struct s3_put_order *order, uint64_t *first,
                           uint64_t *count)
{
    struct key *k = arg;
    k->now = found(k->source, source);
    *first = 0;
    *count = source->size;
    order->metas = source->metas;
    order->meta = source->meta;
    k->headed = true;
    return S3_OK;
}

static void copy_done(void *arg, const struct s3_put_outcome *o)
{
    struct key *k = arg;
    if (!k->headed && o->fault == S3_NO_KEY) {
        if (!may_be_absent(k->source)) {
            WRONG("ledger", "key %s is gone", keys[k->source->index]);
        }
    } else if (!k->headed) {
        if (!is_excused(o->fault)) {
            WRONG("copy", "%s", s3_fault_code(o->fault));
        }
    } else {
        judge_put(k, o);
    }
    finish(k);
}

static void begin_copy(struct key *k)
{
    struct key *source = &w.key[below(KEYS)];
    if (source->what != NOTHING || source == k) {
        return;
    }
    const struct s3_get_order from = {.job = JOB,
                                      .bucket = "bucket",
                                      .bucket_length = 6,
                                      .key = keys[source->index],
                                      .key_length = strlen(keys[source->index])};
    const struct s3_put_order to = {
        .job = JOB, .bucket = {"bucket", 6}, .key = {keys[k->index], strlen(keys[k->index])}};
    k->headed = k->bad_md5 = k->if_none = false;
    k->source = source;
    k->copy = s3_copy_open(w.desk, &from, &to, (struct s3_copy_hooks){copy_judge, copy_done}, k);
    k->what = source->what = COPY;
    source->sink = k;
    k->give_up = below(12) == 0 ? below(60) : UINT32_MAX;
    k->fed = 0;
    if (k->copy == NULL) {
        finish(k);
    }
    ledger->copies++;
}

static void go_on_copy(struct key *k)
{
    if (k->copy != NULL && k->fed++ >= k->give_up) {
        struct s3_copy *copy = k->copy;
        if (k->headed) {
            may_become(k, k->now);
        }
        finish(k);
        s3_copy_cancel(copy);
    }
}

static void remove_done(void *arg, s3_fault fault)
{
    struct key *k = arg;
    ledger->good += fault == S3_OK;
    if (fault == S3_OK) {
        becomes(k, (struct content){0});
    } else if (fault == S3_INTERNAL) {
        may_become(k, (struct content){0});
    }
    if (fault != S3_OK && !is_excused(fault)) {
        WRONG("remove", "%s", s3_fault_code(fault));
    }
    finish(k);
}

static void begin_removal(struct key *k)
{
    k->what = REMOVE;
    if (s3_remove_object(w.desk, JOB, "bucket", 6, keys[k->index], strlen(keys[k->index]), remove_done, k) != S3_OK) {
        finish(k);
    }
    ledger->removals++;
}

/* ---- The world --------------------------------------------------------------------------------------------------- */

static void open_desk(void)
{
    w.desk = s3_desk_open(&w.config);
}

/* The server dies: what was under way may have been done, or will be. */
static void kill_desk(void)
{
    for (unsigned i = 0; i < KEYS; i++) {
        struct key *k = &w.key[i];
        struct s3_put *put = k->put;
        struct s3_get *get = k->get;
        struct s3_copy *copy = k->copy;
        if (put != NULL && k->fed > k->now.size) {
            may_become(k, k->now);
        } else if (copy != NULL && k->headed) {
            may_become(k, k->now);
        } else if (k->what == REMOVE) {
            may_become(k, (struct content){0});
        }
        if (k->what != COPY || copy != NULL) {
            finish(k);
        }
        if (put != NULL) {
            s3_put_cancel(put);
        }
        if (get != NULL) {
            s3_get_close(get);
        }
        if (copy != NULL) {
            s3_copy_cancel(copy);
        }
    }
    s3_desk_close(w.desk);
    standin_forget(&w.store);
    open_desk();
    ledger->kills++;
}

static void step_key(struct key *k, bool begins)
{
    switch (k->what) {
    case PUT:
        go_on_put(k);
        break;
    case GET:
        go_on_get(k);
        break;
    case COPY:
        go_on_copy(k);
        break;
    case NOTHING:
        if (begins) {
            static void (*const begin[])(struct key *) = {begin_put, begin_put,  begin_get,
                                                          begin_get, begin_copy, begin_removal};
            begin[below(6)](k);
        }
        break;
    default:
        break;
    }
}

static bool is_idle(void)
{
    for (unsigned i = 0; i < KEYS; i++) {
        if (w.key[i].what != NOTHING) {
            return false;
        }
    }
    return w.store.waits == 0;
}

/* Until nothing is under way. */
static void come_to_rest(void)
{
    unsigned steps = 0;
    for (; !is_idle() && steps < LIMIT; steps++) {
        step_key(&w.key[below(KEYS)], false);
        (void)standin_turn(&w.store);
    }
    if (steps == LIMIT) {
        WRONG("stuck", "something never ends");
    }
}

/* Reads it, and holds that it is what was read from then on. */
static void settle(struct key *k)
{
    k->now = (struct content){0};
    begin_get(k);
    k->give_up = UINT32_MAX;
    come_to_rest();
    k->count = 0;
    add_possible(k, k->now);
}

/* ---- Lists ------------------------------------------------------------------------------------------------------- */

struct asked {
    const char *prefix, *delimiter, *after;
    unsigned most;
    bool done;
};

/* The rows that are right, one behind the other with a newline; by looking at all names for each. */
static bool naive(const struct asked *a, char *out, size_t room)
{
    char last[64] = "";
    unsigned rows = 0;
    out[0] = '\0';
    for (unsigned i = 0; i < KEYS; i++) {
        const char *key = keys[i], *at;
        char row[64];
        if (w.key[i].possible[0].id == 0 || strncmp(key, a->prefix, strlen(a->prefix)) != 0) {
            continue;
        }
        at = a->delimiter[0] != '\0' ? strstr(key + strlen(a->prefix), a->delimiter) : NULL;
        snprintf(row, sizeof row, "%.*s", at != NULL ? (int)(at + strlen(a->delimiter) - key) : 60, key);
        if (strcmp(row, a->after) <= 0 || strcmp(row, last) == 0) {
            continue;
        }
        if (rows == a->most) {
            return true;
        }
        snprintf(last, sizeof last, "%s", row);
        snprintf(out + strlen(out), room - strlen(out), "%s%s\n", row, at != NULL ? " .." : "");
        rows++;
    }
    return false;
}

static void list_done(void *arg, const struct s3_listing_page *page)
{
    struct asked *a = arg;
    char right[512], told[512] = "";
    bool more = naive(a, right, sizeof right);
    a->done = true;
    if (page->fault != S3_OK) {
        WRONG("list", "%s", s3_fault_code(page->fault));
        return;
    }
    for (size_t i = 0; i < page->count; i++) {
        snprintf(told + strlen(told), sizeof told - strlen(told), "%.*s%s\n", (int)page->row[i].name.length,
                 page->row[i].name.text, page->row[i].common ? " .." : "");
    }
    if (strcmp(right, told) != 0 || (a->most > 0 && page->more != more)) {
        WRONG("list", "prefix '%s' after '%s' most %u: %s and not %s", a->prefix, a->after, a->most, told, right);
    }
}

static void check_list(void)
{
    static const char *const prefixes[] = {"", "a", "a/", "b", "zz"}, *const afters[] = {"",    "a", "a/",
                                                                                         "a/b", "b", "c"};
    struct asked a = {.prefix = prefixes[below(5)],
                      .delimiter = below(2) == 0 ? "/" : "",
                      .after = afters[below(6)],
                      .most = below(KEYS + 2)};
    const struct s3_listing_order order = {.job = JOB,
                                           .bucket = {"bucket", 6},
                                           .prefix = {a.prefix, strlen(a.prefix)},
                                           .delimiter = {a.delimiter, strlen(a.delimiter)},
                                           .after = {a.after, strlen(a.after)},
                                           .most = a.most};
    if (s3_listing_open(w.desk, &order, list_done, &a) == NULL) {
        WRONG("list", "it was refused");
        return;
    }
    while (standin_turn(&w.store)) {
    }
    if (!a.done) {
        WRONG("list", "it does not end");
    }
    ledger->lists++;
}

/* ---- The end ----------------------------------------------------------------------------------------------------- */

static void census_head(void *arg, s3_fault fault, const struct s3_manifest *m)
{
    uint64_t *needed = arg;
    for (uint32_t i = 0; fault == S3_OK && i < m->lots; i++) {
        struct s3_lot lot = s3_manifest_lot(m, i);
        *needed += 1 + s3_lot_chunks(&lot);
    }
}

static void check_garbage(bool swept)
{
    uint64_t needed = 0;
    for (unsigned i = 0; i < KEYS; i++) {
        const struct s3_get_order order = {
            .job = JOB, .bucket = "bucket", .bucket_length = 6, .key = keys[i], .key_length = strlen(keys[i])};
        struct s3_get *get = s3_get_open(w.desk, &order, (struct s3_get_hooks){census_head, get_ready}, &needed);
        while (standin_turn(&w.store)) {
        }
        s3_get_close(get);
    }
    uint64_t there = standin_count(&w.store, "D/") + standin_count(&w.store, "L/");
    if (there < needed || (swept && there > needed)) {
        WRONG("garbage", "%u registers of lots, and objects need %u", (unsigned)there, (unsigned)needed);
    }
}

static void pass_time(int64_t s)
{
    for (w.now_s += s; w.store.waits > 0 || w.desk->drops_waiting > 0;) {
        s3_desk_tick(w.desk);
        while (standin_turn(&w.store)) {
        }
    }
}

static void bucket_made(void *arg, s3_fault fault)
{
    (void)arg;
    if (fault != S3_OK) {
        WRONG("bucket", "%s", s3_fault_code(fault));
    }
}

static void swept(void *arg)
{
    *(bool *)arg = true;
}

static void sweep_all(void)
{
    bool done = false;
    pass_time(S3_GRACE_S);
    check_garbage(w.calm);
    w.now_s += 2 * S3_PUT_MOST_S + 1;
    if (s3_sweep(w.desk, JOB, swept, &done) != S3_OK) {
        WRONG("sweep", "it does not begin");
    }
    while (standin_turn(&w.store)) {
    }
    if (!done) {
        WRONG("sweep", "it does not end");
    }
    pass_time(S3_GRACE_S);
    check_garbage(true);
}

static void run(uint64_t seed)
{
    w.prng = prng_stream(seed, 0, 1);
    w.calm = seed % 4 == 0;
    w.now_s = 1700000000;
    w.ids = 0;
    standin_open(&w.store, seed);
    w.config = (struct s3_desk_config){.api = &standin_api,
                                       .store = standin_svc(&w.store),
                                       .chunk = 1 + below(40),
                                       .inline_most = below(3) == 0 ? 0 : below(20),
                                       .window = 1 + below(S3_WINDOW_MOST),
                                       .now_s = clock_s,
                                       .random = draw64};
    w.config.memory = w.config.chunk * (2 + (size_t)below(8)) + w.config.inline_most;
    open_desk();
    for (unsigned i = 0; i < KEYS; i++) {
        w.key[i] = (struct key){.index = i, .count = 1};
    }
    if (s3_bucket_create(w.desk, JOB, "bucket", 6, bucket_made, NULL) != S3_OK) {
        WRONG("bucket", "it was refused");
    }
    while (standin_turn(&w.store)) {
    }
    if (!w.calm) {
        w.store.refused = below(30);
        w.store.failing = below(60);
        w.store.unknown = below(60);
    }
    for (unsigned i = 0; i < STEPS && ledger->wrong[0] == '\0'; i++) {
        step_key(&w.key[below(KEYS)], true);
        for (unsigned turns = below(3); turns > 0; turns--) {
            (void)standin_turn(&w.store);
        }
        if (below(50) == 0) {
            w.now_s += below(20);
            s3_desk_tick(w.desk);
        }
        if (!w.calm && below(700) == 0) {
            kill_desk();
        }
    }
    w.store.refused = w.store.failing = w.store.unknown = 0;
    come_to_rest();
    while (standin_turn(&w.store) || w.store.late != NULL) {
    }
    for (unsigned i = 0; i < KEYS && ledger->wrong[0] == '\0'; i++) {
        settle(&w.key[i]);
    }
    for (unsigned i = 0; i < 40 && ledger->wrong[0] == '\0'; i++) {
        check_list();
    }
    if (ledger->wrong[0] == '\0') {
        sweep_all();
    }
    s3_desk_close(w.desk);
    standin_forget(&w.store);
    standin_close(&w.store);
}

static void add(void)
{
    sums.puts += ledger->puts;
    sums.gets += ledger->gets;
    sums.copies += ledger->copies;
    sums.removals += ledger->removals;
    sums.lists += ledger->lists;
    sums.good += ledger->good;
    sums.kills += ledger->kills;
}

static void say(void)
{
    printf("%u kills, %u of %u well", (unsigned)ledger->kills, (unsigned)ledger->good,
           (unsigned)(ledger->puts + ledger->gets + ledger->copies + ledger->removals));
}

int main(int argc, char **argv)
{
    ledger = seeds_share(sizeof *ledger);
    struct seeds seeds = {.count = SANITIZED ? 20 : 80,
                          .ledger = ledger,
                          .ledger_bytes = sizeof *ledger,
                          .wrong = ledger->wrong,
                          .run = run,
                          .add = add,
                          .say = say};
    int rc = seeds_read(&seeds, argc, argv);
    if (rc != 0) {
        return rc;
    }
    rc = seeds_run(&seeds);
    printf("%u puts, %u gets, %u copies, %u deletes, of which %u were done; %u lists; %u servers died\n",
           (unsigned)sums.puts, (unsigned)sums.gets, (unsigned)sums.copies, (unsigned)sums.removals,
           (unsigned)sums.good, (unsigned)sums.lists, (unsigned)sums.kills);
    return rc;
}
