/* SPDX-License-Identifier: Apache-2.0 */
/*
 * boot.h - servers that know only their six ports find the torus they are cabled as (CamCubeOS 3.1; docs/bootstrap.md).
 *
 * A function of its inputs, as the node is: frames, carrier and time in, frames out. Legal order: boot_open, then any of
 * rx / carrier / tick / tx_pull / stored with a now that never goes back, then boot_close. It is opened before the node and
 * lives as long as the daemon: until the server has a place it searches, afterwards it checks the cables and answers newcomers.
 *
 *     boot_open            every frame for which boot_owns() is true goes to boot_rx(), all others to the node, if there is one
 *     BOOT_SEARCHING  ->   BOOT_AGREED: boot_place() says where; store it (atomic, fsync), then boot_stored(), then open the
 *                          node with the links as boot_place()->direction says. With a stored place it begins agreed.
 *     BOOT_REFUSED         all that can be heard is known, and it is no torus, or this server does not fit in: boot_fault()s say
 *                          why. It goes on listening and searches again when a cable changes.
 *
 * What is promised:
 *   - a place, once agreed on, is never changed nor taken back: not by any frame, and a stored one not by any neighbour;
 *   - it agrees on a place only when every cable it knows of is right (verify.h), and in a new torus only when all servers have
 *     announced the same solution;
 *   - memory is bounded by servers_max (about 500 bytes a server while searching, none once it has a place), and so is the work of
 *     a call; frames that do not fit the format are counted and otherwise ignored.
 */
#ifndef BOOT_BOOT_H
#define BOOT_BOOT_H

#include "boot/fault.h"
#include "boot/place.h"
#include "boot/plan.h"
#include "cubeway/time.h"

struct boot;

struct boot_timers {
    cw_span probe;      /* between probes on a port while somebody searches: 100 ms, a quarter more or less */
    cw_span probe_rest; /* between probes of a server that has a place to one that has: 1 s */
    cw_span dead;       /* a neighbour not heard for so long is not there: 1 s; at rest ten times probe_rest */
    cw_span hold;       /* between two versions of what this server says of its cables: 200 ms */
    cw_span
        settle; /* the graph is taken as it is when nothing has changed for so long, and again before agreeing: 1 s */
    cw_span resend; /* what was flooded and not acknowledged is sent again: 200 ms */
};

struct boot_config {
    uint64_t id;                /* of this server, the same for ever, of no other; never 0 */
    char name[BOOT_NAME_BYTES]; /* for people: printable ASCII, padded with NULs; may be empty */
    uint32_t cluster;           /* neighbours of another cluster are a fault */
    uint8_t
        port[CW_LINK_COUNT]; /* labels: all ports that are there are labelled (each with its own number), or none is */
    const struct boot_place *place; /* the stored one, copied; NULL: none */
    cw_dims dims;                   /* expected, for a server without a place; 0,0,0: whatever the cables say */
    uint32_t servers_max;           /* 65,536: adverts of more servers are not kept */
    uint16_t mtu;                   /* of the narrowest port: bytes of a frame, 1,500..9,000 */
    uint64_t seed;
    struct boot_timers timers;
    /*
     * Is that server known to live? Asked by a server with a place about the one across a cable, so that a newcomer does not take the
     * place of a server whose cable was moved. NULL: nobody can say.
     */
    bool (*alive)(void *context, cw_coord server);
    void *alive_context;
};
/* Everything filled with the defaults but id, name, cluster and place; all six ports labelled. */
struct boot_config boot_config_default(void);

/* -EINVAL (an id, label, place, size or timer is impossible) or -ENOMEM. */
CW_MUST_CHECK int boot_open(struct boot **out, const struct boot_config *config, cw_time now);
void boot_close(struct boot *b); /* NULL allowed */

/* Is this frame (frame head first) one of the bootstrap's? Its packets are never mixed with others in one frame. */
bool boot_owns(const uint8_t *frame, uint32_t length);

/* Entries give the ports that have something to send, as bits; ask boot_tx_pull() of each while the port has room. */
cw_links boot_rx(struct boot *b, unsigned port, const uint8_t *frame, uint32_t length, cw_time now); /* borrows */
cw_links boot_carrier(struct boot *b, unsigned port, bool up, cw_time now); /* ports begin up */
cw_links boot_tick(struct boot *b, cw_time now);
cw_time boot_next_wake(const struct boot *b);
/* Writes the next frame of a port, at most room (at least mtu) bytes; gives its length, 0 when there is none. */
uint32_t boot_tx_pull(struct boot *b, unsigned port, uint8_t *frame, uint32_t room, cw_time now);
/* The place is on stable storage (-> nothing may tell others of it before). Only when agreed. */
cw_links boot_stored(struct boot *b, cw_time now);

enum boot_state { BOOT_SEARCHING, BOOT_AGREED, BOOT_REFUSED };
enum boot_state boot_state(const struct boot *b);
/* Borrowed from b; NULL until it is agreed. */
const struct boot_place *boot_place(const struct boot *b);

/*
 * What is wrong, the ones to mend first in front: of the whole graph while this server has no place, of its own ports afterwards.
 * They hold until the next entry. At most BOOT_FAULTS_MAX are kept; boot_progress().faults counts all.
 */
enum { BOOT_FAULTS_MAX = 128 };
unsigned boot_fault_count(const struct boot *b);
const struct boot_fault *boot_fault(const struct boot *b, unsigned i);

/* How far it is, for logs and people. */
struct boot_progress {
    enum boot_state state;
    uint32_t servers;  /* known, this one too */
    uint32_t missing;  /* named by others, but not heard of: above 0 it goes on waiting */
    uint32_t agreeing; /* of servers, those that announce this server's solution */
    uint32_t faults;
    cw_dims dims;                             /* of the solution so far, 0,0,0 when there is none */
    uint64_t solution;                        /* its digest; 0: none, or not without faults */
    uint64_t refused_frames, refused_adverts; /* not of the format; for want of room */
};
void boot_progress(const struct boot *b, struct boot_progress *out);

/* What is plugged into a port of this server, as heard. */
struct boot_plug {
    bool carrier, heard, both_ways;
    uint8_t direction;        /* of the port: as found, or as labelled */
    struct boot_who far;      /* id 0: nobody */
    uint8_t far_port;         /* its number there */
    uint8_t far_direction;    /* BOOT_UNLABELLED: not known */
    struct boot_who expected; /* when this server has a place: who should be there, id 0 */
};
void boot_plug(const struct boot *b, unsigned port, struct boot_plug *out);

/*
 * Every cable that is known, seen from both ends once (data of `cwctl wiring`, beside plan.h): all of the graph while this server
 * has no place, its own afterwards. who.placed with the positions so far.
 */
struct boot_seen_cable {
    struct boot_who from, to;
    uint8_t from_port, to_port;
    uint8_t from_direction, to_direction; /* as found or labelled, BOOT_UNLABELLED */
};
void boot_cables(const struct boot *b, void (*visit)(void *context, const struct boot_seen_cable *cable),
                 void *context);

#endif
