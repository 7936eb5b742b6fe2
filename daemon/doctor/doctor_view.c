/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/doctor/doctor_view.h"

#include "daemon/host/internal.h"

#include "keyspace/reach.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

enum {
    FAR_MOST = 16,   /* servers that no living neighbour tells of: more need not be listed */
    START_MOST = 16, /* servers to be started that are named */
    AWAY = 640,      /* bytes of the field of those that are away: some 80 */
    NAMES = 130      /* bytes of a list of servers: two of them and a sentence have room in DOCTOR_TEXT */
};

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

static uint32_t wanted_of(const struct torus *t)
{
    return t->servers / 2 + 1;
}

static bool has_left(const struct doctor *d, cw_server server)
{
    return strcmp(host_state_of(d->s, server), "left") == 0;
}

static uint32_t count_left(const struct doctor *d)
{
    uint32_t count = 0;
    for (cw_server s = 0; s < host_torus(d->s->host)->servers; s++) {
        count += has_left(d, s);
    }
    return count;
}

/*
 * Fewer than half are in view: what counts votes stands still. A server that reaches no other one may have lost its own
 * cables; it says so only where servers have left, and told it.
 */
static bool lacks_majority(const struct doctor *d)
{
    const struct reach *view = ls_committed(d->ls);
    if (view->members >= wanted_of(host_torus(d->s->host))) {
        return false;
    }
    return doctor_is_cut_off(d) ? count_left(d) > 0 : ls_active(d->ls);
}

/*
 * Servers that are away with all their neighbours. One of those that are in view tells of them, the first: so it is
 * told once, be all servers asked or only that one. Where a majority is lost, it tells of all that have left, which are
 * to be started again.
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
        if (reach_has(view, s) || !(is_alone(d, s) || (lacks_majority(d) && has_left(d, s)))) {
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

/* ---- A lost majority --------------------------------------------------------------------------------------------- */

/* "0,1,1 1,0,1 and 3 more": a list that grows, and counts what it has no room for. */
struct names {
    char text[NAMES];
    size_t used;
    unsigned count, more;
};

static void add_name(struct names *n, const struct torus *t, cw_server server)
{
    char name[TORUS_TEXT];
    torus_format(torus_coord(t, server), name);
    if (n->used + strlen(name) + sizeof " and 4294967295 more" > sizeof n->text) {
        n->more++;
    } else {
        n->used += (size_t)snprintf(n->text + n->used, sizeof n->text - n->used, "%s%s", n->used > 0 ? " " : "", name);
    }
    n->count++;
}

static const char *end_names(struct names *n)
{
    if (n->more > 0) {
        snprintf(n->text + n->used, sizeof n->text - n->used, " and %u more", n->more);
    }
    return n->text;
}

/* Servers to be started, in this order. */
struct start {
    cw_server server[START_MOST];
    unsigned count;
};

static bool is_chosen(const struct start *start, cw_server server)
{
    for (unsigned i = 0; i < start->count; i++) {
        if (start->server[i] == server) {
            return true;
        }
    }
    return false;
}

/* Links would lead to it once it runs: a neighbour is in view, or is to be started before it. */
static bool is_within_reach(const struct doctor *d, const struct start *start, cw_server server)
{
    const struct torus *t = host_torus(d->s->host);
    cw_links links = torus_links(t);
    for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
        cw_server far = torus_neighbour(t, server, link);
        if (links & cw_links_of(link) && (reach_has(ls_committed(d->ls), far) || is_chosen(start, far))) {
            return true;
        }
    }
    return false;
}

/* The next one. Those that have left come before those that died: nothing is wrong with them. */
static cw_server choose(const struct doctor *d, const struct start *start)
{
    const uint32_t servers = host_torus(d->s->host)->servers;
    cw_server died = servers;
    for (cw_server s = 0; s < servers; s++) {
        if (reach_has(ls_committed(d->ls), s) || is_chosen(start, s) || !is_within_reach(d, start, s)) {
            continue;
        }
        if (has_left(d, s)) {
            return s;
        }
        died = died < servers ? died : s;
    }
    return died;
}

/*
 * Says what makes a majority again: so many servers, each of which has a neighbour that runs by then. blind: nobody is
 * in view, so that only those that are known to have left are named.
 */
static void advise_to_start(struct doctor *d, uint32_t lacking, bool blind)
{
    const struct torus *t = host_torus(d->s->host);
    struct names names = {.used = 0};
    struct start start = {.count = 0};
    while (start.count < lacking && start.count < START_MOST) {
        cw_server next = choose(d, &start);
        if (blind && start.count > 0 && (next >= t->servers || !has_left(d, next))) {
            lacking = start.count; /* the others may well run, behind those that left */
            break;
        }
        start.server[start.count] = next;
        add_name(&names, t, start.server[start.count++]);
    }
    names.more = lacking - (start.count - names.more);
    d->out->text(d->out->context, "start", end_names(&names));
    if (host_count(d->s->host) > 1) { /* they are of this process */
        const char *then = lacking == 1 ? "" : ", then the same for the others, in this order: ";
        char first[TORUS_TEXT];
        torus_format(torus_coord(t, start.server[0]), first);
        doctor_advise(d, "cwctl --server %s restore%s%s", first, then, lacking == 1 ? "" : names.text);
    } else if (lacking == 1) {
        doctor_advise(d, "on %s: systemctl start cubewayd", names.text);
    } else {
        doctor_advise(d, "systemctl start cubewayd on these %u, in this order: %s", (unsigned)lacking, names.text);
    }
}

static void say_those_away(struct doctor *d, const char *field, bool near)
{
    const struct torus *t = host_torus(d->s->host);
    char names[AWAY] = "", name[TORUS_TEXT];
    size_t used = 0;
    for (cw_server s = 0; s < t->servers; s++) {
        bool away = !reach_has(ls_committed(d->ls), s) && !has_left(d, s) && !(near && is_alone(d, s));
        torus_format(torus_coord(t, s), name);
        if (away && used + strlen(name) + 2 < sizeof names) {
            used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", used > 0 ? " " : "", name);
        }
    }
    d->out->text(d->out->context, field, names);
}

/* For whoever compares with what other servers say: the numbers, all that are away, and who of them has a neighbour. */
static void say_away(struct doctor *d)
{
    d->out->integer(d->out->context, "members", ls_committed(d->ls)->members);
    d->out->integer(d->out->context, "torus", host_torus(d->s->host)->servers);
    say_those_away(d, "away", false);
    say_those_away(d, "near", true);
}

static void look_at_majority(struct doctor *d)
{
    const struct torus *t = host_torus(d->s->host);
    const struct reach *view = ls_committed(d->ls);
    struct names left = {.used = 0}, away = {.used = 0};
    if (!lacks_majority(d)) {
        return; /* who reaches nobody is told of that */
    }
    for (cw_server s = 0; s < t->servers; s++) {
        if (!reach_has(view, s)) {
            add_name(has_left(d, s) ? &left : &away, t, s);
        }
    }
    doctor_say(d, DOCTOR_GRAVE, "no-majority", CW_LINK_SELF,
               "%u of %u servers %s in view, which is no majority: the caches of kvcache stand still%s%s%s%s",
               (unsigned)view->members, (unsigned)t->servers, view->members == 1 ? "is" : "are",
               left.count > 0 ? "; these left in order: " : "", end_names(&left),
               away.count > 0 ? "; these are away: " : "", end_names(&away));
    d->out->text(d->out->context, "left", left.text);
    say_away(d);
    uint32_t lacking = wanted_of(t) - view->members;
    advise_to_start(d, lacking, doctor_is_cut_off(d));
}

void doctor_view(struct doctor *d)
{
    look_at_far_ones(d);
    look_at_majority(d);
}
