/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/machine/transit.h"

#include "base/check.h"
#include "base/quantity.h"
#include "core/node_relay.h"
#include "daemon/machine/log.h"
#include "daemon/machine/offload.h"
#include "shim/carrier.h"
#include "shim/clock.h"
#include "shim/port.h"
#include "shim/relay.h"
#include "wire/relay.h"
#include "wire/relay_publish.h"

#include <errno.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

_Static_assert((int)TRANSIT_WHY >= (int)RELAY_WHY_BYTES + 16, "a sentence of the relay, with the link before it");

enum { SLACK_FRAMES = 2, MAC_BYTES = 6 };

_Static_assert(RELAY_SERVERS == 4096, "the sentence below names it");
static const char TOO_LARGE[] =
    "the torus has more than 4096 servers, for which a relay has no room; with transit = user nothing is said of it";
static const char MADE_AGAIN[] = "its interface was made again after the daemon had given up its rights: a restart of "
                                 "the daemon brings its relay back";

struct transit {
    struct log *log;     /* NULL: none */
    struct relay *relay; /* NULL: there is none */
    /* NULL, or a relay that the node could not use. It stays mapped: watchers that start anew inherit its state. */
    struct relay *unused;
    struct relay_state *state;
    char missing[TRANSIT_WHY]; /* why there is none */
    struct transit_link {
        char interface[IF_NAMESIZE];
        const char *why; /* it has no relay; NULL: it has one */
        char text[TRANSIT_WHY];
        int ifindex;
        uint64_t lost;   /* by carrier_lost() when the program was attached */
        uint64_t behind; /* lost since, as of the last look */
        uint64_t ns_per_kib;
        uint64_t handed; /* when the turn began */
        uint64_t taken, sent_until;
    } link[CW_LINK_COUNT];
    struct node_relay_config config;
    cw_links attached;
    bool off;
    /* What devices have dropped is looked at by a thread. NULL: nobody has asked yet. */
    struct offload *offload;
    struct transit_look {
        struct carrier_loss loss[CW_LINK_COUNT];
        bool under_way; /* `loss` is the thread's */
        bool ever;      /* there was a look, which began at: */
        cw_time began;
    } look;
};

/* No new look at what devices have dropped before this time has passed since the last one. */
static const cw_span look_again = CW_SEC(1);

/* ---- Opening ----------------------------------------------------------------------------------------------------- */

/* Why a link of this kind goes through user space; NULL: it need not. */
static const char *unfit(const struct daemon_config *c, const struct config_link *l)
{
    const struct config_fault *f = &l->fault;
    if (l->shim != CONFIG_RAW) {
        return "its shim is not raw";
    }
    if (f->loss_ppm != 0 || f->duplicate_ppm != 0 || f->reorder_ppm != 0 || f->corrupt_ppm != 0 || f->delay.ns != 0 ||
        f->bits_per_second != 0) {
        return "a fault is injected there";
    }
    return l->io_thread || c->io_threads ? "it has a thread of its own" : NULL;
}

/* Destination and source of frames that leave by the interface, as the raw shim writes them. */
static int read_address(const char *interface, uint32_t mac[static 3])
{
    struct ifreq ask = {.ifr_flags = 0};
    uint8_t both[2 * MAC_BYTES];
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0) {
        return -errno;
    }
    snprintf(ask.ifr_name, sizeof ask.ifr_name, "%s", interface);
    int rc = ioctl(fd, SIOCGIFHWADDR, &ask) < 0 ? -errno : 0;
    close(fd);
    memset(both, 0xff, MAC_BYTES);
    memcpy(both + MAC_BYTES, ask.ifr_hwaddr.sa_data, MAC_BYTES);
    memcpy(mac, both, sizeof both);
    return rc;
}

/* Attaches the program to a link that is fit for it; notes why not, where it cannot be. */
static void attach(struct transit *t, cw_link link, const struct config_link *config, struct shim *shim)
{
    struct transit_link *l = &t->link[link];
    char why[RELAY_WHY_BYTES];
    struct shim_info info = {.mtu = 0};
    snprintf(l->interface, sizeof l->interface, "%.*s", (int)sizeof l->interface - 1, config->interface);
    if (if_nametoindex(l->interface) == 0) {
        l->why = "its interface was not there when the daemon started: a restart of the daemon brings a relay";
        return;
    }
    int rc = relay_attach(t->relay, link, l->interface, false, why);
    if (rc < 0) {
        snprintf(l->text, sizeof l->text, "%s", why);
        l->why = l->text;
        return;
    }
    l->ifindex = rc;
    t->config.link[link].ifindex = (uint32_t)rc;
    if (read_address(l->interface, t->config.link[link].mac) < 0) {
        relay_detach(t->relay, link);
        l->why = "its address cannot be read";
        return;
    }
    shim_info(shim, &info);
    if (info.bits_per_second != 0) {
        l->ns_per_kib = UINT64_C(8192) * (uint64_t)CW_NS_PER_SEC / info.bits_per_second;
    }
    relay_pace(t->state, link, l->ns_per_kib, (info.mtu + PORT_OVERHEAD) * l->ns_per_kib * SLACK_FRAMES >> 10);
    struct carrier_loss loss = {.index = (uint32_t)l->ifindex};
    (void)carrier_lost(&loss, 1); /* 0 where it is not known */
    l->lost = loss.frames;
    l->why = NULL;
    t->attached |= cw_links_of(link);
}

/* Notes why no link has a relay; gives rc. */
static int without(struct transit *t, int rc, const char *why)
{
    snprintf(t->missing, sizeof t->missing, "%s", why);
    for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
        t->link[link].why = t->link[link].why != NULL ? t->link[link].why : t->missing;
    }
    return rc;
}

static int load(struct transit *t, const struct daemon_config *config, struct shim *const shims[static CW_LINK_COUNT])
{
    char why[RELAY_WHY_BYTES];
    cw_links fit = CW_LINKS_NONE;
    for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
        const struct config_link *l = &config->link[link];
        t->link[link].why = l->shim == CONFIG_NO_SHIM ? "it has no interface" : unfit(config, l);
        fit |= t->link[link].why == NULL && shims[link] != NULL ? cw_links_of(link) : CW_LINKS_NONE;
    }
    if (config->transit == CONFIG_TRANSIT_USER) {
        return without(t, -ECANCELED, "transit = user");
    }
    if (fit == CW_LINKS_NONE) {
        return without(t, -EOPNOTSUPP, "no link has a raw shim without a thread of its own and without faults");
    }
    if (!relay_torus_fits(config->dims)) { /* for 0x0x0, which is not known yet, transit_begin() looks again */
        return without(t, -E2BIG, TOO_LARGE);
    }
    int rc = relay_open(&t->relay, why);
    if (rc < 0) {
        t->relay = NULL;
        return without(t, rc, why);
    }
    t->state = relay_shared(t->relay);
    for (; fit != CW_LINKS_NONE; fit &= (cw_links)(fit - 1)) {
        cw_link link = (cw_link)__builtin_ctz(fit);
        attach(t, link, &config->link[link], shims[link]);
    }
    if (t->attached == CW_LINKS_NONE) {
        cw_link first = 0;
        while (first < CW_LINK_COUNT - 1 && t->link[first].text[0] == '\0') {
            first++;
        }
        relay_close(t->relay);
        t->relay = NULL;
        t->state = NULL;
        return without(t, -EOPNOTSUPP, t->link[first].why != NULL ? t->link[first].why : "no link can have one");
    }
    return 0;
}

static void say_link(struct transit *t, cw_link link)
{
    LOG(t->log, CW_LOG_INFO, "transit that comes by a link goes through user space", {"link", quantity_link_name(link)},
        {"why", t->link[link].why});
}

/* One line where all links are alike, else one more for each link that is left out. */
static void say_what_came(struct transit *t, const struct daemon_config *config)
{
    char links[16];
    snprintf(links, sizeof links, "%u", transit_links(t));
    if (transit_links(t) > 0) {
        LOG(t->log, CW_LOG_INFO, "transit goes through the kernel", {"links", links});
    } else if (config->transit != CONFIG_TRANSIT_USER) {
        LOG(t->log, CW_LOG_INFO, "transit goes through user space", {"why", t->missing});
    }
    for (cw_link link = 0; link < CW_LINK_COUNT && transit_links(t) > 0; link++) {
        if (t->link[link].why != NULL && config->link[link].shim != CONFIG_NO_SHIM) {
            say_link(t, link);
        }
    }
}

int transit_open(struct transit **out, const struct daemon_config *config,
                 struct shim *const shims[static CW_LINK_COUNT], struct log *log, char why[static TRANSIT_WHY])
{
    struct transit *t = calloc(1, sizeof *t);
    why[0] = '\0';
    if (t == NULL) {
        snprintf(why, TRANSIT_WHY, "no memory");
        return -ENOMEM;
    }
    t->log = log;
    t->config.ethertype = (uint16_t)config->ethertype;
    int rc = load(t, config, shims);
    if (rc < 0 && config->transit == CONFIG_TRANSIT_KERNEL) {
        snprintf(why, TRANSIT_WHY, "%s", t->missing);
        transit_close(t);
        return rc;
    }
    say_what_came(t, config);
    *out = t;
    return 0;
}

void transit_close(struct transit *t)
{
    if (t != NULL) {
        if (t->offload != NULL) {
            offload_close(t->offload);
        }
        relay_close(t->relay);
        relay_close(t->unused);
        free(t);
    }
}

unsigned transit_links(const struct transit *t)
{
    return (unsigned)__builtin_popcount(t->attached);
}

struct relay_state *transit_state(struct transit *t)
{
    return t != NULL ? t->state : NULL;
}

const char *transit_missing(const struct transit *t)
{
    return t->missing;
}

/* ---- Turns ------------------------------------------------------------------------------------------------------- */

void transit_begin(struct transit *t, struct node *n)
{
    if (t == NULL || t->relay == NULL) {
        return;
    }
    t->config.state = t->state;
    int rc = node_relay_open(n, &t->config);
    if (rc < 0) {
        (void)without(t, rc, rc == -E2BIG ? TOO_LARGE : strerror(-rc));
        LOG(t->log, CW_LOG_WARN, "transit goes through user space", {"why", t->missing});
        for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
            t->link[link].why = t->missing;
        }
        for (cw_links left = t->attached; left != CW_LINKS_NONE; left &= (cw_links)(left - 1)) {
            relay_detach(t->relay, (cw_link)__builtin_ctz(left));
        }
        t->attached = CW_LINKS_NONE;
        t->unused = t->relay;
        t->relay = NULL;
        t->state = NULL;
    }
}

bool transit_turn(struct transit *t)
{
    bool more = false;
    if (t == NULL || t->relay == NULL) {
        return false;
    }
    for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
        t->link[link].handed = relay_handed(t->state, link);
        more |= t->link[link].handed != t->link[link].taken;
    }
    return more;
}

void transit_carrier(struct transit *t, cw_link link, bool carrier)
{
    if (t == NULL || !(t->attached & cw_links_of(link))) {
        return;
    }
    struct transit_link *l = &t->link[link];
    if (carrier && (int)if_nametoindex(l->interface) != l->ifindex) {
        l->why = MADE_AGAIN;
        t->attached &= (cw_links)~cw_links_of(link);
        say_link(t, link);
    }
}

void transit_sent(struct transit *t, cw_link link, uint32_t bytes, cw_time now)
{
    if (t != NULL && t->link[link].ns_per_kib != 0) {
        struct transit_link *l = &t->link[link];
        uint64_t from = l->sent_until > (uint64_t)now.ns ? l->sent_until : (uint64_t)now.ns;
        l->sent_until = from + ((bytes + PORT_OVERHEAD) * l->ns_per_kib >> 10);
    }
}

cw_links transit_publish(struct transit *t, struct node *n, const struct transit_turn *turn, cw_time now)
{
    if (t == NULL || t->relay == NULL) {
        return CW_LINKS_NONE;
    }
    struct node_relay_turn told = {
        .usable = t->off ? CW_LINKS_NONE : t->attached,
        .waits = turn->waits,
        .tapped = turn->tapped,
    };
    cw_links waits = turn->waits | node_waiting_links(n);
    for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
        struct transit_link *l = &t->link[link];
        if (turn->drained && !(waits & cw_links_of(link))) {
            l->taken = l->handed;
        }
        told.taken[link] = l->taken;
        told.sent_until[link] = l->sent_until;
    }
    return node_relay_publish(n, &told, now);
}

/* ---- Operators --------------------------------------------------------------------------------------------------- */

void transit_switch(struct transit *t, bool on)
{
    if (t != NULL) {
        t->off = !on;
    }
}

bool transit_is_on(const struct transit *t)
{
    return !t->off;
}

const char *transit_why(const struct transit *t, const struct node *n, cw_link link)
{
    if (t == NULL) {
        return "the torus lives inside one process";
    }
    if (t->link[link].why != NULL) {
        return t->link[link].why;
    }
    if (t->off) {
        return "switched off by an operator";
    }
    return n != NULL && (node_relay_live(n) & cw_links_of(link)) ? "kernel" : "the link is not up";
}

static struct relay_sent by_place(const struct relay_counts *counts, uint32_t place)
{
    struct relay_sent sum = {0, 0};
    for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
        sum.packets += counts->sent[place][link].packets;
        sum.bytes += counts->sent[place][link].bytes;
    }
    return sum;
}

static struct relay_sent by_link(const struct relay_counts *counts, cw_link link)
{
    struct relay_sent sum = {0, 0};
    for (uint32_t place = 0; place < RELAY_PLACES; place++) {
        sum.packets += counts->sent[place][link].packets;
        sum.bytes += counts->sent[place][link].bytes;
    }
    return sum;
}

static uint64_t by_reason(const struct relay_counts *counts, uint32_t reason)
{
    uint64_t sum = 0;
    for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
        sum += counts->by_reason[link][reason];
    }
    return sum;
}

static void look_now(void *arg)
{
    struct transit_look *look = arg;
    (void)carrier_lost(look->loss, CW_LINK_COUNT); /* what is not known stays as it was */
}

/* Takes what the thread has found, and lets it look again. */
static void look_behind(struct transit *t)
{
    struct offload_done done;
    struct transit_look *l = &t->look;
    if (t->offload == NULL && offload_open(&t->offload, 1) < 0) {
        t->offload = NULL;
        return;
    }
    if (l->under_way && offload_collect(t->offload, &done, 1) == 1) {
        l->under_way = false;
        for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
            struct transit_link *of = &t->link[link];
            const struct carrier_loss *found = &l->loss[link];
            of->behind = found->known && found->frames > of->lost ? found->frames - of->lost : of->behind;
        }
    }
    cw_time now = clock_now();
    if (l->under_way || (l->ever && cw_time_since(now, l->began).ns < look_again.ns)) {
        return;
    }
    for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
        l->loss[link].index = t->attached & cw_links_of(link) ? (uint32_t)t->link[link].ifindex : 0;
    }
    l->under_way = true;
    l->ever = true;
    l->began = now;
    offload_give(t->offload, look_now, l, t, 0);
}

void transit_counts(struct transit *t, struct node *n, transit_visit_fn *visit, void *context)
{
    struct node_service_info info;
    struct relay_counts counts;
    if (t == NULL || t->relay == NULL) {
        return;
    }
    relay_counted(t->relay, &counts);
    for (unsigned i = 0; node_service_at(n, i, &info); i++) {
        struct relay_sent sent = by_place(&counts, node_relay_place(n, info.job));
        visit(context, TRANSIT_SERVICE, info.name, sent.packets, sent.bytes);
    }
    struct relay_sent others = by_place(&counts, RELAY_OTHERS);
    visit(context, TRANSIT_SERVICE, "others", others.packets, others.bytes);
    for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
        struct relay_sent sent = by_link(&counts, link);
        visit(context, TRANSIT_LINK, quantity_link_name(link), sent.packets, sent.bytes);
    }
    for (uint32_t reason = RELAY_PASSED + 1; reason < RELAY_REASONS; reason++) {
        visit(context, TRANSIT_UP, relay_reason_name((enum relay_reason)reason), by_reason(&counts, reason), 0);
    }
    look_behind(t);
    for (cw_links left = t->attached; left != CW_LINKS_NONE; left &= (cw_links)(left - 1)) {
        cw_link link = (cw_link)__builtin_ctz(left);
        visit(context, TRANSIT_LOST, quantity_link_name(link), t->link[link].behind, 0);
    }
}
