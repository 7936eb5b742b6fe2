/* SPDX-License-Identifier: Apache-2.0 */
/*
 * port.h - an Ethernet interface that is ours: found, watched, claimed, with the header that its frames wear. What raw and pcap share.
 */
#ifndef SHIM_PORT_H
#define SHIM_PORT_H

#include "shim/carrier.h"
#include "shim/shim.h"

enum {
    PORT_ETHERTYPE = 0x88b5, /* the first of those for local experiments (IEEE 802) */
    PORT_HEADER = 14,
    PORT_OVERHEAD = 38, /* of each frame: header 14, check 4, preamble 8, gap 12 */
};

struct port_options {
    const char *interface;
    uint32_t mtu;             /* 0: the interface's; at most that */
    uint16_t ethertype;       /* 0: PORT_ETHERTYPE */
    uint8_t destination[6];   /* all 0: broadcast, which needs no resolving: a cable has one other end */
    uint64_t bits_per_second; /* the medium's, where it is shaped; 0: as the driver says */
};

struct port {
    struct carrier carrier;
    uint32_t generation; /* of the device that we hold; 0: none */
    uint32_t mtu;
    uint16_t ethertype;
    uint64_t bits_per_second;
    uint8_t header[PORT_HEADER];
};

/*
 * Finds the interface; it may be down. 0, or -ENODEV, -ENAMETOOLONG, -EPROTOTYPE (not Ethernet), -EMSGSIZE (its mtu is smaller than
 * asked for), or another -errno. port_close() is due in any case.
 */
CW_MUST_CHECK int port_open(struct port *p, const struct port_options *options);
void port_close(struct port *p);

/* The sentence for an error of port_open() or of what was built on it. Returns rc. */
int port_explain(const struct port *p, const struct port_options *options, int rc, char why[static SHIM_WHY_BYTES]);

/* Is there a carrier, and is it for frames of our mtu, on the device that we hold? */
static inline bool port_carrier(const struct port *p)
{
    return p->carrier.state == CARRIER_UP && p->carrier.mtu >= p->mtu && p->generation == p->carrier.generation;
}

/* Reads what netlink has; true when another device has taken the place of ours: sockets are to be bound to it, and it is to be claimed. */
bool port_service(struct port *p);

/* Binds a packet socket, perhaps again, to the device that we hold and to our EtherType. 0 or -errno. */
CW_MUST_CHECK int port_bind(const struct port *p, int fd);

/*
 * Is the interface ours alone, now that the packet sockets fds[count] (all of this port) are bound to it? 0; or -EADDRINUSE: another process's is (claim.h). Ours
 * then hear nothing, and stand in nobody's way, until they are bound again.
 */
CW_MUST_CHECK int port_claim(const struct port *p, const int *fds, unsigned count);

/* The device has been lost again: it could not be bound to, or is another's. The next port_service() tries again. */
void port_release(struct port *p);

/* Fills name, state and what is known of the medium. */
void port_info(const struct port *p, struct shim_info *out);

#endif
