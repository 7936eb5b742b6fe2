/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/doctor/doctor_flaps.h"

#include "daemon/doctor/doctor_still.h"
#include "daemon/host/internal.h"

#include "base/quantity.h"
#include "keyspace/reach.h"

#include <stdio.h>
#include <string.h>

enum {
    FLAPS_TOLD = 2,      /* times that a link went down lately and came back, from which on that is told */
    CARRIERS_WARNED = 4, /* from so many lost carriers on, nobody moves plugs any more */
    NAMES = 128,         /* bytes of six names of interfaces, or of "+x -x +y -y +z -z" */
    FENCES = 1000,       /* incarnations that one process uses up at most: another one begins with the time in us */
};

static const cw_span lately = CW_MINUTES(10); /* an order that is older is told by the events alone */

static unsigned size_of(cw_links links)
{
    return (unsigned)__builtin_popcount(links);
}

/* ---- Neighbours, and cables -------------------------------------------------------------------------------------- */

/* That life of the server was ended on purpose, by host_fail(): so it is in a torus inside one process. */
static bool was_ended(const struct doctor *d, cw_coord server, uint64_t life)
{
    cw_server index = torus_id(host_torus(d->s->host), server);
    if (host_count(d->s->host) <= index) {
        return false; /* it is no server of this process */
    }
    const struct ended *ended = &host_pump_server(host_server(d->s->host, index))->ended;
    for (unsigned i = 0; i < ENDED_KEPT && i < ended->count; i++) {
        if (ended->life[i] == life) {
            return true;
        }
    }
    return false;
}

/* The fall, 0 the last one, is explained by what this server did as a whole, or by the order that the neighbour got. */
static bool is_explained(const struct doctor *d, cw_link link, unsigned back)
{
    const struct fall *fall = falls_at(&host_pump_server(d->s)->viewlog.falls[link], back);
    if (d->stood & cw_links_of(link) && back < d->stood_flaps) {
        return true;
    }
    uint64_t after = fall != NULL && fall->after != 0 ? fall->after : doctor_life(d, link);
    return fall != NULL && (doctor_stood_still_at(d, fall->at) ||
                            (after > fall->life && was_ended(d, d->info[link].expected, fall->life)));
}

/* How often the link went down lately, without the times that are explained. */
static unsigned flaps_of(const struct doctor *d, cw_link link)
{
    unsigned flaps = 0;
    for (unsigned back = 0; back < d->info[link].flaps; back++) {
        flaps += !is_explained(d, link, back);
    }
    return flaps;
}

static bool is_expected(const struct ls_link_info *info)
{
    return info->heard.any && memcmp(&info->heard.server, &info->expected, sizeof info->expected) == 0;
}

uint64_t doctor_life(const struct doctor *d, cw_link link)
{
    const struct ls_link_info *info = &d->info[link];
    cw_server server = torus_id(host_torus(d->s->host), info->expected);
    const struct record *record = ls_record(d->ls, server);
    uint64_t heard = is_expected(info) ? info->heard.incarnation : 0;
    bool viewed = record != NULL && reach_has(ls_committed(d->ls), server);
    return viewed && record->incarnation > heard ? record->incarnation : heard;
}

/* The neighbour has ended the life in which it lost the link: its daemon began anew, or stood still. */
static bool lives_anew(const struct doctor *d, cw_link link)
{
    return doctor_life(d, link) > d->info[link].flapped_life;
}

/* How often a link must have gone down to be told: a neighbour that is back, or a cable that is up, may do so once. */
static unsigned flaps_told(const struct doctor *d, cw_link link)
{
    return d->info[link].committed || lives_anew(d, link) ? FLAPS_TOLD : 1;
}

void doctor_flapped(struct doctor *d, cw_link link)
{
    if (flaps_of(d, link) >= flaps_told(d, link)) {
        d->flapped |= cw_links_of(link);
    }
}

/* The neighbour was heard after it lost the link, and has not begun another life. */
static bool lived_on(const struct ls_link_info *info)
{
    return is_expected(info) && info->heard.incarnation == info->flapped_life &&
           cw_time_before(info->flapped, info->heard.at);
}

/* The links with flaps to be told whose far end is that of this one. */
static cw_links with_same_end(const struct doctor *d, cw_link link)
{
    cw_links with = CW_LINKS_NONE;
    for (cw_link i = 0; i < CW_LINK_COUNT; i++) {
        if (d->flapped & cw_links_of(i) &&
            memcmp(&d->info[i].expected, &d->info[link].expected, sizeof d->info[i].expected) == 0) {
            with |= cw_links_of(i);
        }
    }
    return with;
}

/* What is behind the recent falls of one link, or of all links to one neighbour. */
struct reasons {
    unsigned deaths, fences;       /* lives of the neighbour that ended: its process did, or it counted itself out */
    unsigned own, carrier, silent; /* falls in which it lived on, or left in order later */
    uint64_t life[2 * FALLS_KEPT]; /* that are counted, each once */
    unsigned lives;
};

static bool is_new(struct reasons *r, uint64_t life)
{
    for (unsigned i = 0; i < r->lives; i++) {
        if (r->life[i] == life) {
            return false;
        }
    }
    if (r->lives < 2 * FALLS_KEPT) {
        r->life[r->lives++] = life;
    }
    return true;
}

/*
 * When the neighbour's process is the same, it has counted itself out, as it does when nobody has heard it for `dead`
 * (semantics 4.2), which takes the next incarnation. It need not have stood still for that: where the medium had no
 * carrier, a switch or a plug is the cause, and a server all of whose interfaces were off was heard by nobody.
 */
static void count_fall(struct reasons *r, uint64_t life, const struct fall *fall)
{
    uint64_t after = fall->after != 0 ? fall->after : life;
    bool anew = after > fall->life && !fall->left, fenced = anew && after - fall->life < FENCES;
    if (anew && !(fenced && fall->why != FALLS_SILENT)) {
        if (is_new(r, fall->life)) {
            *(fenced ? &r->fences : &r->deaths) += 1;
        }
        return;
    }
    *(fall->why == FALLS_OWN ? &r->own : fall->why == FALLS_CARRIER ? &r->carrier : &r->silent) += 1;
}

/* Adds the recent falls of a link that nothing explains. */
static void count_falls(const struct doctor *d, cw_link link, struct reasons *r)
{
    const struct falls *falls = &host_pump_server(d->s)->viewlog.falls[link];
    for (unsigned back = 0; back < d->info[link].flaps; back++) {
        const struct fall *fall = falls_at(falls, back);
        if (fall == NULL) {
            return;
        }
        if (!is_explained(d, link, back)) {
            count_fall(r, doctor_life(d, link), fall);
        }
    }
}

static struct reasons reasons_of(const struct doctor *d, cw_links links)
{
    struct reasons r = {0};
    for (cw_link i = 0; i < CW_LINK_COUNT; i++) {
        if (links & cw_links_of(i)) {
            count_falls(d, i, &r);
        }
    }
    return r;
}

static unsigned most_flaps(const struct doctor *d, cw_links links)
{
    unsigned most = 0;
    for (cw_link i = 0; i < CW_LINK_COUNT; i++) {
        most = links & cw_links_of(i) && flaps_of(d, i) > most ? flaps_of(d, i) : most;
    }
    return most;
}

/* Several links that went down together. */
static bool fell_together(const struct doctor *d, cw_links links)
{
    cw_time first = CW_NEVER, last = {INT64_MIN};
    for (cw_link i = 0; i < CW_LINK_COUNT; i++) {
        if (links & cw_links_of(i)) {
            first = cw_time_min(first, d->info[i].flapped);
            last = cw_time_max(last, d->info[i].flapped);
        }
    }
    return size_of(links) > 1 && cw_time_since(last, first).ns <= doctor_instant(d).ns;
}

/* It may have died besides, too seldom to be told of by itself. */
static void tell_stalls(struct doctor *d, cw_link link, const char *far, const struct reasons *r)
{
    doctor_say(d, DOCTOR_WARNING, "stalls", link,
               "%s was lost %u times lately, and came back by itself%s: it stood still, or nobody heard it for longer "
               "than timers.dead (its status counts times kept waiting); one cable alone is not the cause",
               far, r->fences, r->deaths > 0 ? " (besides, its daemon was killed or crashed, and started again)" : "");
    doctor_advise(d, "on %s: cwctl doctor; cwctl status", far);
}

static void tell_restarts(struct doctor *d, cw_link link, const char *far, unsigned times)
{
    doctor_say(
        d, DOCTOR_WARNING, "restarts", link,
        "%s was lost %u times lately, and was started again: its daemon was killed or crashed; the cables are not "
        "the cause",
        far, times);
    doctor_advise(d, "on %s: cwctl doctor; journalctl -u cubewayd", far);
}

static void tell_together(struct doctor *d, cw_link link, cw_links with, const char *far, unsigned flaps)
{
    char names[NAMES] = "";
    size_t used = 0;
    for (cw_link i = 0; i < CW_LINK_COUNT; i++) {
        if (with & cw_links_of(i)) {
            used +=
                (size_t)snprintf(names + used, sizeof names - used, "%s%s", used > 0 ? " " : "", quantity_link_name(i));
        }
    }
    doctor_say(d, DOCTOR_WARNING, "flapping", link,
               "the links %s to %s went down at the same moment, %u time%s lately: look at %s, or at what these "
               "cables share",
               names, far, flaps, flaps == 1 ? "" : "s", far);
    doctor_advise(d, "on %s: cwctl doctor", far);
}

/* The carrier went each time: somebody may have moved plugs, which is no fault. */
static void tell_carrier(struct doctor *d, cw_link link, const char *far, unsigned times)
{
    struct shim_info shim;
    if (doctor_is_memory(d)) {
        doctor_say(d, DOCTOR_NOTE, "carrier-lost", link,
                   "the cable of %s to %s was cut and mended %u times lately (cwctl cut, cwctl mend), and is well now",
                   quantity_link_name(link), far, times);
        doctor_do(d, "cwctl events says when");
        return;
    }
    shim_info(d->s->link[link].shim, &shim);
    doctor_say(d, times < CARRIERS_WARNED ? DOCTOR_NOTE : DOCTOR_WARNING, "carrier-lost", link,
               "%s (%s) lost its carrier %u times lately, and has it now: plugs were moved, or the interface at %s was "
               "switched off, or else a plug is loose",
               shim.name, quantity_link_name(link), times, far);
    doctor_do(d, "ip -s link show %s; cwctl events says when", shim.name);
}

/*
 * The falls that neither a death of the neighbour nor a lost carrier explains; there may have been such, too, and that
 * is said besides.
 */
static void tell_cable(struct doctor *d, cw_link link, const char *far, const struct reasons *r)
{
    const struct ls_link_info *info = &d->info[link];
    unsigned times = r->silent, lives = r->deaths + r->fences;
    char anew[192] = "", plugs[80] = "";
    d->bad |= cw_links_of(link);
    if (lives > 0) {
        snprintf(anew, sizeof anew, "; besides, it went down %u time%s because %s %s%s%s", lives, lives == 1 ? "" : "s",
                 far, r->deaths > 0 ? "was started again (its daemon was killed or crashed)" : "",
                 r->deaths > 0 && r->fences > 0 ? " or " : "", r->fences > 0 ? "stood still" : "");
    }
    if (r->carrier > 0) {
        snprintf(plugs, sizeof plugs, "; %u time%s more its carrier was lost: plugs were moved, or one is loose",
                 r->carrier, r->carrier == 1 ? "" : "s");
    }
    bool known = lives > 0 || lived_on(info);
    doctor_say(d, DOCTOR_WARNING, "flapping", link, "the link %s to %s went down %u time%s lately%s: %s%s%s%s%s",
               quantity_link_name(link), far, times, times == 1 ? "" : "s",
               info->committed ? ", and is up now" : ", and rests now",
               known ? "the cable is bad, for " : "its cable is bad, or ", far, known ? " lived on" : " is restarting",
               anew, plugs);
    doctor_do_count(d, link);
}

/* One cable, whose neighbour lived on. */
static void look_at_cable(struct doctor *d, cw_link link, const char *far)
{
    struct reasons r = reasons_of(d, cw_links_of(link));
    if (r.silent >= flaps_told(d, link)) {
        tell_cable(d, link, far, &r);
    } else if (r.carrier >= flaps_told(d, link)) {
        tell_carrier(d, link, far, r.carrier);
    }
}

/* One interface that was switched once is nothing; one that was switched again, and several, are worth a note. */
static void find_switched(struct doctor *d)
{
    unsigned times = 0;
    for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
        unsigned own = reasons_of(d, cw_links_of(link)).own;
        bool well = doctor_is_plugged(d, link) && !(d->bad & cw_links_of(link));
        times += well ? own : 0;
        d->switched |= well && own > 0 ? cw_links_of(link) : CW_LINKS_NONE;
    }
    d->switched = times >= FLAPS_TOLD ? d->switched : CW_LINKS_NONE;
}

/* Interfaces of this server that were switched off and on: nothing is wrong, and the far ends need not wonder. */
static void tell_switched(struct doctor *d)
{
    char names[NAMES] = "", ports[NAMES] = "";
    size_t used = 0, put = 0;
    for (cw_link i = 0; i < CW_LINK_COUNT; i++) {
        struct shim_info shim;
        if (d->switched & cw_links_of(i)) {
            shim_info(d->s->link[i].shim, &shim);
            used += (size_t)snprintf(names + used, sizeof names - used, "%s%.16s", used > 0 ? " " : "", shim.name);
            used = used < sizeof names ? used : sizeof names - 1;
            put += (size_t)snprintf(ports + put, sizeof ports - put, "%s%s", put > 0 ? " " : "", quantity_link_name(i));
        }
    }
    if (d->switched == CW_LINKS_NONE) {
        return;
    }
    doctor_say(d, DOCTOR_NOTE, "switched-off", CW_LINK_SELF,
               "interfaces of this server were switched off, taken out or changed lately, and are well now: %s (%s)",
               names, ports);
    d->out->text(d->out->context, "links_off", ports);
    doctor_do(d, "cwctl events says when");
}

/* This server was taken out by an order, and is back: who lost it meanwhile is told nothing else of that. */
static void tell_ended(struct doctor *d)
{
    const struct ended *ended = &host_pump_server(d->s)->ended;
    unsigned times = 0;
    for (unsigned i = 0; i < ENDED_KEPT && i < ended->count; i++) {
        times += cw_time_since(host_now(d->s->host), ended->at[i]).ns <= lately.ns;
    }
    if (times > 0) {
        doctor_say(d, DOCTOR_NOTE, "ended", CW_LINK_SELF,
                   "this server was taken out %u time%s lately by cwctl fail, and brought back by cwctl restore: that "
                   "its neighbours lost it was no mishap",
                   times, times == 1 ? "" : "s");
        doctor_do(d, "cwctl events says when");
    }
}

/*
 * Links that are up and went down too seldom for a finding, though nobody's process ended and nobody used a switch: who
 * asks several servers makes one note of them (ctl/diagnosis/falls.h).
 */
static void list_rare(struct doctor *d)
{
    for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
        const struct fall *last = falls_at(&host_pump_server(d->s)->viewlog.falls[link], 0);
        struct reasons r = reasons_of(d, cw_links_of(link));
        unsigned times = r.silent + r.carrier + r.fences;
        char far[TORUS_TEXT];
        if (r.own > 0) { /* which says enough of what the far end tells */
            d->out->text(d->out->context, "server", d->self);
            d->out->text(d->out->context, "part", "switched");
            d->out->text(d->out->context, "link", quantity_link_name(link));
            d->out->row(d->out->context);
        }
        if (times == 0 || r.deaths > 0 || last == NULL || last->left || !d->info[link].committed ||
            d->told & cw_links_of(link)) {
            continue;
        }
        torus_format(d->info[link].expected, far);
        d->out->text(d->out->context, "server", d->self);
        d->out->text(d->out->context, "part", "fell");
        d->out->text(d->out->context, "link", quantity_link_name(link));
        d->out->text(d->out->context, "expected", far);
        d->out->text(d->out->context, "expected_port", quantity_link_name(cw_link_opposite(link)));
        d->out->integer(d->out->context, "times", times);
        d->out->integer(d->out->context, "ago_s", cw_time_since(host_now(d->s->host), last->at).ns / CW_NS_PER_SEC);
        d->out->row(d->out->context);
    }
}

void doctor_flaps(struct doctor *d)
{
    for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
        char far[TORUS_TEXT];
        if (!(d->flapped & cw_links_of(link))) {
            continue;
        }
        torus_format(d->info[link].expected, far);
        cw_links with = with_same_end(d, link);
        struct reasons r = reasons_of(d, with);
        bool anew = r.deaths >= FLAPS_TOLD || r.fences >= FLAPS_TOLD;
        bool together = !anew && r.own == 0 && r.deaths + r.fences == 0 && fell_together(d, with);
        if (r.deaths >= FLAPS_TOLD) {
            tell_restarts(d, link, far, r.deaths);
        } else if (anew) {
            tell_stalls(d, link, far, &r);
        } else if (together) {
            tell_together(d, link, with, far, most_flaps(d, with));
        } else {
            look_at_cable(d, link, far);
        }
        cw_links done = anew || together ? with : cw_links_of(link);
        d->flapped &= (cw_links)~done;
        d->told |= anew || together ? with : CW_LINKS_NONE;
    }
    find_switched(d);
    tell_switched(d);
    tell_ended(d);
    list_rare(d);
}
