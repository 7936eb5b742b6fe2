/* SPDX-License-Identifier: Apache-2.0 */
#include "services/store/durable.h"

#include "base/bytes.h"
#include "base/words.h"
#include "keyspace/key.h"
#include "services/reply/refuse.h"
#include "services/reply/servers.h"
#include "services/store/asker.h"
#include "services/store/common.h"
#include "services/store/disk/host.h"
#include "services/store/disk/journal.h"
#include "services/store/genesis.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KIND_CLASS = 1, KIND_SHARD = 2, KIND_REGISTER = 3 };
enum { RECORD_VERSION = 1, SHARD_BYTES = 1 + 4 + 16 + 8, SEGMENT_MIB = 16, MIB_MOST = 1 << 20, SEGMENT_MOST = 64 };
enum { HEARING_STEP_MS = 25, HEARING_CALL_MS = 200, LINE = 700 };

/* ---- Keys and bytes ---------------------------------------------------------------------------------------------- */

static cw_key number_key(uint64_t number)
{
    cw_key key = {.b = {0}};
    put_be64(key.b, number);
    return key;
}

__attribute__((format(printf, 3, 4))) static void say(const struct store *s, cw_level level, const char *format, ...)
{
    char text[LINE];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    cw_log(s->svc, level, text);
}

/* ---- Who waits --------------------------------------------------------------------------------------------------- */

static bool is_settled(const struct store *s)
{
    return !s->of.disk || STORE_MUTANT(ANSWERS_EARLY) || journal_is_settled(s->journal);
}

/* An answer that waits for the disk. */
struct held {
    struct journal_waiter waiter;
    struct store *store;
    uint32_t call;
    size_t size, patch;
    uint8_t bytes[];
};

static void send_answer(struct store *s, uint32_t call, const uint8_t *bytes, size_t size, size_t patch)
{
    cw_packet *p = cw_packet_new(s->svc, size);
    if (p != NULL) {
        uint8_t *to = cw_packet_data(p, NULL);
        memcpy(to, bytes, size);
        if (patch != 0) {
            put_be64(to + patch, store_durable_position(s));
        }
        (void)cw_reply(s->svc, call, 0, p); /* who hears nothing asks again */
    }
}

static void held_told(struct journal_waiter *waiter, bool good)
{
    struct held *h = container_of(waiter, struct held, waiter);
    if (good) {
        send_answer(h->store, h->call, h->bytes, h->size, h->patch);
    }
    free(h);
}

void store_durable_answer(struct store *s, uint32_t call, const uint8_t *bytes, size_t size, size_t patch)
{
    if (is_settled(s)) {
        send_answer(s, call, bytes, size, patch);
        return;
    }
    struct held *h = malloc(sizeof *h + size);
    if (h != NULL) {
        *h = (struct held){.waiter = {.told = held_told}, .store = s, .call = call, .size = size, .patch = patch};
        memcpy(h->bytes, bytes, size);
        journal_wait(s->journal, &h->waiter);
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
        journal_wait(s->journal, &v->waiter);
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
    if (bytes != NULL) {
        bytes[0] = RECORD_VERSION;
        store_word_encode(w, bytes + 1);
        const cw_key key = number_key(0);
        journal_put(s->journal, KIND_CLASS, &key, 0, NULL, 0, bytes, size);
        free(bytes);
    }
}

static void note_saved(struct store *s, struct store_shard *shard)
{
    shard->saved = shard->acceptor.promised;
    shard->saved_ticket = journal_put_last(s->journal);
}

void store_durable_promise(struct store *s, struct store_shard *shard)
{
    const struct store_acceptor *a = &shard->acceptor;
    uint8_t bytes[SHARD_BYTES];
    if (!s->of.disk || store_ballot_compare(shard->saved, a->promised) == 0) {
        return;
    }
    bytes[0] = RECORD_VERSION;
    put_be32(bytes + 1, shard->number);
    put_be64(bytes + 5, a->promised.high);
    put_be64(bytes + 13, a->promised.low);
    put_be64(bytes + 21, a->n_max);
    const cw_key key = number_key(shard->number);
    journal_put(s->journal, KIND_SHARD, &key, 0, NULL, 0, bytes, sizeof bytes);
    note_saved(s, shard);
}

/* The register tells of the promise too, when it is of the ballot that was promised. */
void store_durable_register(struct store *s, struct store_shard *shard, const struct store_name *name)
{
    uint8_t bytes[1 + STORE_REGISTER_HEAD + STORE_OPS * STORE_NOTED_BYTES + CW_STORE_NAME_MAX + CW_STORE_VALUE_MAX];
    if (!s->of.disk) {
        return;
    }
    const struct store_register *r = store_table_find(&shard->acceptor.table, name);
    if (r != NULL) {
        bytes[0] = RECORD_VERSION;
        store_register_encode(r, bytes + 1);
        const cw_key key = store_places_record(name);
        journal_put(s->journal, KIND_REGISTER, &key, name->job, name->bytes, name->length, bytes,
                    1 + store_register_size(r));
        if (store_ballot_compare(r->tag.ballot, shard->acceptor.promised) == 0) {
            note_saved(s, shard);
        }
    }
    store_durable_promise(s, shard);
}

/* ---- What is there after a restart ------------------------------------------------------------------------------- */

static void found_class(struct store *s, const uint8_t *bytes, size_t size)
{
    struct store_word w;
    if (store_word_decode(bytes, size, &w) && w.of.disk && s->of.id == 0) {
        (void)!store_genesis_take(s, &w); /* without memory this server is of no class */
    }
}

static void found_shard(struct store *s, const uint8_t *bytes, size_t size)
{
    struct store_shard *shard = size == SHARD_BYTES - 1 ? store_shard_find(s, get_be32(bytes)) : NULL;
    if (shard != NULL) {
        shard->acceptor.promised = (struct store_ballot){get_be64(bytes + 4), get_be64(bytes + 12)};
        shard->acceptor.n_max = get_be64(bytes + 20);
    }
}

/* Whoever accepted a register had promised its ballot. */
static void found_register(struct store *s, const uint8_t *bytes, size_t size)
{
    struct store_register *r = store_register_decode(bytes, size);
    if (r == NULL) {
        return;
    }
    struct store_name name = store_register_name(r);
    cw_key key = store_places_key(&name);
    struct store_shard *shard = store_shard_find(s, store_places_shard(&s->torus, &key));
    if (shard == NULL) {
        free(r);
        return;
    }
    struct store_acceptor *a = &shard->acceptor;
    size_t before = a->table.bytes, registers = a->table.registers;
    a->promised = store_ballot_compare(r->tag.ballot, a->promised) > 0 ? r->tag.ballot : a->promised;
    (void)!store_acceptor_adopt(a, r);
    store_count_registers(s, shard, before, registers);
}

static void on_found(void *arg, uint8_t kind, const uint8_t *value, size_t size)
{
    static void (*const found[])(struct store *, const uint8_t *, size_t) = {
        [KIND_CLASS] = found_class, [KIND_SHARD] = found_shard, [KIND_REGISTER] = found_register};
    if (size > 1 && value[0] == RECORD_VERSION) {
        found[kind](arg, value + 1, size - 1);
    }
}

/* ---- What others heard of this server ---------------------------------------------------------------------------- */

void store_durable_heard(struct store *s, cw_server server, uint64_t store_id, uint64_t position)
{
    for (unsigned i = 0; i < s->peers && position > 0; i++) {
        struct store_peer *p = &s->peer[i];
        if (p->server == server && p->store_id == store_id && position > p->position) {
            p->position = position;
        }
    }
}

uint64_t store_durable_heard_of(const struct store *s, cw_server server, uint64_t store_id)
{
    for (unsigned i = 0; i < s->peers; i++) {
        if (s->peer[i].server == server && s->peer[i].store_id == store_id) {
            return s->peer[i].position;
        }
    }
    return 0;
}

static void begin_to_vote(struct store *s)
{
    s->health = STORE_WELL;
    for (unsigned i = 0; i < s->shards; i++) {
        s->shard[i].saved = s->shard[i].acceptor.promised;
    }
    store_asker_class_known(s);
}

static void roll_back(struct store *s, const struct store_peer *p)
{
    cw_coord c = cw_server_coord(s->svc, p->server);
    say(s, CW_LOG_ERROR,
        "the store's folder is older than what server %u,%u,%u has heard of it: its members here are lost", c.x, c.y,
        c.z);
    s->health = STORE_DEAD;
    cw_timer_stop(s->svc, s->hearing_timer);
    s->hearing_timer = NULL;
    journal_give_up(s->journal);
    store_asker_class_known(s);
}

static void hear(struct store *s);

static void position_told(cw_svc *svc, void *state, void *arg, int status, cw_packet *packet, const cw_rx *rx)
{
    struct store *s = state;
    struct store_peer *p = NULL;
    struct store_word w;
    size_t size = 0;
    cw_server server = (cw_server)(uintptr_t)arg;
    (void)svc;
    (void)rx;
    const uint8_t *bytes = status == 0 && packet != NULL ? cw_packet_data(packet, &size) : NULL;
    for (unsigned i = 0; i < s->peers && !s->closing; i++) {
        p = s->peer[i].server == server ? &s->peer[i] : p;
    }
    if (p == NULL) {
        return;
    }
    p->asked = false;
    if (s->health != STORE_HEARING || bytes == NULL || !store_word_decode(bytes, size, &w) ||
        w.kind != STORE_WORD_POSITION) {
        return;
    }
    p->told = true;
    if (w.position > s->found_position && !STORE_MUTANT(NO_HEARD)) {
        roll_back(s, p);
        return;
    }
    hear(s);
}

static bool ask_position(struct store *s, cw_server server)
{
    const struct store_word w = {.kind = STORE_WORD_HEARD, .store_id = s->store_id};
    const cw_to to = to_server(s->svc, STORE_JOB, STORE_PORT_OPERATORS, server);
    const cw_call_options options = {CW_CALL_INIT, .timeout = CW_MS(HEARING_CALL_MS)};
    cw_packet *p = cw_packet_new(s->svc, store_word_size(&w));
    if (p == NULL) {
        return false;
    }
    store_word_encode(&w, cw_packet_data(p, NULL));
    if (cw_call(s->svc, p, &to, &options, position_told, (void *)(uintptr_t)server) < 0) {
        cw_packet_free(s->svc, p);
        return false;
    }
    return true;
}

static void hearing_due(cw_svc *svc, void *state, void *arg)
{
    struct store *s = state;
    (void)svc;
    (void)arg;
    s->hearing_timer = NULL;
    hear(s);
}

/* Asks all peers in view, until all have told, or the time is over: who is not there cannot be waited for. */
static void hear(struct store *s)
{
    unsigned missing = 0;
    for (unsigned i = 0; i < s->peers; i++) {
        struct store_peer *p = &s->peer[i];
        if (p->server == s->self || p->told) {
            continue;
        }
        missing++;
        p->asked = p->asked || (cw_reachable(s->svc, cw_server_coord(s->svc, p->server)) && ask_position(s, p->server));
    }
    if (missing == 0 || !cw_time_before(cw_now(s->svc), s->hearing_ends)) {
        cw_timer_stop(s->svc, s->hearing_timer);
        s->hearing_timer = NULL;
        begin_to_vote(s);
    } else if (s->hearing_timer == NULL) {
        s->hearing_timer = cw_timer_start(s->svc, CW_MS(HEARING_STEP_MS), hearing_due, NULL);
    }
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
}

static void on_opened(void *arg, enum journal_state state)
{
    struct store *s = arg;
    s->health = STORE_WELL;
    if (state != JOURNAL_OPEN) {
        say(s, CW_LOG_ERROR, "the store's folder %s cannot be used: %s", s->folder, journal_why(s->journal));
        s->health = s->of.id != 0 ? STORE_DEAD : STORE_WELL;
        if (s->question_count > 0) {
            store_genesis_learn(s);
        }
        return;
    }
    say(s, CW_LOG_INFO, "the store's folder %s is open: %s", s->folder, journal_why(s->journal));
    if (s->of.id == 0) {
        if (s->question_count > 0) {
            store_genesis_learn(s);
        }
        return;
    }
    store_asker_class_known(s);
    s->health = STORE_HEARING;
    s->found_position = store_durable_position(s);
    s->hearing_ends = cw_time_add(cw_now(s->svc), s->limits.hearing);
    hear(s);
}

static void on_died(void *arg)
{
    struct store *s = arg;
    say(s, CW_LOG_ERROR, "the store's disk failed (%s): its members on this server are lost", journal_why(s->journal));
    if (!s->of.disk) {
        return;
    }
    s->health = STORE_DEAD;
    for (unsigned i = 0; i < s->shards; i++) {
        if (s->shard[i].lead != NULL) {
            store_lead_end(s->shard[i].lead, STORE_END_DEPOSED);
        }
    }
}

/* Everything is in memory as well: what rots on the disk is written again. */
static void on_damaged(void *arg, uint8_t kind, const cw_key *key)
{
    struct store *s = arg;
    for (unsigned i = 0; i < s->shards && kind == KIND_REGISTER; i++) {
        const struct store_table *t = &s->shard[i].acceptor.table;
        for (unsigned b = 0; b < STORE_BUCKETS && t->bucket != NULL; b++) {
            for (const struct store_register *r = t->bucket[b].first; r != NULL; r = r->next) {
                struct store_name name = store_register_name(r);
                cw_key its = store_places_record(&name);
                if (memcmp(its.b, key->b, sizeof its.b) == 0) {
                    store_durable_register(s, &s->shard[i], &name);
                    return;
                }
            }
        }
    }
    for (unsigned i = 0; i < s->shards && kind == KIND_SHARD; i++) {
        cw_key its = number_key(s->shard[i].number);
        if (memcmp(its.b, key->b, sizeof its.b) == 0) {
            s->shard[i].saved = (struct store_ballot){0, 0};
            store_durable_promise(s, &s->shard[i]);
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
    if (text != NULL && (words_number(text, 8, MIB_MOST, &most) < 0 || most < 6 * segment)) {
        return refuse_setting(s->svc, "bytes_max", text,
                              "a whole number of MiB, at least 6 times segment_mib, from 8 to 1048576");
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
    const struct journal_events events = {
        .arg = s, .found = on_found, .opened = on_opened, .landed = on_landed, .died = on_died, .damaged = on_damaged};
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
        say(s, CW_LOG_ERROR, "%s", why);
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

const char *store_durable_text(const struct store *s)
{
    if (s->journal == NULL) {
        return s->folder == NULL ? "no folder is set" : "this program has no disks for services";
    }
    return s->health == STORE_OPENING   ? "being read"
           : s->health == STORE_HEARING ? "asks others how far its log went"
                                        : journal_why(s->journal);
}
