/* SPDX-License-Identifier: Apache-2.0 */
/*
 * world_internal.h - struct world. For the files below, workload.c, the checks, and tests that look inside.
 *
 *   world.c    opening, closing, time, totals
 *   pump.c     gives events to nodes and frames to wires: everything that runs once per hop
 *   servers.c  servers start, die, pause, leave; their clocks
 *   cables.c   cables break and are mended, wires are harmed, carrier comes and goes
 *   relays.c   frames that go on past the node
 *   seen.c     what nodes tell their observer: deliveries, drops, logs
 */
#ifndef SIMULATOR_WORLD_INTERNAL_H
#define SIMULATOR_WORLD_INTERNAL_H

#include "base/check.h"
#include "scenario/oracle.h"
#include "simulator/check.h"
#include "simulator/wheel.h"
#include "simulator/world.h"

/* One simulated server: a cache line for what every event touches, another for what is rare. */
struct sim_server {
    struct node *node;
    struct linkstate *linkstate; /* the node's */
    int64_t wake_ns;             /* true time of the wake event that counts; INT64_MAX: none is queued */
    int64_t woke_ns;             /* the instant of its last wake, */
    uint32_t wakes;              /* and how many wakes it had at that instant before */
    uint64_t notes;              /* ls_notes() when pump_look() was called last */
    int64_t clock_true;          /* at this true time its clock showed clock_local; since then it runs off by ppm */
    int64_t clock_local;
    int32_t ppm;     /* by how much its clock is fast, in millionths */
    uint8_t state;   /* enum world_server_state */
    bool working;    /* an EVENT_WORK is queued */
    cw_links polled; /* links for which a poll is queued: they are busy until then */
    cw_links light;  /* the links that have carrier, as its node was told */
    bool powered;    /* its cards have power: neighbours see carrier */
    cw_link turn;    /* the link that was given a frame last */
    /* Frames in its card that wait for its processor, a list through `next`; `in` of each is its port. */
    struct cw_packet *card_first, *card_last;

    int64_t busy_ns;         /* its processor is free from this true time on */
    uint32_t card_count;     /* frames in that list */
    uint32_t starts;         /* how often it was started */
    uint64_t stored;         /* its stable storage: the highest incarnation that it ever used */
    bool leaving;            /* an orderly leave is under way */
    cw_links cut;            /* its cables that do not work outwards */
    int64_t since_ns;        /* it has been in its state since this true time */
    cw_time stands;          /* while it is paused: what its clock showed when it stopped */
    struct sim_relay *relay; /* NULL: it has none */
} __attribute__((aligned(64)));

/* A call that world_at() has promised. */
struct action {
    void (*fn)(struct world *w, void *arg);
    void *arg;
};

struct world {
    struct world_config config;
    struct torus torus;
    uint32_t servers;
    uint32_t ps_per_byte;
    cw_links links; /* the links for which the torus has cables */
    bool clocks;    /* some server's clock differs from true time */
    bool busy;      /* processors take time for frames */
    bool stopped;   /* world_stop(), or a broken invariant */
    bool killing;   /* a node is being closed: packets that it drops count as killed with it */
    cw_time now;
    struct sim_server *server; /* by id */
    struct wire *wire;         /* [server * 6 + link], outwards */
    cw_server *neighbours;     /* [server * 6 + link]: who is at the far end */
    struct wheel wheel;
    struct book *book; /* the jobs of the services */
    struct pkt_home *packets;
    struct check *check; /* NULL: invariants are not checked */
    struct oracle oracle;
    struct world_totals totals; /* the members that are counted as things happen; the others are filled when asked */
    uint64_t deliveries;        /* sum of the hashes of all deliveries, for the digest */
    struct world_watch watch;
    struct world_stamp stamp;
    uint32_t running;       /* servers that are not dead */
    uint32_t still;         /* events at this instant so far; too many: time stands still */
    struct wire_harm *harm; /* [server * 6 + link]; NULL until a wire is harmed */
    struct prng *harm_random;
    /* Called when a server has started, so that it gets the workload. */
    void (*started)(struct world *w, cw_server s, void *context);
    void *started_context; /* from malloc(); the world frees it */
    struct world_violation violation;
};

/* ---- pump.c ------------------------------------------------------------------------------------------------------ */

/* Now, by the server's own clock. */
cw_time pump_local(const struct world *w, const struct sim_server *h);
/* After an entry of s, which returned these links: sends what can be sent, and arms the server's wake. */
void pump_after(struct world *w, cw_server s, cw_links links);
/* Carries out one event. */
void pump_event(struct world *w, const struct wheel_event *e);
/* Gives the server's processor this work, behind what it has begun. Returns when it will be done. */
cw_time pump_occupy(const struct world *w, struct sim_server *h, cw_span work);
/* s goes on after a pause: it hears what its card has kept, then judges its neighbours. */
void pump_resume(struct world *w, cw_server s);
/* Data packets in a frame. */
uint32_t pump_data_packets(const struct cw_packet *frame);
/* Takes a frame that goes no further, and counts its data packets as lost by this cause. */
void pump_lose(struct world *w, struct cw_packet *frame, enum world_loss cause);
/* Tells the oracle and the checks what the link state of s has changed. */
void pump_look(struct world *w, cw_server s);
/* The first half of it: the oracle is told what s, which runs, says of itself. */
void pump_note(struct world *w, cw_server s);

/* Takes a frame, and gives it to the wire; if its card has no room, it waits there. */
void pump_give(struct world *w, cw_server s, cw_link link, struct cw_packet *frame);

/* ---- relays.c ---------------------------------------------------------------------------------------------------- */

/* s starts, and its services are there: draws whether it has a relay. 0; -ENOMEM. */
int relays_start(struct world *w, cw_server s);
void relays_free(struct world *w, cw_server s);
/* What becomes of the relay of a daemon that is killed. */
enum relays_end {
    RELAYS_GONE,    /* it ends with the process */
    RELAYS_WATCHED, /* the watcher stops it, and says goodbye */
    RELAYS_LEFT,    /* it goes on until the lease is over */
    RELAYS_ENDS,
};
struct relays_last {
    enum relays_end way;
    uint32_t live; /* as it was published */
    uint64_t lease;
    struct cw_packet *goodbye[CW_LINK_COUNT]; /* by the watcher; NULL: none */
};
/* Before the node of s is closed, and after s is dead. */
void relays_killing(struct world *w, cw_server s, bool power, struct relays_last *last);
void relays_killed(struct world *w, cw_server s, struct relays_last *last);
/* A frame has come to s, which has a relay. True: takes it, and it goes on past the node. */
bool relays_take(struct world *w, cw_server s, cw_link port, struct cw_packet *frame);
/* Takes a frame that was judged a little earlier: it leaves now. */
void relays_commit(struct world *w, cw_server s, cw_link out, struct cw_packet *frame);
/* A frame that came to h waits in its card no longer: the node gets it, or there was no room for it. */
void relays_left_socket(struct sim_server *h, const struct cw_packet *frame);
/* The node of h has sent a frame of so many bytes. */
void relays_sent(const struct world *w, struct sim_server *h, cw_link link, uint32_t size);
/* How long frames that go up wait before the node of h, which has a relay, gets them. */
cw_span relays_socket_wait(const struct world *w, struct sim_server *h);
/* Draws whether the turn of h, which has a relay, ends with the entry that has just ended. */
bool relays_turn_ends(struct sim_server *h);
/* The end of a turn of s, which has a relay. Returns the links that now have something to send. */
cw_links relays_publish(struct world *w, cw_server s);
/* The lease of h, which runs or is paused, by its own clock; 0: it has none. */
cw_time relays_lease(const struct sim_server *h);

/* ---- servers.c, settled.c, cables.c ------------------------------------------------------------------------------ */

/*
 * The three steps of a start: the node of s, which is dead; its services and its relay, after which it is dead again if
 * that failed; and all that follows, with the links that have something to send.
 */
CW_MUST_CHECK int servers_open(struct world *w, cw_server s);
CW_MUST_CHECK int servers_equip(struct world *w, cw_server s);
void servers_go(struct world *w, cw_server s, cw_links links);
/* Starts all servers, of which none ever ran, as they are at rest. 0, or the error of the first that did not start. */
CW_MUST_CHECK int settled_start(struct world *w);

/* Frames that wait in the card of s are lost. */
void servers_empty_card(struct world *w, cw_server s, enum world_loss cause);
/* Offloaded work: node_env.offload, and what EVENT_OFFLOAD does when the work is done. */
struct beside;
void servers_offload(void *context, struct node *n, void (*work)(void *), void *arg, uint64_t ticket, cw_span cost);
void servers_offload_done(struct world *w, cw_server s, struct beside *b);
/* True when the link of s has carrier. */
bool cables_light(const struct world *w, cw_server s, cw_link link);
/* Both ends of the link of s will see its carrier as it is now, after config.carrier. */
void cables_tell(struct world *w, cw_server s, cw_link link);

/* ---- seen.c ------------------------------------------------------------------------------------------------------ */

struct node_watch seen_watch(struct world *w);

#endif
