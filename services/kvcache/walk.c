/* SPDX-License-Identifier: Apache-2.0 */
#include "services/kvcache/walk.h"

#include "base/check.h"
#include "services/kvcache/common.h"
#include "services/kvcache/reader.h"
#include "services/kvcache/root.h"

#include <string.h>

enum {
    STEPS_AN_UPCALL = 16,
    CHAINS_A_STEP = 16
}; /* an upcall pays for so many steps of a walk; an empty chain is quick */

/* The rules of kvcache.md, and those of single tables: in the words of the report. */
static const char table_items[] = "kvcache items: chains, queues and bytes agree";
static const char table_cas[] = "kvcache items: a value's cas was given by this root";
static const char table_holders[] = "kvcache holders: chains, ages and counts agree";
static const char table_dedup[] = "kvcache dedup: chains, ages and counts agree";
static const char table_questions[] = "kvcache reader: counts and bytes are those of the questions";
static const char table_fetches[] = "kvcache copies: a fetch is in its chain, with questions about its key behind it";
static const char table_flushes[] = "kvcache flush: counts are those of the flushes and cuts";
static const char never_forgotten[] = "kvcache reader: a question waits for something";
static const char rule_1[] = "kvcache rule 1: a write waits for copies, and for nothing else";
static const char rule_4[] = "kvcache rule 4: a copy is of an epoch that was";
static const char rule_6[] = "kvcache rule 6: a value is of an epoch that was";
static const char rule_9[] = "kvcache rule 9: a copy is over before its registration";
static const char rule_10[] = "kvcache rule 10: an asker's writes have numbers of their own";
static const char rule_11[] = "kvcache rule 11: a write is remembered once";
static const char rule_13[] = "kvcache rules 13 and 14: settled, or calm, since an epoch that was";
static const char rule_16[] = "kvcache rule 16: copies are of this generation or one before";

struct walk {
    struct kvcache *k;
    uint64_t steps; /* taken so far */
    size_t waiting_bytes, waiting_keys, under_way;
    cw_time now;
    uint64_t epoch;
};

#define WHO(name) kv_who(w->k, name, (char[KV_WHO]){0})

/* ---- Values and copies ------------------------------------------------------------------------------------------- */

static struct item_name name_of(const struct item *i)
{
    return (struct item_name){.id = i->id, .job = i->job, .key = item_key(i), .key_length = i->key_length};
}

static uint64_t hash_of(const cw_key *id)
{
    uint64_t hash;
    memcpy(&hash, id->b, sizeof hash);
    return hash;
}

/* The chains from `first` on; each holds the items whose hash ends in its index. Gives how many. */
static size_t walk_chains(struct walk *w, struct item *const *chain, size_t mask, size_t first)
{
    size_t count = 0;
    for (size_t at = first; at <= mask; at++) {
        for (const struct item *i = chain[at]; i != NULL; i = i->chain) {
            struct item_name name = name_of(i);
            CHECK_RULE((hash_of(&i->id) & mask) == at && list_is_linked(&i->queue), table_items, WHO(&name));
            count++;
        }
    }
    return count;
}

typedef void (*check_fn)(const struct walk *w, const struct item *i);

static size_t walk_queue(struct walk *w, const struct item_queue *q, bool main, check_fn check)
{
    size_t count = 0, bytes = 0;
    for (struct list_node *n = list_first(&q->list); n != NULL; n = list_next(&q->list, n)) {
        const struct item *i = container_of(n, struct item, queue);
        struct item_name name = name_of(i);
        CHECK_RULE(i->main == main && i->key_length >= 1, table_items, WHO(&name));
        check(w, i);
        bytes += item_cost(i);
        count++;
    }
    CHECK_RULE(bytes == q->bytes, table_items, WHO(NULL));
    w->steps += count;
    return count;
}

static void walk_items(struct walk *w, const struct items *t, check_fn check)
{
    size_t queued = walk_queue(w, &t->small, false, check) + walk_queue(w, &t->main, true, check);
    size_t chained = walk_chains(w, t->chain, t->mask, 0);
    if (t->old != NULL) {
        chained += walk_chains(w, t->old, t->old_mask, t->moved);
    }
    CHECK_RULE(queued == t->count && chained == t->count, table_items, WHO(NULL));
    CHECK_RULE(t->small.bytes + t->main.bytes <= t->bytes_max, table_items, WHO(NULL));
    w->steps += (t->mask + 1) / CHAINS_A_STEP;
}

static void check_value(const struct walk *w, const struct item *i)
{
    struct item_name name = name_of(i);
    CHECK_RULE(i->cas >= 1 && i->cas <= w->k->cas, table_cas, WHO(&name));
    CHECK_RULE(i->epoch <= w->epoch, rule_6, WHO(&name));
}

static void check_copy(const struct walk *w, const struct item *i)
{
    struct item_name name = name_of(i);
    cw_time latest = cw_time_add(w->now, CW_MS(KV_AGE_MOST_MS));
    CHECK_RULE(!cw_time_before(latest, i->expires), rule_9, WHO(&name));
    CHECK_RULE((int32_t)(w->k->generation - i->stamp) >= 0, rule_16, WHO(&name));
    CHECK_RULE(i->epoch <= w->epoch, rule_4, WHO(&name));
}

/* ---- Holders, and writes that wait for them ---------------------------------------------------------------------- */

static void walk_waiting(struct walk *w, const struct held_key *held)
{
    size_t count = 0, bytes = 0;
    for (struct list_node *n = list_first(&held->writes); n != NULL; n = list_next(&held->writes, n)) {
        const struct root_write *write = container_of(n, struct root_write, node);
        bytes += root_write_bytes(&write->ask);
        count++;
        if (write->record != NULL) {
            CHECK_RULE(write->record->under_way == write, rule_11, WHO(&held->name));
            w->under_way++;
        }
    }
    CHECK_RULE(count == held->write_count && bytes == held->write_bytes, table_holders, WHO(&held->name));
    CHECK_RULE((count > 0) == list_is_linked(&held->waiting), rule_1, WHO(&held->name));
    CHECK_RULE(count == 0 || held->count > 0, rule_1, WHO(&held->name));
    w->waiting_bytes += bytes;
    w->waiting_keys += count > 0;
    w->steps += count;
}

static void walk_held(struct walk *w, const struct held_key *held)
{
    CHECK_RULE(!held->busy && held->count <= held->room && (held->count > 0 || held->write_count > 0), table_holders,
               WHO(&held->name));
    for (unsigned i = 0; i < held->count; i++) {
        const struct holder *h = &held->holder[i];
        CHECK_RULE(h->server < w->k->servers && h->server != w->k->self, table_holders, WHO(&held->name));
        CHECK_RULE(h->stamp <= w->k->holders.stamps && !cw_time_before(held->latest, h->since), table_holders,
                   WHO(&held->name));
        for (unsigned other = 0; other < i; other++) {
            CHECK_RULE(held->holder[other].server != h->server, table_holders, WHO(&held->name));
        }
    }
    walk_waiting(w, held);
    w->steps += 1 + held->count;
}

static void walk_holders(struct walk *w)
{
    const struct holders *h = &w->k->holders;
    size_t chained = 0, aged = 0, waiting = 0;
    for (size_t at = 0; at < HOLDERS_CHAINS && h->count > 0; at++) {
        for (const struct held_key *held = h->chain[at]; held != NULL; held = held->chain) {
            chained++;
        }
    }
    w->steps += h->count > 0 ? HOLDERS_CHAINS / CHAINS_A_STEP : 0;
    cw_time before = {0};
    for (struct list_node *n = list_first(&h->ages); n != NULL; n = list_next(&h->ages, n)) {
        const struct held_key *held = container_of(n, struct held_key, by_age);
        CHECK_RULE(!cw_time_before(held->latest, before), table_holders, WHO(&held->name));
        before = held->latest;
        walk_held(w, held);
        aged++;
    }
    for (struct list_node *n = list_first(&w->k->waiting); n != NULL; n = list_next(&w->k->waiting, n)) {
        waiting++;
    }
    CHECK_RULE(chained == h->count && aged == h->count && aged <= h->most, table_holders, WHO(NULL));
    CHECK_RULE(waiting == w->waiting_keys && w->waiting_bytes == w->k->waiting_bytes, table_holders, WHO(NULL));
}

/* ---- Writes that were done --------------------------------------------------------------------------------------- */

static void walk_dedup(struct walk *w)
{
    const struct dedup *d = &w->k->dedup;
    size_t aged = 0, chained = 0, under_way = 0;
    for (struct list_node *n = list_first(&d->ages); n != NULL; n = list_next(&d->ages, n)) {
        const struct dedup_write *write = container_of(n, struct dedup_write, by_age);
        CHECK_RULE(write->asker->instance != 0 && list_is_linked(&write->of_asker), table_dedup, WHO(NULL));
        under_way += write->under_way != NULL;
        aged++;
    }
    for (size_t at = 0; at < DEDUP_CHAINS && d->count > 0; at++) {
        for (const struct dedup_write *write = d->chain[at]; write != NULL; write = write->chain, chained++) {
            for (const struct dedup_write *other = write->chain; other != NULL; other = other->chain) {
                CHECK_RULE(other->asker != write->asker || other->number != write->number, rule_11, WHO(NULL));
            }
        }
    }
    CHECK_RULE(aged == d->count && chained == d->count, table_dedup, WHO(NULL));
    CHECK_RULE(under_way == w->under_way, rule_11, WHO(NULL));
    w->steps += aged + (d->count > 0 ? DEDUP_CHAINS / CHAINS_A_STEP : 0);
}

/* ---- Questions --------------------------------------------------------------------------------------------------- */

static bool waits_at_root(struct kvcache *k, const struct question *q, const struct item_name *name)
{
    const struct held_key *held = holders_find(&k->holders, name);
    for (struct list_node *n = held != NULL ? list_first(&held->writes) : NULL; n != NULL;
         n = list_next(&held->writes, n)) {
        const struct root_write *write = container_of(n, struct root_write, node);
        if (write->asker.kind == ASKER_HERE && write->asker.question == q) {
            return true;
        }
    }
    return false;
}

static struct item_name asked_of(const struct question *q)
{
    return (struct item_name){.id = q->id, .job = q->r.job, .key = q->r.key, .key_length = (uint8_t)q->r.key_length};
}

/* Those that wait for the same fetch ask about the same key. Gives how many. */
static size_t walk_followers(struct walk *w, const struct question *q)
{
    size_t count = 0;
    struct item_name name = asked_of(q);
    for (struct list_node *n = list_first(&q->followers); n != NULL; n = list_next(&q->followers, n)) {
        const struct question *f = container_of(n, struct question, fetch);
        bool same = f->r.job == q->r.job && f->r.key_length == q->r.key_length &&
                    memcmp(f->r.key, q->r.key, q->r.key_length) == 0;
        CHECK_RULE(f->follows && !f->fetches && !f->write && same, table_fetches, WHO(&name));
        count++;
    }
    return count;
}

static void walk_list(struct walk *w, const struct list *list, bool writes, size_t *count, size_t *bytes)
{
    uint64_t before = 0;
    for (struct list_node *n = list_first(list); n != NULL; n = list_next(list, n)) {
        const struct question *q = container_of(n, struct question, node);
        struct item_name name = asked_of(q);
        CHECK_RULE(!q->finished && q->write == writes && q->k == w->k, table_questions, WHO(&name));
        if (writes) {
            CHECK_RULE(q->number > before && q->number <= w->k->number, rule_10, WHO(&name));
            before = q->number;
        }
        CHECK_RULE(q->call > 0 || q->message > 0 || q->timer != NULL || q->follows || waits_at_root(w->k, q, &name),
                   never_forgotten, WHO(&name));
        CHECK_RULE((q->fetches || q->follows) == list_is_linked(&q->fetch), table_fetches, WHO(&name));
        *bytes += reader_bytes(&q->r);
        ++*count;
    }
}

static void walk_questions(struct walk *w)
{
    const struct kvcache *k = w->k;
    size_t count = 0, bytes = 0, follow = 0, followers = 0;
    walk_list(w, &k->questions, false, &count, &bytes);
    walk_list(w, &k->writes, true, &count, &bytes);
    CHECK_RULE(count == k->question_count && bytes == k->question_bytes, table_questions, WHO(NULL));
    for (struct list_node *n = list_first(&k->questions); n != NULL; n = list_next(&k->questions, n)) {
        follow += container_of(n, struct question, node)->follows;
    }
    for (unsigned at = 0; at < KV_FETCH_CHAINS; at++) {
        const struct list *chain = &k->fetches[at];
        for (struct list_node *n = list_first(chain); n != NULL; n = list_next(chain, n)) {
            const struct question *q = container_of(n, struct question, fetch);
            struct item_name name = asked_of(q);
            CHECK_RULE(q->fetches && !q->write && q->id.b[0] % KV_FETCH_CHAINS == at, table_fetches, WHO(&name));
            CHECK_RULE((int32_t)(k->generation - q->generation) >= 0, rule_16, WHO(&name));
            followers += walk_followers(w, q);
        }
    }
    CHECK_RULE(follow == followers, table_fetches, WHO(NULL));
    w->steps += 2 * count;
}

/* ---- The rest ---------------------------------------------------------------------------------------------------- */

static void walk_flushes(struct walk *w)
{
    const struct kvcache *k = w->k;
    unsigned flushes = 0;
    for (struct list_node *n = list_first(&k->flushes); n != NULL; n = list_next(&k->flushes, n)) {
        flushes++;
    }
    CHECK_RULE(flushes == k->flush_count && k->cuts <= KV_CUTS_MOST, table_flushes, WHO(NULL));
    for (unsigned i = 0; i < k->cuts; i++) {
        CHECK_RULE(k->cut[i].cas <= k->cas, table_flushes, WHO(NULL));
    }
}

static void walk_authority(struct walk *w)
{
    const struct kvcache *k = w->k;
    CHECK_RULE(!k->settled || (k->settling == NULL && k->settled_epoch <= w->epoch), rule_13, WHO(NULL));
    uint64_t epoch = k->calm_epoch;
    for (unsigned i = 0; i < k->calms; i++) {
        bool later = i == 0 || cw_time_before(k->calm[i - 1].ready, k->calm[i].ready);
        CHECK_RULE(later && k->calm[i].epoch > epoch, rule_13, WHO(NULL));
        epoch = k->calm[i].epoch;
    }
    CHECK_RULE(epoch <= w->epoch, rule_13, WHO(NULL));
}

bool walk_now(struct kvcache *k)
{
    struct walk walk = {.k = k, .now = cw_now(k->svc), .epoch = cw_epoch(k->svc)}, *w = &walk;
    walk_items(w, &k->values, check_value);
    walk_items(w, &k->copies, check_copy);
    walk_holders(w);
    walk_dedup(w);
    walk_questions(w);
    walk_flushes(w);
    walk_authority(w);
    k->walk_steps = w->steps;
    return true;
}

bool walk_sometimes(struct kvcache *k)
{
    if (k->walk_steps > STEPS_AN_UPCALL) {
        k->walk_steps -= STEPS_AN_UPCALL;
        return true;
    }
    return k->closing || walk_now(k);
}
