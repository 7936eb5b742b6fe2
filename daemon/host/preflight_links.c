/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/host/preflight_links.h"

#include "base/nearest.h"
#include "daemon/config/lint.h"
#include "shim/port.h"
#include "shim/replay.h"
#include "shim/udp.h"

#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

enum { KEY = 160 };

struct looking {
    const struct daemon_config *config;
    struct preflight *p;
    struct mtu {
        uint32_t mtu;
        char link[KEY], name[IFNAMSIZ];
    } mtu[CW_LINK_COUNT]; /* of interfaces that are there */
    unsigned mtus;
    char meant[IFNAMSIZ]; /* the interface that was proposed last */
};

static void keyed_warning(void *context, const char *text)
{
    const struct looking *l = context;
    preflight_keyed(l->config, l->p, false, text);
}

static const char *interface_nth(const void *context, size_t i)
{
    return ((const struct if_nameindex *)context)[i].if_name;
}

/* The start waits for an interface that is not there, so a name that nobody has is only a warning. */
static void missing_interface(struct looking *l, const char *key, const char *name)
{
    struct if_nameindex *all = if_nameindex();
    size_t count = 0;
    while (all != NULL && all[count].if_index != 0) {
        count++;
    }
    const char *near = all != NULL ? nearest_name(name, strlen(name), interface_nth, all, count) : NULL;
    near = near != NULL && strcmp(near, l->meant) != 0 ? near : NULL; /* two links cannot both mean it */
    if (near != NULL) {
        snprintf(l->meant, sizeof l->meant, "%s", near);
    }
    preflight_warn(l->config, l->p, key, "%s: there is no such interface now, and the daemon will wait for it%s%s%s",
                   name, near != NULL ? "; did you mean " : "", near != NULL ? near : "", near != NULL ? "?" : "");
    if (all != NULL) {
        if_freenameindex(all);
    }
}

/* What an ioctl says of an interface; false: nothing. */
static bool ask_interface(const char *name, unsigned long question, struct ifreq *out)
{
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    *out = (struct ifreq){.ifr_flags = 0};
    snprintf(out->ifr_name, sizeof out->ifr_name, "%s", name);
    bool said = fd >= 0 && ioctl(fd, question, out) == 0;
    if (fd >= 0) {
        close(fd);
    }
    return said;
}

static void note_mtu(struct looking *l, const char *link, const char *name, uint32_t mtu)
{
    struct mtu *m = &l->mtu[l->mtus++ % CW_LINK_COUNT];
    m->mtu = mtu;
    snprintf(m->link, sizeof m->link, "%s", link);
    snprintf(m->name, sizeof m->name, "%s", name);
}

/* Without a mtu in the file all frames are as short as the narrowest interface carries: that is seldom meant. */
static void compare_mtus(struct looking *l)
{
    uint32_t most = 0;
    for (unsigned i = 0; i < l->mtus; i++) {
        most = l->mtu[i].mtu > most ? l->mtu[i].mtu : most;
    }
    for (unsigned i = 0; i < l->mtus && l->config->mtu == 0; i++) {
        const struct mtu *m = &l->mtu[i];
        char key[KEY + 16];
        snprintf(key, sizeof key, "%s.interface", m->link);
        if (m->mtu < most) {
            preflight_warn(
                l->config, l->p, key,
                "%s: its mtu is %u, and others here have %u: all frames are cut to %u, and neighbours with longer ones "
                "refuse this server (ip link set %s mtu %u)",
                m->name, m->mtu, most, m->mtu, m->name, most);
        }
    }
}

static void look_at_interface(struct looking *l, const char *link, const struct config_link *c)
{
    char why[SHIM_WHY_BYTES] = "", key[KEY + 16];
    struct port_options port = {.interface = c->interface, .mtu = l->config->mtu};
    snprintf(key, sizeof key, "%s.interface", link);
    int rc = port_check(&port, why);
    struct ifreq now = {.ifr_flags = 0};
    if (rc == 0 && ask_interface(c->interface, SIOCGIFFLAGS, &now) && !(now.ifr_flags & IFF_UP)) {
        preflight_warn(l->config, l->p, key, "%s: the interface is switched off (ip link set %s up)", c->interface,
                       c->interface);
    }
    if (rc == 0 && ask_interface(c->interface, SIOCGIFMTU, &now)) {
        note_mtu(l, link, c->interface, (uint32_t)now.ifr_mtu);
    }
    if (rc == -ENODEV && c->shim == CONFIG_RAW) {
        missing_interface(l, key, c->interface);
    } else if (rc < 0) {
        preflight_wrong(l->config, l->p, key, "%s", why);
    }
}

/* What a running daemon has at this moment is no mistake. */
static void look_at_udp(struct looking *l, const char *link, const struct config_link *c)
{
    char why[SHIM_WHY_BYTES] = "", key[KEY + 16];
    struct shim *shim;
    struct udp_options udp = {.local = c->local, .remote = c->remote, .mtu = l->config->mtu};
    int rc = udp_open(&shim, &udp, why);
    snprintf(key, sizeof key, "%s.%s", link, rc == -ENETUNREACH || rc == -EHOSTUNREACH ? "remote" : "local");
    if (rc == 0) {
        shim_close(shim);
    } else if (rc != -EADDRINUSE && rc != -EACCES && rc != -EPERM) { /* a low port takes a right */
        preflight_wrong(l->config, l->p, key, "%s", why);
    }
}

static void look_at_capture(struct looking *l, const char *link, const struct config_link *c)
{
    char why[SHIM_WHY_BYTES] = "", key[KEY + 16];
    struct shim *shim;
    struct replay_options replay = {.file = c->file, .ethertype = (uint16_t)l->config->ethertype};
    snprintf(key, sizeof key, "%s.file", link);
    if (replay_open(&shim, &replay, why) == 0) {
        shim_close(shim);
    } else {
        preflight_wrong(l->config, l->p, key, "%s", why);
    }
}

void preflight_links(const struct daemon_config *config, struct preflight *p)
{
    struct looking looking = {.config = config, .p = p}, *l = &looking;
    for (cw_link link = 0; config->place != CONFIG_WHOLE && link < CW_LINK_COUNT; link++) {
        const struct config_link *c = &config->link[link];
        char name[KEY];
        snprintf(name, sizeof name, "links.%s", config_link_name(config, link));
        if ((c->shim == CONFIG_RAW || c->shim == CONFIG_PCAP) && c->interface[0] != '\0') {
            look_at_interface(l, name, c);
        } else if (c->shim == CONFIG_PCAP && c->file[0] != '\0') {
            look_at_capture(l, name, c);
        } else if (c->shim == CONFIG_UDP && c->local[0] != '\0' && c->remote[0] != '\0') {
            look_at_udp(l, name, c);
        }
    }
    compare_mtus(l);
    (void)lint_links(config, keyed_warning, l);
    (void)lint_timers(config, keyed_warning, l);
}
