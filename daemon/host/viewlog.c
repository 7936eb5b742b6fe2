/* SPDX-License-Identifier: Apache-2.0 */
/*
 * viewlog.c - what an operator should read in the log: links and servers that come and go, cables in the wrong port,
 * another server with our coordinate. It looks only when the link state reports that something may have changed.
 */
#include "daemon/host/internal.h"

#include "daemon/host/events.h"

#include "base/quantity.h"
#include "keyspace/owner.h"
#include "keyspace/reach.h"
#include "shim/clock.h"
#include "wire/frame.h"
#include "wire/goodbye.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
    STRANGER_SEC = 10,
    TEXT = 200,
    KEY_ORDERS = 48,  /* ways in which the keys of one home are taken over (keyspace/owner.h) */
    CHANGES_TOLD = 4, /* servers of one change that are told of by name: a start would tell of all of them */
    HOMES_MOST = 64,  /* whose keys are looked at after one change */
};

/* ---- The goodbye for the case of our death ----------------------------------------------------------------------- */

static void renew_will(struct pump_server *s, cw_link link)
{
    struct host *h = s->face.host;
    struct linkstate *ls = node_linkstate(s->face.node);
    uint32_t session = ls_link_session(ls, link);
    uint8_t bytes[FRAME_HEAD_BYTES + GOODBYE_BYTES];
    struct frame_head head = {.packets = 1, .session = (uint16_t)session};
    struct goodbye goodbye = {
        .session = session,
        .incarnation = ls_incarnation(ls),
        .server = s->face.self,
        .reason = GOODBYE_DIED,
    };
    if (session == 0) {
        return;
    }
    uint32_t at = frame_encode(&head, bytes);
    goodbye_encode(&goodbye, bytes + at);
    h->will(h->will_context, h->port_of[link], bytes, at + GOODBYE_BYTES);
}

/* ---- Cables ------------------------------------------------------------------------------------------------------ */

static void say_stranger(struct pump_server *s, cw_link link, const struct ls_stranger *stranger)
{
    struct host *h = s->face.host;
    char self[TORUS_TEXT], seen[TORUS_TEXT], expected[TORUS_TEXT], text[TEXT];
    torus_format(s->face.self, self);
    torus_format(stranger->server, seen);
    cw_server far = torus_neighbour(&h->torus, torus_id(&h->torus, s->face.self), link);
    torus_format(torus_coord(&h->torus, far), expected);
    const char *port = quantity_link_name(stranger->port), *wanted = quantity_link_name(cw_link_opposite(link));
    const char *what = "another server or port is heard on this cable than belongs there";
    const char *next = "cwctl doctor says whether a cable or a coordinate is wrong";
    struct ls_link_info info;
    ls_link_info(node_linkstate(s->face.node), link, &info);
    if (stranger->cluster != h->config.cluster) {
        snprintf(text, sizeof text, "a server of cluster %" PRIu32 " was heard, ours is %" PRIu32, stranger->cluster,
                 h->config.cluster);
        what = "this cable leads to another cluster";
        next = "cwctl doctor says which server is the odd one";
    } else if ((info.heard.any && info.heard.config_hash != h->config_hash) ||
               (torus_holds(&h->torus, stranger->server) && torus_id(&h->torus, stranger->server) == far &&
                stranger->port == cw_link_opposite(link))) {
        what = "the neighbour on this cable has another configuration";
        snprintf(text, sizeof text, "server %s has another configuration: its dims, timers or mtu differ from ours",
                 seen);
        next = "cwctl doctor says which setting differs";
    } else {
        snprintf(text, sizeof text, "server %s port %s was heard, expected server %s port %s", seen, port, expected,
                 wanted);
    }
    LOG(h->log, CW_LOG_WARN, what, {"server", self}, {"link", quantity_link_name(link)}, {"why", text}, {"next", next});
    events_add(h->events, &s->face.self, "cable", "%s: %s: %s", quantity_link_name(link), what, text);
}

static void look_for_strangers(struct pump_server *s, cw_time now)
{
    struct linkstate *ls = node_linkstate(s->face.node);
    for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
        struct ls_stranger stranger = ls_link_stranger(ls, link);
        if (stranger.hellos == s->viewlog.strangers[link]) {
            continue;
        }
        bool first = s->viewlog.strangers[link] == 0;
        if (first || cw_time_since(now, s->viewlog.stranger_said[link]).ns >= CW_SEC(STRANGER_SEC).ns) {
            s->viewlog.stranger_said[link] = now;
            say_stranger(s, link, &stranger);
        }
        s->viewlog.strangers[link] = stranger.hellos;
    }
}

/* "1,2,0", or NULL while the server has no place. */
static const char *name_of(const struct pump_server *s, char text[static TORUS_TEXT])
{
    if (s->face.host->torus.servers == 0) {
        return NULL;
    }
    torus_format(s->face.self, text);
    return text;
}

/* The link's direction, or the port's name as long as nobody knows which direction it is. */
static const char *port_name(const struct pump_server *s, cw_link link)
{
    const struct host *h = s->face.host;
    return h->torus.servers != 0 ? quantity_link_name(link) : config_link_name(&h->config, h->port_of[link]);
}

/* What the medium says at this end, now that the link is down. */
static enum falls_why why_down(const struct host_link *l)
{
    struct shim_info info;
    if (l->shim == NULL || l->carrier) {
        return FALLS_SILENT;
    }
    shim_info(l->shim, &info);
    bool own = strncmp(info.state, "interface", 9) == 0 || strncmp(info.state, "the interface", 13) == 0 ||
               strstr(info.state, "such interface") != NULL;
    return own ? FALLS_OWN : FALLS_CARRIER;
}

void viewlog_carrier(struct pump_server *s, cw_link link)
{
    const struct host_link *l = &s->face.link[link];
    struct host *h = s->face.host;
    struct shim_info info;
    char self[TORUS_TEXT];
    shim_info(l->shim, &info);
    LOG(h->log, l->carrier ? CW_LOG_INFO : CW_LOG_WARN, l->carrier ? "carrier is there" : "carrier is lost",
        {"server", name_of(s, self)}, {"link", port_name(s, link)}, {"on", info.name},
        {"why", l->carrier ? NULL : info.state});
    events_add(h->events, h->torus.servers != 0 ? &s->face.self : NULL, "carrier",
               l->carrier ? "%s on %s: carrier is there" : "%s on %s: no carrier (%s)", port_name(s, link), info.name,
               info.state);
    s->viewlog.outages[link] = info.outages;
    if (!l->carrier) {
        falls_carrier(&s->viewlog.falls[link], host_now(h), why_down(l));
    } else {
        falls_back(&s->viewlog.falls[link], host_now(h));
    }
}

void viewlog_begin(struct pump_server *s)
{
    s->viewlog = (struct viewlog){.live = CW_LINKS_NONE};
    for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
        struct shim_info info = {.outages = 0};
        if (s->face.link[link].shim != NULL) {
            shim_info(s->face.link[link].shim, &info);
        }
        s->viewlog.outages[link] = info.outages;
    }
}

void viewlog_outage(struct pump_server *s, cw_link link)
{
    struct host *h = s->face.host;
    struct shim_info info;
    char self[TORUS_TEXT];
    shim_info(s->face.link[link].shim, &info);
    if (info.outages == s->viewlog.outages[link]) {
        return;
    }
    s->viewlog.outages[link] = info.outages;
    LOG(h->log, CW_LOG_INFO, "carrier was lost for a moment", {"server", name_of(s, self)},
        {"link", port_name(s, link)}, {"on", info.name});
    events_add(h->events, h->torus.servers != 0 ? &s->face.self : NULL, "carrier",
               "%s on %s: the carrier was lost for a moment%s", port_name(s, link), info.name,
               info.outage_here ? " (the interface was switched off, or taken out)" : "");
    falls_carrier(&s->viewlog.falls[link], host_now(h), info.outage_here ? FALLS_OWN : FALLS_CARRIER);
}

void viewlog_error(struct pump_server *s, cw_link link, int rc)
{
    struct shim_info info;
    char self[TORUS_TEXT];
    shim_info(s->face.link[link].shim, &info);
    LOG(s->face.host->log, CW_LOG_WARN, "frames cannot be received", {"server", name_of(s, self)},
        {"link", port_name(s, link)}, {"on", info.name}, {"why", strerror(-rc)});
}

void viewlog_foreign(struct pump_server *s, cw_link link, uint8_t version)
{
    char self[TORUS_TEXT], theirs[QUANTITY_TEXT], ours[QUANTITY_TEXT];
    if (version == s->viewlog.foreign[link]) {
        return;
    }
    s->viewlog.foreign[link] = version;
    if (version != 0) {
        snprintf(theirs, sizeof theirs, "%u", version);
        snprintf(ours, sizeof ours, "%u", WIRE_VERSION_NOW);
        LOG(s->face.host->log, CW_LOG_WARN, "a neighbour speaks another version of the wire, and is not understood",
            {"server", name_of(s, self)}, {"link", port_name(s, link)}, {"its_version", theirs}, {"ours", ours},
            {"what_to_do", "run the same release of cubewayd on both servers"});
    }
}

/* ---- Time -------------------------------------------------------------------------------------------------------- */

/* Who delivers no keys delivers none too late: a server that has just begun. */
static bool any_serves(const struct host *h)
{
    for (unsigned i = 0; i < h->count; i++) {
        if (h->server[i].viewlog.serving) {
            return true;
        }
    }
    return false;
}

/* A span that was measured: as whole milliseconds, or, where that is 0, as whole microseconds. */
static void show_span(cw_span span, char out[static QUANTITY_TEXT])
{
    quantity_span_format(span.ns < CW_MS(1).ns ? CW_US(cw_span_us(span)) : CW_MS(cw_span_ms(span)), out);
}

void viewlog_turn(struct host *h, cw_span span)
{
    const struct ls_timers *t = &h->config.timers;
    char lasted[QUANTITY_TEXT], most[QUANTITY_TEXT];
    if (!any_serves(h)) {
        return;
    }
    if (span.ns > t->hold.ns - t->dead.ns) {
        h->turn_waited = host_now(h);
    }
    if (span.ns <= h->turn_longest.ns) {
        return;
    }
    h->turn_longest = span;
    if (span.ns > t->hold.ns - t->dead.ns) {
        show_span(span, lasted);
        quantity_span_format((cw_span){t->hold.ns - t->dead.ns}, most);
        LOG(h->log, CW_LOG_WARN, "kept waiting in the middle of a turn, for longer than hold less dead",
            {"for", lasted}, {"at_most", most},
            {"what_to_do", "a processor of its own, a higher priority, or a longer timers.hold"});
    }
}

/* ---- Loss -------------------------------------------------------------------------------------------------------- */

static void say_loss(const struct pump_server *s, const char *self, cw_link link, const struct ls_loss *loss,
                     const char *way)
{
    char peer[TORUS_TEXT], share[QUANTITY_TEXT];
    const struct host *h = s->face.host;
    torus_format(torus_coord(&h->torus, torus_neighbour(&h->torus, torus_id(&h->torus, s->face.self), link)), peer);
    quantity_share_format(ls_loss_told(loss), share);
    LOG(h->log, loss->bad ? CW_LOG_WARN : CW_LOG_INFO,
        loss->bad ? "this cable loses frames" : "this cable loses no more frames than others", {"server", self},
        {"link", quantity_link_name(link)}, {"neighbour", peer}, {"way", way}, {"lost", share},
        {"what_to_do", loss->bad ? "look at the cable, its plugs, and the load of the server that receives" : NULL});
}

static void look_for_loss(struct pump_server *s, const char *self)
{
    struct linkstate *ls = node_linkstate(s->face.node);
    struct ls_lossy lossy = ls_lossy_links(ls);
    cw_links in = lossy.in ^ s->viewlog.lossy.in, out = lossy.out ^ s->viewlog.lossy.out;
    s->viewlog.lossy = lossy;
    for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
        struct ls_link_info info;
        if (!((in | out) & cw_links_of(link))) {
            continue;
        }
        ls_link_info(ls, link, &info);
        if (in & cw_links_of(link)) {
            say_loss(s, self, link, &info.loss_in, "from the neighbour");
        }
        if (out & cw_links_of(link)) {
            say_loss(s, self, link, &info.loss_out, "to the neighbour");
        }
    }
}

/* ---- How links go down ------------------------------------------------------------------------------------------- */

static void look_for_falls(struct pump_server *s)
{
    for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
        struct falls *falls = &s->viewlog.falls[link];
        struct ls_link_info info;
        ls_link_info(node_linkstate(s->face.node), link, &info);
        if (info.flaps > 0) {
            falls_note(falls, info.flapped, info.flapped_life, why_down(&s->face.link[link]));
        }
        if (info.committed) {
            falls_up(falls, info.incarnation);
        }
    }
}

/* A server left in order: that its links do not come up again is no death. */
static void note_leave(struct pump_server *s, cw_server left)
{
    const struct torus *t = &s->face.host->torus;
    for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
        if (torus_neighbour(t, torus_id(t, s->face.self), link) == left) {
            falls_left(&s->viewlog.falls[link]);
        }
    }
}

/* ---- Links and servers ------------------------------------------------------------------------------------------- */

static void look_at_links(struct pump_server *s, const char *self)
{
    struct host *h = s->face.host;
    struct linkstate *ls = node_linkstate(s->face.node);
    cw_links live = ls_live_links(ls), other = live ^ s->viewlog.live;
    s->viewlog.live = live;
    s->viewlog.had |= live;
    for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
        if (!(other & cw_links_of(link))) {
            continue;
        }
        bool up = live & cw_links_of(link);
        char peer[TORUS_TEXT];
        torus_format(torus_coord(&h->torus, torus_neighbour(&h->torus, torus_id(&h->torus, s->face.self), link)), peer);
        LOG(h->log, h->count > 1 ? CW_LOG_DEBUG : CW_LOG_INFO, up ? "link is up" : "link is down", {"server", self},
            {"link", quantity_link_name(link)}, {"neighbour", peer});
        events_add(h->events, &s->face.self, "link", "%s to %s is %s", quantity_link_name(link), peer,
                   up ? "up" : "down");
    }
}

static unsigned reachable(const struct host *h, const struct linkstate *ls)
{
    unsigned count = 0;
    const struct reach *set = ls_committed(ls);
    for (cw_server at = reach_next(set, 0); at < h->torus.servers; at = reach_next(set, at + 1)) {
        count++;
    }
    return count;
}

static void look_at_servers(struct pump_server *s, const char *self, cw_time now)
{
    struct host *h = s->face.host;
    struct linkstate *ls = node_linkstate(s->face.node);
    bool serving = ls_serving(ls, now);
    unsigned servers = ls_epoch(ls) == s->viewlog.epoch ? s->viewlog.servers : reachable(h, ls);
    s->viewlog.epoch = ls_epoch(ls);
    if (servers != s->viewlog.servers || serving != s->viewlog.serving) {
        char count[QUANTITY_TEXT], all[QUANTITY_TEXT];
        snprintf(count, sizeof count, "%u", servers);
        snprintf(all, sizeof all, "%" PRIu32, h->torus.servers);
        LOG(h->log, h->count > 1 ? CW_LOG_DEBUG : CW_LOG_INFO, "servers that are reachable", {"server", self},
            {"count", count}, {"of", all}, {"delivers_keys", serving ? "yes" : "no"});
        if (serving != s->viewlog.serving) {
            events_add(h->events, &s->face.self, "keys",
                       serving ? "keys may be delivered here" : "no keys are delivered here now");
        }
        s->viewlog.servers = servers;
        s->viewlog.serving = serving;
    }
}

/* Of a torus inside one process, one line for all: each server's own are at debug. */
static void look_at_all(struct pump_server *s)
{
    struct host *h = s->face.host;
    bool full = s->viewlog.servers == h->torus.servers && s->viewlog.serving;
    if (full == s->viewlog.full || h->count == 1) {
        return;
    }
    bool before = h->full == h->count;
    s->viewlog.full = full;
    h->full += full ? 1u : -1u;
    if ((h->full == h->count) != before) {
        char all[QUANTITY_TEXT];
        snprintf(all, sizeof all, "%u", h->count);
        LOG(h->log, CW_LOG_INFO, before ? "not every server reaches all others" : "every server reaches all others",
            {"servers", all});
    }
}

static unsigned owned(const struct torus *t, cw_server home, const struct reach *set, cw_server self)
{
    unsigned count = 0;
    for (unsigned order = 0; order < KEY_ORDERS; order++) {
        count += owner_root_of(t, home, order, set) == self;
    }
    return count;
}

/* The keys of one home: which part of them is delivered here now. */
static void look_at_keys_of(struct pump_server *s, cw_server home, const struct reach *now)
{
    struct host *h = s->face.host;
    cw_server self = torus_id(&h->torus, s->face.self);
    unsigned before = owned(&h->torus, home, &s->seen, self), after = owned(&h->torus, home, now, self);
    char text[TORUS_TEXT];
    if (before != after) {
        torus_format(torus_coord(&h->torus, home), text);
        events_add(h->events, &s->face.self, "keys", "of the keys of %s, %u of %d parts come here now, and %u before",
                   text, after, KEY_ORDERS, before);
    }
}

/* The server that is in no view any more has said that it leaves. */
static bool in_order(const struct pump_server *s, cw_server at)
{
    const struct record *record = ls_record(node_linkstate(s->face.node), at);
    return record != NULL && record->flags & RECORD_LEAVING;
}

/* A server that came, or that is away now. */
static void look_at_server(struct pump_server *s, cw_server at, bool here, bool told)
{
    bool left = !here && in_order(s, at);
    char text[TORUS_TEXT];
    if (s->left_us != NULL) {
        s->left_us[at] = left ? events_clock_us() : 0;
    }
    if (left) {
        note_leave(s, at);
    }
    if (told) {
        torus_format(torus_coord(&s->face.host->torus, at), text);
        events_add(s->face.host->events, &s->face.self, "view", "%s %s", text,
                   here   ? "came"
                   : left ? "left"
                          : "is down");
    }
}

/* Servers that came or went, and the roots that moved with them: only keys of servers that are or were away do. */
static void look_at_view(struct pump_server *s)
{
    struct host *h = s->face.host;
    const struct reach *now = ls_committed(node_linkstate(s->face.node));
    unsigned homes = 0;
    if (s->seen_memory == NULL || reach_equal(&s->seen, now)) {
        return;
    }
    unsigned came = 0, left = 0, down = 0;
    for (cw_server at = 0; (at = reach_next_change(&s->seen, now, at)) < h->torus.servers; at++) {
        *(reach_has(now, at) ? &came : in_order(s, at) ? &left : &down) += 1;
        look_at_server(s, at, reach_has(now, at), came + left + down <= CHANGES_TOLD);
    }
    if (came + left + down > CHANGES_TOLD) {
        events_add(h->events, &s->face.self, "view", "in all, %u servers came, %u left and %u are down", came, left,
                   down);
    }
    /* Who has not delivered any keys yet has none to lose. */
    for (cw_server home = 0; s->viewlog.serving && home < h->torus.servers && homes < HOMES_MOST; home++) {
        if (!reach_has(&s->seen, home) || !reach_has(now, home)) {
            look_at_keys_of(s, home, now);
            homes++;
        }
    }
    reach_copy(&s->seen, now);
}

static bool grew(const struct linkstate *ls, enum ls_counter counter, uint64_t *seen)
{
    uint64_t now = ls_count(ls, counter);
    bool more = now > *seen;
    *seen = now;
    return more;
}

static void look_at_counters(struct pump_server *s, const char *self)
{
    struct host *h = s->face.host;
    struct linkstate *ls = node_linkstate(s->face.node);
    if (grew(ls, LS_DUPLICATES, &s->viewlog.duplicates)) {
        LOG(h->log, CW_LOG_ERROR, "another server says that it is us: two daemons have the same coordinate",
            {"server", self}, {"what_to_do", "give one of them another coordinate, or stop it"});
        events_add(h->events, &s->face.self, "view", "another server says that it is %s", self);
    }
    if (grew(ls, LS_CONFLICTS, &s->viewlog.conflicts)) {
        LOG(h->log, CW_LOG_WARN, "two records of one version were heard: two servers share an incarnation",
            {"server", self});
    }
    /* Who has nobody around sleeps and wakes up again and again, and has no keys to lose: that is told once. */
    if (grew(ls, LS_FENCES, &s->viewlog.fences) && s->viewlog.served) {
        s->viewlog.served = false;
        LOG(h->log, CW_LOG_WARN, "no neighbour has heard us for too long: we deliver no keys until one has",
            {"server", self});
    }
}

void viewlog_update(struct pump_server *s, cw_time now)
{
    struct linkstate *ls = node_linkstate(s->face.node);
    uint64_t notes = ls_notes(ls);
    if (notes == s->notes) {
        return;
    }
    s->notes = notes;
    char self[TORUS_TEXT];
    torus_format(s->face.self, self);
    look_at_links(s, self);
    look_for_falls(s);
    look_at_view(s);
    look_at_servers(s, self, now);
    look_at_all(s);
    look_at_counters(s, self);
    s->viewlog.served |= s->viewlog.serving;
    look_for_strangers(s, now);
    look_for_loss(s, self);
    for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
        viewlog_foreign(s, link, ls_link_foreign(ls, link).version);
    }
    s->incarnation = ls_incarnation(ls);
    for (cw_link link = 0; link < CW_LINK_COUNT && s->face.host->will != NULL; link++) {
        renew_will(s, link);
    }
}

/* "+x -z": links of the set that have an interface. False: there are none. */
static bool name_links(const struct pump_server *s, cw_links lonely, char out[static 24])
{
    size_t used = 0;
    out[0] = '\0';
    for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
        if (lonely & cw_links_of(link) && s->face.link[link].shim != NULL) {
            used += (size_t)snprintf(out + used, 24 - used, "%s%s", used > 0 ? " " : "", quantity_link_name(link));
        }
    }
    return used > 0;
}

bool host_log_neighbours(struct host *h)
{
    char self[TORUS_TEXT], links[24];
    for (unsigned i = 0; i < h->count; i++) {
        struct pump_server *s = &h->server[i];
        if (s->face.node == NULL) {
            return false;
        }
        torus_format(s->face.self, self);
        cw_links lonely = torus_links(&h->torus) & ~ls_live_links(node_linkstate(s->face.node));
        if (name_links(s, lonely & ~s->viewlog.had, links)) {
            LOG(h->log, CW_LOG_WARN, "no neighbour yet", {"server", self}, {"links", links},
                {"what_to_do", "cwctl wiring says for each which server is expected, and what is heard"});
        }
        if (name_links(s, lonely & s->viewlog.had, links)) {
            LOG(h->log, CW_LOG_WARN, "has lost neighbours", {"server", self}, {"links", links},
                {"what_to_do", "cwctl doctor says why, and cwctl events when"});
        }
    }
    return true;
}

/* The machine is not the cause: an operator finds that in the events, in the status and by the doctor, too. */
static void note_hold(struct host *h, cw_coord at, const struct host_hold *hold)
{
    char lasted[QUANTITY_TEXT];
    if (holds_note(&h->holds, hold, h->config.timers.dead, holds_waited_ns())) {
        show_span(hold->lasted, lasted);
        events_add(h->events, &at, hold->service, "held the thread for %s in %s", lasted, hold->upcall);
    }
}

void viewlog_slow(void *context, const struct node *n, const char *service, const char *upcall, cw_span held)
{
    struct host *h = context;
    char self[TORUS_TEXT], lasted[QUANTITY_TEXT];
    cw_coord at = torus_coord(&h->torus, node_self(n));
    struct host_hold hold = {.ended = clock_now(), .lasted = held, .server = node_self(n)};
    snprintf(hold.service, sizeof hold.service, "%s", service);
    snprintf(hold.upcall, sizeof hold.upcall, "%s", upcall);
    note_hold(h, at, &hold);
    torus_format(at, self);
    show_span(held, lasted);
    LOG(h->log, CW_LOG_WARN, "a service held the thread for too long", {"server", self}, {"service", service},
        {"upcall", upcall}, {"for", lasted},
        {"what_to_do", "work above some 10 us goes to cw_offload(); or the machine gave the daemon no processor"});
}

void viewlog_service(void *context, const struct node *n, cw_level level, const char *service, const char *text,
                     cw_time now)
{
    struct host *h = context;
    char self[TORUS_TEXT];
    (void)now;
    cw_coord at = torus_coord(&h->torus, node_self(n));
    torus_format(at, self);
    host_note_refusal(h, service, level, text);
    if (h->said != NULL) {
        h->said(h->said_context, service, text);
    }
    events_add(h->events, &at, service, "%s", text);
    LOG(h->log, level, "service says", {"server", self}, {"service", service}, {"text", text});
}
