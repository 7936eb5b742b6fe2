/* SPDX-License-Identifier: Apache-2.0 */
#include "base/check.h"
#include "boot/boot_internal.h"
#include "boot/solve.h"
#include "boot/survey.h"
#include "boot/verify.h"

#include <string.h>

void boot_graph_changed(struct boot *b, cw_time now)
{
    if (b->state == BOOT_AGREED) {
        return; /* all had agreed: what changes afterwards concerns those who come later */
    }
    b->changed_at = now;
    b->looked = false;
    b->state = BOOT_SEARCHING;
    b->unanimous_at = CW_NEVER;
    b->agreeing = 0;
    if (b->digest != 0) {
        b->digest = 0;
        b->advert_stale = true;
    }
}

struct boot_who boot_self(const struct boot *b)
{
    struct boot_who who = {.id = b->config.id, .placed = b->state == BOOT_AGREED, .at = b->place.self};
    memcpy(who.name, b->config.name, sizeof who.name);
    return who;
}

struct boot_who boot_far_who(const struct boot_port *port)
{
    struct boot_who who = {0};
    if (port->heard) {
        who.id = port->far.id;
        memcpy(who.name, port->far.name, sizeof who.name);
        who.placed = (port->far.flags & PROBE_PLACED) != 0;
        who.at = port->far.at;
    }
    return who;
}

bool boot_same_advert(const struct cabling *a, const struct cabling *b)
{
    if (a->id != b->id || a->flags != b->flags || !dims_equal(a->dims, b->dims) || !coord_equal(a->at, b->at) ||
        memcmp(a->name, b->name, sizeof a->name) != 0) {
        return false;
    }
    for (unsigned i = 0; i < CW_LINK_COUNT; i++) {
        if (a->port[i].far_id != b->port[i].far_id || a->port[i].far_port != b->port[i].far_port ||
            a->port[i].label != b->port[i].label) {
            return false;
        }
    }
    return true;
}

static struct cabling advert_now(const struct boot *b)
{
    struct cabling advert = {.id = b->config.id, .version = b->advert.version, .solution = b->digest};
    memcpy(advert.name, b->config.name, sizeof advert.name);
    if (b->placed) {
        advert.flags = CABLING_PLACED;
        advert.dims = b->place.dims;
        advert.at = b->place.self;
    } else if (b->config.dims.x != 0) {
        advert.flags = CABLING_TOLD;
        advert.dims = b->config.dims;
    }
    for (unsigned i = 0; i < CW_LINK_COUNT; i++) {
        const struct boot_port *p = &b->port[i];
        struct cabling_port *port = &advert.port[i];
        port->label = b->placed ? b->place.direction[i] : b->config.port[i];
        bool loop = p->strange == BOOT_FAULT_LOOP; /* that is a cable, too, although a useless one */
        if (port->label != CABLING_NO_PORT && p->heard && ((p->both_ways && p->strange == 0) || loop)) {
            port->far_id = p->far.id;
            port->far_port = p->far.port;
        }
    }
    return advert;
}

void boot_announce(struct boot *b, cw_time now)
{
    if (!b->advert_stale || !cw_time_due(b->advert_due, now)) {
        return;
    }
    struct cabling advert = advert_now(b);
    uint32_t held = atlas_find(&b->atlas, advert.id);
    b->advert_stale = false;
    if (held != ATLAS_NONE && b->atlas.entry[held].version == advert.version && b->advert.solution == advert.solution &&
        boot_same_advert(&b->advert, &advert)) {
        return;
    }
    bool same = held != ATLAS_NONE && boot_same_advert(&b->advert, &advert);
    advert.version++;
    cw_links owed = 0;
    for (unsigned i = 0; i < CW_LINK_COUNT; i++) {
        owed |= (cw_links)(boot_port_is_fed(b, i) << i);
    }
    if (atlas_put(&b->atlas, &advert, owed, NULL) == 1) {
        b->advert = advert;
        b->recount = true;
        if (!same && !b->placed) {
            boot_graph_changed(b, now);
        }
    }
    b->advert_due = cw_time_add(now, b->config.timers.hold);
}

/* Adds a fault for each neighbour that says that our place belongs to a server that is alive. */
static void add_taken(struct boot *b)
{
    uint32_t self = boot_survey_find(&b->graph, b->config.id);
    for (unsigned i = 0; i < CW_LINK_COUNT; i++) {
        const struct boot_port *p = &b->port[i];
        if (p->heard && (p->far.flags & PROBE_TAKEN) != 0) {
            struct boot_fault fault = {.kind = BOOT_FAULT_TAKEN, .port = (uint8_t)i, .direction = b->config.port[i]};
            fault.who = graph_who(&b->graph, &b->solution, self);
            fault.far = boot_far_who(p);
            fault.expected.placed = true;
            fault.expected.at = coord_step(p->far.dims, p->far.at, p->far.label);
            fault_add(&b->faults, &fault);
        }
    }
}

/*
 * Solves the graph. 1: the solution is the torus, and there are no faults; 0: it is not, or is not known yet; -ENOMEM.
 */
static int look(struct boot *b)
{
    graph_free(&b->graph);
    solution_free(&b->solution);
    b->faults.count = b->faults.grave = 0;
    int rc = boot_survey(&b->atlas, b->config.id, &b->graph, &b->missing);
    if (rc != 0) {
        return rc;
    }
    boot_check_ports(b);
    if (b->missing > 0) {
        return 0;
    }
    rc = boot_solve(&b->graph, &b->solution);
    if (rc != 0) {
        return rc;
    }
    add_taken(b);
    int verified = boot_verify(&b->graph, &b->solution);
    rc = verified < 0 ? verified : boot_inspect(&b->graph, &b->solution, &b->faults);
    if (rc != 0) {
        return rc;
    }
    if (verified == 1 && b->faults.grave == 0) { /* boot_verify() is the stricter one: what it refuses must not pass */
        struct boot_fault fault = {.kind = BOOT_FAULT_SHAPE, .count = b->graph.count};
        fault_add(&b->faults, &fault);
    }
    b->state = b->faults.grave > 0 ? BOOT_REFUSED : BOOT_SEARCHING;
    return b->faults.grave == 0;
}

static void count_agreeing(struct boot *b, cw_time now)
{
    uint32_t agreeing = 0;
    for (uint32_t i = 0; i < b->graph.count; i++) {
        uint32_t index = atlas_find(&b->atlas, b->graph.server[i].id);
        const struct cabling *advert = &b->atlas.entry[index];
        if (advert->flags == CABLING_PLACED || advert->solution == b->digest) {
            agreeing++;
        }
    }
    b->agreeing = agreeing;
    b->recount = false;
    bool all = agreeing == b->graph.count;
    if (all && b->unanimous_at.ns == CW_NEVER.ns) {
        b->unanimous_at = now;
    } else if (!all) {
        b->unanimous_at = CW_NEVER;
    }
}

/* Takes the place that the solution gives this server: once in its life. */
static void agree(struct boot *b)
{
    CHECK(!b->placed && b->state != BOOT_AGREED);
    uint32_t self = boot_survey_find(&b->graph, b->config.id);
    CHECK(self != GRAPH_NONE);
    const struct graph_spot *spot = &b->solution.spot[self];
    b->place.dims = b->solution.dims;
    b->place.self = spot->at;
    for (unsigned i = 0; i < CW_LINK_COUNT; i++) {
        unsigned direction = spot->direction[i];
        bool used = direction < CW_LINK_COUNT && dims_axis(b->place.dims, direction / 2) > 1;
        b->place.direction[i] = (uint8_t)(used ? direction : (unsigned)BOOT_ABSENT);
    }
    CHECK(boot_place_check(&b->place) == 0);
    b->state = BOOT_AGREED;
}

void boot_decide(struct boot *b, cw_time now)
{
    if (b->placed) {
        b->faults.count = b->faults.grave = 0;
        boot_check_ports(b);
        return;
    }
    if (b->state == BOOT_AGREED) {
        return;
    }
    cw_span settle = b->config.timers.settle;
    if (!b->looked && cw_time_due(cw_time_add(b->changed_at, settle), now)) {
        b->looked = true;
        int rc = look(b);
        if (rc < 0) { /* there is no memory now: try again after the settling time */
            boot_graph_changed(b, now);
        } else if (rc == 1) {
            b->digest = solution_digest(&b->graph, &b->solution);
            b->advert_stale = true;
            b->recount = true;
        }
    }
    if (b->digest != 0 && b->recount && cw_time_due(b->recount_due, now)) {
        count_agreeing(b, now);
        b->recount_due = cw_time_add(now, CW_NS(b->config.timers.hold.ns / 4));
    }
    if (b->digest != 0 && !b->advert_stale && !b->recount && cw_time_due(cw_time_add(b->unanimous_at, settle), now)) {
        agree(b);
    }
}

cw_time boot_decide_wake(const struct boot *b)
{
    if (b->placed || b->state == BOOT_AGREED) {
        return CW_NEVER;
    }
    cw_span settle = b->config.timers.settle;
    cw_time wake = b->looked ? CW_NEVER : cw_time_add(b->changed_at, settle);
    if (b->digest != 0 && b->recount) {
        wake = cw_time_min(wake, b->recount_due);
    }
    bool may_agree = b->digest != 0 && !b->advert_stale && !b->recount;
    return may_agree ? cw_time_min(wake, cw_time_add(b->unanimous_at, settle)) : wake;
}
