/* SPDX-License-Identifier: Apache-2.0 */
#include "base/check.h"
#include "boot/boot_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { CHANCE_SESSIONS = 0xb007, SERVERS_MAX = 1 << 24 };

struct boot_config boot_config_default(void)
{
    return (struct boot_config){
        .port = {0, 1, 2, 3, 4, 5},
        .servers_max = 65536,
        .mtu = 1500,
        .timers =
            {
                .probe = CW_MS(100),
                .probe_rest = CW_SEC(1),
                .dead = CW_SEC(1),
                .hold = CW_MS(200),
                .settle = CW_SEC(1),
                .resend = CW_MS(200),
            },
    };
}

static bool timers_are_good(const struct boot_timers *t)
{
    int64_t least = CW_MS(1).ns, most = CW_HOURS(1).ns;
    const int64_t spans[] = {t->probe.ns, t->probe_rest.ns, t->dead.ns, t->hold.ns, t->settle.ns, t->resend.ns};
    for (size_t i = 0; i < sizeof spans / sizeof *spans; i++) {
        if (spans[i] < least || spans[i] > most) {
            return false;
        }
    }
    return t->dead.ns > 2 * t->probe.ns;
}

/* True when all ports that exist are labelled, each with a direction of its own, or none is. */
static bool labels_are_good(const uint8_t port[CW_LINK_COUNT])
{
    unsigned used = 0, labelled = 0, bare = 0;
    for (unsigned i = 0; i < CW_LINK_COUNT; i++) {
        if (port[i] > BOOT_ABSENT || (port[i] < CW_LINK_COUNT && (used & 1u << port[i]) != 0)) {
            return false;
        }
        used |= 1u << port[i];
        if (port[i] < CW_LINK_COUNT) {
            labelled++;
        } else if (port[i] == BOOT_UNLABELLED) {
            bare++;
        }
    }
    return labelled == 0 || bare == 0;
}

static bool dims_are_good(cw_dims dims)
{
    bool none = dims.x == 0 && dims.y == 0 && dims.z == 0;
    bool all = dims.x >= 1 && dims.x <= CW_DIM_MAX && dims.y >= 1 && dims.y <= CW_DIM_MAX && dims.z >= 1 &&
               dims.z <= CW_DIM_MAX;
    return none || all;
}

static int check_config(const struct boot_config *c)
{
    bool good = c->id != 0 && probe_name_is_good(c->name) && labels_are_good(c->port) && dims_are_good(c->dims) &&
                c->servers_max >= 1 && c->servers_max <= SERVERS_MAX && c->mtu >= 1500 && c->mtu <= 9000 &&
                timers_are_good(&c->timers);
    if (!good) {
        return -EINVAL;
    }
    return c->place != NULL ? boot_place_check(c->place) : 0;
}

int boot_open(struct boot **out, const struct boot_config *config, cw_time now)
{
    int rc = check_config(config);
    if (rc != 0) {
        return rc;
    }
    struct boot *b = calloc(1, sizeof *b);
    if (b == NULL) {
        return -ENOMEM;
    }
    b->config = *config;
    b->config.place = NULL;
    b->chance = prng_stream(config->seed, config->id, CHANCE_SESSIONS);
    b->atlas = atlas_empty(config->servers_max);
    b->faults = (struct fault_list){.fault = b->fault, .max = BOOT_FAULTS_MAX};
    b->unanimous_at = CW_NEVER;
    b->changed_at = now;
    b->advert_stale = true;
    b->advert_due = now;
    if (config->place != NULL) {
        b->place = *config->place;
        b->placed = true;
        b->state = BOOT_AGREED;
    }
    for (unsigned i = 0; i < CW_LINK_COUNT; i++) {
        struct boot_port *p = &b->port[i];
        p->carrier = config->port[i] != BOOT_ABSENT;
        p->session = (uint32_t)(1 + prng_below(&b->chance, UINT32_MAX));
        p->sequence = (uint16_t)prng_next(&b->chance);
        p->resend_due = CW_NEVER;
        p->probe_due = now;
    }
    boot_announce(b, now);
    if (b->atlas.count == 0) {
        boot_close(b);
        return -ENOMEM;
    }
    *out = b;
    return 0;
}

void boot_close(struct boot *b)
{
    if (b == NULL) {
        return;
    }
    atlas_clear(&b->atlas);
    graph_free(&b->graph);
    solution_free(&b->solution);
    free(b);
}

cw_links boot_stored(struct boot *b, cw_time now)
{
    CHECK(b->state == BOOT_AGREED);
    if (b->placed) {
        return boot_links(b, now);
    }
    b->placed = true;
    uint32_t version = b->advert.version;
    atlas_clear(&b->atlas);
    graph_free(&b->graph);
    solution_free(&b->solution);
    b->advert.version = version;
    b->advert_stale = true;
    b->advert_due = now;
    boot_announce(b, now);
    for (unsigned i = 0; i < CW_LINK_COUNT; i++) {
        b->port[i].acks = 0;
        b->port[i].probe_now = b->port[i].carrier;
    }
    return boot_links(b, now);
}

enum boot_state boot_state(const struct boot *b)
{
    return b->state;
}

const struct boot_place *boot_place(const struct boot *b)
{
    return b->state == BOOT_AGREED ? &b->place : NULL;
}
