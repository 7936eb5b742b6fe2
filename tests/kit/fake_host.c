/* SPDX-License-Identifier: Apache-2.0 */
#include "fake_host.h"

#include "keyspace/key.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void must(bool good, const char *what)
{
    if (!good) {
        fprintf(stderr, "fake host: %s\n", what);
        abort();
    }
}

static void *make(size_t count, size_t size)
{
    void *memory = calloc(count, size);
    must(memory != NULL, "no memory");
    return memory;
}

/* ---- Packets ----------------------------------------------------------------------------------------------------- */

enum { SPARE_BYTES = 256 };

static cw_packet *take_packet(cw_svc *s, size_t length, size_t pad)
{
    cw_packet *p = s->spare;
    if (p != NULL && length <= SPARE_BYTES) {
        s->spare = p->next;
    } else {
        size_t capacity = length > SPARE_BYTES ? length : SPARE_BYTES;
        p = make(1, sizeof *p + capacity);
        p->capacity = capacity;
    }
    p->home = s;
    p->holder = NULL;
    p->kept = false;
    p->reports = 0;
    p->length = length;
    p->pad = pad;
    memset(p->data, 0, length);
    s->packets++;
    return p;
}

cw_packet *fake_packet(cw_svc *s, const void *bytes, size_t length, size_t pad)
{
    cw_packet *p = take_packet(s, length, pad);
    if (length > 0) {
        memcpy(p->data, bytes, length);
    }
    return p;
}

void fake_free(cw_packet *p)
{
    if (p == NULL) {
        return;
    }
    cw_svc *home = p->home;
    home->packets--;
    if (p->capacity > SPARE_BYTES) {
        free(p);
        return;
    }
    p->next = home->spare;
    home->spare = p;
}

static void let_go(cw_svc *s, cw_packet *p)
{
    p->holder = NULL;
    s->lent = s->lent == p ? NULL : s->lent;
}

cw_packet *cw_packet_new(cw_svc *s, size_t length)
{
    return cw_packet_new_padded(s, length, 0);
}

cw_packet *cw_packet_new_padded(cw_svc *s, size_t length, size_t pad)
{
    if (length + pad > FAKE_MTU || s->packets >= s->packets_max) {
        return NULL;
    }
    cw_packet *p = take_packet(s, length, pad);
    p->holder = s;
    return p;
}

void cw_packet_free(cw_svc *s, cw_packet *p)
{
    if (p != NULL) {
        must(p->holder == s, "a service frees a packet that is not its own");
        let_go(s, p);
        fake_free(p);
    }
}

uint8_t *cw_packet_data(cw_packet *p, size_t *length)
{
    if (length != NULL) {
        *length = p->length;
    }
    return p->data;
}

int cw_packet_resize(cw_packet *p, size_t length)
{
    if (length > p->capacity || length + p->pad > FAKE_MTU) {
        return -EMSGSIZE;
    }
    if (length > p->length) {
        memset(p->data + p->length, 0, length - p->length);
    }
    p->length = length;
    return 0;
}

int cw_packet_trace(const cw_packet *p, unsigned i, cw_trace_hop *out)
{
    must(out->size == sizeof *out, "a service asks for a report without its size");
    if (i >= p->reports) {
        return -ENOENT;
    }
    *out = p->trace[i];
    return 0;
}

size_t cw_packet_pad(const cw_packet *p)
{
    return p->pad;
}

size_t cw_mtu(const cw_svc *s)
{
    (void)s;
    return FAKE_MTU;
}

void cw_packet_keep(cw_packet *p)
{
    must(p->holder != NULL && p->holder->lent == p, "a service keeps a packet that was not lent");
    p->kept = true;
}

/* ---- Sending ----------------------------------------------------------------------------------------------------- */

static int check_send(cw_svc *s, const cw_packet *p, const cw_to *to)
{
    must(p != NULL && p->holder == s, "a service sends a packet that is not its own");
    if (s->closing) {
        return -ESHUTDOWN;
    }
    if (to->job == 0) {
        return -EINVAL;
    }
    if (to->kind == CW_TO_SERVER) {
        cw_server id = cw_server_id(s, to->server);
        must(id == CW_SERVER_NONE || to->process == id || to->process == CW_PROCESS_ANY,
             "a process is not the id of its server");
        return id == CW_SERVER_NONE ? -EINVAL : s->down[id] ? -ENETUNREACH : 0;
    }
    if (to->kind == CW_TO_LINK) {
        must(to->link >= CW_LINK_COUNT || to->process == torus_neighbour(&s->torus, cw_server_id(s, s->self), to->link),
             "a process is not the id of the neighbour");
        return to->link >= CW_LINK_COUNT ? -EINVAL : s->up & cw_links_of(to->link) ? 0 : -ENETUNREACH;
    }
    return to->kind == CW_TO_KEY ? 0 : -EINVAL;
}

/* 0: the send was accepted, and its packet is out of the service's hands. */
static int put_send(cw_svc *s, cw_packet *p, const cw_to *to, const cw_send_options *options, struct fake_send send)
{
    int rc = s->refuse < 0 ? s->refuse : check_send(s, p, to);
    bool background = options != NULL && options->size > 0 && options->place == CW_PLACE_BACKGROUND;
    size_t *room = background ? &s->room_background : &s->room;
    if (rc == 0 && (*room == 0 || s->balk > 0)) {
        s->balk -= s->balk > 0;
        rc = -EAGAIN;
    }
    if (rc < 0) {
        return rc;
    }
    *room -= *room != SIZE_MAX;
    let_go(s, p);
    if (s->swallow) {
        s->swallowed++;
        fake_free(p);
        return 0;
    }
    send.packet = p;
    send.to = *to;
    if (options != NULL && options->size > 0) {
        must(options->size == sizeof *options && options->waypoints <= CW_WAYPOINTS_MAX, "options without their size");
        must(options->place == CW_PLACE_MAIN || s->table->background,
             "a service that asks for no background place sends from it");
        send.options = *options;
        for (unsigned i = 0; i < options->waypoints; i++) {
            send.waypoint[i] = options->waypoint[i];
        }
        send.options.waypoint = NULL;
    }
    if (to->kind == CW_TO_LINK) {
        s->queued[to->link]++;
    }
    if (s->sent_end == s->sent_capacity) {
        s->sent_capacity = s->sent_capacity > 0 ? 2 * s->sent_capacity : 64;
        s->sent = realloc(s->sent, s->sent_capacity * sizeof *s->sent);
        must(s->sent != NULL, "no memory");
    }
    s->sent[s->sent_end++] = send;
    return 0;
}

int cw_send(cw_svc *s, cw_packet *p, const cw_to *to, const cw_send_options *options)
{
    return put_send(s, p, to, options, (struct fake_send){.packet = NULL});
}

void cw_send_or_drop(cw_svc *s, cw_packet *p, const cw_to *to, const cw_send_options *options)
{
    if (cw_send(s, p, to, options) < 0) {
        cw_packet_free(s, p);
    }
}

int cw_packet_address(cw_svc *s, cw_packet *p, const cw_to *to, const cw_send_options *options)
{
    (void)options;
    return s->refuse < 0 ? s->refuse : check_send(s, p, to);
}

void cw_poll_links(cw_svc *s, cw_place place, cw_links links)
{
    must(place == CW_PLACE_MAIN || s->table->background,
         "a service that asks for no background place polls links for it");
    *(place == CW_PLACE_MAIN ? &s->polled : &s->polled_background) = links;
}

bool fake_take(cw_svc *s, struct fake_send *out)
{
    if (s->sent_first == s->sent_end) {
        s->sent_first = s->sent_end = 0;
        return false;
    }
    *out = s->sent[s->sent_first++];
    if (out->to.kind == CW_TO_LINK) {
        s->queued[out->to.link]--;
    }
    return true;
}

size_t fake_sends(const cw_svc *s)
{
    return s->sent_end - s->sent_first;
}

/* ---- Calls ------------------------------------------------------------------------------------------------------- */

/* The packet is the service's for an upcall. */
static void lend(cw_svc *s, cw_packet *p)
{
    p->holder = s;
    p->kept = false;
    s->lent = p;
}

/* True: it is not the service's any more, and the fake's again. */
static bool lend_end(cw_svc *s, cw_packet *p, cw_verdict verdict)
{
    if (s->lent != p) {
        return false; /* sent or freed: not to be looked at */
    }
    s->lent = NULL;
    if (verdict == CW_TAKE || p->kept) {
        return false;
    }
    p->holder = NULL;
    return true;
}

static struct fake_call *call_numbered(cw_svc *s, uint32_t number)
{
    for (size_t i = 0; i < s->calls_capacity; i++) {
        if (s->calls[i].number == number) {
            return &s->calls[i];
        }
    }
    return NULL;
}

int64_t cw_call(cw_svc *s, cw_packet *p, const cw_to *to, const cw_call_options *options, cw_reply_fn done, void *arg)
{
    uint32_t number = ++s->call_numbers;
    struct fake_send send = {.call = number};
    bool third = options != NULL && options->size == sizeof *options && options->reply_to != NULL;
    if (third) {
        must(done == NULL && options->retries == 0, "who has somebody else told hears nothing itself");
        send.told = *options->reply_to;
    }
    int rc = put_send(s, p, to, options != NULL ? &options->send : NULL, send);
    if (rc < 0 || third) {
        return rc < 0 ? rc : (int64_t)number;
    }
    struct fake_call *call = call_numbered(s, 0);
    if (call == NULL) {
        size_t old = s->calls_capacity;
        s->calls_capacity += 64;
        s->calls = realloc(s->calls, s->calls_capacity * sizeof *s->calls);
        must(s->calls != NULL, "no memory");
        memset(s->calls + old, 0, 64 * sizeof *s->calls);
        call = &s->calls[old];
    }
    cw_span timeout = options != NULL && options->timeout.ns > 0 ? options->timeout : CW_SEC(1);
    *call = (struct fake_call){number, cw_time_add(s->now, timeout), done, arg};
    return number;
}

bool fake_answer(cw_svc *s, uint32_t number, int status, cw_packet *reply, const cw_rx *rx)
{
    struct fake_call *found = number != 0 ? call_numbered(s, number) : NULL;
    if (found == NULL) {
        fake_free(reply);
        return false;
    }
    struct fake_call call = *found;
    found->number = 0;
    if (reply != NULL) {
        lend(s, reply);
    }
    call.done(s, s->state, call.arg, status, reply, rx);
    if (reply != NULL && lend_end(s, reply, CW_FORWARD)) {
        fake_free(reply);
    }
    return true;
}

int cw_call_cancel(cw_svc *s, int64_t call)
{
    return fake_answer(s, (uint32_t)call, -ECANCELED, NULL, NULL) ? 0 : -ENOENT;
}

uint32_t fake_right(cw_svc *s, cw_coord server, uint32_t call)
{
    s->rights = realloc(s->rights, (s->rights_count + 1) * sizeof *s->rights);
    must(s->rights != NULL, "no memory");
    s->rights[s->rights_count++] = (struct fake_right){server, call, true};
    return (uint32_t)s->rights_count;
}

int cw_reply(cw_svc *s, uint32_t handle, int status, cw_packet *p)
{
    int rc = -ENOENT;
    if (p == NULL) {
        p = cw_packet_new(s, 0);
    }
    if (handle >= 1 && handle <= s->rights_count && s->rights[handle - 1].open) {
        struct fake_right *right = &s->rights[handle - 1];
        const cw_to to = {
            .kind = CW_TO_SERVER,
            .job = s->table->job,
            .server = right->server,
            .process = cw_server_id(s, right->server),
        };
        rc = put_send(s, p, &to, NULL, (struct fake_send){.call = right->call, .reply = true, .status = status});
        right->open = rc < 0;
    }
    if (rc < 0) {
        cw_packet_free(s, p);
    }
    return rc;
}

/* ---- Arriving ---------------------------------------------------------------------------------------------------- */

bool fake_arrive(cw_svc *s, cw_packet *p, const cw_rx *rx, cw_verdict *verdict)
{
    lend(s, p);
    cw_verdict said = s->table->on_packet(s, s->state, p, rx);
    if (verdict != NULL) {
        *verdict = said;
    }
    if (!lend_end(s, p, said)) {
        return false;
    }
    if (said == CW_FORWARD && rx->where == CW_TRANSIT) {
        return true;
    }
    fake_free(p);
    return false;
}

/* ---- Place and keys ---------------------------------------------------------------------------------------------- */

cw_coord cw_self(const cw_svc *s)
{
    return s->self;
}

cw_dims cw_torus(const cw_svc *s)
{
    return torus_dims(&s->torus);
}

cw_job cw_job_of(const cw_svc *s)
{
    return s->table->job;
}

bool cw_server_valid(const cw_svc *s, cw_coord c)
{
    return torus_holds(&s->torus, c);
}

cw_server cw_server_id(const cw_svc *s, cw_coord c)
{
    return torus_holds(&s->torus, c) ? torus_id(&s->torus, c) : CW_SERVER_NONE;
}

cw_coord cw_server_coord(const cw_svc *s, cw_server id)
{
    return id < s->torus.servers ? torus_coord(&s->torus, id) : (cw_coord){0, 0, 0};
}

unsigned cw_distance(const cw_svc *s, cw_coord a, cw_coord b)
{
    return torus_distance(&s->torus, torus_id(&s->torus, a), torus_id(&s->torus, b));
}

bool cw_reachable(const cw_svc *s, cw_coord c)
{
    return torus_holds(&s->torus, c) && !s->down[torus_id(&s->torus, c)];
}

size_t cw_servers_reachable(const cw_svc *s)
{
    size_t count = 0;
    for (cw_server id = 0; id < s->torus.servers; id++) {
        count += !s->down[id];
    }
    return count;
}

bool cw_in_majority(const cw_svc *s)
{
    return cw_servers_reachable(s) > s->torus.servers / 2;
}

size_t cw_servers_within(const cw_svc *s, unsigned links)
{
    size_t count = 0;
    for (cw_server id = 0; id < s->torus.servers; id++) {
        count += !s->down[id] && torus_distance(&s->torus, torus_id(&s->torus, s->self), id) <= links;
    }
    return count;
}

cw_links cw_links_to(const cw_svc *s, cw_coord c)
{
    return cw_reachable(s, c) ? torus_minimal_links(&s->torus, cw_server_id(s, s->self), cw_server_id(s, c)) & s->up
                              : 0;
}

int cw_link_get(const cw_svc *s, cw_link link, cw_link_info *out)
{
    must(out->size == sizeof *out, "link info without its size");
    if (link >= CW_LINK_COUNT) {
        return -EINVAL;
    }
    if (!(torus_links(&s->torus) & cw_links_of(link))) {
        return -ENODEV;
    }
    out->up = s->up & cw_links_of(link);
    out->neighbour = torus_coord(&s->torus, torus_neighbour(&s->torus, torus_id(&s->torus, s->self), link));
    out->bits_per_second = 0;
    out->queued_packets = s->queued[link];
    return 0;
}

cw_key cw_key_of(const cw_svc *s, const void *name, size_t length)
{
    return key_of_name(s->table->job, name, length);
}

cw_key cw_key_at(const cw_svc *s, cw_coord home, uint64_t w)
{
    cw_key key = {{0}};
    must(key_at(&s->torus, torus_id(&s->torus, home), w, &key) == 0, "a key outside of its home's range");
    return key;
}

/* The order of a key is simple here: the servers from its home on, by their ids. */
static cw_server root_of(const cw_svc *s, const cw_key *key)
{
    cw_server home = key_home(&s->torus, key_route64(key));
    for (cw_server i = 0; i < s->torus.servers; i++) {
        cw_server heir = (home + i) % s->torus.servers;
        if (!s->down[heir]) {
            return heir;
        }
    }
    return home;
}

int cw_servers_for_key(const cw_svc *s, const cw_key *key, unsigned r, cw_coord *out)
{
    if (r == 0) {
        return 0;
    }
    out[0] = torus_coord(&s->torus, root_of(s, key));
    return 1;
}

bool cw_is_root(const cw_svc *s, const cw_key *key)
{
    return !s->fenced && root_of(s, key) == torus_id(&s->torus, s->self);
}

bool cw_key_moved(const cw_svc *s, const cw_key *key, uint64_t since_epoch)
{
    (void)key;
    return s->moved > since_epoch;
}

/* The test says since when; what is known of the first epoch and later is good while it does not. */
bool cw_key_steady(const cw_svc *s, const cw_key *key, uint64_t since_epoch)
{
    (void)key;
    return !s->fenced && since_epoch >= s->steady_since;
}

bool cw_gone(const cw_svc *s, cw_coord c)
{
    return !torus_holds(&s->torus, c) || s->down[torus_id(&s->torus, c)];
}

cw_span cw_hold(const cw_svc *s)
{
    (void)s;
    return CW_MS(60);
}

uint64_t cw_epoch(const cw_svc *s)
{
    return 1 + s->steady_since;
}

/* ---- Time and chance --------------------------------------------------------------------------------------------- */

cw_time cw_now(const cw_svc *s)
{
    return s->now;
}

uint64_t cw_random(cw_svc *s)
{
    uint64_t z = s->random += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

uint64_t cw_random_below(cw_svc *s, uint64_t below)
{
    must(below > 0, "chance among nothing");
    return (uint64_t)(((unsigned __int128)cw_random(s) * below) >> 64);
}

cw_timer *cw_timer_start(cw_svc *s, cw_span after, cw_timer_fn fn, void *arg)
{
    size_t count = 0;
    cw_timer **at = &s->timers;
    cw_time when = cw_time_add(s->now, after);
    for (const cw_timer *t = s->timers; t != NULL; t = t->next) {
        count++;
    }
    if (count >= s->timers_max) {
        return NULL;
    }
    while (*at != NULL && (*at)->at.ns <= when.ns) {
        at = &(*at)->next;
    }
    cw_timer *t = make(1, sizeof *t);
    *t = (cw_timer){when, ++s->timer_orders, fn, arg, *at};
    *at = t;
    return t;
}

void cw_timer_stop(cw_svc *s, cw_timer *t)
{
    if (t == NULL) {
        return;
    }
    cw_timer **at = &s->timers;
    while (*at != NULL && *at != t) {
        at = &(*at)->next;
    }
    must(*at == t, "a timer is stopped that has run");
    *at = t->next;
    free(t);
}

int cw_offload(cw_svc *s, void (*work)(void *arg), void (*done)(cw_svc *s, void *state, void *arg), void *arg,
               cw_span cost)
{
    work(arg);
    return cw_timer_start(s, cost, done, arg) != NULL ? 0 : -EAGAIN;
}

static struct fake_call *next_deadline(const cw_svc *s)
{
    struct fake_call *first = NULL;
    for (size_t i = 0; i < s->calls_capacity; i++) {
        struct fake_call *call = &s->calls[i];
        if (call->number != 0 && (first == NULL || cw_time_before(call->deadline, first->deadline))) {
            first = call;
        }
    }
    return first;
}

cw_time fake_wake(const cw_svc *s)
{
    const struct fake_call *call = next_deadline(s);
    cw_time timer = s->timers != NULL ? s->timers->at : CW_NEVER;
    return call != NULL ? cw_time_min(call->deadline, timer) : timer;
}

void fake_run(cw_svc *s, cw_span span)
{
    cw_time end = cw_time_add(s->now, span);
    for (cw_time next; cw_time_due(next = fake_wake(s), end);) {
        s->now = cw_time_max(s->now, next);
        cw_timer *t = s->timers;
        if (t != NULL && t->at.ns == next.ns) {
            struct cw_timer fired = *t;
            s->timers = t->next;
            free(t);
            fired.fn(s, s->state, fired.arg);
        } else {
            fake_answer(s, next_deadline(s)->number, -ETIMEDOUT, NULL, NULL);
        }
    }
    s->now = end;
}

/* ---- Operators --------------------------------------------------------------------------------------------------- */

const void *(*fake_offers)(cw_svc *s, const char *name, unsigned version);

const void *cw_find(cw_svc *s, const char *name, unsigned version, cw_svc **peer)
{
    const void *object = fake_offers != NULL ? fake_offers(s, name, version) : NULL;
    if (object != NULL) {
        return object;
    }
    if (strcmp(name, s->table->name) != 0 || version != s->table->exports_version) {
        return NULL;
    }
    *peer = s;
    return s->table->exports;
}

void *cw_state(cw_svc *s)
{
    return s->state;
}

cw_counter *cw_counter_new(cw_svc *s, const char *name, const char *help)
{
    must(help != NULL && s->counters < FAKE_COUNTERS, "a counter without help, or one too many");
    cw_counter *c = &s->counter[s->counters++];
    snprintf(c->name, sizeof c->name, "%s", name);
    return c;
}

void cw_counter_add(cw_counter *c, uint64_t n)
{
    c->value += n;
}

cw_histogram *cw_histogram_new(cw_svc *s, const char *name, const char *help)
{
    must(name != NULL && help != NULL && s->histograms < FAKE_HISTOGRAMS, "a histogram without help, or one too many");
    return &s->histogram[s->histograms++];
}

void cw_histogram_note(cw_histogram *h, cw_span took)
{
    histogram_note(&h->times, took.ns);
}

uint64_t cw_histogram_count(const cw_histogram *h)
{
    return h->times.count;
}

cw_span cw_histogram_quantile(const cw_histogram *h, unsigned permille)
{
    return CW_NS(histogram_quantile(&h->times, permille));
}

void cw_log(cw_svc *s, cw_level level, const char *text)
{
    (void)level;
    snprintf(s->logged, sizeof s->logged, "%s", text);
}

static struct fake_result *result_of(cw_request *r)
{
    return (struct fake_result *)r;
}

void cw_request_int(cw_request *r, const char *name, int64_t value)
{
    fake_result_int(result_of(r), name, value);
}

void cw_request_text(cw_request *r, const char *name, const char *value)
{
    fake_result_text(result_of(r), name, value);
}

void cw_request_row(cw_request *r)
{
    fake_result_row(result_of(r));
}

void cw_request_done(cw_request *r, int rc)
{
    fake_result_done(result_of(r), rc);
}

void fake_command(cw_svc *s, const char *line, struct fake_result *r)
{
    struct fake_words words = fake_words_of(line);
    fake_result_init(r);
    int rc = s->table->on_command(s, s->state, (cw_request *)r, words.argc, words.argv);
    must(rc <= 1, "a command gave something above 1");
    if (rc <= 0) {
        fake_result_done(r, rc);
    }
}

/* ---- Life -------------------------------------------------------------------------------------------------------- */

const char *cw_option(const cw_svc *s, const char *name)
{
    size_t length = strlen(name);
    for (unsigned i = 0; s->options != NULL && s->options[i] != NULL; i++) {
        if (strncmp(s->options[i], name, length) == 0 && s->options[i][length] == '=') {
            ((cw_svc *)(uintptr_t)s)->asked |= UINT32_C(1) << i;
            return s->options[i] + length + 1;
        }
    }
    return NULL;
}

static cw_svc *make_service(const cw_service *table, cw_dims dims, cw_coord self)
{
    cw_svc *s = make(1, sizeof *s);
    must(torus_init(&s->torus, dims) == 0 && torus_holds(&s->torus, self), "no such torus, or no such server in it");
    s->table = table;
    s->state = make(1, table->state_size > 0 ? table->state_size : 1);
    s->self = self;
    s->random = torus_id(&s->torus, self);
    s->down = make(s->torus.servers, sizeof *s->down);
    s->up = torus_links(&s->torus);
    s->room = SIZE_MAX;
    s->room_background = SIZE_MAX;
    s->timers_max = SIZE_MAX;
    s->packets_max = SIZE_MAX;
    return s;
}

cw_svc *fake_open(const cw_service *table, cw_dims dims, cw_coord self)
{
    int rc;
    cw_svc *s = fake_open_with(table, dims, self, NULL, &rc);
    must(s != NULL, "the service did not open");
    return s;
}

cw_svc *fake_open_with(const cw_service *table, cw_dims dims, cw_coord self, const char *const *options, int *rc)
{
    cw_svc *s = make_service(table, dims, self);
    unsigned count = 0;
    while (options != NULL && options[count] != NULL) {
        count++;
    }
    must(count < 32, "too many options");
    s->options = options;
    *rc = table->open != NULL ? table->open(s, s->state) : 0;
    if (*rc >= 0 && s->asked == (UINT32_C(1) << count) - 1) {
        return s;
    }
    cw_service unopened = *table;
    if (*rc < 0) {
        unopened.close = NULL;
        s->table = &unopened;
    } else {
        *rc = -EINVAL;
    }
    (void)fake_close(s);
    return NULL;
}

void fake_shut(cw_svc *s)
{
    if (s->closing) {
        return;
    }
    s->closing = true;
    for (size_t i = 0; i < s->calls_capacity; i++) {
        fake_answer(s, s->calls[i].number, -ECANCELED, NULL, NULL);
    }
    if (s->table->close != NULL) {
        s->table->close(s, s->state);
    }
    for (struct fake_send send; fake_take(s, &send);) {
        fake_free(send.packet);
    }
}

size_t fake_close(cw_svc *s)
{
    fake_shut(s);
    while (s->timers != NULL) { /* a service need not stop its timers before it is closed */
        cw_timer_stop(s, s->timers);
    }
    while (s->spare != NULL) {
        cw_packet *next = s->spare->next;
        free(s->spare);
        s->spare = next;
    }
    size_t left = s->packets;
    free(s->sent);
    free(s->calls);
    free(s->rights);
    free(s->down);
    free(s->state);
    free(s);
    return left;
}
