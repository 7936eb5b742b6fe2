/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/host/boot_runner.h"

#include "base/quantity.h"
#include "keyspace/reach.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { FAULTS_TOLD = 12, FAULTS_STAY_SEC = 2 };

static cw_time next_wake(struct host *h)
{
    if (h->boot_moved) {
        h->boot_moved = false;
        h->boot_wake = boot_next_wake(h->boot);
    }
    return h->boot_wake;
}

/* Ports and links are numbered alike until a server whose ports have no labels has found its place. */
static cw_links to_links(const struct host *h, cw_links ports)
{
    cw_links links = CW_LINKS_NONE;
    for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
        links |= ports & cw_links_of(h->port_of[link]) ? cw_links_of(link) : CW_LINKS_NONE;
    }
    return links;
}

static bool is_alive(void *context, cw_coord server)
{
    struct host *h = context;
    struct node *n = h->server[0].face.node;
    if (n == NULL || !torus_holds(&h->torus, server)) {
        return false;
    }
    return reach_has(ls_committed(node_linkstate(n)), torus_id(&h->torus, server));
}

/* Moves the shims from their ports to the links that these have turned out to be. */
static void turn_ports(struct host *h, const struct boot_place *place)
{
    struct pump_server *s = &h->server[0];
    struct host_link old[CW_LINK_COUNT];
    bool same = true;
    for (cw_link port = 0; port < CW_LINK_COUNT; port++) {
        same = same && (place->direction[port] >= CW_LINK_COUNT || place->direction[port] == port);
    }
    if (same) {
        return;
    }
    pump_unwatch(s);
    memcpy(old, s->face.link, sizeof old);
    memset(s->face.link, 0, sizeof s->face.link);
    bool taken[CW_LINK_COUNT] = {false};
    for (cw_link port = 0; port < CW_LINK_COUNT; port++) {
        host_drop_held(&s->pump[port]);
        if (place->direction[port] < CW_LINK_COUNT) {
            h->port_of[place->direction[port]] = port;
            s->face.link[place->direction[port]] = old[port];
            taken[place->direction[port]] = true;
        }
    }
    for (cw_link port = 0; port < CW_LINK_COUNT; port++) {
        cw_link free_link = 0;
        if (place->direction[port] < CW_LINK_COUNT) {
            continue;
        }
        while (taken[free_link]) {
            free_link++;
        }
        taken[free_link] = true;
        h->port_of[free_link] = port;
        s->face.link[free_link] = old[port];
    }
    s->blocked = CW_LINKS_NONE;
    CHECK(pump_watch(s) == 0); /* as many as there were before */
}

/* A port for which no cable is configured is absent, unless a place says that there must be one: then it is dark. */
static void label_ports(const struct host *h, const struct host_options *o, const struct boot_place *place,
                        uint8_t port[CW_LINK_COUNT])
{
    for (unsigned i = 0; i < CW_LINK_COUNT; i++) {
        bool there = place != NULL ? place->direction[i] != BOOT_ABSENT : o->shim[i] != NULL;
        port[i] = there ? (uint8_t)(h->config.labelled ? i : BOOT_UNLABELLED) : BOOT_ABSENT;
    }
}

int boot_runner_open(struct host *h, const struct host_options *o, const struct boot_place *place)
{
    for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
        h->port_of[link] = link;
    }
    if (h->config.place == CONFIG_WHOLE) {
        return 0;
    }
    if (place != NULL) {
        turn_ports(h, place);
    }
    if (o->id == 0) {
        return 0;
    }
    struct boot_config config = boot_config_default();
    config.id = o->id;
    size_t name = strlen(h->config.name);
    memcpy(config.name, h->config.name, name < BOOT_NAME_BYTES ? name : BOOT_NAME_BYTES);
    config.cluster = h->config.cluster;
    config.place = place;
    config.dims = h->config.dims;
    config.mtu = (uint16_t)h->mtu;
    config.seed = h->seed;
    config.alive = is_alive;
    config.alive_context = h;
    label_ports(h, o, place, config.port);
    int rc = boot_open(&h->boot, &config, h->started);
    for (unsigned i = 0; rc == 0 && i < CW_LINK_COUNT; i++) {
        bool light = o->shim[i] != NULL && shim_carrier(o->shim[i]);
        h->boot_ports |= boot_carrier(h->boot, i, light, h->started);
    }
    h->boot_news = h->boot_moved = true;
    return rc;
}

void boot_runner_close(struct host *h)
{
    boot_close(h->boot);
    h->boot = NULL;
}

bool boot_runner_rx(struct pump_server *s, cw_link link, const uint8_t *bytes, uint32_t length, cw_time now)
{
    struct host *h = s->face.host;
    if (h->boot == NULL || !boot_owns(bytes, length)) {
        return false;
    }
    h->boot_ports |= boot_rx(h->boot, h->port_of[link], bytes, length, now);
    h->boot_news = h->boot_moved = true;
    return true;
}

void boot_runner_carrier(struct pump_server *s, cw_link link, bool up, cw_time now)
{
    struct host *h = s->face.host;
    if (h->boot != NULL) {
        h->boot_ports |= boot_carrier(h->boot, h->port_of[link], up, now);
        h->boot_news = h->boot_moved = true;
    }
}

/* ---- What people should know of it ------------------------------------------------------------------------------- */

/* A server that has its place reports silent neighbours by its links. */
static bool is_worth_telling(const struct host *h, const struct boot_fault *fault)
{
    return boot_state(h->boot) != BOOT_AGREED || fault->kind != BOOT_FAULT_SILENT;
}

static void tell_faults(struct host *h)
{
    unsigned told = 0;
    for (unsigned i = 0; i < boot_fault_count(h->boot) && told < FAULTS_TOLD; i++) {
        char text[BOOT_FAULT_TEXT];
        if (is_worth_telling(h, boot_fault(h->boot, i))) {
            boot_fault_text(boot_fault(h->boot, i), text);
            LOG(h->log, CW_LOG_WARN, "a cable is wrong", {"why", text});
            told++;
        }
    }
}

static void tell_progress(struct host *h, cw_time now)
{
    struct boot_progress p;
    boot_progress(h->boot, &p);
    const struct boot_progress *old = &h->boot_told;
    bool news =
        p.state != old->state || p.servers != old->servers || p.agreeing != old->agreeing || p.missing != old->missing;
    if (news && p.state != BOOT_AGREED) {
        char servers[24], missing[24], agreeing[24];
        snprintf(servers, sizeof servers, "%" PRIu32, p.servers);
        snprintf(missing, sizeof missing, "%" PRIu32, p.missing);
        snprintf(agreeing, sizeof agreeing, "%" PRIu32, p.agreeing);
        LOG(h->log, CW_LOG_INFO,
            p.state == BOOT_REFUSED ? "the cables make no torus yet" : "the torus is being found from its cables",
            {"servers", servers}, {"missing", missing}, {"agreeing", agreeing});
    }
    /* While servers start and cables are plugged in, much is half done: a fault is told when it has stayed. */
    if (p.faults != old->faults || p.state != old->state) {
        h->faults_since = now;
        h->faults_told = false;
    }
    if (!h->faults_told && cw_time_since(now, h->faults_since).ns >= CW_SEC(FAULTS_STAY_SEC).ns) {
        h->faults_told = true;
        tell_faults(h);
    }
    h->boot_told = p;
}

/* ---- A place was found ------------------------------------------------------------------------------------------- */

static void take_place(struct host *h, cw_time now)
{
    const struct boot_place *place = boot_place(h->boot);
    char dims[QUANTITY_TEXT], self[TORUS_TEXT], why[HOST_WHY];
    quantity_dims_format(place->dims, dims);
    torus_format(place->self, self);
    LOG(h->log, CW_LOG_INFO, "this server has its place", {"server", self}, {"dims", dims});
    if (h->placed != NULL && h->placed(h->placed_context, place) < 0) {
        h->failed = true; /* the callback said why: without stable storage there is no place */
        host_leave(h);
        return;
    }
    h->boot_ports |= boot_stored(h->boot, now);
    h->boot_moved = true;
    turn_ports(h, place);
    int rc = host_place(h, place->dims, place->self, why);
    if (rc < 0) {
        LOG(h->log, CW_LOG_ERROR, "the server cannot be opened", {"why", why});
        h->failed = true;
        host_leave(h);
    }
}

void boot_runner_tick(struct pump_server *s, cw_time now)
{
    struct host *h = s->face.host;
    if (h->boot == NULL) {
        return;
    }
    if (cw_time_due(next_wake(h), now)) {
        h->boot_ports |= boot_tick(h->boot, now);
        h->boot_news = h->boot_moved = true;
    }
    if (!h->boot_news) {
        return;
    }
    h->boot_news = false;
    tell_progress(h, now);
    if (boot_state(h->boot) == BOOT_AGREED && s->face.node == NULL && !h->leaving) {
        take_place(h, now);
    }
}

cw_links boot_runner_links(const struct pump_server *s)
{
    const struct host *h = s->face.host;
    return h->boot_ports != CW_LINKS_NONE && h->boot != NULL ? to_links(h, h->boot_ports) : CW_LINKS_NONE;
}

uint32_t boot_runner_pull(struct pump_server *s, cw_link link, uint8_t *bytes, uint32_t room, cw_time now)
{
    struct host *h = s->face.host;
    uint32_t length = boot_tx_pull(h->boot, h->port_of[link], bytes, room, now);
    h->boot_moved = true;
    if (length == 0) {
        h->boot_ports &= (cw_links)~cw_links_of(h->port_of[link]);
    }
    return length;
}

cw_time boot_runner_wake(const struct pump_server *s)
{
    struct host *h = s->face.host;
    return h->boot != NULL ? next_wake(h) : CW_NEVER;
}
