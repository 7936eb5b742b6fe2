/* SPDX-License-Identifier: Apache-2.0 */
#include "services/store/compare.h"

#include "services/store/change.h"
#include "services/store/common.h"
#include "services/store/durable.h"
#include "services/store/peers.h"
#include "services/store/writing.h"

#include <stdlib.h>

enum { CRAMPED_MS = 5000 }; /* a member without room for long values is given none for so long */

static struct store_table *own(struct store_lead *lead)
{
    return &lead->shard->acceptor.table;
}

/* ---- Questions --------------------------------------------------------------------------------------------------- */

static void give(struct store_lead *lead)
{
    struct store_comparison *c = &lead->comparison;
    const struct store_register *r = store_table_at(own(lead), c->bucket, c->give_at);
    if (r != NULL && !store_carry_fits_item(lead->store, r)) {
        if (c->parcel == NULL && !store_carry_is_full(lead->store, STORE_HAND_GIVES, store_register_bytes(r))) {
            c->parcel = store_parcel_of(lead->store, STORE_HAND_GIVES, r);
        }
        if (c->parcel != NULL) {
            store_peers_letter(lead, c->member, (struct store_item){.kind = STORE_ITEM_GIVE}, c->question, c->parcel);
        }
        return;
    }
    size_t size = r != NULL ? store_register_size(r) : 0;
    uint8_t *bytes = r != NULL ? malloc(size) : NULL;
    if (bytes != NULL) {
        const struct store_item item = {.kind = STORE_ITEM_GIVE, .bytes = bytes, .length = size};
        store_register_encode(r, bytes);
        store_peers_send(lead, c->member, item, c->question);
        free(bytes);
    }
}

static void ask(struct store_lead *lead)
{
    struct store_comparison *c = &lead->comparison;
    struct store_item item = {.kind = STORE_ITEM_BUCKETS, .from = (uint16_t)c->from};
    if (c->stage == COMPARE_LIST) {
        item.kind = STORE_ITEM_LIST;
        item.bucket = (uint16_t)c->bucket;
    } else if (c->stage == COMPARE_FETCH) {
        item = (struct store_item){.kind = STORE_ITEM_FETCH, .name = store_register_name(c->wanted)};
    } else if (c->stage == COMPARE_DROP) {
        item = (struct store_item){.kind = STORE_ITEM_DROP, .name = store_register_name(c->wanted)};
    } else if (c->stage == COMPARE_GIVE) {
        give(lead);
        return;
    }
    if (c->stage == COMPARE_FETCH && c->large) {
        if (store_durable_room(lead->store, STORE_LETTER_MOST, lead->store->hand[STORE_HAND_ASKS]) != JOURNAL_ROOM) {
            return; /* later, when it is asked again */
        }
        store_peers_letter(lead, c->member, item, c->question, NULL);
        return;
    }
    store_peers_send(lead, c->member, item, c->question);
}

static void ask_next(struct store_lead *lead)
{
    struct store_comparison *c = &lead->comparison;
    c->question++;
    c->asked = cw_now(lead->store->svc);
    store_parcel_drop(c->parcel);
    c->parcel = NULL;
    ask(lead);
    store_lead_wind(lead);
}

void store_compare_begin(struct store_lead *lead, unsigned member, int how)
{
    struct store_comparison *c = &lead->comparison;
    const uint32_t serial = ++lead->store->comparisons; /* registers of former leaderships have seen others */
    const uint64_t question = c->question;
    *c = (struct store_comparison){.runs = true,
                                   .how = how,
                                   .member = member,
                                   .serial = serial,
                                   .question = question,
                                   .stage = COMPARE_BUCKETS,
                                   .refused = SIZE_MAX};
    ask_next(lead);
}

static void forget_wanted(struct store_comparison *c)
{
    while (c->wanted != NULL) {
        struct store_register *next = c->wanted->next;
        free(c->wanted);
        c->wanted = next;
    }
}

void store_compare_drop(struct store_lead *lead)
{
    forget_wanted(&lead->comparison);
    store_parcel_drop(lead->comparison.parcel);
    lead->comparison.parcel = NULL;
    lead->comparison.runs = false;
}

static void end(struct store_lead *lead)
{
    struct store_comparison *c = &lead->comparison;
    const unsigned given = c->given;
    store_compare_drop(lead);
    if (c->how == STORE_COMPARE_FILL) {
        store_change_compared(lead, given);
        return;
    }
    if (c->how == STORE_COMPARE_TAKEOVER) {
        lead->compared |= 1u << c->member;
    } else if (c->refused != SIZE_MAX) {
        lead->cramped[c->member] = cw_time_add(cw_now(lead->store->svc), CW_MS(CRAMPED_MS));
    }
    store_lead_go_on(lead);
}

size_t store_compare_bytes(const struct store_lead *lead)
{
    const struct store_comparison *c = &lead->comparison;
    bool fetches = c->runs && c->stage == COMPARE_FETCH && c->large;
    return c->parcel != NULL ? c->parcel->size : fetches ? STORE_LETTER_MOST : 0;
}

/* To the next bucket that differs, from this one on. */
static void list_next_bucket(struct store_lead *lead, unsigned bucket)
{
    struct store_comparison *c = &lead->comparison;
    while (bucket < STORE_BUCKETS && !c->differs[bucket]) {
        bucket++;
    }
    if (bucket == STORE_BUCKETS) {
        end(lead);
        return;
    }
    c->stage = COMPARE_LIST;
    c->bucket = bucket;
    c->from = 0;
    ask_next(lead);
}

/* ---- What differs ------------------------------------------------------------------------------------------------ */

/* Its value has a place of its own on a disk, where there may be none left. */
static bool is_long(const struct store_register *r)
{
    return 1 + store_register_size(r) > JOURNAL_INLINE_MAX && !STORE_MUTANT(WRITES_LONG);
}

/* The leader has this, and the member has something else, or nothing. */
static void differs(struct store_lead *lead, struct store_register *r)
{
    if (lead->comparison.how == STORE_COMPARE_TAKEOVER) {
        r->doubtful = true;
    } else if (r->under_way == NULL && store_writing_has_room(lead, r)) {
        store_note(lead->store, STORE_COUNT_REPAIRED);
        (void)!store_writing_again(lead, r); /* without memory, the next comparison finds it again */
    }
}

/* The member has what the open leader does not know: it was never chosen. */
static void bury(struct store_lead *lead, const struct store_name *name)
{
    if (store_writing_blocks(lead, name) == NULL) {
        store_note(lead->store, STORE_COUNT_REPAIRED);
        (void)!store_writing_absent(lead, name);
    }
}

/* False: there is no memory for it. */
static bool want(struct store_comparison *c, const struct store_name *name)
{
    struct store_register *r = store_register_new(name, 0);
    if (r != NULL) {
        r->next = c->wanted;
        c->wanted = r;
    }
    return r != NULL;
}

static void fill_listed(struct store_lead *lead, const struct store_listed *listed, struct store_register *have)
{
    struct store_comparison *c = &lead->comparison;
    int order = have != NULL ? store_tag_compare(have->tag, listed->tag) : -1;
    if (have == NULL && !STORE_MUTANT(UNION)) {
        c->given += !want(c, &listed->name); /* it stays: so the newcomer is compared with once more */
    } else if (have != NULL && order != 0 && !(STORE_MUTANT(UNION) && order < 0)) {
        have->seen = 0; /* it is given when all of the bucket has been listed */
    }
}

/* A voter names what it holds: what is above all that is known so far is fetched. False: there is no memory. */
static bool compare_listed(struct store_lead *lead, const struct store_listed *listed, struct store_register *have)
{
    const struct store_register *fetched = store_table_find(&lead->fetched, &listed->name);
    const struct store_register *best = fetched != NULL ? fetched : have;
    int order = best != NULL ? store_tag_compare(best->tag, listed->tag) : -1;
    if (STORE_MUTANT(OWN_STATE) ? have != NULL && order != 0 : fetched == NULL && order > 0) {
        differs(lead, have);
    }
    return order >= 0 || STORE_MUTANT(OWN_STATE) || want(&lead->comparison, &listed->name);
}

/* False: there is no memory. */
static bool take_listed(struct store_lead *lead, const struct store_listed *listed)
{
    struct store_comparison *c = &lead->comparison;
    struct store_register *have = store_table_find(own(lead), &listed->name);
    int order = have != NULL ? store_tag_compare(have->tag, listed->tag) : -1;
    if (have != NULL) {
        have->seen = c->serial;
    }
    if (c->how == STORE_COMPARE_TAKEOVER) {
        return compare_listed(lead, listed, have);
    }
    if (c->how == STORE_COMPARE_FILL) {
        fill_listed(lead, listed, have);
    } else if (have == NULL) {
        bury(lead, &listed->name);
    } else if (order > 0 && is_long(have)) {
        have->seen = 0; /* it is given when all of the bucket has been listed */
    } else if (order != 0) {
        differs(lead, have);
    }
    return true;
}

/* Of a bucket that was listed as a whole, what the member did not name it does not have. */
static void take_missing(struct store_lead *lead)
{
    struct store_comparison *c = &lead->comparison;
    struct store_register *behind;
    for (struct store_register *r = store_table_at(own(lead), c->bucket, 0); r != NULL; r = behind) {
        behind = r->next; /* what is written again takes the place of the one before */
        if (r->seen != c->serial && !(c->how == STORE_COMPARE_LATE && is_long(r))) {
            r->seen = c->serial;
            differs(lead, r);
        }
    }
}

/* ---- Replies ----------------------------------------------------------------------------------------------------- */

static void heard_sums(struct store_lead *lead, const struct store_reply *reply)
{
    struct store_comparison *c = &lead->comparison;
    for (unsigned i = 0; i < STORE_SUMS; i++) {
        struct store_sum theirs = store_sum_decode(reply->bytes + (size_t)i * STORE_SUM_BYTES);
        c->differs[c->from + i] = !store_sum_equal(theirs, store_table_sum(own(lead), c->from + i));
        lead->doubtful[c->from + i] |= c->how == STORE_COMPARE_TAKEOVER && c->differs[c->from + i];
    }
    c->from += STORE_SUMS;
    if (c->from < STORE_BUCKETS) {
        ask_next(lead);
        return;
    }
    list_next_bucket(lead, 0);
}

/* A newcomer is given all that it lacks, and a member what is long of it and chosen. */
static bool is_to_give(const struct store_comparison *c, const struct store_register *r)
{
    return r->seen != c->serial && (c->how == STORE_COMPARE_FILL ||
                                    (is_long(r) && r->under_way == NULL && store_register_size(r) < c->refused));
}

/* All of a bucket was listed: it goes on with the next register to be given, or with the next bucket. */
static void give_next(struct store_lead *lead)
{
    struct store_comparison *c = &lead->comparison;
    const struct store_register *r = store_table_at(own(lead), c->bucket, c->give_at);
    for (; r != NULL && !is_to_give(c, r); r = r->next) {
        c->give_at++;
    }
    if (r != NULL) {
        c->stage = COMPARE_GIVE;
        ask_next(lead);
        return;
    }
    c->give_at = 0;
    list_next_bucket(lead, c->bucket + 1);
}

/* All of a bucket was listed: the newcomer is to forget the names that are wanted, and is given what it lacks. */
static void fill_bucket(struct store_lead *lead)
{
    struct store_comparison *c = &lead->comparison;
    if (c->wanted != NULL) {
        c->stage = COMPARE_DROP;
        ask_next(lead);
        return;
    }
    give_next(lead);
}

static void heard_given(struct store_lead *lead)
{
    struct store_comparison *c = &lead->comparison;
    struct store_register *first = c->wanted;
    c->given++;
    store_note(lead->store, STORE_COUNT_GIVEN);
    if (c->stage == COMPARE_DROP) {
        c->wanted = first->next;
        free(first);
    } else {
        c->give_at++;
    }
    fill_bucket(lead);
}

void store_compare_refused(struct store_lead *lead, unsigned member, uint64_t question)
{
    struct store_comparison *c = &lead->comparison;
    if (!c->runs || c->member != member || c->question != question || c->stage != COMPARE_GIVE ||
        c->how != STORE_COMPARE_LATE) {
        return;
    }
    const struct store_register *r = store_table_at(own(lead), c->bucket, c->give_at++);
    const size_t size = r != NULL ? store_register_size(r) : 0;
    c->refused = size < c->refused ? size : c->refused; /* a shorter one may find room */
    give_next(lead);
}

static void go_on_in_bucket(struct store_lead *lead)
{
    struct store_comparison *c = &lead->comparison;
    if (c->how == STORE_COMPARE_FILL) {
        if (c->more) {
            ask_next(lead);
        } else {
            fill_bucket(lead);
        }
        return;
    }
    if (c->wanted != NULL) {
        c->stage = COMPARE_FETCH;
        ask_next(lead);
    } else if (c->more) {
        c->stage = COMPARE_LIST;
        ask_next(lead);
    } else {
        take_missing(lead);
        give_next(lead);
    }
}

static void heard_list(struct store_lead *lead, const struct store_reply *reply)
{
    struct store_comparison *c = &lead->comparison;
    struct store_listed listed;
    size_t at = 0;
    unsigned count = 0;
    while (at < reply->length && store_listed_next(reply->bytes, reply->length, &at, &listed)) {
        if (!take_listed(lead, &listed)) {
            store_lead_end(lead, STORE_END_ASIDE); /* what it does not know of it must not lead without: store rule 4 */
            return;
        }
        count++;
    }
    c->from += count;
    c->more = reply->more && count > 0;
    go_on_in_bucket(lead);
}

/*
 * Store rule 2: this server may have promised more than the register's ballot, so it accepts it by writing it again
 * under its own alone. False: there is no memory.
 */
static bool keep_fetched(struct store_lead *lead, struct store_register *r)
{
    if (STORE_MUTANT(ADOPTS) || STORE_MUTANT(NO_SYNC)) {
        r->doubtful = true;
        r->seen = lead->comparison.serial;
        return store_acceptor_adopt(&lead->shard->acceptor, r) == 1;
    }
    if (store_table_put(&lead->fetched, r) < 0) {
        free(r);
        return false;
    }
    return true;
}

static void heard_fetched(struct store_lead *lead, const struct store_reply *reply)
{
    struct store_comparison *c = &lead->comparison;
    struct store_register *wanted = c->wanted;
    struct store_register *r = store_register_decode(reply->bytes, reply->length);
    struct store_name name = store_register_name(wanted);
    struct store_name is = r != NULL ? store_register_name(r) : name;
    bool good = r != NULL && store_name_equal(&name, &is);
    if (!good) {
        free(r);
    }
    if (!good || !keep_fetched(lead, r)) {
        store_lead_end(lead, STORE_END_ASIDE); /* as of a name that it cannot keep */
        return;
    }
    c->wanted = wanted->next;
    c->large = false;
    free(wanted);
    go_on_in_bucket(lead);
}

void store_compare_heard(struct store_lead *lead, unsigned member, uint64_t question, const struct store_reply *reply)
{
    struct store_comparison *c = &lead->comparison;
    if (!c->runs || c->member != member || c->question != question) {
        return;
    }
    if (reply->why == STORE_REPLY_LARGE) {
        c->large = true;
        ask_next(lead);
        return;
    }
    lead->begun = c->how != STORE_COMPARE_FILL ? cw_now(lead->store->svc) : lead->begun;
    if (reply->kind == STORE_ITEM_BUCKETS && c->stage == COMPARE_BUCKETS) {
        heard_sums(lead, reply);
    } else if (reply->kind == STORE_ITEM_LIST && c->stage == COMPARE_LIST) {
        heard_list(lead, reply);
    } else if (reply->kind == STORE_ITEM_FETCH && c->stage == COMPARE_FETCH) {
        heard_fetched(lead, reply);
    } else if ((reply->kind == STORE_ITEM_GIVE && c->stage == COMPARE_GIVE) ||
               (reply->kind == STORE_ITEM_DROP && c->stage == COMPARE_DROP)) {
        heard_given(lead);
    }
}

/* A member whose disk has no room lets a letter wait, and says nothing: what else it lacks must not wait with it. */
void store_compare_resend(struct store_lead *lead)
{
    struct store_comparison *c = &lead->comparison;
    bool waits = c->how == STORE_COMPARE_LATE && c->stage == COMPARE_GIVE && !STORE_MUTANT(GIVES_ON);
    if (waits && cw_time_since(cw_now(lead->store->svc), c->asked).ns >= CW_SEC(STORE_LETTER_S).ns) {
        c->refused = 0;
        store_compare_refused(lead, c->member, c->question);
        return;
    }
    store_note(lead->store, STORE_COUNT_RESENT);
    ask(lead);
}
