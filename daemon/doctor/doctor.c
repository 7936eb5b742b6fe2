/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/doctor/doctor.h"

#include "daemon/doctor/doctor_boot.h"
#include "daemon/doctor/doctor_cables.h"
#include "daemon/doctor/doctor_flaps.h"
#include "daemon/doctor/doctor_still.h"
#include "daemon/doctor/doctor_view.h"
#include "daemon/host/internal.h"

#include "base/quantity.h"
#include "cubeway/version.h"
#include "keyspace/reach.h"
#include "wire/frame.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
    FRAMES_OF_SOMEBODY = 5, /* received, and no hello among them */
    REFUSED_ALL = 16,       /* frames in a row that a device refused: it is not only full for a moment */
    REFUSED_FEW = 100,      /* frames that it refused here and there: fewer are nobody's business, */
    REFUSED_PERCENT = 1,    /* and so is a smaller share of all */
    LOSS_HELLOS = 1000,     /* of which a share of loss is told (linkstate/loss.h) */
    SILENT_TEXT = CW_LINK_COUNT * TORUS_TEXT,
};
static const cw_span waited_lately = CW_SEC(60); /* a processor that was missing longer ago is no more than a note */
static const cw_span lately = CW_SEC(10);        /* frames of another wire version that are older say nothing of now */

static void say_coming_up(struct doctor *d, cw_link link, const struct ls_link_info *info,
                          enum doctor_severity severity)
{
    char far[TORUS_TEXT];
    torus_format(info->expected, far);
    doctor_say(d, severity, "coming-up", link, "the link %s to %s is coming up (%s)", quantity_link_name(link), far,
               info->state);
    doctor_do(d, "cwctl links %s", quantity_link_name(link));
}

/*
 * The link came to its state just now, so that nothing can be said of it yet: a neighbour that has begun a moment ago
 * hears nothing before its first interval of hellos is over, and is not believed to be dead before `dead`.
 */
static bool is_young(const struct doctor *d, const struct ls_link_info *info)
{
    return cw_time_since(host_now(d->s->host), info->since).ns < 2 * host_config(d->s->host)->timers.dead.ns;
}

/* Nothing is wrong with the link to a neighbour that has left in order. Gives true when it has told that. */
static bool look_at_leave(struct doctor *d, cw_link link, const struct ls_link_info *info)
{
    char far[TORUS_TEXT];
    if (!doctor_say_left(d, link, torus_id(host_torus(d->s->host), info->expected))) {
        return false;
    }
    torus_format(info->expected, far);
    doctor_advise(d, "on %s: systemctl start cubewayd", far);
    return true;
}

static bool is_alive(const struct doctor *d, cw_coord server)
{
    const struct torus *t = host_torus(d->s->host);
    return reach_has(ls_committed(d->ls), torus_id(t, server));
}

/* ---- Links without a carrier ------------------------------------------------------------------------------------- */

static void look_at_medium(struct doctor *d, cw_link link, const struct ls_link_info *info)
{
    const char *name = quantity_link_name(link);
    char far[TORUS_TEXT];
    struct shim_info shim;
    unsigned now, wanted;
    torus_format(info->expected, far);
    shim_info(d->s->link[link].shim, &shim);
    if (sscanf(shim.state, "the interface's mtu is now %u, below %u", &now, &wanted) == 2) {
        doctor_say(d, DOCTOR_BROKEN, "mtu", link, "%s, the interface of %s, has mtu %u, and frames here have %u bytes",
                   shim.name, name, now, wanted);
        doctor_do(d, "ip link set %s mtu %u", shim.name, wanted);
    } else if (strstr(shim.state, "no such interface") != NULL || strstr(shim.state, "is gone") != NULL) {
        doctor_say(d, DOCTOR_BROKEN, "interface-missing", link,
                   "%s, the interface of %s, does not exist now; the daemon waits for it", shim.name, name);
        doctor_do(d, "ip link show");
    } else if (strcmp(shim.state, "interface is down") == 0) {
        doctor_say(d, DOCTOR_BROKEN, "interface-down", link, "%s, the interface of %s, is switched off", shim.name,
                   name);
        doctor_do(d, "ip link set %s up", shim.name);
    } else if (look_at_leave(d, link, info)) {
        return; /* its machine may be off by now */
    } else if (doctor_is_memory(d)) {
        doctor_cut(d, link, is_alive(d, info->expected) || doctor_is_cut_off(d));
    } else if (!is_alive(d, info->expected) && !doctor_is_cut_off(d)) {
        doctor_say(d, DOCTOR_BROKEN, "server-down", link,
                   "there is no carrier on %s (%s), and no other server reaches %s: its machine is off, or all its "
                   "cables are out",
                   shim.name, name, far);
        doctor_advise(d, "see whether the machine at %s is on, and its cables are plugged in", far);
    } else {
        doctor_say(
            d, DOCTOR_BROKEN, "no-carrier", link,
            "no carrier on %s (%s): the cable to %s of %s is not plugged in at both ends, or the interface there "
            "is off",
            shim.name, name, quantity_link_name(cw_link_opposite(link)), far);
        doctor_do(d, "ip link show %s", shim.name);
    }
}

/* ---- Links with a carrier ---------------------------------------------------------------------------------------- */

/* The neighbour is in view with a later life than the one that was heard here: what that one said is of the past. */
static bool began_anew(const struct doctor *d, cw_link link)
{
    const struct ls_heard *heard = &d->info[link].heard;
    return memcmp(&heard->server, &d->info[link].expected, sizeof heard->server) == 0 &&
           doctor_life(d, link) > heard->incarnation;
}

/*
 * The last that was heard there, and not long ago, was no neighbour of ours. With other timers than ours it may be
 * silent for longer than `dead` between two hellos, and the link is then "down" and not "miswired".
 */
static bool heard_stranger(const struct doctor *d, const struct ls_link_info *info, cw_link link)
{
    const struct ls_heard *heard = &info->heard;
    const struct host *h = d->s->host;
    bool belongs = heard->cluster == h->config.cluster && heard->config_hash == h->config_hash &&
                   heard->port == cw_link_opposite(link) &&
                   memcmp(&heard->server, &info->expected, sizeof heard->server) == 0;
    return heard->any && !belongs && !began_anew(d, link) &&
           cw_time_since(host_now(d->s->host), heard->at).ns <= lately.ns;
}

/* Gives true when it has told that the neighbour speaks another version of the wire. */
static bool look_at_version(struct doctor *d, cw_link link, const struct ls_link_info *info)
{
    struct ls_foreign foreign = ls_link_foreign(d->ls, link);
    char far[TORUS_TEXT];
    torus_format(info->expected, far);
    if (foreign.frames == 0 || cw_time_since(host_now(d->s->host), foreign.last).ns > lately.ns) {
        return false;
    }
    doctor_say(d, DOCTOR_BROKEN, "version", link,
               "what comes over %s is version %u of the wire, and this server speaks version %u: %s runs another "
               "release, and neither understands the other",
               quantity_link_name(link), foreign.version, WIRE_VERSION_NOW, far);
    doctor_advise(d, "on %s: cubewayd --version (here: %s), then install the same release on both", far, CW_VERSION);
    return true;
}

/* Its neighbours over these links, each once: "0,0,1 0,1,0". */
static void name_silent(const struct doctor *d, char out[static SILENT_TEXT])
{
    const struct torus *t = host_torus(d->s->host);
    out[0] = '\0';
    for (cw_links links = d->silent; links != 0; links &= links - 1) {
        unsigned link = (unsigned)__builtin_ctz(links);
        char far[TORUS_TEXT];
        size_t used = strlen(out);
        bool came = false;
        for (unsigned before = 0; before < link; before++) {
            came = came || (d->silent & cw_links_of((cw_link)before) &&
                            torus_id(t, d->info[before].expected) == torus_id(t, d->info[link].expected));
        }
        torus_format(d->info[link].expected, far);
        if (!came) {
            snprintf(out + used, SILENT_TEXT - used, "%s%s", used > 0 ? " " : "", far);
        }
    }
}

static void tell_cut_off(struct doctor *d)
{
    char names[SILENT_TEXT], far[TORUS_TEXT];
    if (d->silent == 0) {
        return;
    }
    name_silent(d, names);
    doctor_say(d, DOCTOR_GRAVE, "cut-off", CW_LINK_SELF,
               "this server reaches no other one, and hears nothing from %s: it stood still a moment ago, or its "
               "cables are out, or its neighbours are down",
               names);
    d->out->text(d->out->context, "silent", names);
    torus_format(d->info[__builtin_ctz(d->silent)].expected, far);
    doctor_advise(d, "on %s: cwctl doctor --all; here again in some seconds", far);
}

/* The neighbour itself was heard a moment ago, after the link went down: it lives, whatever the view says of it. */
static bool is_heard(const struct doctor *d, const struct ls_link_info *info, cw_link link)
{
    return info->heard.any && info->flaps > 0 && cw_time_before(info->flapped, info->heard.at) &&
           !heard_stranger(d, info, link) &&
           cw_time_since(host_now(d->s->host), info->heard.at).ns <= 2 * host_config(d->s->host)->timers.dead.ns;
}

static void tell_resting(struct doctor *d, cw_link link, const char *far)
{
    char most[QUANTITY_TEXT];
    quantity_span_format(host_config(d->s->host)->timers.damp_max, most);
    doctor_say(d, DOCTOR_WARNING, "resting", link,
               "%s lives, for it is heard, and no server reaches it yet: its links went down several times, and each "
               "rests for up to %s before it comes up",
               far, most);
    doctor_advise(d, "on %s: cwctl doctor says why they went down", far);
}

/* Nothing is heard from the neighbour, not even from a wrong one. */
static void look_at_silence(struct doctor *d, cw_link link, const struct ls_link_info *info)
{
    if (look_at_version(d, link, info) || look_at_leave(d, link, info)) {
        return;
    }
    const char *name = quantity_link_name(link), *port = quantity_link_name(cw_link_opposite(link));
    char far[TORUS_TEXT];
    struct shim_counters count;
    torus_format(info->expected, far);
    shim_counters(d->s->link[link].shim, &count);
    if (!info->heard.any && count.rx_frames >= FRAMES_OF_SOMEBODY) {
        doctor_say(d, DOCTOR_BROKEN, "version", link,
                   "%" PRIu64 " frames came over %s, and none is a hello: what is there in the place of %s is no "
                   "cubeway",
                   count.rx_frames, name, far);
        doctor_do(d, "cwctl capture %s strange.pcapng; Wireshark shows what it is", name);
    } else if (is_alive(d, info->expected) && (is_young(d, info) || doctor_rests(d, link))) {
        say_coming_up(d, link, info, DOCTOR_NOTE);
    } else if (is_heard(d, info, link)) {
        tell_resting(d, link, far);
    } else if (is_alive(d, info->expected)) {
        doctor_say(d, DOCTOR_BROKEN, "deaf", link,
                   "%s is alive, and nothing comes from it over %s: that direction of the cable from its port %s is "
                   "dead, or goes elsewhere",
                   far, name, port);
        doctor_do_count(d, link);
    } else if (doctor_is_cut_off(d)) {
        d->silent |= cw_links_of(link); /* nobody can say whose fault that is: doctor_look() tells of it once */
    } else {
        char silent[QUANTITY_TEXT] = "";
        cw_span span = cw_time_since(host_now(d->s->host), info->heard.at);
        if (info->heard.any && span.ns >= CW_SEC(1).ns) {
            quantity_span_format(CW_SEC(span.ns / CW_NS_PER_SEC), silent);
        }
        doctor_say(d, DOCTOR_BROKEN, "server-down", link, "%s is not heard, and no other server reaches it", far);
        if (silent[0] != '\0') {
            d->out->text(d->out->context, "silent_for", silent);
        }
        if (host_count(d->s->host) > 1) { /* it is of this process */
            doctor_advise(d, "cwctl --server %s restore", far);
        } else {
            doctor_advise(d, "on %s: systemctl status cubewayd", far);
        }
    }
}

/* It is heard, and after several falls no server reaches it: that is no mere note, though it will come up by itself. */
static bool is_kept_out(const struct doctor *d, cw_link link)
{
    const struct ls_link_info *info = &d->info[link];
    return info->flaps > 1 && doctor_rests(d, link) && !is_alive(d, info->expected) && !doctor_is_cut_off(d);
}

static void look_at_half(struct doctor *d, cw_link link, const struct ls_link_info *info)
{
    char far[TORUS_TEXT];
    struct shim_info shim;
    struct shim_counters count;
    torus_format(info->expected, far);
    if (is_kept_out(d, link)) {
        tell_resting(d, link, far);
        return;
    }
    if (doctor_rests(d, link)) { /* the far end answers no hello before it has rested, as if it heard none */
        say_coming_up(d, link, info, DOCTOR_NOTE);
        return;
    }
    shim_info(d->s->link[link].shim, &shim);
    shim_counters(d->s->link[link].shim, &count);
    if (count.tx_refused_row >= REFUSED_ALL) {
        doctor_say(d, DOCTOR_BROKEN, "refused", link,
                   "%s, the interface of %s, refuses all frames of this server (%" PRIu64 " since it took one last): "
                   "its queue or the card itself does that, and not the cable",
                   shim.name, quantity_link_name(link), count.tx_refused_row);
        doctor_do(d, "tc -s qdisc show dev %s; ip -s link show %s", shim.name, shim.name);
        return;
    }
    doctor_say(d, DOCTOR_BROKEN, "half", link,
               "%s of %s is heard over %s and does not hear us: the cable works in one direction only",
               quantity_link_name(cw_link_opposite(link)), far, quantity_link_name(link));
    doctor_advise(d, "change the cable, or its transceivers; on %s: cwctl links %s", far,
                  quantity_link_name(cw_link_opposite(link)));
}

/*
 * A link that is up, and loses frames. Who receives counts what came damaged, so that end is the one to look at. "way"
 * tells the same to who puts the findings of both ends together.
 */
static void tell_loss(struct doctor *d, cw_link link, const struct ls_link_info *info, const char *interface)
{
    const char *name = quantity_link_name(link), *port = quantity_link_name(cw_link_opposite(link));
    char far[TORUS_TEXT], in[QUANTITY_TEXT], out[QUANTITY_TEXT];
    torus_format(info->expected, far);
    quantity_share_format(ls_loss_told(&info->loss_in), in);
    quantity_share_format(ls_loss_told(&info->loss_out), out);
    if (!info->loss_in.bad) {
        doctor_say(d, DOCTOR_WARNING, "lossy", link,
                   "the cable in %s loses %s of what goes to %s of %s, and is sound the other way: look at that end",
                   name, out, port, far);
        d->out->text(d->out->context, "way", "out");
        d->out->integer(d->out->context, "loss_ppm", ls_loss_told(&info->loss_out));
        doctor_advise(d, "on %s: cwctl doctor says which interface to look at", far);
        return;
    }
    if (info->loss_out.bad) {
        doctor_say(d, DOCTOR_WARNING, "lossy", link,
                   "the cable in %s loses %s of what comes from %s of %s, and %s of what goes there", name, in, port,
                   far, out);
    } else {
        doctor_say(d, DOCTOR_WARNING, "lossy", link,
                   "the cable in %s loses %s of what comes from %s of %s, and is sound the other way: look at this end",
                   name, in, port, far);
    }
    d->out->text(d->out->context, "way", "in");
    uint32_t from = ls_loss_told(&info->loss_in), to = ls_loss_told(&info->loss_out);
    d->out->integer(d->out->context, "loss_ppm", from > to ? from : to);
    char window[QUANTITY_TEXT];
    quantity_span_format(CW_SEC(LOSS_HELLOS * host_config(d->s->host)->timers.hello.ns / CW_NS_PER_SEC), window);
    doctor_do(d,
              "ip -s link show %s: errors are the cable's or its plugs', dropped frames the load of this server; the "
              "share is of some %d hellos, which take %s, so that it goes down slowly once the cable is mended",
              interface, LOSS_HELLOS, window);
}

/* They are sent again, so that no loss is measured on the cable; but who waits for them waits longer. */
static void look_at_refusals(struct doctor *d, cw_link link, const char *device)
{
    struct shim_counters count;
    shim_counters(d->s->link[link].shim, &count);
    uint64_t tries = count.tx_refused + count.tx_frames;
    if (count.tx_refused < REFUSED_FEW || count.tx_refused * 100 < tries * REFUSED_PERCENT) {
        return;
    }
    doctor_say(d, DOCTOR_NOTE, "refused", link,
               "%s, the interface of %s, refused %" PRIu64 " of %" PRIu64 " frames since this daemon began (%u %%), "
               "which were tried again: its queue was full, or a rule drops what it is given",
               device, quantity_link_name(link), count.tx_refused, tries, (unsigned)(count.tx_refused * 100 / tries));
    doctor_do(d, "tc -s qdisc show dev %s; nft list ruleset", device);
}

/* A link that is up, but not always, or not for all frames. */
static void look_at_quality(struct doctor *d, cw_link link, const struct ls_link_info *info)
{
    struct shim_info shim;
    shim_info(d->s->link[link].shim, &shim);
    look_at_refusals(d, link, shim.name);
    if (info->loss_in.bad || info->loss_out.bad) {
        tell_loss(d, link, info, shim.name);
    } else {
        doctor_flapped(d, link);
    }
}

/* ---- This server itself ------------------------------------------------------------------------------------------ */

static void look_at_counters(struct doctor *d)
{
    if (ls_count(d->ls, LS_DUPLICATES) > 0) {
        doctor_say(d, DOCTOR_GRAVE, "twin", CW_LINK_SELF,
                   "another server has said since our start that it is %s too: neither is safe to ask for keys",
                   d->self);
        doctor_advise(d, "cwctl doctor on the other one says its coordinate by its cables; stop it until it is right");
    }
    if (ls_count(d->ls, LS_CONFLICTS) > 0 || ls_count(d->ls, LS_OUTBIDS) > 0) {
        doctor_say(d, DOCTOR_WARNING, "incarnation", CW_LINK_SELF,
                   "records of another life of a server were heard: a state file was copied, or went back in time");
        doctor_advise(d, "ls -l %s on both servers: each keeps its own file", host_config(d->s->host)->state_dir);
    }
    const struct host *h = d->s->host;
    const struct ls_timers *t = &h->config.timers;
    if (h->turn_longest.ns > t->hold.ns - t->dead.ns) {
        char longest[QUANTITY_TEXT], ago[QUANTITY_TEXT];
        cw_span since = cw_time_since(host_now(d->s->host), h->turn_waited);
        quantity_span_format(CW_MS(cw_span_ms(h->turn_longest)), longest);
        quantity_ago_format(since, ago);
        doctor_say(d, since.ns > waited_lately.ns ? DOCTOR_NOTE : DOCTOR_WARNING, "waited", CW_LINK_SELF,
                   "since its start the daemon had no processor for up to %s in the middle of its work, the last time "
                   "%s: longer than timers.hold less timers.dead",
                   longest, ago);
        doctor_advise(d, "give it a processor: priority = realtime, or longer timers (docs/operating.md, \"Ending, "
                         "dying\")");
    }
}

static void look_at_serving(struct doctor *d, cw_time now)
{
    if (d->found > 0 || ls_serving(d->ls, now)) {
        return; /* a broken link says why, and what to do */
    }
    bool active = ls_active(d->ls);
    doctor_say(d, DOCTOR_GRAVE, active ? "fenced" : "alone", CW_LINK_SELF,
               active ? "no neighbour has confirmed this server lately: it delivers no keys"
                      : "this server has had no neighbour yet: it delivers no keys");
    doctor_do(d, "cwctl links");
}

/* ---- All --------------------------------------------------------------------------------------------------------- */

/*
 * A link that is damped, and of which nothing was told: whoever stood still is told of as a server, but this link is
 * down by itself when its neighbour was not even heard while it rests.
 */
void doctor_rest(struct doctor *d, cw_link link)
{
    const struct ls_link_info *info = &d->info[link];
    const char *name = quantity_link_name(link);
    char far[TORUS_TEXT];
    if (!info->exists || d->s->link[link].shim == NULL || !d->s->link[link].carrier || info->committed ||
        strcmp(info->state, "damped") != 0 || (d->bad & cw_links_of(link)) != 0) {
        return;
    }
    torus_format(info->expected, far);
    const struct ls_timers *t = &host_config(d->s->host)->timers;
    bool heard = info->heard.any && cw_time_since(host_now(d->s->host), info->heard.at).ns <= 2 * t->dead.ns;
    bool looked_at = !is_alive(d, info->expected) && !(d->stood & cw_links_of(link)); /* by look_at_silence() */
    if (!heard && !looked_at && !doctor_is_cut_off(d) && !is_young(d, info)) {
        doctor_say(d, DOCTOR_BROKEN, "damped", link,
                   "the link %s to %s rests (damped), and %s was not heard over it since: that direction of the cable "
                   "is dead, or %s is",
                   name, far, far, far);
        doctor_do_count(d, link);
    } else if (heard && !((d->told | d->stood) & cw_links_of(link)) && !doctor_is_cut_off(d)) {
        doctor_say(d, DOCTOR_NOTE, "damped", link,
                   "the link %s to %s rests (damped): it went down too often lately, and comes up by itself", name,
                   far);
        doctor_do(d, "cwctl events says when");
    }
}

/* No shim was opened for the link. */
static void look_at_nothing(struct doctor *d, cw_link link, const struct ls_link_info *info)
{
    const struct daemon_config *config = host_config(d->s->host);
    const char *name = quantity_link_name(link), *port = quantity_link_name(cw_link_opposite(link));
    bool purpose = config->place == CONFIG_STATIC && config->link[link].none_said;
    char far[TORUS_TEXT];
    torus_format(info->expected, far);
    if (purpose) {
        doctor_say(d, DOCTOR_NOTE, "unconfigured", link, "%s has shim = none: the cable to %s of %s is not used", name,
                   port, far);
    } else {
        doctor_say(d, DOCTOR_BROKEN, "unconfigured", link,
                   "no interface is configured for %s, whose cable goes to %s of %s", name, port, far);
    }
    doctor_do(d, "name it in links { } of %s", config->file);
}

static void look_at_link(struct doctor *d, cw_link link)
{
    const struct ls_link_info *info = &d->info[link];
    const struct host_link *l = &d->s->link[link];
    char far[TORUS_TEXT];
    bool quiet = strcmp(info->state, "down") == 0 || strcmp(info->state, "damped") == 0;
    if (l->shim == NULL) {
        look_at_nothing(d, link, info);
    } else if (!l->carrier) {
        look_at_medium(d, link, info);
    } else if (info->committed || (strcmp(info->state, "damped") == 0 && is_alive(d, info->expected))) {
        look_at_quality(d, link, info);
    } else if (info->miswired || (quiet && heard_stranger(d, info, link))) {
        d->info[link].miswired = true;
        doctor_stranger(d, link);
    } else if (strcmp(info->state, "damped") == 0) {
        if (!(d->stood & cw_links_of(link))) { /* who has just stood still has heard of nobody yet */
            look_at_silence(d, link, info);
        }
    } else if (strcmp(info->state, "init") == 0 && !is_young(d, info)) {
        look_at_half(d, link, info);
    } else if (strcmp(info->state, "down") == 0) {
        look_at_silence(d, link, info);
    } else if (is_kept_out(d, link)) {
        torus_format(info->expected, far);
        tell_resting(d, link, far);
    } else {
        say_coming_up(d, link, info, is_young(d, info) ? DOCTOR_NOTE : DOCTOR_WARNING);
    }
}

/* Writes those options of an IP network from which its addresses are made, as host_service_options(). */
static const char *network_options(struct host *h, const char *network, char out[static DOCTOR_TEXT])
{
    static const char *const names[] = {"subnet", "subnet6", "servers"};
    size_t used = 0;
    out[0] = '\0';
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
        const char *value = host_option(h, network, names[i]);
        if (value != NULL && used < DOCTOR_TEXT) {
            used += (size_t)snprintf(out + used, DOCTOR_TEXT - used, "%s%s=%s", used > 0 ? " " : "", names[i], value);
        }
    }
    return out;
}

static bool is_network(const struct host *h, const char *service)
{
    for (unsigned i = 0; i < h->config.service_count; i++) {
        const struct config_service *s = &h->config.service[i];
        if (s->network && strcmp(s->name, service) == 0) {
            return true;
        }
    }
    return strcmp(service, "ip") == 0;
}

/*
 * The services that came from files, and IP networks: who asks several servers looks for one that lacks what the others
 * run, or runs it in another way.
 */
static void tell_services(struct host *h, const struct rows_reader *out, const char *self)
{
    for (unsigned i = 0; i < host_service_count(h); i++) {
        const struct host_service *service = host_service_at(h, i);
        char options[DOCTOR_TEXT];
        const bool built_in = service->file[0] == '\0';
        if (built_in && !is_network(h, service->table->name)) {
            continue;
        }
        out->text(out->context, "server", self);
        out->text(out->context, "part", "service");
        out->text(out->context, "service", service->table->name);
        out->text(out->context, "build", service->build);
        out->text(out->context, "file", service->file);
        out->text(out->context, "options",
                  built_in ? network_options(h, service->table->name, options)
                           : host_service_options(service, options, sizeof options));
        out->integer(out->context, "weight", service->policy.weight);
        out->text(out->context, "class", service->policy.background ? "background" : "");
        out->row(out->context);
    }
}

/* Links that rest, be anything told of them or not: their far ends hear us and are not answered. */
static void list_resting(const struct doctor *d)
{
    for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
        const struct ls_link_info *info = &d->info[link];
        char far[TORUS_TEXT];
        if (!info->exists || strcmp(info->state, "damped") != 0) {
            continue;
        }
        torus_format(info->expected, far);
        d->out->text(d->out->context, "server", d->self);
        d->out->text(d->out->context, "part", "rests");
        d->out->text(d->out->context, "link", quantity_link_name(link));
        d->out->text(d->out->context, "expected", far);
        d->out->text(d->out->context, "expected_port", quantity_link_name(cw_link_opposite(link)));
        d->out->row(d->out->context);
    }
}

unsigned doctor_look(struct host_server *s, const struct rows_reader *out)
{
    struct doctor d = {.s = s, .out = out, .link = CW_LINK_SELF};
    d.ls = node_linkstate(s->node);
    torus_format(s->self, d.self);
    doctor_about(s->host, out, d.self);
    tell_services(s->host, out, d.self);
    for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
        ls_link_info(d.ls, link, &d.info[link]);
    }
    doctor_stall(&d);
    for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
        if (d.info[link].exists) {
            look_at_link(&d, link);
        }
    }
    tell_cut_off(&d);
    doctor_flaps(&d);
    for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
        doctor_rest(&d, link);
    }
    doctor_cables(&d);
    doctor_hold(&d);
    look_at_counters(&d);
    if (s->host->boot != NULL) {
        doctor_bootstrap(&d, s->host->boot);
    }
    doctor_view(&d);
    look_at_serving(&d, host_now(s->host));
    list_resting(&d);
    return d.found;
}
