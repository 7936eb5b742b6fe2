/* SPDX-License-Identifier: Apache-2.0 */
/*
 * boot.h - servers that know only their six ports find out which torus they are cabled as (CamCubeOS 3.1;
 * docs/bootstrap.md).
 *
 * The bootstrap is a function of its inputs, as the node is: frames, carrier and time go in, frames come out. Legal
 * order: boot_open(), then any of rx, carrier, tick, tx_pull and stored, with a `now` that does not go back, then
 * boot_close(). It is opened before the node and lives as long as the daemon: until the server has a place it searches
 * for one; afterwards it checks the cables and answers newcomers.
 *
 *     boot_open         Every frame for which boot_owns() is true goes to boot_rx(), all others to the node, once there
 *                       is one.
 *     BOOT_SEARCHING    The server has no place yet. A bootstrap with a stored place begins with BOOT_AGREED.
 *     BOOT_AGREED       boot_place() gives the server's place. Store it (atomically, with fsync), then call
 *                       boot_stored(), then open the node with the links that boot_place()->direction names.
 *     BOOT_REFUSED      All that can be heard is known, and it is no torus, or this server does not fit in: see
 *                       boot_fault(). The bootstrap goes on listening, and searches again when a cable changes.
 *
 * What is promised:
 *   - A place that was agreed on is not changed and not taken back, whatever frames arrive.
 *   - The bootstrap agrees on a place only when every cable that it knows of is right (verify.h), and in a new torus
 *     only when all servers have announced the same solution.
 *   - Memory is bounded by servers_max (about 500 bytes for each server while searching, nothing once the server has a
 *     place), and so is the work of a call. Frames that do not have the right format are counted and otherwise ignored.
 *
 * "Ports" are numbered 0..5, a "direction" is a link (types.h), a server's "advert" is what it says of its six ports.
 */
#ifndef BOOT_BOOT_H
#define BOOT_BOOT_H

#include "boot/fault.h"
#include "boot/place.h"
#include "boot/plan.h"
#include "cubeway/time.h"

struct boot;

struct boot_timers {
    /* Between probes on a port while either end searches: 100 ms, a quarter more or less. */
    cw_span probe;
    /* Between probes on a port both ends of which have a place: 1 s, a quarter more or less. */
    cw_span probe_rest;
    /* A neighbour that was not heard for so long is gone: 1 s; ten times probe_rest when both ends have a place. */
    cw_span dead;
    /* At least so long passes between two versions of this server's advert: 200 ms. */
    cw_span hold;
    /*
     * The graph is solved when nothing has changed for so long; all must agree for so long before a place is taken: 1
     * s.
     */
    cw_span settle;
    /* Adverts that were not acknowledged are sent again after so long: 200 ms. */
    cw_span resend;
};

struct boot_config {
    /* Of this server: no other has it, it does not change, and it is not 0. */
    uint64_t id;
    /* For people: printable ASCII, padded with NULs; may be empty. */
    char name[BOOT_NAME_BYTES];
    /* A neighbour of another cluster is a fault. */
    uint32_t cluster;
    /* The labels (enum boot_label): all ports that exist have one, no two the same, or none of them has. */
    uint8_t port[CW_LINK_COUNT];
    /* The stored place, which is copied; NULL: none is stored. */
    const struct boot_place *place;
    /* What a server without a place expects; 0,0,0: whatever the cables say. */
    cw_dims dims;
    /* Adverts of more servers than this are not kept: 65,536. */
    uint32_t servers_max;
    /* Of the port with the smallest: bytes behind the Ethernet header of a frame, 1,500..9,000. */
    uint16_t mtu;
    uint64_t seed;
    struct boot_timers timers;
    /*
     * True when that server is known to be alive. A server with a place asks it about the server that belongs at the
     * other end of a cable, so that a newcomer does not take the place of a server whose cable was only moved. NULL:
     * nobody can say.
     */
    bool (*alive)(void *context, cw_coord server);
    void *alive_context;
};
/* All members have their defaults but id, name, cluster and place, which are 0; all six ports are labelled. */
struct boot_config boot_config_default(void);

/* Gives *out; *config is copied. -EINVAL: an id, label, place, size or timer is impossible; -ENOMEM. */
CW_MUST_CHECK int boot_open(struct boot **out, const struct boot_config *config, cw_time now);
/* Takes b, which may be NULL. */
void boot_close(struct boot *b);

/*
 * True when this frame, which begins with its frame head, is the bootstrap's: no frame mixes its packets with others.
 */
bool boot_owns(const uint8_t *frame, uint32_t length);

/*
 * Entries give the set of ports that have something to send now; call boot_tx_pull() for each while the port has room.
 * boot_rx() borrows the frame. Carrier is taken to be up at first.
 */
cw_links boot_rx(struct boot *b, unsigned port, const uint8_t *frame, uint32_t length, cw_time now);
cw_links boot_carrier(struct boot *b, unsigned port, bool up, cw_time now);
cw_links boot_tick(struct boot *b, cw_time now);
/* When boot_tick() is due. */
cw_time boot_next_wake(const struct boot *b);
/* Writes the port's next frame, at most room bytes (room is at least mtu), and gives its length; 0: there is none. */
uint32_t boot_tx_pull(struct boot *b, unsigned port, uint8_t *frame, uint32_t room, cw_time now);
/* Says that the place is on stable storage now: only then are others told of it. Only in BOOT_AGREED. */
cw_links boot_stored(struct boot *b, cw_time now);

enum boot_state { BOOT_SEARCHING, BOOT_AGREED, BOOT_REFUSED };
enum boot_state boot_state(const struct boot *b);
/* Borrowed from b; NULL when the state is not BOOT_AGREED. */
const struct boot_place *boot_place(const struct boot *b);

/*
 * What is wrong, with the faults to mend first in front: faults of the whole graph while this server has no place, of
 * its own ports afterwards. Good until the next entry. At most BOOT_FAULTS_MAX are kept; boot_progress() counts all.
 */
enum { BOOT_FAULTS_MAX = 128 };
unsigned boot_fault_count(const struct boot *b);
const struct boot_fault *boot_fault(const struct boot *b, unsigned i);

/* How far the search is, for logs and people. */
struct boot_progress {
    enum boot_state state;
    uint32_t servers;  /* known, this one included */
    uint32_t missing;  /* cables that one server names and the other end does not (yet): the search waits for these */
    uint32_t agreeing; /* of the known servers, those that announce this server's solution */
    uint32_t faults;   /* found */
    cw_dims dims;      /* of the solution so far; 0,0,0: there is none */
    uint64_t solution; /* its digest; 0: there is none, or it has faults */
    uint64_t refused_frames;  /* they did not have the right format */
    uint64_t refused_adverts; /* there was no room for them */
};
void boot_progress(const struct boot *b, struct boot_progress *out);

/* What is plugged into a port of this server, as far as the port has heard. */
struct boot_plug {
    bool carrier;
    bool heard;               /* somebody at the other end is heard */
    bool both_ways;           /* and hears this server */
    uint8_t direction;        /* of the port: as found, or as labelled */
    struct boot_who far;      /* who is at the other end; id 0: nobody */
    uint8_t far_port;         /* that server's number of the port */
    uint8_t far_direction;    /* BOOT_UNLABELLED: not known */
    struct boot_who expected; /* with a place: the position that should be there, with id 0 */
};
void boot_plug(const struct boot *b, unsigned port, struct boot_plug *out);

/*
 * Visits every known cable once (for `cwctl wiring`, beside plan.h): those of the whole graph while this server has no
 * place, its own afterwards. Servers are told of with the positions found so far.
 */
struct boot_seen_cable {
    struct boot_who from, to;
    uint8_t from_port, to_port;
    uint8_t from_direction, to_direction; /* as found or labelled; BOOT_UNLABELLED: not known */
};
void boot_cables(const struct boot *b, void (*visit)(void *context, const struct boot_seen_cable *cable),
                 void *context);

#endif
