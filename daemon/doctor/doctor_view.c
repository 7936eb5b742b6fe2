/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/doctor/doctor_view.h"

#include "daemon/host/internal.h"

#include "keyspace/reach.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

enum { FAR_MOST = 16 }; /* servers that no living neighbour tells of: more need not be listed */

bool doctor_say_left(struct doctor *d, cw_link link, cw_server server)
{
    int64_t at_us = (int64_t)host_left_us(d->s, server);
    time_t at = (time_t)(at_us / 1000000);
    char far[TORUS_TEXT], when[40] = "";
    struct tm parts;
    if (strcmp(host_state_of(d->s, server), "left") != 0) {
        return false;
    }
    torus_format(torus_coord(host_torus(d->s->host), server), far);
    if (at_us != 0 && localtime_r(&at, &parts) != NULL) {
        strftime(when, sizeof when, " at %F %T", &parts);
    }
    doctor_say(d, DOCTOR_NOTE, "left", link, "%s left in order%s; start it again when you like", far, when);
    if (at_us != 0) {
        d->out->integer(d->out->context, "left_us", at_us);
    }
    return true;
}

bool doctor_is_cut_off(const struct doctor *d)
{
    const struct torus *t = host_torus(d->s->host);
    cw_server self = torus_id(t, d->s->self);
    for (cw_server s = 0; (s = reach_next(ls_committed(d->ls), s)) < t->servers; s++) {
        if (s != self) {
            return false;
        }
    }
    return true;
}

/* No neighbour of that server is in view, so that no link of a living server tells of it. */
static bool is_alone(const struct doctor *d, cw_server server)
{
    const struct torus *t = host_torus(d->s->host);
    cw_links links = torus_links(t);
    for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
        if (links & cw_links_of(link) && reach_has(ls_committed(d->ls), torus_neighbour(t, server, link))) {
            return false;
        }
    }
    return true;
}

/*
 * Servers that are away with all their neighbours. One of those that are in view tells of them, the first: so it is
 * told once, be all servers asked or only that one.
 */
static void look_at_far_ones(struct doctor *d)
{
    const struct torus *t = host_torus(d->s->host);
    const struct reach *view = ls_committed(d->ls);
    unsigned told = 0;
    if (doctor_is_cut_off(d) || !ls_active(d->ls) || reach_next(view, 0) != torus_id(t, d->s->self)) {
        return;
    }
    for (cw_server s = 0; s < t->servers && told < FAR_MOST; s++) {
        char far[TORUS_TEXT];
        if (reach_has(view, s) || !is_alone(d, s)) {
            continue;
        }
        torus_format(torus_coord(t, s), far);
        bool left = doctor_say_left(d, CW_LINK_SELF, s);
        if (!left) {
            doctor_say(d, DOCTOR_WARNING, "unreached", CW_LINK_SELF,
                       "%s is not reached: none of its neighbours is in view, so nobody can say whether it runs", far);
        }
        d->out->text(d->out->context, "expected", far);
        doctor_advise(d, left ? "on %s: systemctl start cubewayd" : "on %s: cwctl doctor; or start a neighbour first",
                      far);
        told++;
    }
}

/* Fewer than half are in view, though this server reaches others: what counts votes stands still. */
static void look_at_majority(struct doctor *d)
{
    const struct torus *t = host_torus(d->s->host);
    const struct reach *view = ls_committed(d->ls);
    uint32_t wanted = t->servers / 2 + 1;
    char names[DOCTOR_TEXT / 2] = "";
    size_t used = 0;
    if (view->members >= wanted || view->members < 2 || !ls_active(d->ls)) {
        return; /* who reaches nobody is told of that */
    }
    for (cw_server s = 0; s < t->servers && used < sizeof names - TORUS_TEXT - 4; s++) {
        char name[TORUS_TEXT];
        if (!reach_has(view, s)) {
            torus_format(torus_coord(t, s), name);
            used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", used > 0 ? " " : "", name);
        }
    }
    doctor_say(d, DOCTOR_GRAVE, "no-majority", CW_LINK_SELF,
               "%u of %u servers are in view, which is no majority: the caches of kvcache stand still",
               (unsigned)view->members, (unsigned)t->servers);
    doctor_advise(d, "start %u of the others again (systemctl start cubewayd on %s)",
                  (unsigned)(wanted - view->members), names);
}

void doctor_view(struct doctor *d)
{
    look_at_far_ones(d);
    look_at_majority(d);
}
