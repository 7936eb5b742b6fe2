/* SPDX-License-Identifier: Apache-2.0 */
#include "services/store/genesis.h"

#include "services/reply/servers.h"
#include "services/store/common.h"
#include "services/store/durable.h"
#include "services/store/hearing.h"
#include "services/store/lead.h"
#include "services/store/making.h"
#include "services/store/members.h"

#include <errno.h>
#include <stdlib.h>

enum { LEARN_MS = 300, LEARN_OTHERS = 6, LEARN_AGAIN_MS = 1000 };

static void say(struct store *s, uint32_t call, const struct store_word *w)
{
    cw_packet *p = cw_packet_new(s->svc, store_word_size(w));
    if (p != NULL) {
        store_word_encode(w, cw_packet_data(p, NULL));
        (void)cw_reply(s->svc, call, 0, p); /* who hears nothing asks again */
    }
}

/* The class is on the disk by then, where it is one on disks. */
static void say_when_kept(struct store *s, uint32_t call, const struct store_word *w)
{
    uint8_t bytes[STORE_WORD_HEAD];
    store_word_encode(w, bytes);
    store_durable_answer(s, &(struct store_right){.call = call}, bytes, sizeof bytes, 0);
}

int store_genesis_send(struct store *s, cw_server server, const struct store_word *w, const cw_call_options *options,
                       cw_reply_fn done, void *arg)
{
    cw_packet *p = cw_packet_new(s->svc, store_word_size(w));
    if (p == NULL) {
        return -ENOMEM;
    }
    store_word_encode(w, cw_packet_data(p, NULL));
    const cw_to to = to_server(s->svc, STORE_JOB, STORE_PORT_OPERATORS, server);
    int64_t call = cw_call(s->svc, p, &to, options, done, arg);
    if (call < 0) {
        cw_packet_free(s->svc, p);
    }
    return call < 0 ? (int)call : 0;
}

/* ---- Shards ------------------------------------------------------------------------------------------------------ */

static uint64_t id_in(const struct store_word *w, cw_server server)
{
    for (unsigned i = 0; i < w->count; i++) {
        uint64_t id;
        if (store_entry_decode(w->entries + (size_t)i * STORE_ENTRY_BYTES, &id) == server) {
            return id;
        }
    }
    return 0;
}

/* The shards that this server is one of the first members of, in a class that is made with these stores. */
static int make_shards(struct store *s, const struct store_word *w)
{
    for (uint32_t n = 0; n < s->torus.servers * STORE_SHARDS_PER_SERVER; n++) {
        struct store_config config = {.epoch = STORE_EPOCH_FIRST};
        if (cw_distance(s->svc, cw_server_coord(s->svc, store_places_home(n)), cw_self(s->svc)) >= w->of.copies) {
            continue;
        }
        config.count = (uint8_t)store_places_members(&s->torus, n, w->of.copies, config.member);
        unsigned me = store_config_place(&config, s->self);
        struct store_shard *shard = me < config.count ? store_members_shard(s, n) : NULL;
        if (me == config.count) {
            continue;
        }
        if (shard == NULL) {
            return -ENOMEM;
        }
        for (unsigned m = 0; m < config.count; m++) {
            config.store_id[m] = id_in(w, config.member[m]);
        }
        shard->config = config;
        shard->me = (uint8_t)me;
        shard->role = STORE_ROLE_MEMBER;
    }
    return 0;
}

static int note_peers(struct store *s, const struct store_word *w)
{
    s->peer = calloc(w->count, sizeof *s->peer);
    if (s->peer == NULL && w->count > 0) {
        return -ENOMEM;
    }
    s->peers = w->count;
    for (unsigned i = 0; i < w->count; i++) {
        struct store_peer *p = &s->peer[i];
        p->server = store_entry_decode(w->entries + (size_t)i * STORE_ENTRY_BYTES, &p->store_id);
    }
    return 0;
}

int store_genesis_take(struct store *s, const struct store_word *w)
{
    const struct store_class before = s->of;
    s->of = w->of; /* shards are made with its number */
    int rc = note_peers(s, w);
    rc = rc == 0 && w->count > 0 ? make_shards(s, w) : rc; /* who joins later begins with none */
    if (rc < 0) {
        store_members_close(s);
        free(s->peer);
        s->peer = NULL;
        s->peers = 0;
        s->of = before;
        return rc;
    }
    s->joined = true;
    if (s->of.disk) {
        s->store_id = store_durable_id(s);
        s->boot = store_durable_boot(s);
    }
    s->boot = STORE_MUTANT(SAME_BOOT) ? 1 : s->boot;
    return 0;
}

void store_genesis_close(struct store *s)
{
    store_members_close(s);
    free(s->peer);
    s->peer = NULL;
    s->peers = 0;
    store_making_close(s);
}

/* ---- Words that come --------------------------------------------------------------------------------------------- */

static bool has_offer(const struct store *s)
{
    return s->offered != 0 && cw_time_before(cw_now(s->svc), s->offer_ends);
}

/* The id that this server's store has in such a class. */
static uint64_t id_for(const struct store *s, const struct store_class *of)
{
    return of->disk && store_durable_ready(s) ? store_durable_id(s) : s->store_id;
}

/* The peers' ids in the order in which they were heard of: those of the record come first. */
static uint16_t entries_of(const struct store *s, uint8_t out[static STORE_ENTRIES_MOST * STORE_ENTRY_BYTES])
{
    uint16_t count = 0;
    for (unsigned i = 0; i < s->peers && count < STORE_ENTRIES_MOST; i++) {
        const struct store_peer *p = &s->peer[i];
        store_entry_encode(p->server, p->store_id, out + (size_t)count++ * STORE_ENTRY_BYTES);
    }
    return count;
}

static void take_offer(struct store *s, const struct store_word *w, uint32_t call)
{
    uint8_t entries[STORE_ENTRIES_MOST * STORE_ENTRY_BYTES];
    struct store_word answer = {.kind = STORE_WORD_KNOWN, .of = s->of};
    bool mine = s->of.id == w->of.id;
    if (w->of.disk && !store_durable_ready(s)) {
        answer = (struct store_word){.kind = s->health == STORE_OPENING ? STORE_WORD_NOT_YET : STORE_WORD_NO_DISK};
    } else if (mine || (s->of.id == 0 && (!has_offer(s) || s->offered == w->of.id))) {
        s->offered = w->of.id;
        s->offer_ends = cw_time_add(cw_now(s->svc), CW_SEC(STORE_OFFER_S));
        answer = (struct store_word){.kind = STORE_WORD_AGREED, .store_id = id_for(s, &w->of)};
        if (mine && s->joined) {
            answer.of = s->of;
            answer.entries = entries;
            answer.count = entries_of(s, entries);
        }
    }
    say(s, call, &answer);
}

/* Who is asked what it does not know asks as well: of servers that started again together one finds out, then all. */
static void wonder(struct store *s)
{
    if (s->of.id == 0 && cw_time_since(cw_now(s->svc), s->learned_last).ns >= CW_MS(LEARN_AGAIN_MS).ns) {
        store_genesis_learn(s);
    }
}

/* 0, or why this server is not of the class. */
static int take_record(struct store *s, const struct store_word *w)
{
    if (s->of.id != 0 && (s->joined || s->of.id != w->of.id)) {
        return s->of.id == w->of.id ? 0 : -EEXIST;
    }
    if (!has_offer(s) || s->offered != w->of.id || w->store_id != id_for(s, &w->of)) {
        return -EBUSY;
    }
    int rc = store_genesis_take(s, w);
    if (rc == 0) {
        store_durable_class(s, w);
        s->offered = 0;
        s->class_known(s);
    }
    return rc;
}

void store_genesis_word(struct store *s, const uint8_t *bytes, size_t size, const cw_rx *rx)
{
    struct store_word w, answer = {.kind = STORE_WORD_NOBODY};
    if (rx->src_job != STORE_JOB || rx->call == 0 || !store_word_decode(bytes, size, &w)) {
        store_note(s, STORE_COUNT_MALFORMED);
        return;
    }
    switch (w.kind) {
    case STORE_WORD_OFFER:
        take_offer(s, &w, rx->call);
        return;
    case STORE_WORD_RECORD:
        answer.kind = take_record(s, &w) == 0 ? STORE_WORD_AGREED : STORE_WORD_KNOWN;
        answer.store_id = s->store_id;
        say_when_kept(s, rx->call, &answer);
        return;
    case STORE_WORD_HEARD:
        answer.kind = STORE_WORD_POSITION;
        answer.position = store_hearing_of(s, rx->src_process, w.store_id);
        break;
    case STORE_WORD_ASK:
        wonder(s);
        answer.kind = s->of.id != 0 ? STORE_WORD_RECORD : STORE_WORD_NOBODY;
        answer.of = s->of;
        break;
    case STORE_WORD_CANCEL:
        s->offered = s->offered == w.of.id ? 0 : s->offered;
        break;
    default:
        store_note(s, STORE_COUNT_MALFORMED);
        return;
    }
    say(s, rx->call, &answer);
}

/* ---- Learning ---------------------------------------------------------------------------------------------------- */

static void learned(cw_svc *svc, void *state, void *arg, int status, cw_packet *packet, const cw_rx *rx)
{
    struct store *s = state;
    struct store_word w;
    size_t size = 0;
    (void)svc;
    (void)arg;
    (void)rx;
    const uint8_t *bytes = status == 0 && packet != NULL ? cw_packet_data(packet, &size) : NULL;
    s->learning--;
    if (s->closing) {
        return;
    }
    if (bytes != NULL && s->of.id == 0 && store_word_decode(bytes, size, &w) && w.kind == STORE_WORD_RECORD) {
        s->of = w.of;
        if (STORE_MUTANT(AMNESIA) && !w.of.disk) {
            (void)!make_shards(s, &w);
        }
    }
    if (s->of.id != 0 || s->learning == 0) {
        s->class_known(s);
    }
}

void store_genesis_learn(struct store *s)
{
    const struct store_word ask = {.kind = STORE_WORD_ASK};
    const cw_call_options options = {CW_CALL_INIT, .timeout = CW_MS(LEARN_MS), .retries = 1};
    if (s->learning > 0) {
        return;
    }
    s->learned_last = cw_now(s->svc);
    for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
        cw_link_info info = {.size = sizeof info};
        cw_server there = cw_link_get(s->svc, link, &info) == 0 ? cw_server_id(s->svc, info.neighbour) : s->self;
        s->learning += there != s->self && store_genesis_send(s, there, &ask, &options, learned, NULL) == 0;
    }
    for (unsigned i = 0; i < LEARN_OTHERS; i++) {
        cw_server there = (cw_server)cw_random_below(s->svc, s->torus.servers);
        s->learning += there != s->self && store_genesis_send(s, there, &ask, &options, learned, NULL) == 0;
    }
    if (s->learning == 0) {
        s->class_known(s);
    }
}
