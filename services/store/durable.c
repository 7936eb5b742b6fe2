/* SPDX-License-Identifier: Apache-2.0 */
#include "services/store/durable.h"

#include "base/bytes.h"
#include "base/words.h"
#include "services/reply/refuse.h"
#include "services/reply/servers.h"
#include "services/store/common.h"
#include "services/store/disk/host.h"
#include "services/store/found.h"
#include "services/store/genesis.h"
#include "services/store/hearing.h"
#include "services/store/scrub.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
    SEGMENT_MIB = 16,
    MIB_MOST = 1 << 20,
    SEGMENT_MOST = 64,
    BYTES_LEAST = 96,
    LONG_MIB = JOURNAL_LONG_SEGMENT >> 20,
    LINE = 700
};

/* ---- Who waits --------------------------------------------------------------------------------------------------- */

static bool is_settled(const struct store *s)
{
    return !s->of.disk || STORE_MUTANT(ANSWERS_EARLY) || journal_is_settled(s->journal);
}

static void disk_due(cw_svc *svc, void *state, void *arg);

/* Somebody waits for the disk; and does so no more, because it has told. */
static void wait_for(struct store *s, struct journal_waiter *waiter)
{
    if (s->disk_waits++ == 0) {
        s->disk_stirred = cw_now(s->svc);
    }
    journal_wait(s->journal, waiter);
    if (journal_is_doomed(s->journal)) { /* there may be nothing under way that would end and have it noticed */
        cw_timer_stop(s->svc, s->disk_timer);
        s->disk_timer = cw_timer_start(s->svc, CW_NS(0), disk_due, NULL);
    }
}

static void waited_for(struct store *s, bool good)
{
    if (good && cw_time_since(cw_now(s->svc), s->disk_stirred).ns >= s->limits.slow.ns) {
        store_note(s, STORE_COUNT_DISK_SLOW); /* once for all that were told now */
    }
    s->disk_stirred = cw_now(s->svc);
    s->disk_waits--;
}

/* An answer that waits for the disk. */
struct held {
    struct journal_waiter waiter;
    struct store *store;
    struct store_right to;
    size_t size, patch;
    uint8_t bytes[];
};

static void held_told(struct journal_waiter *waiter, bool good)
{
    struct held *h = container_of(waiter, struct held, waiter);
    waited_for(h->store, good);
    if (good && h->patch != 0) {
        put_be64(h->bytes + h->patch, store_durable_position(h->store));
    }
    if (good) {
        store_carry_answer(h->store, &h->to, h->bytes, h->size);
    }
    free(h);
}

void store_durable_answer(struct store *s, const struct store_right *to, const uint8_t *bytes, size_t size,
                          size_t patch)
{
    if (is_settled(s)) {
        store_carry_answer(s, to, bytes, size);
        return;
    }
    struct held *h = malloc(sizeof *h + size);
    if (h != NULL) {
        *h = (struct held){.waiter = {.told = held_told}, .store = s, .to = *to, .size = size, .patch = patch};
        memcpy(h->bytes, bytes, size);
        wait_for(s, &h->waiter);
    }
}

/* A leader's own vote that waits for the disk. */
struct vote {
    struct journal_waiter waiter;
    struct store *store;
    uint32_t shard;
    struct store_ballot ballot;
    enum store_item_kind kind;
    uint64_t number;
};

static void vote_told(struct journal_waiter *waiter, bool good)
{
    struct vote v = *container_of(waiter, struct vote, waiter);
    free(container_of(waiter, struct vote, waiter));
    waited_for(v.store, good);
    struct store_shard *shard = store_shard_find(v.store, v.shard);
    struct store_lead *lead = shard != NULL ? shard->lead : NULL;
    if (good && lead != NULL && store_ballot_compare(lead->ballot, v.ballot) == 0) {
        store_lead_voted(lead, v.kind, v.number);
    }
}

bool store_durable_vote(struct store_lead *lead, enum store_item_kind kind, uint64_t number)
{
    struct store *s = lead->store;
    if (is_settled(s)) {
        return true;
    }
    struct vote *v = malloc(sizeof *v); /* without memory it never counts, and the leadership is given up */
    if (v != NULL) {
        *v = (struct vote){{.told = vote_told}, s, lead->shard->number, lead->ballot, kind, number};
        wait_for(s, &v->waiter);
    }
    return false;
}

bool store_durable_promise_stands(const struct store *s, const struct store_shard *shard)
{
    return !s->of.disk || STORE_MUTANT(ANSWERS_EARLY) || journal_put_told(s->journal) >= shard->saved_ticket;
}

/* ---- Putting ----------------------------------------------------------------------------------------------------- */

void store_durable_class(struct store *s, const struct store_word *w)
{
    size_t size = 1 + store_word_size(w);
    uint8_t *bytes = s->of.disk ? malloc(size) : NULL;
    if (s->of.disk && bytes == NULL) {
        journal_doom(s->journal); /* as of a register */
    }
    if (bytes != NULL) {
        bytes[0] = STORE_FOUND_VERSION;
        store_word_encode(w, bytes + 1);
        const cw_key key = store_found_key(0);
        journal_put(s->journal, STORE_FOUND_CLASS, &key, bytes, size);
        free(bytes);
    }
}

static void note_saved(struct store *s, struct store_shard *shard)
{
    shard->saved = shard->acceptor.promised;
    shard->saved_ticket = journal_put_last(s->journal);
}

void store_durable_shard(struct store *s, struct store_shard *shard)
{
    uint8_t bytes[STORE_FOUND_SHARD_MOST];
    if (s->of.disk) {
        size_t size = store_found_shard(shard, bytes);
        const cw_key key = store_found_key(shard->number);
        journal_put(s->journal, STORE_FOUND_SHARD, &key, bytes, size);
        note_saved(s, shard);
    }
}

void store_durable_promise(struct store *s, struct store_shard *shard)
{
    if (s->of.disk && store_ballot_compare(shard->saved, shard->acceptor.promised) != 0) {
        store_durable_shard(s, shard);
    }
}

void store_durable_drop(struct store *s, const struct store_name *name)
{
    if (s->of.disk) {
        const cw_key key = store_places_record(name);
        journal_drop(s->journal, STORE_FOUND_REGISTER, &key);
    }
}

static void lent_back(void *arg)
{
    store_parcel_drop(arg);
}

/* Is that the record of the register? */
static bool is_record(const struct store_parcel *parcel, size_t at, const struct store_register *r)
{
    return parcel != NULL && parcel->size == at + 1 + store_register_size(r) &&
           get_be64(parcel->bytes + at + 1) == r->tag.ballot.high &&
           get_be64(parcel->bytes + at + 9) == r->tag.ballot.low && get_be64(parcel->bytes + at + 17) == r->tag.n;
}

static void put_register(struct store *s, const struct store_name *name, const struct store_register *r,
                         struct store_parcel *parcel, size_t at)
{
    const cw_key key = store_places_record(name);
    size_t size = 1 + store_register_size(r);
    struct store_parcel *lent = NULL;
    if (size > JOURNAL_INLINE_MAX && is_record(parcel, at, r)) {
        lent = store_parcel_share(parcel);
        lent->bytes[at] = STORE_FOUND_VERSION;
    } else {
        lent = store_parcel_of(s, STORE_HAND_ITEMS, r);
        at = 0;
    }
    if (lent == NULL) {
        journal_doom(s->journal); /* an order with a hole is none */
        return;
    }
    journal_lend(s->journal, STORE_FOUND_REGISTER, &key, lent->bytes + at, size, lent_back, lent);
}

/* The register tells of the promise too, when it is of the ballot that was promised. */
void store_durable_register(struct store *s, struct store_shard *shard, const struct store_name *name,
                            struct store_parcel *parcel, size_t at)
{
    if (!s->of.disk) {
        return;
    }
    const struct store_register *r = store_table_find(&shard->acceptor.table, name);
    if (r != NULL) {
        put_register(s, name, r, parcel, at);
        if (store_ballot_compare(r->tag.ballot, shard->acceptor.promised) == 0) {
            note_saved(s, shard);
        }
    }
    store_durable_promise(s, shard);
}

/* ---- The disk tells ---------------------------------------------------------------------------------------------- */

static void wind(struct store *s);

static void disk_due(cw_svc *svc, void *state, void *arg)
{
    struct store *s = state;
    (void)svc;
    (void)arg;
    s->disk_timer = NULL;
    journal_tick(s->journal, cw_now(s->svc));
    wind(s);
}

static void wind(struct store *s)
{
    cw_time at = journal_next_wake(s->journal);
    if (s->disk_timer == NULL && at.ns != CW_NEVER.ns) {
        cw_span rest = cw_time_since(at, cw_now(s->svc));
        s->disk_timer = cw_timer_start(s->svc, rest.ns > 0 ? rest : CW_NS(0), disk_due, NULL);
    }
}

static void on_landed(void *arg)
{
    struct store *s = arg;
    journal_tick(s->journal, cw_now(s->svc));
    wind(s);
    store_scrub_wake(s);
}

static void on_opened(void *arg, enum journal_state state)
{
    struct store *s = arg;
    s->health = STORE_WELL;
    if (state != JOURNAL_OPEN) {
        store_say(s, CW_LOG_ERROR, "the store's folder %s cannot be used: %s", s->folder, journal_why(s->journal));
        s->health = s->of.id != 0 ? STORE_DEAD : STORE_WELL;
        if (s->question_count > 0) {
            store_genesis_learn(s);
        }
        return;
    }
    if (s->found_strange > 0) {
        store_say(
            s, CW_LOG_ERROR,
            "the store's folder %s has %llu records that this release cannot read, because it is of a later one or "
            "this server has too little memory: its members on this server do not vote; start that release again, "
            "or this one with more memory",
            s->folder, (unsigned long long)s->found_strange);
        s->health = STORE_DEAD; /* of no class neither: what is there would come back as if it had been chosen */
        s->class_known(s);      /* what is asked for here goes on: other members have it */
        return;
    }
    store_say(s, CW_LOG_INFO, "the store's folder %s is open: %s", s->folder, journal_why(s->journal));
    if (s->of.id == 0) {
        if (s->question_count > 0) {
            store_genesis_learn(s);
        }
        return;
    }
    s->class_known(s);
    store_hearing_begin(s);
    store_scrub_wake(s);
}

static void on_died(void *arg)
{
    struct store *s = arg;
    store_say(s, CW_LOG_ERROR, "the store's disk failed (%s): its members on this server are lost",
              journal_why(s->journal));
    if (!s->of.disk) {
        return;
    }
    s->health = STORE_DEAD;
    for (unsigned i = 0; i < s->shards; i++) {
        if (s->shard[i]->lead != NULL) {
            store_lead_end(s->shard[i]->lead, STORE_END_DEPOSED);
        }
    }
}

/* ---- Opening and closing ----------------------------------------------------------------------------------------- */

static int read_options(struct store *s)
{
    uint64_t segment = SEGMENT_MIB, most = 0;
    const char *text = cw_option(s->svc, "segment_mib");
    if (text != NULL && words_number(text, 1, SEGMENT_MOST, &segment) < 0) {
        return refuse_setting(s->svc, "segment_mib", text, "a whole number of MiB from 1 to 64");
    }
    text = cw_option(s->svc, "bytes_max");
    if (text != NULL && (words_number(text, BYTES_LEAST, MIB_MOST, &most) < 0 ||
                         most < 6 * (segment < LONG_MIB ? LONG_MIB : segment))) {
        return refuse_setting(s->svc, "bytes_max", text,
                              "a whole number of MiB, at least 96 and 6 times segment_mib, up to 1048576");
    }
    s->folder = cw_option(s->svc, "folder");
    s->segment = (uint32_t)segment << 20;
    s->disk_max = most << 20;
    return 0;
}

/* Whose folder it is: of a server of a torus of a cluster. */
static uint64_t owner_of(const struct store *s)
{
    const char *text = cw_option(s->svc, "cluster");
    cw_dims dims = cw_torus(s->svc);
    uint64_t cluster = 0;
    if (text != NULL) {
        (void)!words_number(text, 0, UINT32_MAX, &cluster);
    }
    uint64_t of = (uint64_t)dims.x << 40 | (uint64_t)dims.y << 20 | dims.z;
    return (of ^ cluster << 32) * UINT64_C(0x9e3779b97f4a7c15) + s->self + 1;
}

static int open_journal(struct store *s)
{
    const struct journal_events events = {.arg = s,
                                          .found = store_found,
                                          .opened = on_opened,
                                          .landed = on_landed,
                                          .died = on_died,
                                          .damaged = store_found_damaged};
    struct journal_options options = {
        .owner = owner_of(s), .segment = s->segment, .bytes_max = s->disk_max, .fresh_id = cw_random(s->svc)};
    options.fresh_id += options.fresh_id == 0;
    return journal_open(&s->journal, &options, &events, s->disk);
}

int store_durable_open(struct store *s)
{
    char why[DISKS_WHY];
    int rc = read_options(s);
    s->disks = cw_find(s->svc, DISKS_HOST_NAME, DISKS_HOST_VERSION, NULL);
    if (rc < 0 || s->folder == NULL || s->disks == NULL) {
        return rc;
    }
    rc = s->disks->open(s->disks->context, cw_self(s->svc), "store", CW_STORE_API, s->folder, &s->disk, why);
    if (rc < 0) {
        store_say(s, CW_LOG_ERROR, "%s", why);
        return rc;
    }
    s->health = STORE_OPENING;
    rc = open_journal(s);
    if (rc < 0) {
        store_durable_close(s);
    }
    return rc;
}

void store_durable_close(struct store *s)
{
    if (s->disk != NULL) {
        s->disks->close(s->disks->context, s->disk);
        s->disk = NULL;
    }
    cw_timer_stop(s->svc, s->damage.timer);
    s->damage = (struct store_damage){.count = 0};
    journal_close(s->journal);
    s->journal = NULL;
}

/* ---- Questions --------------------------------------------------------------------------------------------------- */

bool store_durable_ready(const struct store *s)
{
    return s->journal != NULL && journal_state(s->journal) == JOURNAL_OPEN;
}

uint64_t store_durable_id(const struct store *s)
{
    return journal_id(s->journal);
}

uint64_t store_durable_boot(const struct store *s)
{
    return journal_boot(s->journal);
}

uint64_t store_durable_position(const struct store *s)
{
    return s->of.disk && s->journal != NULL ? journal_position(s->journal) : 0;
}

bool store_durable_is_full(const struct store *s)
{
    return s->of.disk && s->journal != NULL && journal_is_full(s->journal);
}

enum journal_room store_durable_room(struct store *s, size_t bytes, size_t besides)
{
    return !s->of.disk || s->journal == NULL || bytes <= JOURNAL_INLINE_MAX ? JOURNAL_ROOM
                                                                            : journal_room(s->journal, bytes, besides);
}

bool store_durable_has_room(struct store *s, const struct store_register *r)
{
    return store_durable_room(s, 1 + store_register_size(r), 0) == JOURNAL_ROOM;
}

const char *store_durable_text(const struct store *s)
{
    if (s->journal == NULL) {
        return s->folder == NULL ? "no folder is set" : "this program has no disks for services";
    }
    return s->health == STORE_OPENING   ? "being read"
           : s->health == STORE_HEARING ? "asks others how far its log went"
                                        : journal_why(s->journal);
}
