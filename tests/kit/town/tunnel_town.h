/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tunnel_town.h - the service `ip` on all servers of a row of fake hosts, each with a door that keeps what is written.
 * Pieces are pulled from one server and brought to the other by the test, which may change them on the way.
 */
#ifndef KIT_TUNNEL_TOWN_H
#define KIT_TUNNEL_TOWN_H

#include "fake_host.h"
#include "ip_kit.h"
#include "services/tunnel/neighbour.h"
#include "services/tunnel/packet/limits.h"
#include "services/tunnel/tunnel.h"

enum { TOWN_SERVERS = 3, TOWN_PIECES = 64, TOWN_WRITES = 200 };

struct town_write {
    uint8_t head[TUNNEL_VNET_BYTES + ETHER_HEAD];
    size_t length;
    uint8_t *bytes;
};

struct town_server {
    cw_svc *s;
    struct tunnel_door door;
    unsigned writes, flushes; /* flushes: how often the service asked for one */
    struct town_write write[TOWN_WRITES];
};

struct town_piece {
    size_t length;
    uint8_t bytes[FAKE_MTU];
};

extern struct town_server town[TOWN_SERVERS];
/* Set before town_open(): doors are of Ethernet, and api.read() is given frames. */
extern bool town_ethernet;

/* Opens all, with these options (ended by NULL; may be NULL), and attaches the doors. */
void town_open(const char *const *options);
/* Closes all; every packet must be home. */
void town_close(void);
const struct tunnel_api *town_api(void);

/* Gives the packet, partial and with a gso size or not, to the door of that server. */
void town_read(unsigned server, const struct ip_kit_packet *p);
/* Pulls the next piece that waits for any link of the server. False: none does. */
bool town_pull(unsigned server, struct town_piece *out);
/* Brings the piece to a server, as one from that other server. */
void town_bring(unsigned from, unsigned to, const struct town_piece *piece, bool marked);
/* Flushes the server, if it asked for that. */
void town_flush(unsigned server);
/* Forgets what was written to the server's door. */
void town_forget(unsigned server);
/* The counter of that name. */
uint64_t town_count(unsigned server, const char *name);

#endif
