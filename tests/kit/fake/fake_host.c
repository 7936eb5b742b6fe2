/* SPDX-License-Identifier: Apache-2.0 */
#include "fake_host.h"

#include "keyspace/key.h"

#include <errno.h>
#include <limits.h>
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
    if (length > FAKE_MTU || pad > FAKE_MTU - length || s->packets >= s->packets_max) {
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
        *length = p != NULL ? p->length : 0;
    }
    return p != NULL ? p->data : NULL;
}

int cw_packet_resize(cw_packet *p, size_t length)
{
    if (p == NULL) {
        return -EINVAL;
    }
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
    if (p == NULL || out == NULL || out->size < sizeof *out) {
        return -EINVAL;
    }
    if (i >= p->reports) {
        return -ENOENT;
    }
    *out = p->trace[i];
    return 0;
}

size_t cw_packet_pad(const cw_packet *p)
{
    return p != NULL ? p->pad : 0;
}

size_t cw_mtu(const cw_svc *s)
{
    (void)s;
    return FAKE_MTU;
}

void cw_packet_keep(cw_packet *p)
{
    if (p != NULL) {
        must(p->holder != NULL && p->holder->lent == p, "a service keeps a packet that was not lent");
        p->kept = true;
    }
}

/* ---- Sending ----------------------------------------------------------------------------------------------------- */

/* A packet of another, or of nobody, is a misuse; every other bad word gives what service.h says. */
static int check_send(cw_svc *s, const cw_packet *p, const cw_to *to)
{
    must(p == NULL || p->holder == s, "a service sends a packet that is not its own");
    if (p == NULL || to == NULL || to->job == 0) {
        return -EINVAL;
    }
    if (s->closing) {
        return -ESHUTDOWN;
    }
    if (to->kind == CW_TO_SERVER) {
        cw_server id = cw_server_id(s, to->server);
        if (id == CW_SERVER_NONE || (to->process != id && to->process != CW_PROCESS_ANY)) {
            return -EINVAL;
        }
        return s->down[id] ? -ENETUNREACH : 0;
    }
    if (to->kind == CW_TO_LINK) {
        if (to->link >= CW_LINK_COUNT || !(torus_links(&s->torus) & cw_links_of(to->link))) {
            return -EINVAL;
        }
        cw_server there = torus_neighbour(&s->torus, cw_server_id(s, s->self), to->link);
        if (to->process != there && to->process != CW_PROCESS_ANY) {
            return -EINVAL;
        }
        return s->up & cw_links_of(to->link) ? 0 : -ENETUNREACH;
    }
    return to->kind == CW_TO_KEY ? 0 : -EINVAL;
}

/* As the runtime does: options of another size, way-points outside, a place that the service does not have. */
static int check_options(const cw_svc *s, const cw_to *to, const cw_send_options *o)
{
    bool known = o->size == sizeof *o && o->waypoints <= CW_WAYPOINTS_MAX && (unsigned)o->place <= CW_PLACE_BACKGROUND;
    if (!known || (o->waypoints > 0 && o->waypoint == NULL) || (o->full_key && to->kind != CW_TO_KEY) ||
        (o->place == CW_PLACE_BACKGROUND && !s->table->background)) {
        return -EINVAL;
    }
    for (unsigned i = 0; i < o->waypoints; i++) {
        if (!torus_holds(&s->torus, o->waypoint[i])) {
            return -EINVAL;
        }
    }
    return 0;
}

/* 0: the send was accepted, and its packet is out of the service's hands. */
static int put_send(cw_svc *s, cw_packet *p, const cw_to *to, const cw_send_options *options, struct fake_send send)
{
    int rc = s->refuse < 0 ? s->refuse : check_send(s, p, to);
    if (rc == 0 && options != NULL) {
        rc = check_options(s, to, options);
    }
    bool background = options != NULL && options->place == CW_PLACE_BACKGROUND;
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
    if (options != NULL) {
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
    int rc = s->refuse < 0 ? s->refuse : check_send(s, p, to);
    return rc == 0 && options != NULL ? check_options(s, to, options) : rc;
}

void cw_poll_links(cw_svc *s, cw_place place, cw_links links)
{
    if (place == CW_PLACE_MAIN) {
        s->polled = links;
    } else if (s->table->background) {
        s->polled_background = links;
    }
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

static struct fake_call *call_take(cw_svc *s)
{
    struct fake_call *call = call_numbered(s, 0);
    if (call == NULL) {
        size_t old = s->calls_capacity;
        s->calls_capacity += 64;
        s->calls = realloc(s->calls, s->calls_capacity * sizeof *s->calls);
        must(s->calls != NULL, "no memory");
        memset(s->calls + old, 0, 64 * sizeof *s->calls);
        call = &s->calls[old];
    }
    return call;
}

/* The longest time-out of one attempt, and the most attempts after the first. */
enum { CALL_SECONDS = 3600, CALL_RETRIES = 1000 };

static bool is_caller(const cw_svc *s, const cw_to *to)
{
    return to->kind == CW_TO_SERVER && to->job == s->table->job &&
           cw_server_id(s, to->server) == cw_server_id(s, s->self) && to->process == cw_server_id(s, s->self);
}

int64_t cw_call(cw_svc *s, cw_packet *p, const cw_to *to, const cw_call_options *options, cw_reply_fn done, void *arg)
{
    cw_call_options o = {CW_CALL_INIT};
    o = options != NULL ? *options : o;
    o.send.size = o.send.size == 0 ? sizeof o.send : o.send.size;
    o.timeout = o.timeout.ns == 0 ? CW_SEC(1) : o.timeout;
    if (o.size != sizeof o || o.timeout.ns < 0 || o.timeout.ns > CW_SEC(CALL_SECONDS).ns || o.retries > CALL_RETRIES) {
        return -EINVAL;
    }
    bool third = o.reply_to != NULL && !is_caller(s, o.reply_to);
    if (p == NULL || to == NULL || (third ? done != NULL || o.retries > 0 : done == NULL)) {
        return -EINVAL;
    }
    uint32_t number = s->call_numbers + 1;
    struct fake_send send = {.call = number};
    struct fake_call made = {.number = number, .timeout = o.timeout, .done = done, .arg = arg};
    if (third) {
        send.told = *o.reply_to;
    }
    if (o.retries > 0 && p->holder == s) {
        made.again = make(1, sizeof *made.again + p->length);
        made.again->length = p->length;
        made.again->pad = p->pad;
        memcpy(made.again->bytes, p->data, p->length);
    }
    int rc = put_send(s, p, to, &o.send, send);
    if (rc < 0 || third) {
        free(made.again);
        s->call_numbers += rc >= 0;
        return rc < 0 ? rc : (int64_t)number;
    }
    s->call_numbers++;
    if (made.again != NULL) {
        made.again->send = s->swallow ? (struct fake_send){.to = *to} : s->sent[s->sent_end - 1];
        made.again->left = o.retries;
    }
    made.deadline = cw_time_add(s->now, o.timeout);
    *call_take(s) = made;
    return number;
}

/* An attempt of the call has timed out. True: there is another one. What cannot be sent now is one that failed. */
static bool tries_again(cw_svc *s, struct fake_call *call)
{
    struct fake_again *again = call->again;
    if (again == NULL || again->left == 0) {
        return false;
    }
    again->left--;
    call->deadline = cw_time_add(s->now, call->timeout);
    cw_packet *p = fake_packet(s, again->bytes, again->length, again->pad);
    p->holder = s;
    struct fake_send send = {.call = call->number};
    cw_send_options options = again->send.options;
    options.size = sizeof options;
    options.waypoint = again->send.waypoint;
    if (put_send(s, p, &again->send.to, &options, send) < 0) {
        cw_packet_free(s, p);
    }
    return true;
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
    found->again = NULL;
    free(call.again);
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
    bool is = call > 0 && call <= UINT32_MAX && fake_answer(s, (uint32_t)call, -ECANCELED, NULL, NULL);
    return is ? 0 : -ENOENT;
}

uint32_t fake_right(cw_svc *s, cw_coord server, uint32_t call)
{
    s->rights = realloc(s->rights, (s->rights_count + 1) * sizeof *s->rights);
    must(s->rights != NULL, "no memory");
    s->rights[s->rights_count++] = (struct fake_right){server, call, true};
    return (uint32_t)s->rights_count;
}

/* An answer needs no privilege, and nobody to be there who could take it. */
int cw_reply(cw_svc *s, uint32_t handle, int status, cw_packet *p)
{
    enum { STATUS_MAX = 4095 };
    int rc = -ENOENT;
    if (p == NULL) {
        p = cw_packet_new(s, 0);
    }
    if (p == NULL) {
        return -ENOMEM;
    }
    must(p->holder == s, "a service answers with a packet that is not its own");
    if (handle >= 1 && handle <= s->rights_count && s->rights[handle - 1].open) {
        struct fake_right *right = &s->rights[handle - 1];
        const cw_to to = {
            .kind = CW_TO_SERVER,
            .job = s->table->job,
            .server = right->server,
            .process = cw_server_id(s, right->server),
        };
        struct fake_send send = {.call = right->call, .reply = true, .status = status > 0 ? -status : status};
        rc = status >= -STATUS_MAX && status <= STATUS_MAX ? put_send(s, p, &to, NULL, send) : -EINVAL;
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
    must(said == CW_FORWARD || said == CW_DROP || said == CW_TAKE, "a verdict is none of CW_FORWARD, CW_DROP, CW_TAKE");
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
    const struct torus *t = &s->torus;
    return torus_holds(t, a) && torus_holds(t, b) ? torus_distance(t, torus_id(t, a), torus_id(t, b)) : UINT_MAX;
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
    if (link >= CW_LINK_COUNT || out == NULL || out->size < sizeof *out) {
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
    return key_of_name(s->table->job, name, name != NULL ? length : 0);
}

cw_key cw_key_at(const cw_svc *s, cw_coord home, uint64_t w)
{
    cw_key key = {{0}};
    if (torus_holds(&s->torus, home)) {
        cw_server id = torus_id(&s->torus, home);
        uint64_t last = key_last(&s->torus, id) - key_first(&s->torus, id);
        must(key_at(&s->torus, id, last == UINT64_MAX ? w : w % (last + 1), &key) == 0, "a key outside of its range");
    }
    return key;
}

/* The order of a key is simple here: the servers from its home on, by their ids. */
int cw_servers_for_key(const cw_svc *s, const cw_key *key, unsigned r, cw_coord *out)
{
    if (key == NULL || out == NULL) {
        return -EINVAL;
    }
    cw_server home = key_home(&s->torus, key_route64(key));
    unsigned found = 0;
    for (cw_server i = 0; i < s->torus.servers && found < r; i++) {
        cw_server heir = (home + i) % s->torus.servers;
        if (!s->down[heir]) {
            out[found++] = torus_coord(&s->torus, heir);
        }
    }
    return (int)found;
}

bool cw_is_root(const cw_svc *s, const cw_key *key)
{
    cw_coord root;
    return key != NULL && !s->fenced && cw_servers_for_key(s, key, 1, &root) == 1 &&
           torus_id(&s->torus, root) == torus_id(&s->torus, s->self);
}

bool cw_key_moved(const cw_svc *s, const cw_key *key, uint64_t since_epoch)
{
    return key == NULL || s->moved > since_epoch;
}

/* The test says since when; what is known of the first epoch and later is good while it does not. */
bool cw_key_steady(const cw_svc *s, const cw_key *key, uint64_t since_epoch)
{
    return key != NULL && !s->fenced && since_epoch >= s->steady_since;
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

static void tell(cw_svc *s, cw_event_kind kind, cw_coord server)
{
    const cw_event ev = {.size = sizeof ev, .kind = kind, .server = server, .link = CW_LINK_SELF, .epoch = cw_epoch(s)};
    if (s->table->on_event != NULL) {
        s->table->on_event(s, s->state, &ev);
    }
}

void fake_moved(cw_svc *s)
{
    s->moved = s->steady_since = cw_epoch(s) + 1;
    tell(s, CW_EVENT_ROOTS, s->self);
}

void fake_view(cw_svc *s, cw_coord server, bool there)
{
    must(torus_holds(&s->torus, server), "no such server");
    s->down[torus_id(&s->torus, server)] = !there;
    s->moved = s->steady_since = cw_epoch(s) + 1;
    tell(s, there ? CW_EVENT_SERVER_UP : CW_EVENT_SERVER_DOWN, server);
    tell(s, CW_EVENT_ROOTS, s->self);
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
    return (uint64_t)(((unsigned __int128)cw_random(s) * below) >> 64);
}

cw_timer *cw_timer_start(cw_svc *s, cw_span after, cw_timer_fn fn, void *arg)
{
    size_t count = 0;
    cw_timer **at = &s->timers;
    cw_time when = cw_time_add(s->now, after.ns > 0 ? after : CW_NS(0));
    if (fn == NULL || s->closing) {
        return NULL;
    }
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

/* Timers that have ended are kept until the service closes: the address of one never becomes that of another. */
static void end_timer(cw_svc *s, cw_timer *t)
{
    t->next = s->timers_ended;
    s->timers_ended = t;
}

void cw_timer_stop(cw_svc *s, cw_timer *t)
{
    cw_timer **at = &s->timers;
    while (*at != NULL && *at != t) {
        at = &(*at)->next;
    }
    if (*at != NULL) {
        *at = t->next;
        end_timer(s, t);
    }
}

int cw_offload(cw_svc *s, void (*work)(void *arg), void (*done)(cw_svc *s, void *state, void *arg), void *arg,
               cw_span cost)
{
    if (work == NULL || done == NULL || cost.ns < 0) {
        return -EINVAL;
    }
    if (s->closing) {
        return -ESHUTDOWN;
    }
    if (s->opening) {
        return -EBUSY;
    }
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
            end_timer(s, t);
            fired.fn(s, s->state, fired.arg);
        } else {
            struct fake_call *call = next_deadline(s);
            if (!tries_again(s, call)) {
                fake_answer(s, call->number, -ETIMEDOUT, NULL, NULL);
            }
        }
    }
    s->now = end;
}

/* ---- Operators --------------------------------------------------------------------------------------------------- */

const void *(*fake_offers)(cw_svc *s, const char *name, unsigned version);

const void *cw_find(cw_svc *s, const char *name, unsigned version, cw_svc **peer)
{
    const void *object = fake_offers != NULL && name != NULL ? fake_offers(s, name, version) : NULL;
    if (object != NULL) {
        return object;
    }
    if (name == NULL || strcmp(name, s->table->name) != 0 || version != s->table->exports_version) {
        return NULL;
    }
    if (peer != NULL) {
        *peer = s;
    }
    return s->table->exports;
}

void *cw_state(cw_svc *s)
{
    return s->state;
}

static bool good_name(const char *name)
{
    size_t length = name != NULL ? strlen(name) : 0;
    return length >= 1 && length <= 31 &&
           strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") == length;
}

/* A name twice is one counter. Those beyond the last, or with a bad name, are a misuse here. */
cw_counter *cw_counter_new(cw_svc *s, const char *name, const char *help)
{
    must(good_name(name) && help != NULL, "a counter with a bad name, or without help");
    for (unsigned i = 0; i < s->counters; i++) {
        if (strcmp(s->counter[i].name, name) == 0) {
            return &s->counter[i];
        }
    }
    must(s->counters < FAKE_COUNTERS - 1, "a counter too many");
    cw_counter *c = &s->counter[s->counters++];
    snprintf(c->name, sizeof c->name, "%s", name);
    return c;
}

void cw_counter_add(cw_counter *c, uint64_t n)
{
    if (c != NULL) {
        c->value += n;
    }
}

cw_histogram *cw_histogram_new(cw_svc *s, const char *name, const char *help)
{
    if (!good_name(name) || help == NULL) {
        return NULL;
    }
    for (unsigned i = 0; i < s->histograms; i++) {
        if (strcmp(s->histogram[i].name, name) == 0) {
            return &s->histogram[i];
        }
    }
    if (s->histograms == FAKE_HISTOGRAMS) {
        return NULL;
    }
    cw_histogram *h = &s->histogram[s->histograms++];
    snprintf(h->name, sizeof h->name, "%s", name);
    return h;
}

void cw_histogram_note(cw_histogram *h, cw_span took)
{
    if (h != NULL) {
        histogram_note(&h->times, took.ns);
    }
}

uint64_t cw_histogram_count(const cw_histogram *h)
{
    return h != NULL ? h->times.count : 0;
}

cw_span cw_histogram_quantile(const cw_histogram *h, unsigned permille)
{
    return CW_NS(h != NULL ? histogram_quantile(&h->times, permille <= 1000 ? permille : 1000) : 0);
}

void cw_log(cw_svc *s, cw_level level, const char *text)
{
    (void)level;
    if (text != NULL) {
        snprintf(s->logged, sizeof s->logged, "%s", text);
    }
}

static struct fake_result *result_of(cw_request *r)
{
    return (struct fake_result *)r;
}

void cw_request_int(cw_request *r, const char *name, int64_t value)
{
    if (r == NULL) { /* nobody asks, and nobody is told */
        return;
    }
    fake_result_int(result_of(r), name, value);
}

void cw_request_text(cw_request *r, const char *name, const char *value)
{
    if (r == NULL) { /* nobody asks, and nobody is told */
        return;
    }
    fake_result_text(result_of(r), name, value);
}

void cw_request_row(cw_request *r)
{
    fake_result_row(result_of(r));
}

void cw_request_done(cw_request *r, int rc)
{
    if (r != NULL) {
        fake_result_done(result_of(r), rc);
    }
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
    size_t length = name != NULL ? strlen(name) : 0;
    if (name == NULL) {
        return NULL;
    }
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
    return fake_open_at(table, dims, self, options, (cw_time){0}, rc);
}

cw_svc *fake_open_at(const cw_service *table, cw_dims dims, cw_coord self, const char *const *options, cw_time now,
                     int *rc)
{
    cw_svc *s = make_service(table, dims, self);
    s->now = now;
    s->random += (uint64_t)now.ns << 20; /* another life draws other numbers */
    unsigned count = 0;
    while (options != NULL && options[count] != NULL) {
        count++;
    }
    must(count < 32, "too many options");
    s->options = options;
    s->opening = true;
    *rc = table->open != NULL ? table->open(s, s->state) : 0;
    s->opening = false;
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
    for (cw_timer *next; s->timers_ended != NULL; s->timers_ended = next) {
        next = s->timers_ended->next;
        free(s->timers_ended);
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
