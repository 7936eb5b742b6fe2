/* SPDX-License-Identifier: Apache-2.0 */
#include "services/store/genesis.h"

#include "services/reply/refuse.h"
#include "services/reply/servers.h"
#include "services/store/asker.h"
#include "services/store/common.h"
#include "services/store/durable.h"
#include "services/store/lead.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    OFFER_S = 10,
    WORD_MS = 500,
    WORD_RETRIES = 3,
    WINDOW = 64,
    LEARN_MS = 300,
    LEARN_OTHERS = 6,
    LEARN_AGAIN_MS = 1000,
    SHOWN = 8
};

enum step { STEP_OFFER, STEP_RECORD, STEP_CANCEL };

struct store_genesis {
    struct store *store;
    cw_request *request;
    struct store_class of;
    enum step step;
    cw_server next;      /* the next one to ask */
    unsigned open, good; /* servers that are being asked in this step, and those that agreed */
    bool taken;          /* some server is of a class already, or is being asked to be */
    struct store_class other;
    unsigned missing; /* servers that did not agree */
    unsigned without; /* of these, servers without a disk */
    cw_server missed[SHOWN];
    uint64_t id[]; /* of each server's store; 0: not known */
};

/* A word on its way, of the genesis of that class. */
struct errand {
    uint64_t class_id;
    cw_server server;
    enum step step;
};

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
    store_durable_answer(s, call, bytes, sizeof bytes, 0);
}

static int send(struct store *s, cw_server server, const struct store_word *w, const cw_call_options *options,
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

/* Is this server a member? Fills in *shard if so. */
static bool is_ours(const struct store *s, uint32_t number, const struct store_word *w, struct store_shard *shard)
{
    cw_server member[STORE_COPIES_MOST];
    unsigned count = store_places_members(&s->torus, number, w->of.copies, member);
    for (unsigned m = 0; m < count; m++) {
        if (member[m] != s->self) {
            continue;
        }
        *shard = (struct store_shard){.number = number, .count = (uint8_t)count, .me = (uint8_t)m};
        for (unsigned i = 0; i < count; i++) {
            shard->member[i] = member[i];
            shard->store_id[i] = id_in(w, member[i]);
        }
        store_acceptor_open(&shard->acceptor, w->of.id);
        return true;
    }
    return false;
}

/* Makes the shards that this server is a member of; their numbers rise. */
static int make_shards(struct store *s, const struct store_word *w)
{
    struct store_shard *all = NULL, one;
    unsigned count = 0, room = 0;
    for (uint32_t n = 0; n < s->torus.servers * STORE_SHARDS_PER_SERVER; n++) {
        if (cw_distance(s->svc, cw_server_coord(s->svc, store_places_home(n)), cw_self(s->svc)) >= w->of.copies ||
            !is_ours(s, n, w, &one)) {
            continue;
        }
        if (count == room) {
            room = room > 0 ? 2 * room : 64;
            struct store_shard *more = realloc(all, room * sizeof *all);
            if (more == NULL) {
                free(all);
                return -ENOMEM;
            }
            all = more;
        }
        all[count++] = one;
    }
    s->shard = all;
    s->shards = count;
    return 0;
}

struct store_shard *store_shard_find(struct store *s, uint32_t number)
{
    unsigned low = 0, high = s->shards;
    while (low < high) {
        unsigned middle = low + (high - low) / 2;
        if (s->shard[middle].number < number) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < s->shards && s->shard[low].number == number ? &s->shard[low] : NULL;
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
    int rc = note_peers(s, w);
    rc = rc == 0 ? make_shards(s, w) : rc;
    if (rc < 0) {
        free(s->peer);
        s->peer = NULL;
        s->peers = 0;
        return rc;
    }
    s->of = w->of;
    if (s->of.disk) {
        s->store_id = store_durable_id(s);
        s->boot = store_durable_boot(s);
    }
    s->boot = STORE_MUTANT(SAME_BOOT) ? 1 : s->boot;
    return 0;
}

void store_genesis_close(struct store *s)
{
    for (unsigned i = 0; i < s->shards; i++) {
        if (s->shard[i].lead != NULL) {
            store_lead_end(s->shard[i].lead, STORE_END_CLOSED);
        }
        store_acceptor_close(&s->shard[i].acceptor);
    }
    free(s->shard);
    s->shard = NULL;
    s->shards = 0;
    free(s->peer);
    s->peer = NULL;
    s->peers = 0;
    if (s->genesis != NULL && s->genesis->open == 0) {
        free(s->genesis);
    }
    s->genesis = NULL;
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

static void take_offer(struct store *s, const struct store_word *w, uint32_t call)
{
    struct store_word answer = {.kind = STORE_WORD_KNOWN, .of = s->of};
    bool mine = s->of.id == w->of.id;
    if (w->of.disk && !store_durable_ready(s)) {
        answer = (struct store_word){.kind = STORE_WORD_NO_DISK};
    } else if (mine || (s->of.id == 0 && (!has_offer(s) || s->offered == w->of.id))) {
        s->offered = w->of.id;
        s->offer_ends = cw_time_add(cw_now(s->svc), CW_SEC(OFFER_S));
        answer = (struct store_word){.kind = STORE_WORD_AGREED, .store_id = id_for(s, &w->of)};
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
    if (s->of.id != 0) {
        return s->of.id == w->of.id ? 0 : -EEXIST;
    }
    if (!has_offer(s) || s->offered != w->of.id || w->store_id != id_for(s, &w->of)) {
        return -EBUSY;
    }
    int rc = store_genesis_take(s, w);
    if (rc == 0) {
        store_durable_class(s, w);
        s->offered = 0;
        store_asker_class_known(s);
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
        answer.position = store_durable_heard_of(s, rx->src_process, w.store_id);
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
        store_asker_class_known(s);
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
        s->learning += there != s->self && send(s, there, &ask, &options, learned, NULL) == 0;
    }
    for (unsigned i = 0; i < LEARN_OTHERS; i++) {
        cw_server there = (cw_server)cw_random_below(s->svc, s->torus.servers);
        s->learning += there != s->self && send(s, there, &ask, &options, learned, NULL) == 0;
    }
    if (s->learning == 0) {
        store_asker_class_known(s);
    }
}

/* ---- Creating ---------------------------------------------------------------------------------------------------- */

static void ask_more(struct store_genesis *g);

static void tell_missing(struct store_genesis *g)
{
    char text[SHOWN * 16] = "";
    size_t used = 0;
    for (unsigned i = 0; i < g->missing && i < SHOWN; i++) {
        cw_coord c = cw_server_coord(g->store->svc, g->missed[i]);
        int n = snprintf(text + used, sizeof text - used, "%s%u,%u,%u", i > 0 ? " " : "", c.x, c.y, c.z);
        used += n > 0 && (size_t)n < sizeof text - used ? (size_t)n : 0;
    }
    if (g->without > 0) {
        refuse_request(
            g->request,
            "no store was made: %u of %u servers have no folder that they can use (service store { options { "
            "folder = ... } }; their log says more), %s%s",
            g->without, g->store->torus.servers, text, g->missing > SHOWN ? " and others" : "");
        return;
    }
    refuse_request(
        g->request,
        "no store was made: %u of %u servers did not agree, %s%s; all servers of the torus have to be up and "
        "run the service store",
        g->missing, g->store->torus.servers, text, g->missing > SHOWN ? " and others" : "");
}

static void finish(struct store_genesis *g)
{
    struct store *s = g->store;
    int rc = -EINVAL;
    if (g->step == STEP_CANCEL && g->taken && g->other.id != 0) {
        refuse_request(g->request, "there is a store already: '%s', of %u copies", g->other.name, g->other.copies);
    } else if (g->step == STEP_CANCEL && g->taken) {
        refuse_request(g->request, "another store is being made at this moment; try again in %d s", OFFER_S);
    } else if (g->missing > 0) {
        tell_missing(g);
    } else {
        cw_request_text(g->request, "store", g->of.name);
        cw_request_int(g->request, "copies", g->of.copies);
        cw_request_int(g->request, "servers", s->torus.servers);
        cw_request_int(g->request, "shards", (int64_t)s->torus.servers * STORE_SHARDS_PER_SERVER);
        rc = 0;
    }
    cw_request_done(g->request, rc);
    s->genesis = NULL;
    free(g);
}

static void miss(struct store_genesis *g, cw_server server)
{
    if (g->step != STEP_CANCEL) {
        if (g->missing < SHOWN) {
            g->missed[g->missing] = server;
        }
        g->missing++;
    }
}

static void next_step(struct store_genesis *g)
{
    if (g->step == STEP_OFFER) {
        g->step = g->good == g->store->torus.servers ? STEP_RECORD : STEP_CANCEL;
        g->next = 0;
        g->good = 0;
        ask_more(g);
        return;
    }
    finish(g);
}

static void take_word(struct store_genesis *g, cw_server server, const struct store_word *w)
{
    if (w->kind == STORE_WORD_AGREED) {
        g->good++;
        g->id[server] = w->store_id;
        return;
    }
    if (w->kind == STORE_WORD_KNOWN && g->step == STEP_OFFER) {
        g->taken = true;
        g->other = w->of.id != 0 ? w->of : g->other;
    }
    g->without += w->kind == STORE_WORD_NO_DISK;
    miss(g, server);
}

static void heard(cw_svc *svc, void *state, void *arg, int status, cw_packet *packet, const cw_rx *rx)
{
    struct store *s = state;
    struct errand *e = arg;
    struct store_genesis *g = s->genesis;
    struct store_word w;
    size_t size = 0;
    (void)svc;
    (void)rx;
    const uint8_t *bytes = status == 0 && packet != NULL ? cw_packet_data(packet, &size) : NULL;
    if (g != NULL && g->of.id == e->class_id && g->step == e->step) {
        g->open--;
        if (bytes != NULL && store_word_decode(bytes, size, &w)) {
            take_word(g, e->server, &w);
        } else {
            miss(g, e->server);
        }
        ask_more(g);
    }
    free(e);
}

/* The store ids of all servers that may share a shard with this one. */
static uint16_t entries_of(const struct store_genesis *g, cw_server server, uint8_t *out)
{
    const struct store *s = g->store;
    unsigned reach = store_places_reach(&s->torus, g->of.copies), count = 0;
    for (cw_server other = 0; other < s->torus.servers && count < STORE_ENTRIES_MOST; other++) {
        if (torus_distance(&s->torus, server, other) <= reach) {
            store_entry_encode(other, g->id[other], out + (size_t)count++ * STORE_ENTRY_BYTES);
        }
    }
    return (uint16_t)count;
}

static void ask_one(struct store_genesis *g, cw_server server)
{
    static const enum store_word_kind kinds[] = {STORE_WORD_OFFER, STORE_WORD_RECORD, STORE_WORD_CANCEL};
    const cw_call_options options = {CW_CALL_INIT, .timeout = CW_MS(WORD_MS), .retries = WORD_RETRIES};
    uint8_t entries[STORE_ENTRIES_MOST * STORE_ENTRY_BYTES];
    struct store_word w = {.kind = kinds[g->step], .of = g->of};
    if (g->step == STEP_RECORD) {
        w.store_id = g->id[server];
        w.count = entries_of(g, server, entries);
        w.entries = entries;
    }
    struct errand *e = malloc(sizeof *e);
    if (e != NULL) {
        *e = (struct errand){g->of.id, server, g->step};
    }
    if (e == NULL || send(g->store, server, &w, &options, heard, e) < 0) {
        free(e);
        miss(g, server);
        return;
    }
    g->open++;
}

static void ask_more(struct store_genesis *g)
{
    while (g->next < g->store->torus.servers && g->open < WINDOW) {
        ask_one(g, g->next++);
    }
    if (g->open == 0) {
        next_step(g);
    }
}

int store_genesis_create(struct store *s, cw_request *r, const char *name, bool disk, unsigned copies)
{
    cw_server servers = s->torus.servers;
    if (s->of.id != 0) {
        return refuse_request(r, "there is a store already: '%s', of %u copies", s->of.name, s->of.copies);
    }
    if (copies > servers) {
        return refuse_request(r, "a torus of %u servers has no room for %u copies", servers, copies);
    }
    struct store_genesis *g = s->genesis == NULL ? calloc(1, sizeof *g + servers * sizeof *g->id) : NULL;
    if (g == NULL) {
        return s->genesis != NULL ? refuse_request(r, "a store is being made already") : -ENOMEM;
    }
    g->store = s;
    g->request = r;
    do {
        g->of.id = cw_random(s->svc);
    } while (g->of.id == 0);
    memcpy(g->of.name, name, strlen(name));
    g->of.copies = (uint8_t)copies;
    g->of.disk = disk;
    s->genesis = g;
    ask_more(g); /* its end may answer the request already, which is as well */
    return 1;
}
