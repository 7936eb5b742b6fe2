/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/port.h"

#include "base/bytes.h"
#include "shim/claim.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_packet.h>
#include <stdio.h>
#include <sys/socket.h>

enum { NOBODYS_ETHERTYPE = 0xffff }; /* reserved (RFC 1701): a bound socket cannot be unbound, but may hear nothing */

static void fill_header(struct port *p, const uint8_t destination[static 6])
{
    static const uint8_t broadcast[6] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
    static const uint8_t none[6];
    p->alone = memcmp(destination, none, sizeof none) == 0;
    for (unsigned lane = 0; lane < LANES; lane++) {
        uint8_t *header = p->header[lane];
        memcpy(header, p->alone ? broadcast : destination, sizeof none);
        memcpy(header + sizeof none, p->carrier.mac, sizeof none);
        put_be16(header + 2 * sizeof none, p->ethertype[lane]);
    }
}

int port_open(struct port *p, const struct port_options *options)
{
    uint16_t data = options->ethertype != 0 ? options->ethertype : PORT_ETHERTYPE;
    uint16_t control = options->ethertype_control != 0 ? options->ethertype_control : (uint16_t)(data + 1);
    *p = (struct port){.ethertype = {[FRAME_DATA] = data, [FRAME_CONTROL] = control}};
    CHECK(!options->await || options->mtu != 0);
    int rc =
        options->await ? carrier_await(&p->carrier, options->interface) : carrier_open(&p->carrier, options->interface);
    if (rc < 0) {
        return rc;
    }
    if (!port_present(p)) {
        p->mtu = options->mtu;
        p->bits_per_second = options->bits_per_second;
        fill_header(p, options->destination);
        return 0;
    }
    if (!p->carrier.ethernet) {
        return -EPROTOTYPE;
    }
    if (data == control) {
        return -EINVAL;
    }
    if (options->mtu > p->carrier.mtu) {
        return -EMSGSIZE;
    }
    p->mtu = options->mtu != 0 ? options->mtu : p->carrier.mtu;
    p->bits_per_second = options->bits_per_second != 0 ? options->bits_per_second : carrier_speed(&p->carrier);
    fill_header(p, options->destination);
    p->generation = p->carrier.generation;
    return 0;
}

int port_check(const struct port_options *options, char why[static SHIM_WHY_BYTES])
{
    struct port p;
    int rc = port_open(&p, options);
    rc = rc < 0 ? port_explain(&p, options, rc, why) : 0;
    port_close(&p);
    return rc;
}

void port_release(struct port *p)
{
    p->generation = 0;
}

static int bind_as(int fd, uint32_t index, uint16_t ethertype)
{
    struct sockaddr_ll address = {.sll_family = AF_PACKET, .sll_protocol = htons(ethertype), .sll_ifindex = (int)index};
    return bind(fd, (const struct sockaddr *)&address, sizeof address) < 0 ? -errno : 0;
}

int port_bind(const struct port *p, int fd, enum frame_lane lane)
{
    return bind_as(fd, p->carrier.index, p->ethertype[lane]);
}

int port_claim(const struct port *p, const int *fds, unsigned count)
{
    int rc = 0;
    for (unsigned lane = 0; rc == 0 && lane < LANES; lane++) {
        rc = claim_interface(p->carrier.index, p->ethertype[lane], fds, count);
    }
    for (unsigned i = 0; rc < 0 && i < count; i++) {
        (void)bind_as(fds[i], p->carrier.index, NOBODYS_ETHERTYPE);
    }
    return rc;
}

void port_close(struct port *p)
{
    port_release(p);
    carrier_close(&p->carrier);
}

int port_explain(const struct port *p, const struct port_options *o, int rc, char why[static SHIM_WHY_BYTES])
{
    switch (-rc) {
    case ENODEV:
        snprintf(why, SHIM_WHY_BYTES, "%s: no such interface", o->interface);
        return rc;
    case ENAMETOOLONG:
        snprintf(why, SHIM_WHY_BYTES, "%.32s: not a name of an interface (1 to %d letters)", o->interface,
                 IFNAMSIZ - 1);
        return rc;
    case EPROTOTYPE:
        snprintf(why, SHIM_WHY_BYTES, "%s: not an Ethernet interface", o->interface);
        return rc;
    case EMSGSIZE:
        snprintf(why, SHIM_WHY_BYTES, "%s: its mtu is %u, frames of %u bytes are asked for (ip link set %s mtu %u)",
                 o->interface, p->carrier.mtu, o->mtu, o->interface, o->mtu);
        return rc;
    case EPERM:
    case EACCES:
        snprintf(why, SHIM_WHY_BYTES, "%s: no permission to open a packet socket (CAP_NET_RAW is needed)",
                 o->interface);
        return -EPERM;
    case EINVAL:
        snprintf(why, SHIM_WHY_BYTES, "%s: data and control need two EtherTypes, and both have 0x%04x", o->interface,
                 p->ethertype[FRAME_DATA]);
        return rc;
    case EADDRINUSE:
        snprintf(why, SHIM_WHY_BYTES, "%s: another process is on this interface", o->interface);
        return rc;
    case ENETDOWN:
        snprintf(why, SHIM_WHY_BYTES, "%s: the interface is down (ip link set %s up)", o->interface, o->interface);
        return rc;
    default:
        snprintf(why, SHIM_WHY_BYTES, "%s: %s", o->interface, strerror(-rc));
        return rc;
    }
}

bool port_service(struct port *p)
{
    carrier_service(&p->carrier);
    for (unsigned lane = 0; lane < LANES; lane++) {
        uint8_t *source = p->header[lane] + 6;
        /* Written when it changes only: a process that is forked meanwhile says goodbye with what it has copied. */
        if (memcmp(source, p->carrier.mac, sizeof p->carrier.mac) != 0) {
            memcpy(source, p->carrier.mac, sizeof p->carrier.mac);
        }
    }
    if (p->carrier.index == 0 || p->carrier.generation == p->generation) {
        return false;
    }
    p->generation = p->carrier.generation;
    return true;
}

void port_info(const struct port *p, struct shim_info *out)
{
    out->mtu = p->mtu;
    out->overhead = PORT_OVERHEAD;
    out->bits_per_second = p->bits_per_second;
    out->outages = p->carrier.outages;
    out->outage_here = p->carrier.outage != CARRIER_NONE;
    memcpy(out->name, p->carrier.name, sizeof p->carrier.name);
    bool awaited = p->carrier.generation == 0;
    const char *state = awaited ? "no such interface yet: it is waited for" : carrier_text(p->carrier.state);
    if (!awaited && !p->carrier.ethernet) {
        state = "not an Ethernet interface";
    }
    if (p->carrier.state == CARRIER_UP && p->generation != p->carrier.generation) {
        state = "not bound to the interface that came in its place: another process has it, or it is gone";
    }
    if (p->carrier.state == CARRIER_UP && p->carrier.mtu < p->mtu) {
        snprintf(out->state, sizeof out->state, "the interface's mtu is now %u, below %u", p->carrier.mtu, p->mtu);
        return;
    }
    snprintf(out->state, sizeof out->state, "%s", state);
}
