/* SPDX-License-Identifier: Apache-2.0 */
/* host.c - a host is opened, in all the ways that there are, and closed. */
#include "daemon/host/internal.h"

#include "daemon/host/boot_runner.h"
#include "daemon/host/events.h"
#include "daemon/machine/links.h"
#include "nmu/book.h"
#include "shim/clock.h"
#include "shim/pair.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

_Static_assert((int)LINKS_WHY == (int)HOST_WHY, "one writes where the other reads");

enum {
    PACKETS_PER_SERVER = 1 << 17, /* a bound against our own mistakes; queues have bounds of their own */
    PACKETS_MOST = 1 << 28,
    MTU_LEAST = 1500,
    MTU_MOST = 9000,
    OFFLOAD_THREADS = 4, /* two may stand still with a disk (services/multicast/file/crew.h), and two are left */
};

/* ---- Opening ----------------------------------------------------------------------------------------------------- */

/* Gives rc, and where it is an error says which step it came from. */
static int named(int rc, const char *step, char why[static HOST_WHY])
{
    if (rc < 0) {
        snprintf(why, HOST_WHY, "%s: %s", step, strerror(-rc));
    }
    return rc;
}

/* Each cable once: from the server whose positive end it is. */
static int open_pairs(struct host *h, const struct torus *torus, char why[static HOST_WHY])
{
    for (unsigned i = 0; i < h->count; i++) {
        for (cw_link link = 0; link < CW_LINK_COUNT; link += 2) {
            if (!(torus_links(torus) & cw_links_of(link))) {
                continue;
            }
            struct shim *ends[2];
            int rc = pair_open(ends, "memory", h->mtu, PAIR_DEPTH);
            if (rc < 0) {
                return named(rc, "links inside the process", why);
            }
            cw_server far = torus_neighbour(torus, i, link);
            struct pump_server *near_end = &h->server[i], *far_end = &h->server[far];
            near_end->face.link[link].shim = near_end->pair[link] = ends[0];
            far_end->face.link[link ^ 1].shim = far_end->pair[link ^ 1] = ends[1];
        }
    }
    return 0;
}

static int wrap_pairs(struct host *h, char why[static HOST_WHY])
{
    int rc = 0;
    for (unsigned i = 0; i < h->count && rc == 0; i++) {
        for (cw_link link = 0; link < CW_LINK_COUNT && rc == 0; link++) {
            struct shim **shim = &h->server[i].face.link[link].shim;
            rc = *shim == NULL ? 0 : links_wrap(shim, &h->config.fault, (uint64_t)i * CW_LINK_COUNT + link, why);
        }
    }
    return rc;
}

static int take_mtu(struct host *h, const struct host_options *o, char why[static HOST_WHY])
{
    h->mtu = h->config.mtu != 0 ? h->config.mtu : MTU_MOST;
    for (cw_link link = 0; o->shim != NULL && link < CW_LINK_COUNT; link++) {
        if (o->shim[link] == NULL) {
            continue;
        }
        struct shim_info info;
        shim_info(o->shim[link], &info);
        if (info.mtu < MTU_LEAST || (h->config.mtu != 0 && info.mtu < h->config.mtu)) {
            snprintf(why, HOST_WHY, "%s: its mtu is %u, at least %u is needed", info.name, info.mtu,
                     h->config.mtu != 0 ? h->config.mtu : MTU_LEAST);
            return -EMSGSIZE;
        }
        h->mtu = info.mtu < h->mtu ? info.mtu : h->mtu;
        bool slower =
            h->bits_per_second == 0 || (info.bits_per_second != 0 && info.bits_per_second < h->bits_per_second);
        h->bits_per_second = slower ? info.bits_per_second : h->bits_per_second;
    }
    return 0;
}

static int open_memory(struct host *h)
{
    uint64_t most = (uint64_t)h->count * PACKETS_PER_SERVER;
    struct pkt_home_config packets = {
        .small_bytes = HOST_SMALL_PACKET,
        .large_bytes = h->mtu + PKT_HEADROOM,
        .packets_max = (uint32_t)(most < PACKETS_MOST ? most : PACKETS_MOST),
    };
    h->wakes_memory = malloc(heap_size(h->count));
    if (h->wakes_memory == NULL) {
        return -ENOMEM;
    }
    heap_init(&h->wakes, h->wakes_memory, h->count);
    int rc = pkt_home_open(&h->packets, &packets);
    rc = rc < 0 ? rc : serve_open(h);
    return rc < 0 ? rc : offload_open(&h->offload, OFFLOAD_THREADS);
}

static int open_servers(struct host *h)
{
    h->server = calloc(h->count, sizeof *h->server);
    if (h->server == NULL) {
        return -ENOMEM;
    }
    for (unsigned i = 0; i < h->count; i++) {
        struct pump_server *s = &h->server[i];
        s->face.host = h;
        s->face.index = i;
        for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
            s->pump[link].server = s;
            s->pump[link].link = link;
            s->pump[link].until = CW_NEVER;
        }
    }
    return 0;
}

/* The shape of the torus, and what every node needs of it. */
static int set_torus(struct host *h, cw_dims dims)
{
    int rc = torus_init(&h->torus, dims);
    if (rc < 0) {
        return rc;
    }
    h->neighbours = malloc((size_t)h->torus.servers * CW_LINK_COUNT * sizeof *h->neighbours);
    if (h->neighbours == NULL) {
        return -ENOMEM;
    }
    torus_neighbours_fill(&h->torus, h->neighbours);
    h->config_hash = config_hash(&h->config, dims, h->mtu);
    return 0;
}

int host_place(struct host *h, cw_dims dims, cw_coord self, char why[static HOST_WHY])
{
    int rc = named(set_torus(h, dims), "torus", why);
    for (unsigned i = 0; rc == 0 && i < h->count; i++) {
        struct pump_server *s = &h->server[i];
        s->face.self = h->config.place == CONFIG_WHOLE ? torus_coord(&h->torus, i) : self;
        rc = named(host_start_node(s, h->incarnation), "node", why);
    }
    return rc;
}

/* Where the server stands, if that is known by now. */
static bool known_place(const struct daemon_config *c, const struct host_options *o, struct boot_place *out)
{
    struct torus torus;
    if (o->place != NULL) {
        *out = *o->place;
        return true;
    }
    if (c->place == CONFIG_AUTO || torus_init(&torus, c->dims) < 0) {
        return false;
    }
    *out = (struct boot_place){.dims = c->dims, .self = c->self};
    for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
        out->direction[link] = torus_links(&torus) & cw_links_of(link) ? link : BOOT_ABSENT;
    }
    return true;
}

/* The shims of the caller become ours only at the end, when nothing can fail any more but the nodes. */
static int open_links(struct host *h, const struct host_options *o, char why[static HOST_WHY])
{
    if (h->config.place != CONFIG_WHOLE) {
        for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
            h->server[0].face.link[link].shim = o->shim[link];
        }
        return 0;
    }
    struct torus torus;
    int rc = named(torus_init(&torus, h->config.dims), "dims", why);
    rc = rc < 0 ? rc : open_pairs(h, &torus, why);
    return rc < 0 ? rc : wrap_pairs(h, why);
}

/* Opening has failed: shims that the caller brought stay open, and his. */
static void give_links_back(struct host *h)
{
    bool ours = h->config.place == CONFIG_WHOLE;
    for (cw_link link = 0; link < CW_LINK_COUNT && h->server != NULL && !ours; link++) {
        h->server[0].face.link[link].shim = NULL;
    }
}

/* What the caller said, and what is known before anything is opened. */
static void copy_options(struct host *h, const struct host_options *o)
{
    const cw_dims *dims = &o->config->dims;
    list_init(&h->deferred);
    list_init(&h->inlets);
    h->config = *o->config;
    h->count = h->config.place == CONFIG_WHOLE ? (unsigned)dims->x * dims->y * dims->z : 1;
    h->log = o->log;
    h->jobs = o->jobs;
    h->files = o->files;
    h->transit = o->transit;
    h->will = o->will;
    h->will_context = o->will_context;
    h->mark = o->mark;
    h->said = o->said;
    h->said_context = o->said_context;
    h->placed = o->placed;
    h->placed_context = o->placed_context;
    h->priority_note = o->priority_note;
    h->incarnation = o->incarnation;
    h->started = clock_now();
    build_name(h->build);
    snprintf(h->cluster, sizeof h->cluster, "%u", h->config.cluster);
    if (getrandom(&h->seed, sizeof h->seed, 0) != sizeof h->seed) {
        h->seed = (uint64_t)h->started.ns;
    }
    host_gather_objects(h);
}

int host_open(struct host **out, const struct host_options *o, char why[static HOST_WHY])
{
    struct boot_place place;
    struct host *h = calloc(1, sizeof *h);
    why[0] = '\0';
    if (h == NULL) {
        return named(-ENOMEM, "servers", why);
    }
    h->events = calloc(1, sizeof *h->events);
    if (h->events == NULL) {
        free(h);
        return named(-ENOMEM, "events", why);
    }
    copy_options(h, o);
    bool known = known_place(&h->config, o, &place), hopeless = h->count == 0 || (!known && o->id == 0);
    int rc = take_mtu(h, o, why);
    rc = rc < 0 ? rc : named(hopeless ? -EINVAL : 0, "no place, and no way to find one", why);
    rc = rc < 0 ? rc : named(open_memory(h), "memory", why);
    rc = rc < 0 ? rc : named(open_servers(h), "servers", why);
    rc = rc < 0 ? rc : open_links(h, o, why);
    rc = rc < 0 ? rc : named(pump_open(h), "event loop", why);
    rc = rc < 0 ? rc : named(boot_runner_open(h, o, known ? &place : NULL), "bootstrap", why);
    if (rc == 0 && known) {
        rc = host_place(h, place.dims, place.self, why);
    }
    if (rc < 0) {
        give_links_back(h);
        host_close(h);
        return rc;
    }
    *out = h;
    return 0;
}

void host_close(struct host *h)
{
    boot_runner_close(h);
    for (unsigned i = 0; h->server != NULL && i < h->count; i++) {
        host_end_node(&h->server[i]);
    }
    pump_close(h);
    for (unsigned i = 0; h->server != NULL && i < h->count; i++) {
        for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
            if (h->server[i].face.link[link].shim != NULL) {
                shim_close(h->server[i].face.link[link].shim);
            }
        }
    }
    host_close_modules(h);
    if (h->offload != NULL) {
        offload_close(h->offload);
    }
    if (h->packets != NULL) {
        serve_close(h);
        pkt_home_close(h->packets);
    }
    book_close(h->book);
    free(h->server);
    free(h->wakes_memory);
    free(h->neighbours);
    free(h->events);
    if (h->config.place == CONFIG_WHOLE) {
        clock_hold(CW_NEVER);
    }
    free(h);
}
