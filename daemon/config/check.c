/* SPDX-License-Identifier: Apache-2.0 */
/* check.c - do the settings fit one another? */
#include "daemon/config/internal.h"

#include "base/nearest.h"
#include "base/quantity.h"
#include "keyspace/torus.h"
#include "services/builtin.h"
#include "services/table.h"

#include <stdio.h>
#include <string.h>

static const struct config_link no_link;

#define BUILT_IN_NETWORK "ip"
#define BUILT_IN_DEVICE "cw0" /* unless its option says otherwise (services/tunnel) */

enum { ETHERTYPE_LEAST = 0x0600, ETHERTYPE_MOST = 0xffff };

static bool any_fault(const struct config_fault *f)
{
    return f->loss_ppm != 0 || f->duplicate_ppm != 0 || f->reorder_ppm != 0 || f->corrupt_ppm != 0 ||
           f->delay.ns != 0 || f->bits_per_second != 0;
}

static void tell(struct config_report *r, cw_link link, const struct daemon_config *c, const char *text)
{
    char key[32];
    snprintf(key, sizeof key, "links.%s", config_link_name(c, link));
    r->tell(r, key, text);
}

static void check_link(const struct daemon_config *c, cw_link link, struct config_report *r)
{
    const struct config_link *l = &c->link[link];
    bool interface = l->interface[0] != '\0', file = l->file[0] != '\0';
    bool addresses = l->local[0] != '\0' || l->remote[0] != '\0';
    if (l->misread) {
        return;
    }
    switch (l->shim) {
    case CONFIG_NO_SHIM:
        if ((interface || file || addresses || l->io_thread) && !l->none_said) {
            tell(r, link, c, "expected shim = raw, pcap or udp");
        }
        return;
    case CONFIG_RAW:
        if (!interface || file || addresses) {
            tell(r, link, c, "shim raw needs interface, and neither file, local nor remote");
        }
        break;
    case CONFIG_PCAP:
        if (interface == file || addresses) {
            tell(r, link, c, "shim pcap needs interface or file, and neither local nor remote");
        }
        break;
    case CONFIG_UDP:
        if (l->local[0] == '\0' || l->remote[0] == '\0' || interface || file) {
            tell(r, link, c, "shim udp needs local and remote, as 10.0.0.1:7001, and neither interface nor file");
        }
        break;
    }
    for (cw_link other = 0; other < link; other++) {
        const struct config_link *o = &c->link[other];
        if ((interface && strcmp(o->interface, l->interface) == 0) ||
            (l->local[0] != '\0' && strcmp(o->local, l->local) == 0 && strcmp(o->remote, l->remote) == 0)) {
            tell(r, link, c, "another link is on it already: each link needs a cable of its own");
        }
    }
}

static bool is_given(const struct config_link *link)
{
    struct config_link l = *link;
    l.none_said = l.misread = false;
    return memcmp(&l, &no_link, sizeof no_link) != 0;
}

static void check_links(const struct daemon_config *c, struct config_report *r)
{
    struct torus torus;
    bool dims = torus_init(&torus, c->dims) == 0;
    for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
        bool given = is_given(&c->link[link]);
        if (given && c->place == CONFIG_WHOLE) {
            tell(r, link, c, "a torus inside one process makes its links itself; links.fault may be given for all");
        } else if (given) {
            check_link(c, link, r);
        }
        if (c->place == CONFIG_STATIC && dims && c->link[link].shim != CONFIG_NO_SHIM &&
            !(torus_links(&torus) & cw_links_of(link))) {
            tell(r, link, c, "this axis of the torus is 1 long and has no links");
        }
    }
    if (c->place == CONFIG_WHOLE && c->transit == CONFIG_TRANSIT_KERNEL) {
        r->tell(r, "transit", "a torus inside one process has no cables: transit = kernel cannot be had");
    }
    if (c->place == CONFIG_WHOLE && c->io_threads) {
        r->tell(r, "pump.io_threads",
                "only for links with cables: a torus inside one process has no system calls to make");
    }
    if (c->place != CONFIG_WHOLE && any_fault(&c->fault)) {
        r->tell(r, "links.fault", "only for a torus inside one process; a cable's is links.+x.fault");
    }
}

static void check_torus(const struct daemon_config *c, struct config_report *r)
{
    bool dims = c->dims.x != 0;
    if (!dims && c->place != CONFIG_AUTO) {
        if (!r->dims) {
            r->tell(r, "torus.dims", "expected the extent of the torus, as 3x3x3");
        }
        return;
    }
    if (!c->labelled && c->place != CONFIG_AUTO) {
        r->tell(r, "links", "links port0 to port5 need coordinate = auto, which finds out where they lead");
    }
    struct node_config node = node_config_default();
    struct torus torus;
    if (dims && torus_init(&torus, c->dims) == 0 && torus_diameter(&torus) > node.hop_limit) {
        r->tell(r, "torus.dims", "this torus is wider than the hop limit of 64: dx/2 + dy/2 + dz/2 links");
    }
    if (c->place == CONFIG_WHOLE && dims && torus_init(&torus, c->dims) == 0 && torus.servers > 4096) {
        r->tell(r, "torus.dims", "at most 4096 servers run in one process");
    }
}

static const char *service_nth(const void *context, size_t i)
{
    return ((const cw_service *const *)context)[i]->name;
}

/* The built-in network may be called a service or a network, but not both. */
static void check_again(const struct daemon_config *c, unsigned i, struct config_report *r)
{
    const struct config_service *s = &c->service[i];
    for (unsigned k = 0; k < i; k++) {
        char key[CONFIG_KEY], text[CONFIG_KEY + 64], other[CONFIG_KEY];
        if (strcmp(c->service[k].name, s->name) == 0 && c->service[k].network != s->network) {
            snprintf(text, sizeof text, "it was given before, as %s", config_service_key(&c->service[k], NULL, other));
            r->tell(r, config_service_key(s, NULL, key), text);
        }
    }
}

static bool is_option(const struct config_service *s, const char *name, const char *value, const char *otherwise)
{
    const char *its = config_service_option(s, name);
    return strcmp(its != NULL ? its : otherwise, value) == 0;
}

/* Has a network before this one the same device, in the same network namespace? Gives that network, or NULL. */
static const struct config_service *has_device(const struct daemon_config *c, unsigned before, const char *device)
{
    const char *netns = config_service_option(&c->service[before], "netns");
    for (unsigned k = 0; k < before; k++) {
        const struct config_service *o = &c->service[k];
        bool tunnel = o->network || strcmp(o->name, BUILT_IN_NETWORK) == 0;
        bool same =
            is_option(o, "device", device, BUILT_IN_DEVICE) && is_option(o, "netns", netns != NULL ? netns : "", "");
        if (o->enabled && tunnel && same) {
            return o;
        }
    }
    return NULL;
}

static void check_network(const struct daemon_config *c, unsigned i, struct config_report *r)
{
    const struct config_service *s = &c->service[i];
    const bool built_in = strcmp(s->name, BUILT_IN_NETWORK) == 0;
    char key[CONFIG_KEY], text[CONFIG_KEY + CONFIG_NAME + 128], why[TABLE_WHY_BYTES];
    cw_service table;
    (void)config_service_key(s, NULL, key);
    if (built_in ? s->job != 0 : s->job == 0) {
        r->tell(r, key,
                built_in ? "the network that is built in has a job of its own: take the key job out"
                         : "expected job = N, 1024 or above: each network is a job (cwctl job create makes one)");
        return;
    }
    if (!built_in && builtin_network(s->job, s->name, 0, &table, why) < 0) {
        r->tell(r, key, why);
    } else if (!built_in && builtin_service(s->name) != NULL) {
        r->tell(r, key, "a service that is built in has this name: call the network otherwise");
    }
    for (unsigned k = 0; k < i && s->job != 0; k++) {
        if (c->service[k].job == s->job) {
            snprintf(text, sizeof text, "job %u is that of network \"%s\"", s->job, c->service[k].name);
            r->tell(r, key, text);
        }
    }
    const char *device = config_service_option(s, "device");
    device = device != NULL ? device : BUILT_IN_DEVICE;
    const struct config_service *other = s->enabled ? has_device(c, i, device) : NULL;
    if (other != NULL) {
        snprintf(text, sizeof text, "device %s is that of network \"%s\"", device, other->name);
        r->tell(r, config_service_key(s, "device", key), text);
    }
}

static void check_services(const struct daemon_config *c, struct config_report *r)
{
    for (unsigned i = 0; i < c->service_count; i++) {
        const struct config_service *s = &c->service[i];
        char key[CONFIG_KEY];
        (void)config_service_key(s, NULL, key);
        check_again(c, i, r);
        if (s->network) {
            check_network(c, i, r);
        } else if (s->file[0] == '\0' && builtin_service(s->name) == NULL) {
            size_t count;
            const cw_service *const *builtin = builtin_all(&count);
            const char *near = nearest_name(s->name, strlen(s->name), service_nth, builtin, count);
            char text[CONFIG_NAME + 128];
            snprintf(text, sizeof text, "no service of this name is built in: expected file, the path of its .so%s%s%s",
                     near != NULL ? "; did you mean " : "", near != NULL ? near : "", near != NULL ? "?" : "");
            r->tell(r, key, text);
        }
    }
}

static void check_ethertypes(const struct daemon_config *c, struct config_report *r)
{
    if (c->ethertype < ETHERTYPE_LEAST || c->ethertype > ETHERTYPE_MOST) {
        r->tell(r, "ethertype", "expected 0x600 to 0xffff");
    } else if (c->ethertype_control == 0 && c->ethertype == ETHERTYPE_MOST) {
        r->tell(r, "ethertype",
                "control frames have the EtherType behind it, and there is none: set ethertype_control");
    } else if (c->ethertype_control == c->ethertype) {
        r->tell(r, "ethertype_control", "expected another EtherType than that of data frames (ethertype)");
    }
}

/* Which of the conditions does not hold, and by what values. */
static void check_timers(const struct ls_timers *t, struct config_report *r)
{
    char text[320], hello[QUANTITY_TEXT], dead[QUANTITY_TEXT], hold[QUANTITY_TEXT], bound[QUANTITY_TEXT],
        damp[QUANTITY_TEXT], most[QUANTITY_TEXT];
    bool told = false;
    quantity_span_format(t->hello, hello);
    quantity_span_format(t->dead, dead);
    quantity_span_format(t->hold, hold);
    quantity_span_format(t->flood_bound, bound);
    quantity_span_format(t->damp, damp);
    quantity_span_format(t->damp_max, most);
    if (t->dead.ns - t->hello.ns < t->hello.ns) {
        snprintf(text, sizeof text,
                 "expected dead >= 2 hello, and dead is %s, hello %s: one lost hello would be a death", dead, hello);
        r->tell(r, "timers.dead", text);
        told = true;
    }
    if (t->hold.ns - t->dead.ns < t->flood_bound.ns) {
        snprintf(
            text, sizeof text,
            "expected hold >= dead + flood_bound, and hold is %s, dead %s, flood_bound %s: keys could be delivered "
            "at two servers",
            hold, dead, bound);
        r->tell(r, "timers.hold", text);
        told = true;
    }
    if (t->damp_max.ns < t->damp.ns) {
        snprintf(text, sizeof text, "expected damp_max >= damp, and damp_max is %s, damp %s", most, damp);
        r->tell(r, "timers.damp_max", text);
        told = true;
    }
    if (!told) {
        r->tell(r, "timers", "expected every timer to be above 0");
    }
}

void config_check(const struct daemon_config *c, struct config_report *r)
{
    check_torus(c, r);
    check_links(c, r);
    check_services(c, r);
    if (strchr(c->name, '/') != NULL || c->name[0] == '.') {
        r->tell(r, "name", "a name is used for files: expected no / in it, and no . at its beginning");
    }
    if (!r->timers && ls_timers_check(&c->timers) < 0) {
        check_timers(&c->timers, r);
    }
    if (!r->timers && c->transit == CONFIG_TRANSIT_KERNEL && c->timers.dead.ns < 3 * c->timers.hello.ns) {
        r->tell(r, "timers",
                "transit = kernel needs dead >= 3 hello: with less, a lease ends whenever an echo is late");
    }
    if (!r->queue && (c->queue_bytes < 9000 || c->hold_bytes < 9000)) {
        r->tell(r, "queue", "bytes and hold_bytes must hold one packet of 9000");
    }
    check_ethertypes(c, r);
}
