/* SPDX-License-Identifier: Apache-2.0 */
#include "services/multicast/multicast.h"

#include "base/words.h"
#include "services/multicast/cast_flow.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    SESSIONS_BUSY = 16, /* that are not quiet */
    SESSIONS_MOST = 64,
};
static const cw_span beat = {500 * 1000};
static const cw_span beat_quiet = {100 * 1000 * 1000};
static const cw_span keep_quiet = {40 *
                                   INT64_C(1000000000)}; /* a quiet session is remembered, longer than a source waits */
static const cw_span keep_silent = {60 * INT64_C(1000000000)}; /* one that is not, and hears nothing */
static const cw_span stall = {30 * INT64_C(1000000000)}; /* a source gives up after so long without any progress */

struct multicast {
    cw_svc *s;
    struct torus torus;
    struct trees *trees; /* made when it is first needed */
    struct cast_session *sessions;
    unsigned count;
    cw_timer *timer;
    uint64_t numbers;
    struct cast_session *turn[CW_LINK_COUNT]; /* whose turn it is; compared, never followed */
    cw_counter *taken, *malformed, *damaged, *strange, *refused, *repeated, *doubled;
};

/* ---- The sessions ------------------------------------------------------------------------------------------------- */

static struct cast_session *find(const struct multicast *m, cw_server origin, uint64_t number)
{
    struct cast_session *c = m->sessions;
    while (c != NULL && (c->origin != origin || c->number != number)) {
        c = c->next;
    }
    return c;
}

static unsigned busy(const struct multicast *m)
{
    unsigned n = 0;
    for (const struct cast_session *c = m->sessions; c != NULL; c = c->next) {
        n += !cast_session_quiet(c);
    }
    return n;
}

static void remove_session(struct multicast *m, struct cast_session *c)
{
    struct cast_session **at = &m->sessions;
    while (*at != c) {
        at = &(*at)->next;
    }
    *at = c->next;
    m->count--;
    cw_counter_add(m->repeated, c->repeated);
    cw_counter_add(m->doubled, c->doubled);
    cast_session_close(c);
}

/* Room for one more: the quiet one that was heard least lately goes. */
static bool make_room(struct multicast *m)
{
    if (busy(m) >= SESSIONS_BUSY) {
        return false;
    }
    if (m->count < SESSIONS_MOST) {
        return true;
    }
    struct cast_session *oldest = NULL;
    for (struct cast_session *c = m->sessions; c != NULL; c = c->next) {
        if (cast_session_quiet(c) && (oldest == NULL || cw_time_before(c->heard, oldest->heard))) {
            oldest = c;
        }
    }
    if (oldest != NULL) {
        remove_session(m, oldest);
    }
    return oldest != NULL;
}

static int begin(struct multicast *m, const struct cast_head *open, struct cast_session **out)
{
    if (m->trees == NULL) {
        int rc = trees_open(&m->trees, &m->torus);
        if (rc < 0) {
            return rc;
        }
    }
    if (!make_room(m)) {
        return -EBUSY;
    }
    int rc = cast_session_open(out, m->s, &m->torus, m->trees, open);
    if (rc == 0) {
        (*out)->next = m->sessions;
        m->sessions = *out;
        m->count++;
    }
    return rc;
}

/* ---- A source's end ----------------------------------------------------------------------------------------------- */

static void tell_server(cw_request *r, const char *name, cw_coord c)
{
    char text[TORUS_TEXT];
    torus_format(c, text);
    cw_request_text(r, name, text);
}

static int64_t rate_of(const struct cast_session *c, cw_span took)
{
    unsigned __int128 bits = (unsigned __int128)c->stripe.bytes * 8 * 1000000000;
    return took.ns > 0 ? (int64_t)(bits / (uint64_t)took.ns) : 0;
}

static void finish(struct cast_session *c, int rc)
{
    cw_request *r = c->request;
    if (r == NULL) {
        return;
    }
    c->request = NULL;
    unsigned has = 0;
    cw_span slowest = {0};
    for (unsigned i = 0; i < c->book_count; i++) {
        const struct cast_member *b = &c->book[i];
        has += b->state == CAST_HAS;
        slowest = b->state == CAST_HAS && b->took.ns > slowest.ns ? b->took : slowest;
    }
    cw_request_int(r, "bytes", (int64_t)c->stripe.bytes);
    cw_request_int(r, "members", c->book_count);
    cw_request_int(r, "complete", has);
    cw_request_int(r, "took_ns", slowest.ns);
    cw_request_int(r, "least_bits_per_s", has > 0 ? rate_of(c, slowest) : 0);
    cw_request_int(r, "repeated", (int64_t)c->repeated);
    for (unsigned i = 0; i < c->book_count; i++) {
        const struct cast_member *b = &c->book[i];
        if (b->state != CAST_HAS) {
            cw_request_row(r);
            tell_server(r, "incomplete", torus_coord(c->torus, b->server));
            cw_request_int(r, "status", b->state == CAST_LOST ? b->status : -ETIMEDOUT);
        }
    }
    c->ended = true;
    c->ended_at = cw_now(c->s);
    cw_request_done(r, rc);
}

static void mark(struct cast_session *c, cw_server member, int status)
{
    if (c->source && cast_session_mark(c, member, status)) {
        finish(c, 0);
    }
}

/* ---- Time and events ---------------------------------------------------------------------------------------------- */

static void tick(cw_svc *s, void *state, void *arg);

static void wake(struct multicast *m)
{
    cw_links links = CW_LINKS_NONE;
    for (const struct cast_session *c = m->sessions; c != NULL; c = c->next) {
        links |= cast_flow_links(c);
    }
    cw_poll_links(m->s, links);
}

static void set_timer(struct multicast *m)
{
    cw_timer_stop(m->s, m->timer);
    m->timer = m->sessions != NULL ? cw_timer_start(m->s, busy(m) > 0 ? beat : beat_quiet, tick, NULL) : NULL;
}

static void tick(cw_svc *s, void *state, void *arg)
{
    (void)arg;
    struct multicast *m = state;
    m->timer = NULL;
    struct cast_session *next;
    for (struct cast_session *c = m->sessions; c != NULL; c = next) {
        next = c->next;
        cw_time now = cw_now(s);
        if (c->source && c->book_open > 0 && cw_time_since(now, c->progress).ns > stall.ns) {
            finish(c, -ETIMEDOUT);
            remove_session(m, c);
            continue;
        }
        bool quiet = cast_session_quiet(c);
        cw_span silent = cw_time_since(now, c->heard);
        if (silent.ns > (quiet || (c->source && c->book_open == 0) ? keep_quiet.ns : keep_silent.ns)) {
            remove_session(m, c);
            continue;
        }
        cast_flow_tick(c);
    }
    set_timer(m);
    wake(m);
}

static void source_gone(struct multicast *m, struct cast_session *c)
{
    if (c->wanted && !c->ended) {
        char text[96], name[TORUS_TEXT];
        torus_format(torus_coord(&m->torus, c->origin), name);
        snprintf(text, sizeof text, "a message from %s ended unfinished: its source left", name);
        cw_log(m->s, CW_LOG_WARN, text);
    }
    remove_session(m, c);
}

static void on_event(cw_svc *s, void *state, const cw_event *ev)
{
    struct multicast *m = state;
    cw_server server = cw_server_id(s, ev->server);
    struct cast_session *next;
    for (struct cast_session *c = m->sessions; c != NULL; c = next) {
        next = c->next;
        if (ev->kind == CW_EVENT_SERVER_DOWN) {
            if (server == c->origin) {
                source_gone(m, c);
                continue;
            }
            mark(c, server, -ENETUNREACH);
            cast_flow_gone(c, server);
        }
        if (cast_session_replan(c) < 0) {
            cw_log(s, CW_LOG_ERROR, "no memory to plan a message anew: some servers may not get it");
        }
        for (uint8_t t = 0; t < CW_LINK_COUNT; t++) {
            cast_session_settle(c, t);
        }
        cast_flow_tick(c);
    }
    wake(m);
}

/* ---- Packets ------------------------------------------------------------------------------------------------------ */

static cw_packet *next_packet(cw_svc *s, void *state, cw_link link)
{
    (void)s;
    struct multicast *m = state;
    struct cast_session *first = m->sessions;
    while (first != NULL && first != m->turn[link]) {
        first = first->next;
    }
    first = first != NULL ? first : m->sessions;
    struct cast_session *c = first;
    while (c != NULL) {
        cw_packet *p = cast_flow_next(c, link);
        struct cast_session *after = c->next != NULL ? c->next : m->sessions;
        if (p != NULL) {
            m->turn[link] = after;
            return p;
        }
        c = after != first ? after : NULL;
    }
    return NULL;
}

static void take_done(struct cast_session *c, const struct cast_head *h, cw_server from)
{
    int status = h->status == 0 && h->sum != c->sum ? -EBADMSG : h->status;
    mark(c, from, status);
}

static int take(struct multicast *m, const struct cast_head *h, cw_server from)
{
    struct cast_session *c = find(m, h->origin, h->number);
    if (h->kind == CAST_DONE) {
        /* Also when it is not known any more: the member asks until it is told. */
        struct cast_head answer = {.kind = CAST_DONE_ACK, .origin = h->origin, .number = h->number};
        cw_packet *p = h->origin == cw_server_id(m->s, cw_self(m->s)) ? cw_packet_new(m->s, CAST_DONE_ACK_BYTES) : NULL;
        if (p == NULL) {
            return -EINVAL;
        }
        cast_head_encode(&answer, cw_packet_data(p, NULL));
        const cw_to to = {.kind = CW_TO_SERVER,
                          .job = MULTICAST_JOB,
                          .port = MULTICAST_PORT,
                          .server = torus_coord(&m->torus, from),
                          .process = from};
        cw_send_or_drop(m->s, p, &to, NULL);
        if (c != NULL) {
            c->heard = cw_now(m->s);
            take_done(c, h, from);
        }
        return 0;
    }
    if (h->kind == CAST_DONE_ACK) {
        if (c == NULL || from != c->origin) {
            return -ESTALE;
        }
        c->done_heard = true;
        return 0;
    }
    if (c == NULL && h->kind == CAST_OPEN && h->origin != cw_server_id(m->s, cw_self(m->s))) {
        bool idle = m->timer == NULL || busy(m) == 0;
        int rc = begin(m, h, &c);
        if (rc < 0) {
            cw_counter_add(m->refused, 1);
            return rc;
        }
        if (idle) {
            set_timer(m);
        }
    }
    return c != NULL ? cast_flow_take(c, h, from) : -ESTALE;
}

static cw_verdict on_packet(cw_svc *s, void *state, cw_packet *p, const cw_rx *rx)
{
    struct multicast *m = state;
    struct cast_head h;
    size_t length;
    const uint8_t *data = cw_packet_data(p, &length);
    if (rx->src_job != MULTICAST_JOB || rx->src_process >= m->torus.servers || cast_head_decode(data, length, &h) < 0) {
        cw_counter_add(m->malformed, 1);
        return CW_DROP;
    }
    if (h.kind == CAST_DATA && cast_sum(h.tree, h.index, h.rest, h.rest_bytes) != h.sum) {
        cw_counter_add(m->damaged, 1);
        return CW_DROP;
    }
    (void)s;
    cw_counter_add(m->taken, 1);
    if (take(m, &h, rx->src_process) < 0) {
        cw_counter_add(m->strange, 1);
        return CW_FORWARD;
    }
    wake(m);
    return CW_FORWARD;
}

/* ---- Commands ----------------------------------------------------------------------------------------------------- */

static int refuse(cw_request *r, const char *what, const char *word)
{
    char text[200];
    snprintf(text, sizeof text, "%.110s: '%.80s'", what, word);
    cw_request_text(r, "error", text);
    return -EINVAL;
}

/* Reads "all" or servers into a set. */
static int read_members(const struct multicast *m, cw_request *r, int argc, const char *const *argv, uint8_t *set)
{
    bool all = argc == 1 && strcmp(argv[0], "all") == 0;
    for (cw_server i = 0; all && i < m->torus.servers; i++) {
        set[i / 8] |= (uint8_t)(1 << i % 8);
    }
    for (int i = 0; !all && i < argc; i++) {
        cw_coord c;
        if (torus_parse(&m->torus, argv[i], strlen(argv[i]), &c) < 0) {
            return refuse(r, "not a server of this torus (X,Y,Z, or all)", argv[i]);
        }
        cw_server id = torus_id(&m->torus, c);
        set[id / 8] |= (uint8_t)(1 << id % 8);
    }
    cw_server self = cw_server_id(m->s, cw_self(m->s));
    set[self / 8] &= (uint8_t) ~(1 << self % 8);
    bool live = false;
    for (cw_server i = 0; i < m->torus.servers; i++) {
        live = live || ((set[i / 8] >> i % 8 & 1) && cw_reachable(m->s, torus_coord(&m->torus, i)));
    }
    return live ? 0 : refuse(r, "no member but the source can be reached", argv[0]);
}

static int send(struct multicast *m, cw_request *r, int argc, const char *const *argv)
{
    uint64_t bytes;
    if (argc < 4 || strcmp(argv[2], "to") != 0) {
        return refuse(r, "send BYTES to all, or send BYTES to X,Y,Z ..., not", argc >= 2 ? argv[1] : "");
    }
    if (words_number(argv[1], 1, UINT64_C(1) << 44, &bytes) < 0) {
        return refuse(r, "BYTES is a whole number from 1 to 2^44", argv[1]);
    }
    size_t bytes_of_set = cast_members_bytes(m->torus.servers);
    if (cw_mtu(m->s) < CAST_OPEN_HEAD + bytes_of_set || cw_mtu(m->s) < CAST_DATA_HEAD + CAST_PIECE_LEAST) {
        return refuse(r, "the packets here are too small to name all servers", argv[0]);
    }
    uint8_t *set = calloc(bytes_of_set, 1);
    if (set == NULL) {
        return -ENOMEM;
    }
    struct cast_session *c = NULL;
    int rc = read_members(m, r, argc - 3, argv + 3, set);
    if (rc == 0) {
        m->numbers++;
        size_t piece = cw_mtu(m->s) - CAST_DATA_HEAD;
        struct cast_head open = {
            .kind = CAST_OPEN,
            .origin = cw_server_id(m->s, cw_self(m->s)),
            .number = (cw_random(m->s) << 16 | (m->numbers & 0xffff)) | UINT64_C(1) << 63,
            .tag = cw_random(m->s),
            .bytes = bytes,
            .piece_bytes = (uint32_t)(piece < CAST_PIECE_MOST ? piece : CAST_PIECE_MOST) / 8 * 8,
            .servers = m->torus.servers,
            .rest = set,
            .rest_bytes = bytes_of_set,
        };
        rc = begin(m, &open, &c);
    }
    free(set);
    if (rc == -EBUSY) {
        (void)refuse(r, "16 messages are under way here; wait for one to end", argv[1]);
    }
    if (rc < 0) {
        return rc;
    }
    c->request = r;
    cast_flow_tick(c);
    set_timer(m);
    wake(m);
    return 1;
}

static void tell_session(cw_request *r, const struct cast_session *c)
{
    char number[20];
    tell_server(r, "source", torus_coord(c->torus, c->origin));
    snprintf(number, sizeof number, "%016llx", (unsigned long long)c->number);
    cw_request_text(r, "message", number);
    cw_request_text(r, "role", c->source ? "source" : c->wanted ? "member" : "forwarder");
    cw_request_int(r, "bytes", (int64_t)c->stripe.bytes);
    cw_request_int(r, "pieces", (int64_t)c->stripe.pieces);
    cw_request_int(r, "has", (int64_t)c->got_count);
    cw_request_int(r, "ended", c->ended);
    cw_request_int(r, "status", c->status);
    cw_request_int(r, "took_ns", cw_time_since(c->ended ? c->ended_at : cw_now(c->s), c->began).ns);
    cw_request_int(r, "waits_for", c->book_open);
    cw_request_int(r, "children", c->edges);
    cw_request_int(r, "repeated", (int64_t)c->repeated);
    cw_request_int(r, "doubled", (int64_t)c->doubled);
    cw_request_int(r, "memory", (int64_t)cast_session_memory(c));
}

static int on_command(cw_svc *s, void *state, cw_request *r, int argc, const char *const *argv)
{
    struct multicast *m = state;
    (void)s;
    const char *word = argc >= 1 ? argv[0] : "";
    if (strcmp(word, "send") == 0) {
        return send(m, r, argc, argv);
    }
    if (argc != 1 || strcmp(word, "status") != 0) {
        return refuse(r, "there are: send BYTES to all|SERVER..., status; not", word);
    }
    for (const struct cast_session *c = m->sessions; c != NULL; c = c->next) {
        if (c != m->sessions) {
            cw_request_row(r);
        }
        tell_session(r, c);
    }
    return 0;
}

/* ---- Life --------------------------------------------------------------------------------------------------------- */

static int multicast_open(cw_svc *s, void *state)
{
    struct multicast *m = state;
    m->s = s;
    m->taken = cw_counter_new(s, "packets", "packets that came");
    m->malformed = cw_counter_new(s, "malformed", "packets that are none of ours");
    m->damaged = cw_counter_new(s, "damaged", "pieces with a wrong sum");
    m->strange = cw_counter_new(s, "strange", "packets of no use: of no message, late, or beyond the window");
    m->refused = cw_counter_new(s, "refused", "messages there was no room for");
    m->repeated = cw_counter_new(s, "repeated", "pieces sent again, of messages that are forgotten");
    m->doubled = cw_counter_new(s, "doubled", "pieces that came twice, of messages that are forgotten");
    return torus_init(&m->torus, cw_torus(s));
}

static void multicast_close(cw_svc *s, void *state)
{
    struct multicast *m = state;
    cw_timer_stop(s, m->timer);
    while (m->sessions != NULL) {
        remove_session(m, m->sessions);
    }
    trees_close(m->trees);
}

const cw_service multicast_service = {
    CW_SERVICE_INIT,
    .name = "multicast",
    .version = "1",
    .job = MULTICAST_JOB,
    .state_size = sizeof(struct multicast),
    .open = multicast_open,
    .close = multicast_close,
    .on_packet = on_packet,
    .on_event = on_event,
    .on_command = on_command,
    .next_packet = next_packet,
};
