/* SPDX-License-Identifier: Apache-2.0 */
#include "tp_talker.h"

#include "base/prng.h"
#include "services/transport/transport.h"
#include "tp_ledger.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct talker_plan talker_plan;

/* What the receiver does with a message follows from its number. */
enum { LAST_BYTES = 60000, SLOW_STEP = 9000 /* a little more than a part */ };
enum way { WAY_WHOLE, WAY_INTO, WAY_PIECES, WAY_SLOW_PIECES, WAY_REFUSE, WAY_REFUSE_LATE, WAY_ASK, WAY_PLACES, WAYS };
enum { ASKERS = 16, ASKS_ENOUGH = 3 };

/* Memory in many places. */
struct scattered {
    struct transport_place place[TRANSPORT_PLACES_MAX];
    unsigned count;
};

/* A message that comes in pieces or into memory of ours. */
struct coming {
    bool used;
    uint32_t number;
    enum way way;
    uint64_t at;
    uint8_t *into;
    struct scattered scattered;
    uint64_t bytes;
    uint64_t incoming; /* stalled: to be resumed */
    unsigned stalls;
};

struct talker;
/* A message that was sent. */
struct going {
    bool used;
    uint32_t number;
    bool request;
    uint8_t *bytes;
    uint8_t *into; /* for the answer */
    struct scattered scattered;
    bool slow;    /* its bytes are there little by little: those before `there` */
    bool patient; /* and the next ones when those have come */
    uint64_t there;
    uint64_t got;
    int64_t id;
    struct talker *talker;
};

/* A message that was told to wait. */
struct waiting {
    bool used, permitted;
    struct transport_asker asker;
    uint32_t number;
    unsigned asks;
};

struct talker {
    cw_svc *s;
    struct transport *t;
    uint64_t life;
    struct transport_config config;
    struct going going[TALKER_OUT];
    struct coming coming[256];
    struct waiting waiting[ASKERS];
    unsigned waiting_next;
    struct transport_reply_to owed[8]; /* answers to be given later */
    uint32_t owed_number[8];
    unsigned owed_count;
};

/* Places that hold so many bytes, of lengths that follow from the number; some of length 0. */
static void scatter(struct scattered *s, uint32_t number, uint64_t bytes)
{
    s->count = 1 + (unsigned)(prng_mix(number, 31) % TRANSPORT_PLACES_MAX);
    for (unsigned i = 0; i < s->count; i++) {
        uint64_t some = bytes == 0 ? 0 : prng_mix(number, 40 + i) % (2 * bytes / s->count + 1);
        uint64_t length = i + 1 == s->count || some > bytes ? bytes : some;
        s->place[i] = (struct transport_place){malloc(length + 1), length};
        bytes -= length;
    }
}

/* Are these the bytes of message number? */
static bool scattered_same(const struct scattered *s, uint32_t number, uint64_t bytes)
{
    uint64_t at = 0;
    for (unsigned i = 0; i < s->count && at < bytes; i++) {
        uint64_t length = bytes - at < s->place[i].length ? bytes - at : s->place[i].length;
        if (!ledger_same(number, at, s->place[i].at, length)) {
            return false;
        }
        at += length;
    }
    return at == bytes;
}

static void scattered_free(struct scattered *s)
{
    for (unsigned i = 0; i < s->count; i++) {
        free(s->place[i].at);
    }
    s->count = 0;
}

static enum way way_of(uint32_t number)
{
    static const enum way ways[] = {WAY_WHOLE,  WAY_WHOLE,       WAY_WHOLE,  WAY_INTO,        WAY_PIECES,
                                    WAY_PIECES, WAY_SLOW_PIECES, WAY_REFUSE, WAY_REFUSE_LATE, WAY_WHOLE,
                                    WAY_INTO,   WAY_WHOLE,       WAY_ASK,    WAY_ASK,         WAY_PLACES};
    return ways[prng_mix(number, 3) % (sizeof ways / sizeof *ways)];
}

/* ---- Coming ------------------------------------------------------------------------------------------------------ */

static int piece(void *context, void *arg, const struct transport_message *m, uint64_t offset, const uint8_t *bytes,
                 size_t length)
{
    struct coming *c = arg;
    (void)context;
    if (!c->used || c->number != m->tag || offset != c->at || offset + length > m->bytes) {
        ledger_wrong("pieces", "message %u: piece at %llu, expected %llu", m->tag, (unsigned long long)offset,
                     (unsigned long long)c->at);
        return -EIO;
    }
    if (!ledger_same(m->tag, offset, bytes, length)) {
        ledger_wrong("bytes", "message %u: wrong bytes in the piece at %llu", m->tag, (unsigned long long)offset);
    }
    if (c->way == WAY_SLOW_PIECES && c->stalls < 40 && prng_mix(m->tag, offset + ++c->stalls) % 3 == 0) {
        c->incoming = m->incoming;
        return -EAGAIN;
    }
    c->at += length;
    if (m->tag < ledger->count) {
        ledger->message[m->tag].come = c->at;
    }
    return 0;
}

/* Messages of one half of all numbers may come when they have asked ASKS_ENOUGH times, the others when permitted. */
static bool asks_enough(uint32_t number)
{
    return prng_mix(number, 23) % 2 == 0;
}

/* May a message that asks come now? */
static bool may_come(struct talker *k, const struct transport_message *m)
{
    struct waiting *w = NULL;
    for (unsigned i = 0; i < ASKERS && w == NULL; i++) {
        struct waiting *each = &k->waiting[i];
        bool same = each->asker.job == m->asker.job && each->asker.process == m->asker.process &&
                    each->asker.port == m->asker.port && each->asker.message == m->asker.message;
        w = each->used && same && each->number == m->tag ? each : NULL; /* another number: its sender began anew */
    }
    if (w == NULL) {
        w = &k->waiting[k->waiting_next++ % ASKERS]; /* whoever was there has ended, or begins once more */
        *w = (struct waiting){.used = true, .asker = m->asker, .number = m->tag};
    }
    w->asks++;
    bool enough = asks_enough(m->tag) ? w->asks >= ASKS_ENOUGH : w->permitted;
    w->used = !enough;
    return enough;
}

static void permit(struct talker *k)
{
    for (unsigned i = 0; i < ASKERS; i++) {
        struct waiting *w = &k->waiting[i];
        if (w->used && !asks_enough(w->number) && cw_random_below(k->s, 3) == 0) {
            w->permitted = true;
            (void)transport_permit(k->t, &w->asker); /* its sender may be forgotten by now */
        }
    }
}

static int begin(void *context, const struct transport_message *m, struct transport_accept *accept)
{
    struct talker *k = context;
    enum way way = way_of(m->tag);
    if (!ledger_head_same(m->tag, m->head, m->head_length)) {
        ledger_wrong("head", "message %u begins with another head, of %zu bytes", m->tag, m->head_length);
    }
    if (m->to_key && !cw_is_root(k->s, &m->key)) {
        ledger_wrong("root", "message %u begins at who is not its root", m->tag);
    }
    if (way == WAY_REFUSE) {
        return -EPERM;
    }
    if (way == WAY_ASK && !may_come(k, m)) {
        return -EAGAIN;
    }
    for (unsigned i = 0; i < 256; i++) {
        struct coming *c = &k->coming[i];
        if (!c->used) {
            *c = (struct coming){.used = true, .number = m->tag, .way = way, .bytes = m->bytes};
            accept->arg = c;
            if (way == WAY_INTO) {
                c->into = malloc(m->bytes + 1);
                accept->into = c->into;
            }
            if (way == WAY_PLACES) {
                scatter(&c->scattered, m->tag, m->bytes);
                accept->places = c->scattered.place;
                accept->place_count = c->scattered.count;
            }
            if (way == WAY_PIECES || way == WAY_SLOW_PIECES) {
                accept->piece = piece;
            }
            return 0;
        }
    }
    return -EBUSY;
}

static void answer(struct talker *k, const struct transport_reply_to *to, uint32_t number)
{
    uint64_t bytes = ledger_answer_bytes(number);
    uint8_t *made = malloc(bytes + 1);
    ledger_fill(ledger_answer_number(number), 0, made, bytes);
    const struct transport_data data = {.bytes = made, .size = bytes};
    uint8_t head[TRANSPORT_HEAD_MAX];
    const struct transport_send_options options = {TRANSPORT_SEND_INIT, .tag = number, .flags = TRANSPORT_COPY,
                                                   .head = head,
                                                   .head_length = ledger_head(ledger_answer_number(number), head)};
    int status = prng_mix(number, 11) % 8 == 0 ? -EDOM : 0;
    int64_t rc = transport_reply(k->t, to, status, &data, &options, NULL, NULL);
    (void)rc; /* no memory for it: whoever asked waits for its time-out */
    free(made);
}

static int message(void *context, void *arg, const struct transport_message *m, const uint8_t *bytes, int status)
{
    struct talker *k = context;
    struct coming *c = arg;
    if (c == NULL || !c->used || c->number != m->tag) {
        ledger_wrong("began", "the end of message %u comes without its beginning, or twice", m->tag);
        return -EIO;
    }
    c->used = false;
    if (!ledger_head_same(m->tag, m->head, m->head_length)) {
        ledger_wrong("head", "message %u ends with another head, of %zu bytes", m->tag, m->head_length);
    }
    if (status == 0) {
        bool pieces = c->way == WAY_PIECES || c->way == WAY_SLOW_PIECES;
        bool same = pieces                 ? c->at == m->bytes
                    : c->way == WAY_PLACES ? bytes == NULL && scattered_same(&c->scattered, m->tag, m->bytes)
                                           : ledger_same(m->tag, 0, bytes, m->bytes);
        if (!same) {
            ledger_wrong("bytes", "message %u of %llu bytes is not what was sent", m->tag,
                         (unsigned long long)m->bytes);
        }
        if (m->to_key && !cw_is_root(k->s, &m->key)) {
            ledger_wrong("root", "message %u is taken by who is not its root", m->tag);
        }
        if (c->way == WAY_REFUSE_LATE) {
            free(c->into);
            return -EDOM;
        }
        ledger_taken(m->tag, m->bytes, k->life);
    }
    free(c->into);
    scattered_free(&c->scattered);
    if (status == 0 && m->request) {
        if (prng_mix(m->tag, 5) % 3 != 0) {
            answer(k, &m->reply_to, m->tag);
        } else if (k->owed_count < 8) {
            k->owed[k->owed_count] = m->reply_to;
            k->owed_number[k->owed_count++] = m->tag;
        }
    }
    return 0;
}

/* ---- Going ------------------------------------------------------------------------------------------------------- */

static void ended(struct going *g, int status)
{
    ledger_ended(g->number, g->talker->life, status);
    free(g->bytes);
    free(g->into);
    scattered_free(&g->scattered);
    g->used = false;
}

static void done(void *context, void *arg, int status)
{
    (void)context;
    ended(arg, status);
}

static void answered(void *context, void *arg, int status, const uint8_t *bytes, uint64_t size,
                     const struct transport_message *m)
{
    struct going *g = arg;
    (void)context;
    if (m != NULL) {
        bool stated = prng_mix(g->number, 11) % 8 == 0;
        if (m->tag != g->number || size != ledger_answer_bytes(g->number) || status != (stated ? -EDOM : 0)) {
            ledger_wrong("answer", "request %u got the answer of %u, of %llu bytes, status %d", g->number, m->tag,
                         (unsigned long long)size, status);
        } else if (!ledger_head_same(ledger_answer_number(g->number), m->head, m->head_length)) {
            ledger_wrong("head", "the answer to request %u has another head", g->number);
        } else if (g->scattered.count > 0) {
            if (!scattered_same(&g->scattered, ledger_answer_number(g->number), size)) {
                ledger_wrong("bytes", "the answer to request %u is not what was given, in its places", g->number);
            }
        } else if (bytes == NULL ? g->got != size : !ledger_same(ledger_answer_number(g->number), 0, bytes, size)) {
            ledger_wrong("bytes", "the answer to request %u is not what was given", g->number);
        }
        status = 0;
    }
    ended(g, status);
}

static int answer_piece(void *context, void *arg, const struct transport_message *m, uint64_t offset,
                        const uint8_t *bytes, size_t length)
{
    struct going *g = arg;
    (void)context;
    (void)m;
    if (offset != g->got || !ledger_same(ledger_answer_number(g->number), offset, bytes, length)) {
        ledger_wrong("bytes", "a piece of the answer to request %u", g->number);
    }
    g->got += length;
    return 0;
}

static int read_bytes(void *context, void *arg, uint64_t offset, uint8_t *out, size_t length)
{
    (void)context;
    struct going *g = arg;
    if (g->slow && offset + length > g->there) {
        return -EAGAIN;
    }
    ledger_fill(g->number, offset, out, length);
    return 0;
}

/* More bytes are there of what is sent little by little. */
static void feed(struct talker *k)
{
    for (unsigned i = 0; i < TALKER_OUT; i++) {
        struct going *g = &k->going[i];
        const struct ledger_message *m = &ledger->message[g->number];
        if (!g->used || !g->slow || g->there >= m->bytes || (g->patient && m->come + SLOW_STEP < g->there)) {
            continue;
        }
        g->there += SLOW_STEP + (g->patient ? 0 : cw_random_below(k->s, 3 * SLOW_STEP));
        (void)transport_more(k->t, g->id); /* it may have ended, untold so far */
    }
}

static uint64_t draw_bytes(struct talker *k)
{
    switch (cw_random_below(k->s, 12)) {
    case 0:
        return 0;
    case 1:
        return 1 + cw_random_below(k->s, 8950);
    case 2:
    case 3:
        return 8700 + cw_random_below(k->s, 400);
    case 4:
    case 5:
        return cw_random_below(k->s, 60000);
    case 6:
        return cw_random_below(k->s, talker_plan.bytes_most);
    default:
        return cw_random_below(k->s, 500);
    }
}

static void say(struct talker *k)
{
    struct going *g = NULL;
    for (unsigned i = 0; i < TALKER_OUT && g == NULL; i++) {
        g = k->going[i].used ? NULL : &k->going[i];
    }
    if (g == NULL || ledger->count >= LEDGER_MESSAGES - LEDGER_LAST) {
        return;
    }
    uint32_t number = ledger->count++;
    struct ledger_message *m = &ledger->message[number];
    uint64_t chance = cw_random(k->s);
    *m = (struct ledger_message){.bytes = draw_bytes(k), .from = cw_server_id(k->s, cw_self(k->s)), .life = k->life};
    m->request = chance % 3 == 0;
    m->restart = (chance >> 4) % 3 == 0;
    *g = (struct going){.used = true, .number = number, .request = m->request, .talker = k};
    cw_to to = {.job = TALKER_JOB, .port = TALKER_PORT};
    cw_dims dims = cw_torus(k->s);
    cw_server servers = (cw_server)dims.x * dims.y * dims.z;
    if ((chance >> 8) % 3 == 0) {
        to.kind = CW_TO_KEY;
        uint64_t name = cw_random(k->s);
        to.key = cw_key_of(k->s, &name, sizeof name);
        to.process = (chance >> 44) % 2 == 0 ? CW_PROCESS_ANY : 0;
    } else {
        to.kind = CW_TO_SERVER;
        to.process = (cw_server)cw_random_below(k->s, servers);
        to.server = cw_server_coord(k->s, to.process);
    }
    struct transport_data data = {.size = m->bytes};
    uint8_t head[TRANSPORT_HEAD_MAX];
    struct transport_send_options options = {TRANSPORT_SEND_INIT, .tag = number, .head = head,
                                             .head_length = ledger_head(number, head)};
    options.flags |= (chance >> 32) % 4 == 0 ? TRANSPORT_ASK : 0;
    options.flags |= (chance >> 40) % 4 == 0 ? TRANSPORT_BACKGROUND : 0;
    options.flags |= m->restart ? TRANSPORT_RESTART : 0;
    options.flags |= (chance >> 12) % 4 == 0 ? TRANSPORT_WAIT : 0;
    options.timeout = CW_US(2000 + (int64_t)cw_random_below(k->s, (chance >> 16) % 2 ? 3000000 : 30000));
    if ((chance >> 20) % 3 == 0) {
        data.read = read_bytes;
        g->slow = (chance >> 36) % 3 == 0;
    } else {
        g->bytes = malloc(m->bytes + 1);
        ledger_fill(number, 0, g->bytes, m->bytes);
        data.bytes = g->bytes;
        options.flags |= (chance >> 24) % 3 == 0 ? TRANSPORT_COPY : 0;
    }
    if (m->request && (chance >> 28) % 3 == 0) {
        options.accept.piece = answer_piece;
        options.accept.arg = g;
    } else if (m->request && (chance >> 28) % 3 == 1) {
        options.reply_max = 70000;
        g->into = malloc(options.reply_max);
        options.accept.into = g->into;
    } else if (m->request && (chance >> 28) % 6 == 2) {
        options.reply_max = 70000;
        scatter(&g->scattered, number, options.reply_max);
        options.accept.places = g->scattered.place;
        options.accept.place_count = g->scattered.count;
    }
    g->id = m->request ? transport_request(k->t, &to, &data, &options, answered, g)
                       : transport_send(k->t, &to, &data, &options, done, g);
    if (options.flags & TRANSPORT_COPY) {
        memset(g->bytes, 0xee, m->bytes); /* ours again */
    }
    if (g->id < 0) {
        m->refused = true;
        free(g->bytes);
        free(g->into);
        scattered_free(&g->scattered);
        g->used = false;
    }
}

/* Ways in which a last word is taken for sure: pieces need more memory than some worlds have. */
static bool is_for_last(enum way way)
{
    return way == WAY_WHOLE || way == WAY_ASK || (way == WAY_PIECES && talker_plan.limits.memory == 0);
}

/* One that must be taken: whole, perhaps when it has waited for it, with time enough, to a server that is there. */
static void say_last(struct talker *k, cw_server to_whom)
{
    struct going *g = NULL;
    for (unsigned i = 0; i < TALKER_OUT && g == NULL; i++) {
        g = k->going[i].used ? NULL : &k->going[i];
    }
    while (ledger->count < LEDGER_MESSAGES - LEDGER_LAST / 8 && !is_for_last(way_of(ledger->count))) {
        ledger->message[ledger->count++].refused = true; /* a number that nobody uses */
    }
    uint32_t number = ledger->count++;
    const struct transport_data data = {.size = LAST_BYTES, .read = read_bytes};
    uint8_t head[TRANSPORT_HEAD_MAX];
    const struct transport_send_options options = {TRANSPORT_SEND_INIT,  .tag = number,
                                                   .timeout = CW_SEC(4), .flags = TRANSPORT_WAIT,
                                                   .head = head,         .head_length = ledger_head(number, head)};
    const cw_to to = {.kind = CW_TO_SERVER,
                      .job = TALKER_JOB,
                      .port = TALKER_PORT,
                      .server = cw_server_coord(k->s, to_whom),
                      .process = to_whom};
    ledger->message[number] = (struct ledger_message){
        .bytes = LAST_BYTES, .from = cw_server_id(k->s, cw_self(k->s)), .life = k->life, .must = true};
    bool slow = way_of(number) == WAY_PIECES;
    *g = (struct going){.used = true, .number = number, .talker = k, .slow = slow, .patient = slow};
    int64_t rc = transport_send(k->t, &to, &data, &options, done, g);
    g->id = rc;
    if (rc < 0) {
        ledger_wrong("alive", "the last message of server %u is refused: %lld", cw_server_id(k->s, cw_self(k->s)),
                     (long long)rc);
    }
}

static void look(struct talker *k)
{
    struct transport_stats stats;
    transport_stats(k->t, &stats);
    if (stats.memory_most > k->config.memory_max || stats.peers > k->config.peers_max) {
        ledger_wrong("memory", "%llu bytes at most of %zu, %llu peers", (unsigned long long)stats.memory_most,
                     k->config.memory_max, (unsigned long long)stats.peers);
    }
    /* Reads are left to the addresses that a sanitizer watches. */
}

static void tick(cw_svc *s, void *state, void *arg)
{
    struct talker *k = state;
    (void)arg;
    bool quiet = !cw_time_before(talker_plan.now(talker_plan.context), talker_plan.quiet);
    for (unsigned n = (unsigned)cw_random_below(s, 4); n > 0 && !quiet; n--) {
        say(k);
    }
    for (unsigned i = 0; i < 256; i++) {
        if (k->coming[i].used && k->coming[i].incoming != 0) {
            uint64_t incoming = k->coming[i].incoming;
            k->coming[i].incoming = 0;
            transport_resume(k->t, incoming);
        }
    }
    permit(k);
    feed(k);
    if (cw_random_below(s, 30) == 0) {
        struct going *g = &k->going[cw_random_below(s, TALKER_OUT)];
        if (g->used && !ledger->message[g->number].must) {
            transport_cancel(k->t, g->id); /* or it has ended in this very moment */
        }
    }
    while (k->owed_count > 0 && cw_random_below(s, 2) == 0) {
        k->owed_count--;
        answer(k, &k->owed[k->owed_count], k->owed_number[k->owed_count]);
    }
    look(k);
    if (cw_timer_start(s, CW_NS(1 + cw_random_below(s, (uint64_t)talker_plan.pause_most.ns)), tick, NULL) == NULL) {
        abort();
    }
}

/* ---- Upcalls ----------------------------------------------------------------------------------------------------- */

static int talker_open(cw_svc *s, void *state)
{
    struct talker *k = state;
    k->s = s;
    k->life = cw_random(s);
    struct transport_config config = transport_config_default(TALKER_PORT, k);
    config.begin = begin;
    config.message = message;
    config.counters = true;
    config.background = true;
    config.silence = CW_SEC(2);
#define LIMIT(field, limit) config.field = talker_plan.limits.limit != 0 ? talker_plan.limits.limit : config.field
    LIMIT(memory_max, memory);
    LIMIT(peer_memory_max, peer_memory);
    LIMIT(piece_window, piece_window);
    LIMIT(window_max, window);
    LIMIT(message_max, message);
    LIMIT(peers_max, peers);
    LIMIT(messages_max, messages);
    LIMIT(incoming_max, incoming);
    config.queue_target = config.queue_target < config.window_max ? config.queue_target : config.window_max;
    k->config = config;
    int rc = transport_open(s, &config, &k->t);
    if (rc < 0) {
        return rc;
    }
    return cw_timer_start(s, CW_MS(1), tick, NULL) != NULL ? 0 : -ENOMEM;
}

static void talker_close(cw_svc *s, void *state)
{
    struct talker *k = state;
    (void)s;
    transport_close(k->t);
    for (unsigned i = 0; i < 256; i++) {
        if (k->coming[i].used) {
            ledger_wrong("began", "message %u began, and its end was not told", k->coming[i].number);
        }
    }
}

static cw_verdict talker_packet(cw_svc *s, void *state, cw_packet *p, const cw_rx *rx)
{
    struct talker *k = state;
    (void)s;
    return transport_packet(k->t, p, rx);
}

static void talker_event(cw_svc *s, void *state, const cw_event *ev)
{
    struct talker *k = state;
    (void)s;
    transport_event(k->t, ev);
}

static void talker_writable(cw_svc *s, void *state)
{
    struct talker *k = state;
    (void)s;
    transport_writable(k->t);
}

static int talker_command(cw_svc *s, void *state, cw_request *r, int argc, const char *const *argv)
{
    struct talker *k = state;
    struct transport_stats stats;
    if (argc == 2) {
        say_last(k, (cw_server)strtoul(argv[1], NULL, 10));
        return 0;
    }
    (void)s;
    transport_stats(k->t, &stats);
    unsigned open = 0, coming = 0;
    for (unsigned i = 0; i < TALKER_OUT; i++) {
        open += k->going[i].used;
    }
    for (unsigned i = 0; i < 256; i++) {
        coming += k->coming[i].used;
    }
    cw_request_int(r, "memory", (int64_t)stats.memory);
    cw_request_int(r, "open", open);
    cw_request_int(r, "coming", coming);
    cw_request_int(r, "malformed", (int64_t)stats.malformed);
    return 0;
}

const cw_service talker_service = {
    CW_SERVICE_INIT,
    .name = "talker",
    .version = "1.0",
    .job = TALKER_JOB,
    .state_size = sizeof(struct talker),
    .background = true,
    .open = talker_open,
    .close = talker_close,
    .on_packet = talker_packet,
    .on_event = talker_event,
    .on_command = talker_command,
    .on_writable = talker_writable,
};
