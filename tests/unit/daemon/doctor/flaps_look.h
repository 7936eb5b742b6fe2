/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flaps_look.h - a server of a torus in this process whose links went down as a test says, and what the doctor finds of
 * that. A test file is a program of its own, so that all of this is static.
 */
#ifndef UNIT_DAEMON_DOCTOR_FLAPS_LOOK_H
#define UNIT_DAEMON_DOCTOR_FLAPS_LOOK_H

#include "base/quantity.h"
#include "daemon/doctor/doctor_flaps.h"
#include "daemon/doctor/doctor_still.h"
#include "daemon/host/internal.h"
#include "daemon_town.h"
#include "rows_said.h"
#include "suite.h"

enum { LIFE = 1000, FENCED = 1000000, FIRST_MS = 100000 };

static struct rows_said said;
static struct rows_reader reader;
static struct host *h;

/* Server 0,0,0 of a torus that has these dims; all its links are up and never went down. */
static inline struct doctor begin(const char *torus)
{
    h = town_open(torus);
    reader = rows_said_reader(&said);
    struct doctor d = {.s = host_server(h, 0), .out = &reader, .self = "0,0,0"};
    d.ls = node_linkstate(d.s->node);
    for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
        d.s->link[link].carrier = true;
        ls_link_info(d.ls, link, &d.info[link]);
        d.info[link].state = "up";
        d.info[link].committed = true;
        d.info[link].heard = (struct ls_heard){.any = true, .server = d.info[link].expected, .incarnation = LIFE};
        d.info[link].heard.at = (cw_time){CW_SEC(1000).ns};
    }
    return d;
}

static inline cw_time at_ms(int64_t ms)
{
    return (cw_time){CW_MS(FIRST_MS + ms).ns};
}

/* The link went down once more, of the neighbour's life `life`; `after`: its life when the link was up again. */
static inline void fall_once(struct doctor *d, cw_link link, int64_t ms, uint64_t life, uint64_t after,
                             enum falls_why why)
{
    struct falls *falls = &host_pump_server(d->s)->viewlog.falls[link];
    falls_note(falls, at_ms(ms), life, why);
    if (after != 0) {
        falls_up(falls, after);
    }
    d->info[link].flaps++;
    d->info[link].flapped = at_ms(ms);
    d->info[link].flapped_life = life;
    d->info[link].heard.incarnation = after != 0 ? after : d->info[link].heard.incarnation;
}

/* The link went down so often, last at that time, and is up again; the neighbour lived on. */
static inline void fall(struct doctor *d, cw_link link, unsigned flaps, int64_t ms)
{
    host_pump_server(d->s)->viewlog.falls[link] = (struct falls){.count = 0};
    d->info[link].flaps = 0;
    for (unsigned i = 1; i <= flaps; i++) {
        fall_once(d, link, ms - 1000 * (int64_t)(flaps - i), LIFE, LIFE, FALLS_SILENT);
    }
}

static inline void fall_all(struct doctor *d, unsigned flaps, int64_t ms, int64_t apart_ms)
{
    for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
        fall(d, link, flaps, ms + link * apart_ms);
    }
}

/* The daemon was kept waiting; that ended then. */
static inline void wait_until(int64_t ms)
{
    h->stalls.at[h->stalls.count++ % HOST_STALLS_KEPT] = at_ms(ms);
}

/* A service held the thread for 6 s; that ended then. */
static inline void hold_until(int64_t ms)
{
    struct host_hold hold = {at_ms(ms), CW_SEC(6), 0, "bug", "on_command"};
    ck_assert(holds_note(&h->holds, &hold, CW_MS(50), 0));
}

/* Looks as doctor_look() does; gives how many findings there are. */
static inline unsigned look(struct doctor *d)
{
    doctor_stall(d);
    for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
        doctor_flapped(d, link);
    }
    doctor_flaps(d);
    doctor_hold(d);
    host_close(h);
    return d->found;
}

static inline void expect(const char *text)
{
    ck_assert_msg(rows_said_find(&said, text) != NULL, "not '%s' but '%s'", text, said.row[0]);
}

static const char cube[] = "torus { dims = 3x3x3; coordinate = all } timers { hello = 10ms; dead = 50ms }";
static const char pair[] = "torus { dims = 2x2x2; coordinate = all } timers { hello = 10ms; dead = 50ms }";

#endif
