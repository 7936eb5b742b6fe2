/* SPDX-License-Identifier: Apache-2.0 */
#include "node_bench.h"

#include "suite.h"
#include "wire/frame.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PACKETS = 20000, EVENTS = 40000, FRAME_COST = 14 + 4 + 20 };

/* A frame that will arrive, or (frame NULL) a link that will be free. */
struct coming {
    struct heap_entry entry;
    struct cw_packet *frame;
    cw_server server;
    cw_link link;
};

/* ---- The probe --------------------------------------------------------------------------------------------------- */

static struct note *new_note(struct probe *probe, enum note_kind kind)
{
    static struct note nowhere;
    struct note *note = probe->count < PROBE_NOTES ? &probe->note[probe->count] : &nowhere;
    probe->count++;
    memset(note, 0, sizeof *note);
    note->kind = kind;
    note->at = probe->bench->now;
    return note;
}

static void note_packet(struct note *note, cw_packet *p, const cw_rx *rx)
{
    if (p != NULL) {
        const uint8_t *bytes = cw_packet_data(p, &note->length);
        note->pad = cw_packet_pad(p);
        memcpy(note->first, bytes, note->length < sizeof note->first ? note->length : sizeof note->first);
    }
    if (rx != NULL) {
        note->rx = *rx;
    }
}

static cw_verdict probe_packet(cw_svc *s, void *state, cw_packet *p, const cw_rx *rx)
{
    struct probe *probe = state;
    note_packet(new_note(probe, rx->where == CW_TRANSIT ? NOTE_TRANSIT : NOTE_PACKET), p, rx);
    if (probe->bench->hooks.on_packet != NULL) {
        return probe->bench->hooks.on_packet(s, p, rx);
    }
    return rx->where == CW_TRANSIT ? CW_FORWARD : CW_DROP;
}

static void probe_event(cw_svc *s, void *state, const cw_event *event)
{
    struct probe *probe = state;
    new_note(probe, NOTE_EVENT)->event = *event;
    if (probe->bench->hooks.on_event != NULL) {
        probe->bench->hooks.on_event(s, event);
    }
}

static int probe_command(cw_svc *s, void *state, cw_request *r, int argc, const char *const *argv)
{
    struct probe *probe = state;
    return probe->bench->hooks.on_command != NULL ? probe->bench->hooks.on_command(s, r, argc, argv) : -EINVAL;
}

static void probe_writable(cw_svc *s, void *state)
{
    (void)s;
    new_note(state, NOTE_WRITABLE);
}

static bool probe_peek(cw_svc *s, void *state, cw_place place, cw_link link, cw_peek *out)
{
    struct probe *probe = state;
    return probe->bench->hooks.peek_packet(s, place, link, out);
}

static cw_packet *probe_next(cw_svc *s, void *state, cw_place place, cw_link link)
{
    struct probe *probe = state;
    probe->bench->hooks.asked = place;
    return probe->bench->hooks.next_packet != NULL ? probe->bench->hooks.next_packet(s, link) : NULL;
}

void probe_reply(cw_svc *s, void *state, void *arg, int status, cw_packet *reply, const cw_rx *rx)
{
    (void)s;
    (void)arg;
    struct note *note = new_note(state, NOTE_REPLY);
    note->status = status;
    note_packet(note, reply, rx);
}

void probe_timer(cw_svc *s, void *state, void *arg)
{
    (void)s;
    (void)arg;
    new_note(state, NOTE_TIMER);
}

/* ---- The pump ---------------------------------------------------------------------------------------------------- */

/* Data packets in a frame. */
static uint64_t data_in(const struct cw_packet *frame)
{
    struct frame_head head;
    struct frame_walk walk;
    struct frame_slice slice;
    uint64_t data = 0;
    ck_assert_int_eq(frame_decode(frame->data, (size_t)frame->length + frame->pad, &head, &walk), WIRE_OK);
    while (frame_next(frame->data, &walk, &slice)) {
        data += packet_kind_of(frame->data + slice.at) != PACKET_CONTROL;
    }
    return data;
}

static void later(struct bench *b, cw_time at, struct cw_packet *frame, cw_server server, cw_link link)
{
    struct coming *c = calloc(1, sizeof *c);
    c->frame = frame;
    c->server = server;
    c->link = link;
    b->data_under_way += frame != NULL ? data_in(frame) : 0;
    ck_assert_int_eq(heap_insert(&b->heap, &c->entry, at, ++b->sequence), 0);
}

static void send_frame(struct bench *b, cw_server s, cw_link link, struct cw_packet *frame)
{
    struct bench_link *l = &b->link[s][link];
    uint64_t bits = (frame->length + frame->pad + FRAME_COST) * UINT64_C(8);
    cw_time end = cw_time_add(b->now, CW_NS(bits * UINT64_C(1000000000) / b->bits_per_second));
    cw_time at = cw_time_add(end, b->delay);
    l->last = cw_time_max(at, cw_time_add(l->last, CW_NS(1)));
    l->busy = true;
    later(b, end, NULL, s, link);
    later(b, l->last, frame, b->neighbours[s * CW_LINK_COUNT + link], cw_link_opposite(link));
}

/*
 * Links that are free at the same instant are asked in turns. Always the same first would make of all shortest paths
 * one: each packet finds that link idle.
 */
static void pull(struct bench *b, cw_server s, cw_links links)
{
    unsigned first = b->turn[s];
    for (unsigned i = 0; i < CW_LINK_COUNT; i++) {
        cw_link link = (cw_link)((first + i) % CW_LINK_COUNT);
        if ((links & cw_links_of(link)) && !b->link[s][link].busy) {
            struct cw_packet *frame = node_tx_pull(b->node[s], link, b->now);
            if (frame != NULL) {
                send_frame(b, s, link, frame);
                b->turn[s] = link + 1u;
            }
        }
    }
}

static void arrive(struct bench *b, const struct coming *c)
{
    uint64_t data = data_in(c->frame);
    b->data_under_way -= data;
    if (b->node[c->server] == NULL || b->link[c->server][c->link].cut) {
        b->lost += data;
        pkt_release(c->frame);
        return;
    }
    pull(b, c->server, node_rx(b->node[c->server], c->link, c->frame, b->now));
}

static void happen(struct bench *b, struct coming *c)
{
    if (c->frame != NULL) {
        arrive(b, c);
    } else {
        b->link[c->server][c->link].busy = false;
        if (b->node[c->server] != NULL) {
            pull(b, c->server, cw_links_of(c->link));
        }
    }
    free(c);
}

/* The node that wants to be woken first, CW_SERVER_NONE when none does. */
static cw_server first_to_wake(const struct bench *b, cw_time *at)
{
    cw_server first = CW_SERVER_NONE;
    *at = CW_NEVER;
    for (cw_server s = 0; s < b->torus.servers; s++) {
        cw_time wake = b->node[s] != NULL ? node_next_wake(b->node[s]) : CW_NEVER;
        if (cw_time_before(wake, *at)) {
            first = s;
            *at = wake;
        }
    }
    return first;
}

void bench_run(struct bench *b, cw_span span)
{
    cw_time until = cw_time_add(b->now, span), wake;
    for (unsigned same = 0; same < 1000000; same++) {
        cw_server s = first_to_wake(b, &wake);
        cw_time frame = heap_min_time(&b->heap);
        cw_time next = cw_time_max(b->now, cw_time_min(wake, frame));
        if (cw_time_before(until, next)) {
            b->now = until;
            return;
        }
        same = cw_time_before(b->now, next) ? 0 : same;
        b->now = next;
        if (cw_time_due(frame, b->now)) {
            happen(b, container_of(heap_pop(&b->heap), struct coming, entry));
        } else {
            pull(b, s, node_tick(b->node[s], b->now));
        }
    }
    ck_abort_msg("time stands still");
}

void bench_kick(struct bench *b, cw_server s)
{
    pull(b, s, node_tick(b->node[s], b->now));
}

/* ---- Servers and cables ------------------------------------------------------------------------------------------ */

static void watch_packet(void *context, const struct node *n, enum node_point point, const struct cw_packet *p,
                         cw_drop cause, cw_time now)
{
    struct bench *b = context;
    (void)n;
    (void)p;
    (void)now;
    b->watched[point]++;
    if (point == NODE_DROPPED) {
        b->dropped[cause]++;
    }
}

static void watch_log(void *context, const struct node *n, cw_level level, const char *service, const char *text,
                      cw_time now)
{
    struct bench *b = context;
    (void)n;
    (void)level;
    (void)service;
    (void)now;
    b->logs++;
    snprintf(b->logged, sizeof b->logged, "%s", text);
}

void bench_allow(struct bench *bench, cw_job a, cw_job b)
{
    const struct book_grant all = {.from = a, .to = b, .any_port = true, .all_processes = true};
    ck_assert_int_eq(book_allow(bench->book, &all), 0);
}

struct bench *bench_open(cw_dims dims)
{
    struct bench *b = calloc(1, sizeof *b);
    ck_assert_int_eq(torus_init(&b->torus, dims), 0);
    ck_assert_uint_le(b->torus.servers, BENCH_SERVERS);
    for (cw_server s = 0; s < b->torus.servers; s++) {
        for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
            b->neighbours[s * CW_LINK_COUNT + link] = torus_neighbour(&b->torus, s, link);
        }
    }
    b->config = node_config_default();
    b->config.dims = dims;
    b->config.cluster = 1;
    b->bits_per_second = 1000 * 1000 * 1000;
    b->delay = CW_US(5);
    b->heap_memory = malloc(heap_size(EVENTS));
    heap_init(&b->heap, b->heap_memory, EVENTS);
    const struct pkt_home_config home = {
        .small_bytes = 192 + PKT_HEADROOM, .large_bytes = 9000 + PKT_HEADROOM, .packets_max = PACKETS};
    ck_assert_int_eq(pkt_home_open(&b->home, &home), 0);
    ck_assert_int_eq(book_open(&b->book, b->torus.servers), 0);
    b->records = (struct nmu_source){b->book, book_record};
    bench_allow(b, PROBE_JOB, PROBE_JOB);
    return b;
}

static void carrier(struct bench *b, cw_server s, cw_link link, bool up)
{
    if (b->node[s] != NULL) {
        pull(b, s, node_carrier(b->node[s], link, up, b->now));
    }
}

static bool cable(const struct bench *b, cw_server s, cw_link link)
{
    return b->neighbours[s * CW_LINK_COUNT + link] != s && !b->link[s][link].cut;
}

void bench_start(struct bench *b, cw_server s)
{
    cw_service probe = {
        CW_SERVICE_INIT,
        .name = "probe",
        .version = "1",
        .job = PROBE_JOB,
        .state_size = sizeof(struct probe),
        .on_path = b->hooks.on_path,
        .background = b->hooks.background,
        .mark_after = b->hooks.mark_after,
        .on_packet = probe_packet,
        .on_event = probe_event,
        .on_command = probe_command,
        .on_writable = probe_writable,
        .next_packet = b->hooks.next_packet != NULL ? probe_next : NULL,
        .peek_packet = b->hooks.peek_packet != NULL ? probe_peek : NULL,
    };
    struct node_env env = {.packets = b->home, .neighbours = b->neighbours, .seed = 1000 + s};
    env.watch = (struct node_watch){.context = b, .packet = watch_packet, .log = watch_log};
    env.records = b->records;
    env.seal = b->seal;
    env.mark = b->mark;
    env.meter = b->meter;
    b->config.self = torus_coord(&b->torus, s);
    b->config.incarnation = ++b->incarnation;
    ck_assert_ptr_null(b->node[s]);
    ck_assert_int_eq(node_open(&b->node[s], &b->config, &env), 0);
    ck_assert_int_eq(node_service_add(b->node[s], &probe, b->now), 0);
    bench_probe(b, s)->bench = b;
    for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
        cw_server far = b->neighbours[s * CW_LINK_COUNT + link];
        if (cable(b, s, link) && b->node[far] != NULL) {
            carrier(b, s, link, true);
            carrier(b, far, cw_link_opposite(link), true);
        }
    }
}

void bench_start_all(struct bench *b)
{
    for (cw_server s = 0; s < b->torus.servers; s++) {
        bench_start(b, s);
    }
}

void bench_kill(struct bench *b, cw_server s, bool seen)
{
    node_close(b->node[s], b->now);
    b->node[s] = NULL;
    for (cw_link link = 0; seen && link < CW_LINK_COUNT; link++) {
        if (cable(b, s, link)) {
            carrier(b, b->neighbours[s * CW_LINK_COUNT + link], cw_link_opposite(link), false);
        }
    }
}

void bench_cut(struct bench *b, cw_server s, cw_link link, bool cut)
{
    cw_server far = b->neighbours[s * CW_LINK_COUNT + link];
    b->link[s][link].cut = b->link[far][cw_link_opposite(link)].cut = cut;
    carrier(b, s, link, !cut);
    carrier(b, far, cw_link_opposite(link), !cut);
}

void bench_close(struct bench *b)
{
    for (cw_server s = 0; s < b->torus.servers; s++) {
        if (b->node[s] != NULL) {
            node_close(b->node[s], b->now);
        }
    }
    for (struct heap_entry *e; (e = heap_pop(&b->heap)) != NULL;) {
        struct coming *c = container_of(e, struct coming, entry);
        pkt_release(c->frame);
        free(c);
    }
    pkt_home_close(b->home);
    book_close(b->book);
    free(b->heap_memory);
    free(b);
}

static bool settled(const struct bench *b)
{
    uint32_t alive = 0;
    for (cw_server s = 0; s < b->torus.servers; s++) {
        alive += b->node[s] != NULL;
    }
    for (cw_server s = 0; s < b->torus.servers; s++) {
        const struct node *n = b->node[s];
        if (n != NULL &&
            (n->told.members != alive || !ls_serving(n->ls, b->now) || ls_committed(n->ls) != ls_optimistic(n->ls))) {
            return false;
        }
    }
    return true;
}

void bench_settle(struct bench *b)
{
    for (unsigned i = 0; i < 1000; i++) {
        bench_run(b, CW_MS(5));
        if (settled(b)) {
            return;
        }
    }
    ck_abort_msg("the cluster does not settle");
}

/* ---- Looking and sending ----------------------------------------------------------------------------------------- */

cw_svc *bench_svc(struct bench *b, cw_server s)
{
    node_enter(b->node[s], b->now); /* what services do, they do inside an entry */
    return node_service_of(b->node[s], PROBE_JOB);
}

struct probe *bench_probe(struct bench *b, cw_server s)
{
    return cw_state(bench_svc(b, s));
}

unsigned bench_notes(struct bench *b, cw_server s, enum note_kind kind, const struct note **last)
{
    const struct probe *probe = bench_probe(b, s);
    unsigned found = 0;
    ck_assert_uint_le(probe->count, PROBE_NOTES);
    for (unsigned i = 0; i < probe->count; i++) {
        if (probe->note[i].kind == kind) {
            found++;
            if (last != NULL) {
                *last = &probe->note[i];
            }
        }
    }
    return found;
}

void bench_forget_notes(struct bench *b)
{
    for (cw_server s = 0; s < b->torus.servers; s++) {
        if (b->node[s] != NULL) {
            bench_probe(b, s)->count = 0;
        }
    }
}

cw_to to_server(struct bench *b, cw_server s)
{
    return (cw_to){
        .kind = CW_TO_SERVER, .job = PROBE_JOB, .port = 7, .server = torus_coord(&b->torus, s), .process = s};
}

cw_to to_route(uint64_t route)
{
    cw_to to = {.kind = CW_TO_KEY, .job = PROBE_JOB, .port = 7};
    for (unsigned i = 0; i < 8; i++) {
        to.key.b[CW_KEY_BYTES - 1 - i] = (uint8_t)(route >> 8 * i);
    }
    return to;
}

cw_packet *packet_of(struct bench *b, cw_server s, const char *text, size_t pad)
{
    cw_packet *p = cw_packet_new_padded(bench_svc(b, s), strlen(text), pad);
    ck_assert_ptr_nonnull(p);
    memcpy(cw_packet_data(p, NULL), text, strlen(text));
    return p;
}

int send_text(struct bench *b, cw_server s, const char *text, const cw_to *to, const cw_send_options *options)
{
    cw_packet *p = packet_of(b, s, text, 0);
    int rc = cw_send(bench_svc(b, s), p, to, options);
    if (rc < 0) {
        cw_packet_free(bench_svc(b, s), p);
    }
    bench_kick(b, s);
    return rc;
}
