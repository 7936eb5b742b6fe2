/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_wiring.c - where each cable should lead, what is heard at its end, and what to do about a wrong one: from the
 * hellos of the node, from the probes of the bootstrap, and for the whole torus from the link-state database.
 */
#include "daemon/commands/commands.h"

#include "base/quantity.h"
#include "boot/boot.h"
#include "daemon/doctor/doctor.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static bool same(cw_coord a, cw_coord b)
{
    return a.x == b.x && a.y == b.y && a.z == b.z;
}

/* What is wrong with a cable that is up: it loses frames, one way or both. */
static void judge_loss(const struct ls_link_info *info, const char *port, const char *far, char out[static 256])
{
    const struct ls_loss *in = &info->loss_in, *sent = &info->loss_out;
    char from[QUANTITY_TEXT], to[QUANTITY_TEXT];
    quantity_share_format(ls_loss_told(in), from);
    quantity_share_format(ls_loss_told(sent), to);
    if (in->bad && sent->bad) {
        snprintf(out, 256, "this cable loses %s of what comes from %s of %s, and %s of what goes there", from, port,
                 far, to);
    } else if (in->bad || sent->bad) {
        snprintf(out, 256, "this cable loses %s of what %s %s of %s", in->bad ? from : to,
                 in->bad ? "comes from" : "goes to", port, far);
    }
}

/* ---- What the doctor says of a link ------------------------------------------------------------------------------ */

/* Its sentences about links that are down, so that two commands never say two things of one cable. */
struct told {
    char by_link[CW_LINK_COUNT][256];
    char place[256];                                          /* this server is elsewhere: no cable of it is wrong */
    char cause[32], link[8], text[256], expected[TORUS_TEXT]; /* of the row under way */
    char misnamed[TORUS_TEXT], says[256]; /* a neighbour there is elsewhere, which is told of one of its cables */
};

static void told_text(void *context, const char *name, const char *text)
{
    struct told *t = context;
    const struct {
        const char *name;
        char *at;
        size_t room;
    } fields[] = {{"cause", t->cause, sizeof t->cause},
                  {"link", t->link, sizeof t->link},
                  {"text", t->text, sizeof t->text},
                  {"expected", t->expected, sizeof t->expected}};
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        if (strcmp(name, fields[i].name) == 0) {
            snprintf(fields[i].at, fields[i].room, "%s", text);
        }
    }
}

static void told_integer(void *context, const char *name, int64_t value)
{
    (void)context;
    (void)name;
    (void)value;
}

static void told_row(void *context)
{
    static const char *const causes[] = {"mtu", "settings", "deaf", "damped", "server-down"};
    struct told *t = context;
    if (strcmp(t->cause, "place") == 0) {
        memcpy(t->place, t->text, sizeof t->place);
    } else if (strcmp(t->cause, "twin") == 0 && t->link[0] != '\0') {
        memcpy(t->misnamed, t->expected, sizeof t->misnamed);
        memcpy(t->says, t->text, sizeof t->says);
    }
    for (size_t i = 0; i < sizeof causes / sizeof *causes; i++) {
        for (cw_link link = 0; link < CW_LINK_COUNT && strcmp(t->cause, causes[i]) == 0; link++) {
            if (strcmp(t->link, quantity_link_name(link)) == 0) {
                memcpy(t->by_link[link], t->text, sizeof t->text);
            }
        }
    }
    t->cause[0] = t->link[0] = t->text[0] = t->expected[0] = '\0';
}

/* What the doctor says of a link that is not up; NULL: nothing that wiring does not say in its own words. */
static const char *said_of(const struct told *t, cw_link link, const struct ls_link_info *info)
{
    char expected[TORUS_TEXT];
    torus_format(info->expected, expected);
    if (t->by_link[link][0] != '\0') {
        return t->by_link[link];
    }
    if (info->miswired && t->place[0] != '\0') {
        return t->place;
    }
    return info->miswired && t->says[0] != '\0' && strcmp(expected, t->misnamed) == 0 ? t->says : NULL;
}

/* ---- Ports ------------------------------------------------------------------------------------------------------- */

/* The cable is right, and the server at its end is of another cluster or configuration: no cable need be moved. */
static const char *state_of_port(const struct host *h, const struct ls_link_info *info, cw_link link)
{
    const struct ls_heard *heard = &info->heard;
    bool right = heard->any && same(heard->server, info->expected) && heard->port == cw_link_opposite(link);
    bool other = heard->cluster != host_config(h)->cluster || heard->config_hash != host_config_hash(h);
    return info->miswired && right && other ? "refused" : info->state;
}

/* Gives true, and in *out the interface's name, when the interface is down, whatever its cable does. */
static bool is_switched_off(const struct shim *shim, struct shim_info *out)
{
    shim_info(shim, out);
    return strcmp(out->state, "interface is down") == 0;
}

static bool is_missing(const struct shim_info *shim)
{
    return strstr(shim->state, "no such interface") != NULL || strstr(shim->state, "is gone") != NULL;
}

/* What is wrong with our end of a cable, as a sentence; "" when nothing is. */
static void judge(const struct host *h, const struct host_server *s, cw_link link, const struct ls_link_info *info,
                  const struct told *told, char out[static 256])
{
    const struct ls_heard *heard = &info->heard;
    const char *port = quantity_link_name(cw_link_opposite(link));
    char expected[TORUS_TEXT], seen[TORUS_TEXT];
    struct shim_info shim;
    torus_format(info->expected, expected);
    torus_format(heard->server, seen);
    out[0] = '\0';
    if (info->committed) {
        judge_loss(info, port, expected, out);
        return;
    }
    unsigned version = ls_link_foreign(node_linkstate(s->node), link).version;
    const char *said = said_of(told, link, info);
    if (s->link[link].shim == NULL) {
        snprintf(out, 256, "no interface is configured for this port; its cable goes to %s of %s", port, expected);
    } else if (!s->link[link].carrier && is_switched_off(s->link[link].shim, &shim)) {
        snprintf(out, 256, "%s, the interface of this port, is switched off at this end", shim.name);
    } else if (!s->link[link].carrier && is_missing(&shim)) {
        snprintf(out, 256, "%s, the interface of this port, does not exist now; the daemon waits for it", shim.name);
    } else if (!s->link[link].carrier && strstr(shim.state, "mtu") != NULL && said != NULL) {
        snprintf(out, 256, "%s", said);
    } else if (!s->link[link].carrier) {
        snprintf(out, 256, "no carrier: is the cable to %s of %s plugged in at both ends?", port, expected);
    } else if (version != 0) {
        snprintf(out, 256,
                 "a neighbour speaks wire version %u, and this server speaks %u; run the same release on both", version,
                 WIRE_VERSION_NOW);
    } else if (said != NULL && (info->heard.any || strcmp(info->state, "damped") == 0)) {
        snprintf(out, 256, "%s", said);
    } else if (strcmp(info->state, "damped") == 0) {
        snprintf(out, 256, "up and down too often lately, so that it rests a while; is the cable to %s of %s sound?",
                 port, expected);
    } else if (info->incarnation != 0) {
        snprintf(out, 256, "coming up: %s of %s is heard, and the link is in state %s", port, expected, info->state);
    } else if (!info->miswired) {
        snprintf(out, 256,
                 heard->any ? "%s of %s was heard, and is not now; is its daemon running?"
                            : "nothing is heard; is the daemon at %s of %s running?",
                 port, expected);
    } else if (heard->cluster != host_config(h)->cluster) {
        snprintf(out, 256, "the cable goes to a server of cluster %u, and this is cluster %u", heard->cluster,
                 host_config(h)->cluster);
    } else if (!same(heard->server, info->expected) || heard->port != cw_link_opposite(link)) {
        snprintf(out, 256, "the cable goes to %s of %s; plug it into %s of %s", quantity_link_name(heard->port), seen,
                 port, expected);
    } else {
        snprintf(out, 256,
                 "the configurations of %s and of this server differ (torus, timers or mtu); make them the same",
                 expected);
    }
}

/*
 * Tells the six ports of one server: what should be there, and what is. Gives the ports of which it has told a fault.
 */
static cw_links tell_ports(struct request *r, struct host_server *s)
{
    cw_links faulty = CW_LINKS_NONE;
    struct told told;
    memset(&told, 0, sizeof told);
    const struct rows_reader reader = {&told, told_integer, told_text, told_row};
    (void)doctor_look(s, &reader);
    for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
        struct ls_link_info info;
        char fault[256];
        ls_link_info(node_linkstate(s->node), link, &info);
        if (!info.exists) {
            continue;
        }
        judge(commands_host(r), s, link, &info, &told, fault);
        request_text(r, "part", "port");
        request_server(r, "server", s->self);
        request_text(r, "link", quantity_link_name(link));
        request_server(r, "leads_to", info.expected);
        request_text(r, "port", quantity_link_name(cw_link_opposite(link)));
        request_text(r, "state",
                     s->link[link].shim == NULL ? "no-interface" : state_of_port(commands_host(r), &info, link));
        if (info.heard.any) {
            request_server(r, "seen", info.heard.server);
            request_text(r, "seen_port", quantity_link_name(info.heard.port));
        }
        request_flag(r, "ok", fault[0] == '\0');
        if (info.loss_in.ppm >= 0) {
            request_integer(r, "loss_in_ppm", info.loss_in.ppm);
        }
        if (info.loss_out.ppm >= 0) {
            request_integer(r, "loss_out_ppm", info.loss_out.ppm);
        }
        if (fault[0] != '\0') {
            request_text(r, "fault", fault);
            faulty |= cw_links_of(link);
        }
        request_row(r);
    }
    return faulty;
}

static bool lists(const struct linkstate *ls, cw_server s, cw_link link)
{
    const struct record *record = ls_record(ls, s);
    return record != NULL && (record->up & cw_links_of(link)) != 0;
}

/*
 * What a cable is: "left" or "down" where a server at one of its ends is away, so that nothing can be said of the cable
 * itself; "half" where two servers that are in view do not agree.
 */
static const char *state_of_cable(struct host_server *s, cw_server a, bool near, cw_server b, bool far)
{
    const char *one = host_state_of(s, a), *other = host_state_of(s, b);
    if (near && far) {
        return "up";
    }
    if (strcmp(one, "left") == 0 || strcmp(other, "left") == 0) {
        return "left";
    }
    bool away = strcmp(one, "up") != 0 || strcmp(other, "up") != 0;
    return !away && (near || far) ? "half" : "down";
}

/* The servers that are away, which their cables do not explain. */
static void tell_away(struct request *r, struct host_server *s, const struct torus *t)
{
    for (cw_server other = 0; other < t->servers; other++) {
        const char *state = host_state_of(s, other);
        bool left = strcmp(state, "left") == 0;
        char name[TORUS_TEXT], text[128];
        if (left || strcmp(state, "down") == 0 || strcmp(state, "feared") == 0) {
            torus_format(torus_coord(t, other), name);
            snprintf(text, sizeof text, "%s %s: nothing can be said of its cables until it is back", name,
                     left ? "has left in order" : "is reached by no server");
            request_text(r, "part", "fault");
            request_server(r, "server", torus_coord(t, other));
            request_text(r, "kind", left ? "left" : "server-down");
            request_text(r, "fault", text);
            request_row(r);
        }
    }
}

/* Tells every cable of the torus once, as the link-state database has it: where it should be, and whether it is up. */
static bool tell_plan(struct request *r, struct host_server *s, const struct torus *t)
{
    const struct linkstate *ls = node_linkstate(s->node);
    bool well = true;
    for (cw_server from = 0; from < t->servers; from++) {
        for (cw_link link = 0; link < CW_LINK_COUNT; link += 2) {
            if (!(torus_links(t) & cw_links_of(link))) {
                continue;
            }
            cw_server to = torus_neighbour(t, from, link);
            bool near = lists(ls, from, link), far = lists(ls, to, cw_link_opposite(link));
            request_text(r, "part", "cable");
            request_server(r, "server", torus_coord(t, from));
            request_text(r, "link", quantity_link_name(link));
            request_server(r, "leads_to", torus_coord(t, to));
            request_text(r, "port", quantity_link_name(cw_link_opposite(link)));
            request_text(r, "state", state_of_cable(s, from, near, to, far));
            if (near && far) { /* that is what each of them has heard */
                request_server(r, "seen", torus_coord(t, to));
                request_text(r, "seen_port", quantity_link_name(cw_link_opposite(link)));
            }
            request_flag(r, "ok", near && far);
            request_row(r);
            well = well && near && far;
        }
    }
    tell_away(r, s, t);
    return well;
}

/* ---- By the bootstrap -------------------------------------------------------------------------------------------- */

static void tell_who(struct request *r, const char *field, const struct boot_who *who)
{
    char at[TORUS_TEXT] = "", text[80];
    if (who->id == 0) {
        return;
    }
    if (who->placed) {
        torus_format(who->at, at);
    }
    snprintf(text, sizeof text, "%.*s%s%016" PRIx64 "%s%s", BOOT_NAME_BYTES, who->name, who->name[0] != '\0' ? " " : "",
             who->id, at[0] != '\0' ? " at " : "", at);
    request_text(r, field, text);
}

static void tell_progress(struct request *r, const struct boot *b)
{
    static const char *const states[] = {
        [BOOT_SEARCHING] = "searching", [BOOT_AGREED] = "agreed", [BOOT_REFUSED] = "refused"};
    struct boot_progress progress;
    char dims[QUANTITY_TEXT] = "";
    boot_progress(b, &progress);
    if (progress.dims.x != 0) {
        quantity_dims_format(progress.dims, dims);
    }
    request_text(r, "part", "search");
    request_text(r, "state", states[progress.state]);
    request_text(r, "torus", dims);
    request_integer(r, "servers", progress.servers);
    request_integer(r, "missing", progress.missing);
    request_integer(r, "agreeing", progress.agreeing);
    request_integer(r, "faults", progress.faults);
    request_row(r);
}

static const char *state_of(const struct boot_plug *plug)
{
    if (!plug->carrier) {
        return "no-carrier";
    }
    if (!plug->heard) {
        return "down";
    }
    return plug->both_ways ? "up" : "half";
}

/* The ports of a server that has no place yet. */
static void tell_plugs(struct request *r, const struct boot *b)
{
    for (unsigned port = 0; port < CW_LINK_COUNT; port++) {
        struct boot_plug plug;
        boot_plug(b, port, &plug);
        if (plug.direction == BOOT_ABSENT) {
            continue;
        }
        request_text(r, "part", "plug");
        request_integer(r, "port_number", port);
        if (plug.direction < CW_LINK_COUNT) {
            request_text(r, "link", quantity_link_name(plug.direction));
        }
        request_text(r, "state", state_of(&plug));
        tell_who(r, "far", &plug.far);
        if (plug.heard) {
            request_integer(r, "far_port_number", plug.far_port);
        }
        if (plug.heard && plug.far_direction < CW_LINK_COUNT) {
            request_text(r, "far_link", quantity_link_name(plug.far_direction));
        }
        request_row(r);
    }
}

/*
 * A fault that the ports have told is not told again, unless the bootstrap knows with which cable this one was swapped.
 */
static bool was_said(const struct boot_fault *fault, cw_coord self, cw_links said)
{
    return fault->who.placed && same(fault->who.at, self) && fault->direction < CW_LINK_COUNT && !fault->swapped &&
           (said & cw_links_of((cw_link)fault->direction)) != 0;
}

static bool tells_same(const struct boot_fault *a, const struct boot_fault *b)
{
    struct boot_swap first, second;
    return boot_fault_swap(a, &first) && boot_fault_swap(b, &second) && boot_swap_equal(&first, &second);
}

/*
 * "" when one before it has told the same: two plugs that are exchanged are a fault of each of the two cables. How they
 * lie, with positions, is told only once there are some.
 */
static void describe(const struct boot *b, unsigned i, bool placed, char text[static BOOT_FAULT_TEXT])
{
    const struct boot_fault *fault = boot_fault(b, i);
    struct boot_swap swap;
    text[0] = '\0';
    if (placed || !boot_fault_swap(fault, &swap)) {
        boot_fault_text(fault, text);
        return;
    }
    for (unsigned before = 0; before < i; before++) {
        if (tells_same(boot_fault(b, before), fault)) {
            return;
        }
    }
    boot_swap_text(&swap, text);
}

/*
 * said: links of `self` whose faults need not be told. True: the bootstrap has found no fault that stands in the way.
 */
static bool tell_faults(struct request *r, const struct boot *b, bool placed, cw_coord self, cw_links said)
{
    bool well = true;
    for (unsigned i = 0; i < boot_fault_count(b); i++) {
        const struct boot_fault *fault = boot_fault(b, i);
        char text[BOOT_FAULT_TEXT];
        well = well && fault->tells_only;
        if (was_said(fault, self, said)) {
            continue;
        }
        describe(b, i, placed, text);
        if (text[0] == '\0') {
            continue;
        }
        request_text(r, "part", "fault");
        request_text(r, "kind", boot_fault_name(fault->kind));
        request_text(r, "fault", text);
        request_row(r);
    }
    return well;
}

void cmd_wiring(struct request *r)
{
    struct host *h = commands_host(r);
    const struct boot *b = host_boot(h);
    struct commands_scope scope;
    bool all = false, well = true;
    cw_links said = CW_LINKS_NONE;
    cw_coord self = {0, 0, 0};
    if (!commands_flag(r, "all", &all)) {
        return;
    }
    if (b != NULL && host_count(h) == 1 && host_server(h, 0)->node == NULL) {
        tell_progress(r, b);
        tell_plugs(r, b);
        (void)tell_faults(r, b, false, (cw_coord){0, 0, 0}, CW_LINKS_NONE);
        request_done(r, 1); /* a server without a place is not yet right */
        return;
    }
    if (!commands_scope(r, &scope)) {
        return;
    }
    if (all) {
        well = tell_plan(r, host_server(h, scope.first), host_torus(h));
    }
    for (struct host_server *s; !all && (s = commands_next(r, &scope)) != NULL;) {
        said = tell_ports(r, s); /* with a bootstrap there is one server */
        self = s->self;
        well = well && said == CW_LINKS_NONE;
    }
    if (b != NULL) {
        tell_progress(r, b);
        well = tell_faults(r, b, true, self, said) && well;
    }
    request_done(r, well ? 0 : 1);
}
