/* SPDX-License-Identifier: Apache-2.0 */
/*
 * world_internal.h - struct world. Only world.c, servers.c, cables.c, pump.c, seen.c and the checks include it.
 *
 *   world.c    opening, closing, time, totals
 *   pump.c     events to nodes and frames to wires: everything that runs once per hop
 *   servers.c  servers start, die, pause, leave; clocks
 *   cables.c   cables break, wires are harmed, carrier
 *   seen.c     what nodes tell: deliveries, drops, logs
 */
#ifndef SIMULATOR_WORLD_INTERNAL_H
#define SIMULATOR_WORLD_INTERNAL_H

#include "base/check.h"
#include "simulator/check.h"
#include "simulator/oracle.h"
#include "simulator/wheel.h"
#include "simulator/world.h"

/* One server as the engine sees it: a cache line for what every event touches, another for what is rare. */
struct sim_server {
    struct node *node;
    struct linkstate *linkstate; /* the node's */
    int64_t wake_ns;             /* true time of the wake event that counts; INT64_MAX: none is queued */
    uint64_t notes;              /* ls_notes(), as last looked at */
    int64_t clock_true;          /* its clock showed clock_local at this true time, and since then runs off by ppm */
    int64_t clock_local;
    int32_t ppm;
    uint8_t state;   /* enum world_server_state */
    bool working;    /* an EVENT_WORK is queued */
    cw_links polled; /* links that a poll is queued for: they are busy until then */
    cw_links light;  /* carrier, as its node was told */
    bool powered;
    cw_link turn; /* the link that was given a frame last */
    struct cw_packet *card_first,
        *card_last; /* frames that wait for its processor, by their `next`; `in` is the port */

    int64_t busy_ns; /* its processor is free from this true time on */
    uint32_t card_count;
    uint32_t starts;
    uint64_t stored; /* stable storage: the highest incarnation it ever used */
    bool leaving;
    cw_links cut; /* cables that do not work outwards */
} __attribute__((aligned(64)));

/* Something that world_at() promised. */
struct action {
    void (*fn)(struct world *w, void *arg);
    void *arg;
};

struct world {
    struct world_config config;
    struct torus torus;
    uint32_t servers;
    uint32_t ps_per_byte;
    cw_links links; /* that have a cable */
    bool clocks;    /* some server's clock is not true time */
    bool busy;      /* processors take time */
    bool stopped;
    bool killing; /* a node is being closed: what it drops died with it */
    cw_time now;
    struct sim_server *server; /* by id */
    struct wire *wire;         /* [server * 6 + link], outwards */
    cw_server *neighbours;     /* the same */
    struct wheel wheel;
    struct book *book; /* the jobs of the services */
    struct pkt_home *packets;
    struct check *check; /* NULL: off */
    struct oracle oracle;
    struct world_totals totals; /* what is counted as it happens */
    uint64_t deliveries;        /* sum of their hashes */
    struct world_watch watch;
    struct world_stamp stamp;
    uint32_t running;
    uint32_t still;         /* events at this instant: time must move on */
    struct wire_harm *harm; /* [server * 6 + link]; NULL until the first */
    struct prng *harm_random;
    /* Called when a server has started: the workload joins in. */
    void (*started)(struct world *w, cw_server s, void *context);
    void *started_context; /* from malloc(), the world's */
    struct world_violation violation;
};

/* ---- pump.c ------------------------------------------------------------------------------------------------------ */

/* The server's own time. */
cw_time pump_local(const struct world *w, const struct sim_server *h);
/* After an entry of s: links have something to send. */
void pump_after(struct world *w, cw_server s, cw_links links);
/* One event. */
void pump_event(struct world *w, const struct wheel_event *e);
/* The processor of h does this work behind what it has begun; when that is done. */
cw_time pump_occupy(const struct world *w, struct sim_server *h, cw_span work);
/* What s is asked again after a pause. */
void pump_resume(struct world *w, cw_server s);
/* Data packets in a frame. */
uint32_t pump_data_packets(const struct cw_packet *frame);
/* Takes a frame that goes no further. */
void pump_lose(struct world *w, struct cw_packet *frame, enum world_loss cause);
/* Looks at the link state of s anew: oracle, checks. */
void pump_look(struct world *w, cw_server s);

/* ---- servers.c, cables.c ----------------------------------------------------------------------------------------- */

/* Frames waiting at the card of s are lost. */
void servers_empty_card(struct world *w, cw_server s, enum world_loss cause);
/* Work that ran beside a node is done (EVENT_OFFLOAD). */
struct beside;
void servers_offload(void *context, struct node *n, void (*work)(void *), void *arg, uint64_t ticket, cw_span cost);
void servers_offload_done(struct world *w, cw_server s, struct beside *b);
/* Whether the link of s has light. */
bool cables_light(const struct world *w, cw_server s, cw_link link);
/* s and its neighbours see by and by what is so. */
void cables_tell(struct world *w, cw_server s, cw_link link);

/* ---- seen.c ------------------------------------------------------------------------------------------------------ */

struct node_watch seen_watch(struct world *w);

#endif
