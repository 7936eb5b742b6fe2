/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/doctor/doctor_cables.h"

#include "daemon/doctor/differ.h"
#include "daemon/host/internal.h"

#include "base/quantity.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { MTU_FIRST = 1500, MTU_LAST = 9000 };

/* ---- Telling ----------------------------------------------------------------------------------------------------- */

static void tell_end(struct doctor *d, const char *server, const char *port, cw_coord at, cw_link link)
{
    char text[TORUS_TEXT];
    torus_format(at, text);
    d->out->text(d->out->context, server, text);
    if (link < CW_LINK_COUNT) {
        d->out->text(d->out->context, port, quantity_link_name(link));
    }
}

void doctor_say(struct doctor *d, enum doctor_severity severity, const char *cause, cw_link link, const char *format,
                ...)
{
    char text[DOCTOR_TEXT];
    const struct rows_reader *out = d->out;
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    d->found += severity < DOCTOR_NOTE;
    out->text(out->context, "server", d->self);
    out->text(out->context, "part", "finding");
    out->integer(out->context, "severity", severity);
    out->text(out->context, "cause", cause);
    if (link < CW_LINK_COUNT) {
        const struct ls_link_info *info = &d->info[link];
        d->told |= cw_links_of(link);
        out->text(out->context, "link", quantity_link_name(link));
        tell_end(d, "expected", "expected_port", info->expected, cw_link_opposite(link));
        if (info->miswired) {
            tell_end(d, "seen", "seen_port", info->heard.server, info->heard.port);
            if (d->s->host->config.place == CONFIG_AUTO) {
                out->text(out->context, "places", "found");
            }
        }
    }
    out->text(out->context, "text", text);
}

__attribute__((format(printf, 2, 0))) static void tell_do(struct doctor *d, const char *format, va_list args)
{
    char text[DOCTOR_TEXT];
    vsnprintf(text, sizeof text, format, args);
    d->out->text(d->out->context, "do", text);
    d->out->row(d->out->context);
}

void doctor_do(struct doctor *d, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    d->out->text(d->out->context, "where", d->self);
    tell_do(d, format, args);
    va_end(args);
}

void doctor_advise(struct doctor *d, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    tell_do(d, format, args);
    va_end(args);
}

bool doctor_is_memory(const struct doctor *d)
{
    return host_count(d->s->host) > 1;
}

void doctor_do_count(struct doctor *d, cw_link link)
{
    struct shim_info shim;
    if (doctor_is_memory(d)) {
        doctor_advise(d, "cwctl --server %s links %s", d->self, quantity_link_name(link));
        return;
    }
    shim_info(d->s->link[link].shim, &shim);
    doctor_do(d, "ip -s link show %s", shim.name);
}

void doctor_cut(struct doctor *d, cw_link link, bool alive)
{
    const char *name = quantity_link_name(link);
    char far[TORUS_TEXT];
    torus_format(d->info[link].expected, far);
    if (!alive) {
        doctor_say(d, DOCTOR_BROKEN, "server-down", link,
                   "the cable of %s is cut (cwctl cut), and no other server reaches %s: it is down, or all its cables "
                   "are cut",
                   name, far);
        doctor_advise(d, "cwctl --server %s restore; cwctl --server %s mend %s", far, d->self, name);
        return;
    }
    doctor_say(d, DOCTOR_BROKEN, "no-carrier", link, "the cable of %s to %s of %s is cut (cwctl cut)", name,
               quantity_link_name(cw_link_opposite(link)), far);
    doctor_advise(d, "cwctl --server %s mend %s", d->self, name);
}

/* ---- Other configurations ---------------------------------------------------------------------------------------- */

/* The mtu with which a configuration that is otherwise like ours has that number; 0: none has. */
static uint32_t mtu_of(const struct host *h, uint32_t hash)
{
    for (uint32_t mtu = MTU_FIRST; mtu <= MTU_LAST; mtu++) {
        if (mtu != h->mtu && config_hash(&h->config, torus_dims(&h->torus), mtu) == hash) {
            return mtu;
        }
    }
    return 0;
}

/* The name of the timers' profile with which it has; NULL: none. */
static const char *profile_of(const struct host *h, uint32_t hash)
{
    struct daemon_config other = h->config;
    other.timers = ls_timers_default();
    if (config_hash(&other, torus_dims(&h->torus), h->mtu) == hash) {
        return "default";
    }
    other.timers = ls_timers_fast();
    return config_hash(&other, torus_dims(&h->torus), h->mtu) == hash ? "fast" : NULL;
}

/* The link whose interface makes this server's frames as short as they are, where others would carry longer ones. */
static bool narrow_link(const struct doctor *d, cw_link *out, uint32_t *others)
{
    unsigned narrow = 0;
    *others = 0;
    for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
        struct shim_info info;
        if (d->s->link[link].shim == NULL) {
            continue;
        }
        shim_info(d->s->link[link].shim, &info);
        if (info.mtu > *others) {
            *others = info.mtu;
        }
        if (info.mtu == d->s->host->mtu) {
            *out = link;
            narrow++;
        }
    }
    return narrow > 0 && *others > d->s->host->mtu;
}

static void other_mtu(struct doctor *d, cw_link link, const char *far, uint32_t mtu)
{
    const struct host *h = d->s->host;
    struct shim_info info;
    cw_link narrow = link;
    uint32_t others;
    if (mtu > h->mtu && h->config.mtu == 0 && narrow_link(d, &narrow, &others)) {
        shim_info(d->s->link[narrow].shim, &info);
        doctor_say(d, DOCTOR_BROKEN, "mtu", link,
                   "%s (%s) of this server has mtu %u where %s has %u: all its frames are that short, and neighbours "
                   "with other frames are refused",
                   info.name, quantity_link_name(narrow), h->mtu, far, mtu);
        doctor_do(d, "ip link set %s mtu %u && systemctl restart cubewayd", info.name, mtu);
        return;
    }
    shim_info(d->s->link[link].shim, &info);
    doctor_say(
        d, DOCTOR_BROKEN, "mtu", link,
        "frames of this server (%s, %s) have %u bytes, and those of %s have %u: every server of a cluster has the "
        "same",
        info.name, quantity_link_name(link), h->mtu, far, mtu);
    if (mtu > h->mtu) {
        doctor_do(d, "ip link set %s mtu %u && systemctl restart cubewayd", info.name, mtu);
    } else {
        doctor_advise(d, "on %s: ip link shows which interface has mtu %u; set %u, and restart cubewayd", far, mtu,
                      h->mtu);
    }
}

/* Most links of this server lead to neighbours that say the same as the one there: this server is the odd one. */
static bool is_odd(const struct doctor *d, cw_link link)
{
    const struct ls_heard *there = &d->info[link].heard;
    unsigned like_it = 0, others = 0;
    for (cw_link i = 0; i < CW_LINK_COUNT; i++) {
        const struct ls_link_info *info = &d->info[i];
        if (!info->exists || (!info->heard.any && !info->committed)) {
            continue;
        }
        bool same =
            !info->committed && info->heard.cluster == there->cluster && info->heard.config_hash == there->config_hash;
        *(same ? &like_it : &others) += 1;
    }
    return like_it >= 2 && like_it > others;
}

static void tell_setting(struct doctor *d, cw_link link, const char *far, const char *theirs, const char *ours)
{
    if (is_odd(d, link)) {
        doctor_do(d, "set %s in %s, then: systemctl restart cubewayd", theirs, d->s->host->config.file);
    } else {
        doctor_advise(d, "on the machine at %s: set %s in its daemon's file, then: systemctl restart cubewayd", far,
                      ours);
    }
}

static void other_profile(struct doctor *d, cw_link link, const char *far, const char *profile)
{
    const struct host *h = d->s->host;
    const char *own = profile_of(h, h->config_hash);
    char theirs[64], ours[64];
    doctor_say(d, DOCTOR_BROKEN, "settings", link, "%s has timers { profile = %s }, and %s has others", far, profile,
               d->self);
    snprintf(theirs, sizeof theirs, "timers { profile = %s }", profile);
    if (own != NULL || is_odd(d, link)) {
        snprintf(ours, sizeof ours, "timers { profile = %s }", own != NULL ? own : "");
        tell_setting(d, link, far, theirs, ours);
        return;
    }
    doctor_advise(d,
                  "on the machine at %s: set the timers of %s (cubewayd --show-config -c %s there), then: systemctl "
                  "restart cubewayd",
                  far, d->self, h->config.file);
}

/*
 * All links of the odd server hear the same number. Where neighbours have several others, only the first is looked for:
 * the daemon does nothing else meanwhile.
 */
static bool find_difference(struct doctor *d, uint32_t hash)
{
    const struct host *h = d->s->host;
    if (!d->sought) {
        d->sought = true;
        d->sought_hash = hash;
        d->differs = differ_find(&h->config, torus_dims(&h->torus), h->mtu, hash, &d->differ);
    }
    return d->differs && d->sought_hash == hash;
}

static void other_settings(struct doctor *d, cw_link link)
{
    const struct host *h = d->s->host;
    uint32_t hash = d->info[link].heard.config_hash, mtu = mtu_of(h, hash);
    const char *profile = profile_of(h, hash);
    char far[TORUS_TEXT];
    torus_format(d->info[link].heard.server, far);
    if (mtu != 0) {
        other_mtu(d, link, far, mtu);
        return;
    }
    if (profile != NULL) {
        other_profile(d, link, far, profile);
    } else if (find_difference(d, hash)) {
        doctor_say(d, DOCTOR_BROKEN, "settings", link, "%s has %s, and %s has %s", far, d->differ.theirs, d->self,
                   d->differ.ours);
        tell_setting(d, link, far, d->differ.theirs, d->differ.set);
    } else {
        doctor_say(d, DOCTOR_BROKEN, "settings", link,
                   "%s has another configuration than %s: torus.dims, timers or mtu differ", far, d->self);
        doctor_do(d, "cubewayd --show-config -c %s here, the same there with its file, and compare torus and timers",
                  h->config.file);
    }
}

/* ---- Strangers --------------------------------------------------------------------------------------------------- */

static bool same(cw_coord a, cw_coord b)
{
    return a.x == b.x && a.y == b.y && a.z == b.z;
}

void doctor_stranger(struct doctor *d, cw_link link)
{
    const struct ls_link_info *info = &d->info[link];
    const struct host *h = d->s->host;
    if (info->heard.cluster != h->config.cluster) {
        char far[TORUS_TEXT];
        torus_format(info->heard.server, far);
        doctor_say(
            d, DOCTOR_BROKEN, "cluster", link,
            "the server at the other end of %s says that it is %s (port %s) of cluster %u, and this one belongs to "
            "cluster %u",
            quantity_link_name(link), far, quantity_link_name(info->heard.port), info->heard.cluster,
            h->config.cluster);
        if (is_odd(d, link)) {
            doctor_do(d, "set cluster = %u in %s, then: systemctl restart cubewayd", info->heard.cluster,
                      h->config.file);
            return;
        }
        doctor_advise(d, "plug the cable into this cluster, or set cluster = %u there", h->config.cluster);
    } else if (info->heard.config_hash != h->config_hash) {
        other_settings(d, link); /* with other dims even a cable that is right leads elsewhere */
    } else {
        d->wrong |= cw_links_of(link);
    }
}

/* Where this server stands if the one that is heard over the link is right. */
static cw_coord place_by(const struct doctor *d, cw_link link)
{
    const struct torus *t = &d->s->host->torus;
    const struct ls_heard *heard = &d->info[link].heard;
    return torus_coord(t, torus_neighbour(t, torus_id(t, heard->server), heard->port));
}

static bool fits(const struct doctor *d, cw_link link)
{
    const struct ls_heard *heard = &d->info[link].heard;
    return torus_holds(&d->s->host->torus, heard->server) && heard->port == cw_link_opposite(link);
}

/* Every neighbour that is heard agrees on one other place for this server. */
static bool elsewhere(const struct doctor *d, cw_coord *place, cw_link *link)
{
    unsigned count = 0;
    for (cw_link i = 0; i < CW_LINK_COUNT; i++) {
        if (!(d->wrong & cw_links_of(i))) {
            if (d->info[i].exists && d->info[i].committed) {
                return false;
            }
            continue;
        }
        if (!fits(d, i) || (count > 0 && !same(place_by(d, i), *place))) {
            return false;
        }
        *place = place_by(d, i);
        *link = i;
        count++;
    }
    return count >= 2 && !same(*place, d->s->self);
}

static void tell_place(struct doctor *d, cw_coord place, cw_link link)
{
    char text[TORUS_TEXT];
    const struct daemon_config *config = &d->s->host->config;
    torus_format(place, text);
    if (config->place == CONFIG_AUTO) {
        doctor_say(
            d, DOCTOR_GRAVE, "place", link,
            "the state file of this server says that it is %s, and by its cables it is %s: the file is a copy of "
            "another server's, or the cables were moved",
            d->self, text);
        doctor_advise(d, "systemctl stop cubewayd; rm %s/%s.state; systemctl start cubewayd", config->state_dir,
                      config->name);
        return;
    }
    doctor_say(d, DOCTOR_GRAVE, "place", link, "this server is configured as %s, and by its cables it is %s", d->self,
               text);
    /* Not with its name, which two servers have now. */
    doctor_advise(d, "set torus.coordinate = \"%s\" in %s, then: systemctl restart cubewayd", text,
                  d->s->host->config.file);
}

/* A neighbour with two cables to us that gives another name on both, by the right ports: not the cables are wrong. */
static cw_links misnamed(const struct doctor *d, cw_link link)
{
    cw_links with = CW_LINKS_NONE;
    for (cw_link i = 0; i < CW_LINK_COUNT && fits(d, link); i++) {
        if (d->wrong & cw_links_of(i) && fits(d, i) && same(d->info[i].heard.server, d->info[link].heard.server) &&
            same(d->info[i].expected, d->info[link].expected)) {
            with |= cw_links_of(i);
        }
    }
    return with;
}

static void tell_misnamed(struct doctor *d, cw_link link)
{
    char claimed[TORUS_TEXT], place[TORUS_TEXT];
    torus_format(d->info[link].heard.server, claimed);
    torus_format(d->info[link].expected, place);
    doctor_say(d, DOCTOR_BROKEN, "twin", link, "the server that is cabled as %s says that it is %s", place, claimed);
    if (d->s->host->config.place == CONFIG_AUTO) {
        doctor_advise(d, "on the machine at %s: cwctl doctor; if its state file is a copy, that says which to remove",
                      place);
        return;
    }
    doctor_advise(d, "on the machine at %s: set torus.coordinate = \"%s\", then: systemctl restart cubewayd", place,
                  place);
}

/* The two hear what belongs to the other one. */
static bool swapped(const struct doctor *d, cw_link a, cw_link b)
{
    const struct ls_link_info *i = &d->info[a], *j = &d->info[b];
    return same(i->heard.server, j->expected) && i->heard.port == cw_link_opposite(b) &&
           same(j->heard.server, i->expected) && j->heard.port == cw_link_opposite(a);
}

static void tell_swapped(struct doctor *d, cw_link a, cw_link b)
{
    char first[TORUS_TEXT], second[TORUS_TEXT];
    torus_format(d->info[a].heard.server, first);
    torus_format(d->info[b].heard.server, second);
    doctor_say(d, DOCTOR_BROKEN, "swapped", a,
               "the cables in %s and %s of this server are exchanged: %s leads to %s of %s, and %s to %s of %s",
               quantity_link_name(a), quantity_link_name(b), quantity_link_name(a),
               quantity_link_name(d->info[a].heard.port), first, quantity_link_name(b),
               quantity_link_name(d->info[b].heard.port), second);
    d->told |= cw_links_of(b);
    d->out->text(d->out->context, "other_link", quantity_link_name(b));
    doctor_advise(d, "on %s: exchange the plugs in %s and %s, then: cwctl wiring", d->self, quantity_link_name(a),
                  quantity_link_name(b));
}

static void tell_wrong(struct doctor *d, cw_link link)
{
    const struct ls_link_info *info = &d->info[link];
    char seen[TORUS_TEXT], expected[TORUS_TEXT];
    torus_format(info->heard.server, seen);
    torus_format(info->expected, expected);
    const char *port = quantity_link_name(info->heard.port), *wanted = quantity_link_name(cw_link_opposite(link));
    doctor_say(d, DOCTOR_BROKEN, "cable", link, "the cable in %s leads to %s of %s, and should lead to %s of %s",
               quantity_link_name(link), port, seen, wanted, expected);
    doctor_advise(d, "plug its far end into %s of %s, then: cwctl wiring", wanted, expected);
}

void doctor_cables(struct doctor *d)
{
    cw_coord place;
    cw_link by = 0;
    if (elsewhere(d, &place, &by)) {
        tell_place(d, place, by);
        d->told |= d->wrong;
        return;
    }
    for (cw_link a = 0; a < CW_LINK_COUNT; a++) {
        for (cw_link b = a + 1; d->wrong & cw_links_of(a) && b < CW_LINK_COUNT; b++) {
            if (d->wrong & cw_links_of(b) && swapped(d, a, b)) {
                tell_swapped(d, a, b);
                d->wrong &= (cw_links) ~(cw_links_of(a) | cw_links_of(b));
            }
        }
    }
    for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
        cw_links with = d->wrong & cw_links_of(link) ? misnamed(d, link) : CW_LINKS_NONE;
        if (with & (cw_links)~cw_links_of(link)) {
            tell_misnamed(d, link);
            d->wrong &= (cw_links)~with;
            d->told |= with;
        } else if (d->wrong & cw_links_of(link)) {
            tell_wrong(d, link);
        }
    }
}
