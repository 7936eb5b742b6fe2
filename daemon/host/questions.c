/* SPDX-License-Identifier: Apache-2.0 */
/* questions.c - what others may know of a host, and who sees its frames and packets. */
#include "daemon/host/internal.h"

#include "shim/clock.h"
#include "wire/frame.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

/* ---- Questions --------------------------------------------------------------------------------------------------- */

unsigned host_count(const struct host *h)
{
    return h->count;
}

struct host_server *host_server(struct host *h, unsigned index)
{
    CHECK(index < h->count);
    return &h->server[index].face;
}

struct host_server *host_find(struct host *h, cw_coord self)
{
    if (!torus_holds(&h->torus, self)) {
        return NULL;
    }
    if (h->config.place == CONFIG_WHOLE) {
        return &h->server[torus_id(&h->torus, self)].face;
    }
    const cw_coord *only = &h->server[0].face.self;
    return memcmp(only, &self, sizeof self) == 0 ? &h->server[0].face : NULL;
}

const struct daemon_config *host_config(const struct host *h)
{
    return &h->config;
}

struct transit *host_transit(struct host *h)
{
    return h->transit;
}

struct daemon_config *host_config_change(struct host *h)
{
    return &h->config;
}

const struct torus *host_torus(const struct host *h)
{
    return &h->torus;
}

struct boot *host_boot(struct host *h)
{
    return h->boot;
}

cw_link host_port(const struct host *h, cw_link link)
{
    CHECK(link < CW_LINK_COUNT);
    return h->port_of[link];
}

struct log *host_log(struct host *h)
{
    return h->log;
}

struct events *host_events(struct host *h)
{
    return h->events;
}

struct file_host *host_files(struct host *h)
{
    return h->files;
}

const char *host_priority_note(const struct host *h)
{
    return h->priority_note;
}

uint64_t host_naps(const struct host *h)
{
    return h->nap.count;
}

const struct host_holds *host_holds(const struct host *h)
{
    return &h->holds;
}

const struct host_stalls *host_stalls(const struct host *h)
{
    return &h->stalls;
}

const char *host_state_of(struct host_server *s, cw_server other)
{
    struct linkstate *ls = node_linkstate(s->node);
    const struct record *record = ls_record(ls, other);
    if (reach_has(ls_committed(ls), other)) {
        return "up";
    }
    if (record != NULL && record->flags & RECORD_LEAVING) {
        return ls_hops(ls, other) != UINT_MAX ? "leaving" : "left";
    }
    return reach_has(ls_optimistic(ls), other) ? "feared" : "down";
}

uint64_t host_left_us(struct host_server *s, cw_server other)
{
    const struct pump_server *p = host_pump_server(s);
    return p->left_us != NULL ? p->left_us[other] : 0;
}

const char *host_events_of(const struct host *h, char text[static TORUS_TEXT])
{
    text[0] = '\0';
    if (h->count > 1) {
        snprintf(text, TORUS_TEXT, "all");
    } else if (h->torus.servers != 0) {
        torus_format(h->server[0].face.self, text);
    }
    return text;
}

const char *host_build(const struct host *h)
{
    return h->build;
}

uint32_t host_mtu(const struct host *h)
{
    return h->mtu;
}

uint32_t host_config_hash(const struct host *h)
{
    return h->config_hash;
}

size_t host_packets_out(const struct host *h)
{
    return pkt_home_out(h->packets);
}

size_t host_packets_bytes(const struct host *h)
{
    return pkt_home_bytes(h->packets);
}

cw_time host_now(struct host *h)
{
    (void)h;
    return clock_now();
}

cw_time host_started(const struct host *h)
{
    return h->started;
}

bool host_leaving(const struct host *h)
{
    return h->leaving;
}

bool host_left(const struct host *h)
{
    return h->left;
}

bool host_failed(const struct host *h)
{
    return h->failed;
}

/* ---- Those who see what passes ----------------------------------------------------------------------------------- */

int host_tap(struct host_server *s, cw_link link, host_tap_fn *tap, void *context)
{
    CHECK(link < CW_LINK_COUNT);
    struct pump_link *l = &host_pump_server(s)->pump[link];
    if (tap != NULL && l->tap != NULL) {
        return -EBUSY;
    }
    l->tap = tap;
    l->tap_context = context;
    return 0;
}

uint16_t host_ethertype(const struct host *h, const uint8_t *bytes, uint32_t length)
{
    const struct daemon_config *c = &h->config;
    bool control = frame_lane(bytes, length) == FRAME_CONTROL;
    uint32_t type = c->ethertype_control != 0 ? c->ethertype_control : c->ethertype + 1;
    return (uint16_t)(control ? type : c->ethertype);
}

int host_watch(struct host *h, host_watch_fn *fn, void *context)
{
    if (fn != NULL && h->watch != NULL) {
        return -EBUSY;
    }
    h->watch = fn;
    h->watch_context = context;
    return 0;
}
