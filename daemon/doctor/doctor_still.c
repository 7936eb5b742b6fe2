/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/doctor/doctor_still.h"

#include "daemon/host/internal.h"

#include "base/quantity.h"

#include <string.h>

static unsigned size_of(cw_links links)
{
    return (unsigned)__builtin_popcount(links);
}

static const cw_span lately = CW_MINUTES(10); /* a hold that ended before is told by the events alone */

/*
 * A server that stood still notices in one turn of its loop that its lease has run out, and lets go of all links then;
 * when it stood still for hardly longer than `dead`, it hears within an interval of hellos from each neighbour that
 * this one has let go. An interval is half of `dead` at most.
 */
cw_span doctor_instant(const struct doctor *d)
{
    return host_config(d->s->host)->timers.dead;
}

bool doctor_is_plugged(const struct doctor *d, cw_link link)
{
    const struct host_link *l = &d->s->link[link];
    return d->info[link].exists && l->shim != NULL && l->carrier;
}

static unsigned plugged(const struct doctor *d)
{
    unsigned count = 0;
    for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
        count += doctor_is_plugged(d, link);
    }
    return count;
}

/* Links that went down within one instant; when the first and the last of them did. */
struct collapse {
    cw_links links;
    cw_time first, last;
};

/* When the link went down, back 0 the last time. False: not so often lately, or that is not kept. */
static bool fell_at(const struct doctor *d, cw_link link, unsigned back, cw_time *at)
{
    const struct fall *fall = falls_at(&host_pump_server(d->s)->viewlog.falls[link], back);
    if (!doctor_is_plugged(d, link) || back >= d->info[link].flaps || (back > 0 && fall == NULL)) {
        return false;
    }
    *at = back == 0 ? d->info[link].flapped : fall->at;
    return true;
}

/* The links that went down before that time, and within one instant of the last of these. */
static struct collapse last_to_fall(const struct doctor *d, cw_time before)
{
    struct collapse fall = {CW_LINKS_NONE, CW_NEVER, {INT64_MIN}};
    cw_time at;
    for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
        for (unsigned back = 0; fell_at(d, link, back, &at); back++) {
            fall.last = cw_time_before(at, before) ? cw_time_max(fall.last, at) : fall.last;
        }
    }
    for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
        for (unsigned back = 0; fell_at(d, link, back, &at); back++) {
            if (cw_time_before(at, before) && cw_time_since(fall.last, at).ns <= doctor_instant(d).ns) {
                fall.links |= cw_links_of(link);
                fall.first = cw_time_min(fall.first, at);
            }
        }
    }
    return fall;
}

/* Links that are up now and did not go down with those. */
static bool any_stayed(const struct doctor *d, cw_links fell)
{
    for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
        if (doctor_is_plugged(d, link) && d->info[link].committed && !(fell & cw_links_of(link))) {
            return true;
        }
    }
    return false;
}

/* The process did not run when it was due, at that time or up to an instant before or after. */
static bool was_kept_waiting(const struct doctor *d, const struct collapse *fall)
{
    const struct host_stalls *stalls = host_stalls(d->s->host);
    for (uint64_t i = 0; i < HOST_STALLS_KEPT && i < stalls->count; i++) {
        if (cw_time_since(fall->first, stalls->at[i]).ns <= doctor_instant(d).ns &&
            cw_time_since(stalls->at[i], fall->last).ns <= doctor_instant(d).ns) {
            return true;
        }
    }
    return false;
}

/* The upcall that held the thread at that time; NULL: none did. One that a server of this process made holds all. */
static const struct host_hold *held_by(const struct doctor *d, const struct collapse *fall)
{
    cw_time from = {fall->first.ns - doctor_instant(d).ns};
    return holds_between(host_holds(d->s->host), from, cw_time_add(fall->last, doctor_instant(d)));
}

/* It is so long ago at most that this server did not run when it was due, or that a service held its thread. */
static bool still_lately(const struct doctor *d, cw_span most)
{
    const struct host_stalls *stalls = host_stalls(d->s->host);
    cw_time now = host_now(d->s->host), from = {now.ns - most.ns};
    return (stalls->count > 0 && cw_time_since(now, stalls->last).ns <= most.ns) ||
           holds_between(host_holds(d->s->host), from, now) != NULL;
}

bool doctor_stood_still_at(const struct doctor *d, cw_time at)
{
    const struct collapse one = {.first = at, .last = at};
    return held_by(d, &one) != NULL || was_kept_waiting(d, &one);
}

bool doctor_rests(const struct doctor *d, cw_link link)
{
    const struct ls_link_info *info = &d->info[link];
    const struct ls_timers *timers = &host_config(d->s->host)->timers;
    cw_time now = host_now(d->s->host);
    int64_t most = timers->damp_max.ns, rest = info->flaps > 0 ? cw_time_since(info->rest, info->flapped).ns : 0;
    rest = rest > 0 ? rest : 0;               /* nor has every link that fell a time until which it rests */
    rest = rest < most / 2 ? 2 * rest : most; /* the far end may have counted one fall more, which doubles its rest */
    bool fell = info->flaps > 0 && cw_time_since(now, info->flapped).ns <= rest + 2 * timers->dead.ns;
    return fell || still_lately(d, CW_NS(most + 2 * timers->dead.ns));
}

static void tell_author(struct doctor *d, const struct host_hold *hold)
{
    d->out->text(d->out->context, "service", hold->service);
    doctor_advise(d, "tell the author of %s: what takes long goes to cw_offload() (docs/writing-a-service.md)",
                  hold->service);
}

static void tell_hold(struct doctor *d, const struct collapse *fall, const struct host_hold *hold, bool rest)
{
    char lasted[QUANTITY_TEXT], ago[QUANTITY_TEXT];
    quantity_span_format(CW_MS(cw_span_ms(hold->lasted)), lasted);
    quantity_ago_format(cw_time_since(host_now(d->s->host), hold->ended), ago);
    doctor_say(d, rest ? DOCTOR_GRAVE : DOCTOR_WARNING, "stalled", CW_LINK_SELF,
               "all %u links of this server%s went down at the same moment%s: not its cables, and not this machine: "
               "service %s held the thread for %s in %s, %s, and nothing else of the server ran meanwhile",
               size_of(fall->links), size_of(fall->links) < plugged(d) ? " that were up" : "",
               rest ? " and rest now" : " lately", hold->service, lasted, hold->upcall, ago);
    d->held = true;
    tell_author(d, hold);
}

/* A hold that no link fell to, as in a process with all servers, or that ended before its links fell again. */
void doctor_hold(struct doctor *d)
{
    const cw_server self = torus_id(host_torus(d->s->host), d->s->self);
    const struct host_hold *hold = holds_last(host_holds(d->s->host), self, doctor_instant(d));
    char lasted[QUANTITY_TEXT], ago[QUANTITY_TEXT];
    if (d->held || hold == NULL || cw_time_since(host_now(d->s->host), hold->ended).ns > lately.ns) {
        return;
    }
    quantity_span_format(CW_MS(cw_span_ms(hold->lasted)), lasted);
    quantity_ago_format(cw_time_since(host_now(d->s->host), hold->ended), ago);
    doctor_say(d, DOCTOR_WARNING, "held", CW_LINK_SELF,
               "service %s held the thread for %s in %s, %s, and nothing else of the server ran meanwhile: "
               "neighbours count a server out after timers.dead",
               hold->service, lasted, hold->upcall, ago);
    tell_author(d, hold);
}

/*
 * The last time that all links went down at once since this server stood still. A cable that was switched or fell by
 * itself since then does not make that untrue.
 */
static bool last_stall(const struct doctor *d, struct collapse *fall, const struct host_hold **hold)
{
    cw_time before = CW_NEVER;
    for (unsigned tries = 0; tries < CW_LINK_COUNT * FALLS_KEPT; tries++) {
        *fall = last_to_fall(d, before);
        if (fall->links == CW_LINKS_NONE) {
            return false;
        }
        *hold = held_by(d, fall);
        if (size_of(fall->links) >= 2 && !any_stayed(d, fall->links) && (*hold != NULL || was_kept_waiting(d, fall))) {
            return true;
        }
        before = fall->first;
    }
    return false;
}

void doctor_stall(struct doctor *d)
{
    char dead[QUANTITY_TEXT];
    bool rest = true;
    struct collapse fall;
    const struct host_hold *hold;
    if (!last_stall(d, &fall, &hold)) {
        return;
    }
    d->stood_flaps = UINT32_MAX;
    for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
        const struct ls_link_info *info = &d->info[link];
        bool since = cw_time_before(fall.last, info->flapped); /* it went down once more, and not for that */
        if (fall.links & cw_links_of(link)) {
            rest &= strcmp(info->state, "damped") == 0;
        }
        if (fall.links & cw_links_of(link) && !since) {
            d->stood |= cw_links_of(link);
            d->stood_flaps = info->flaps < d->stood_flaps ? info->flaps : d->stood_flaps;
        }
    }
    if (hold != NULL) {
        tell_hold(d, &fall, hold, rest);
        return;
    }
    quantity_span_format(host_config(d->s->host)->timers.dead, dead);
    doctor_say(
        d, rest ? DOCTOR_GRAVE : DOCTOR_WARNING, "stalled", CW_LINK_SELF,
        "all %u links of this server%s went down at the same moment%s: not its cables, but the server itself stood "
        "still for longer than timers.dead (%s)",
        size_of(fall.links), size_of(fall.links) < plugged(d) ? " that were up" : "",
        rest ? " and rest now" : " lately", dead);
    doctor_advise(d,
                  "give it a processor: priority = realtime, or longer timers (docs/operating.md, \"Ending, dying\")");
}
