/* SPDX-License-Identifier: Apache-2.0 */
/*
 * world.h - a torus of servers that run the real node (core/node.h), the links between them, and time.
 *
 * Guarantee: a world is a function of its config and of the calls made on it. Same config, same calls: the same run,
 * bit for bit, in every build, and the same world_digest(). Order at one instant: what was scheduled with world_at(),
 * then servers by id, one server's events by kind and input port (wheel.h).
 *
 *     world_open();  world_start_all();  workload_start(); fault_plan_schedule(); world_at();  world_run() ...
 *     world_close()
 *
 * Packets go from server to server by pointer; a packet-hop is one event while nobody waits for the link. Nothing is
 * allocated per hop. The invariants (check.h) are checked always; the first one broken ends the run:
 * world_run() gives 1 and world_violation() says what happened.
 *
 * Two clocks: true time, which everything here is in, and each server's own (rate and offset), which only its node
 * sees. One thread owns a world. Nothing in it is shared between servers but memory for packets and constant tables, so
 * that a world can be cut into windows of one propagation delay later.
 */
#ifndef SIMULATOR_WORLD_H
#define SIMULATOR_WORLD_H

#include "core/node.h"
#include "scenario/cluster.h"
#include "simulator/wire.h"

struct world;

/*
 * The streams of chance, one or more for each purpose (base/prng.h). What a seed means depends on these numbers: they
 * are for ever.
 */
enum world_stream {
    WORLD_STREAM_NODE = 1,   /* a node's seed; a stream for each server */
    WORLD_STREAM_WIRE = 2,   /* harm on a wire; a stream for each server * 6 + link */
    WORLD_STREAM_CLOCK = 3,  /* a server's clock; a stream for each server */
    WORLD_STREAM_CHECK = 4,  /* what sampled checks look at */
    WORLD_STREAM_FAULTS = 5, /* plans of faults that are drawn */
    WORLD_STREAM_CONFIG = 6, /* worlds that are drawn */
    WORLD_STREAM_BOOT = 7,   /* when servers start */
    WORLD_STREAM_RELAY = 8,  /* which servers have a relay, and what delays it; a stream for each start */
};

/*
 * -EINVAL (a bound is broken: timers that cannot keep the guarantee, dims, ring), -ERANGE (more hops than the budget),
 * -E2BIG (more servers than events can name), -ENOMEM. Gives a world at time 0 in which no server runs yet.
 */
CW_MUST_CHECK int world_open(struct world **out, const struct world_config *config);
void world_close(struct world *w);

/* ---- Time -------------------------------------------------------------------------------------------------------- */

cw_time world_now(const struct world *w);
/*
 * Runs all events up to `until`, which becomes now. 0. 1: an invariant broke or world_stop() was called, and the world
 * stopped at that instant.
 */
CW_MUST_CHECK int world_run(struct world *w, cw_time until);
void world_stop(struct world *w);
/*
 * Calls fn at that instant, which is not before now: ahead of all that servers do at it, and in the order of the calls
 * of world_at().
 */
void world_at(struct world *w, cw_time at, void (*fn)(struct world *w, void *arg), void *arg);

/* ---- Servers and cables ------------------------------------------------------------------------------------------ */

enum world_server_state { WORLD_DEAD, WORLD_RUNS, WORLD_PAUSED };

/*
 * Starts a dead server, with an incarnation above all that it wrote down. -EALREADY: it runs; -ENOMEM; or what the
 * open() of a service said.
 */
int world_start(struct world *w, cw_server s);
/* Starts all dead servers, each at an instant drawn from now to now + spread. */
void world_start_all(struct world *w, cw_span spread);
/* Kills the server's process: packets inside are lost. power: its cards die too, and neighbours lose carrier. */
void world_kill(struct world *w, cw_server s, bool power);
/* The server handles neither frames nor time for this span, and then goes on with what its card kept. */
void world_pause(struct world *w, cw_server s, cw_span span);
/* The server leaves in good order: its node tells the others, and is dead when that is done. */
void world_leave(struct world *w, cw_server s);
/* The cable at this link of s works or does not: in both directions, or only in that out of s. */
void world_cable(struct world *w, cw_server s, cw_link link, bool both, bool works);
/* Sets what goes wrong in the direction out of s by link, instead of what was set before. */
void world_harm(struct world *w, cw_server s, cw_link link, const struct wire_harm *harm);
/* The server's clock goes on from what it shows, at this rate. */
void world_clock(struct world *w, cw_server s, int32_t ppm);

/*
 * Gives the processor of s work that is not a frame's (a client's, say), behind what it has begun; frames wait for it
 * where processors take time. Returns when it will be done, until which the caller waits by itself. The work of a
 * server that dies is forgotten.
 */
cw_time world_occupy(struct world *w, cw_server s, cw_span work);

enum world_server_state world_state(const struct world *w, cw_server s);
/* NULL when dead. */
struct node *world_node(struct world *w, cw_server s);
/*
 * Sends a command to a service of s. -ENOENT when s is dead. A server that is paused takes the command as if it had
 * come just before the pause, so that services may be asked at any time; what follows from it leaves when the server
 * goes on. The sink is borrowed until done.
 */
int world_command(struct world *w, cw_server s, const char *service, int argc, const char *const *argv,
                  const struct node_request_sink *sink);

/*
 * Calls visit as an upcall of the service on s, with what the service exports (node_visit()): this is how a host's part
 * tells a service something. -ENOENT: s is dead or runs no such service. A paused server is visited as world_command()
 * does it.
 */
int world_visit(struct world *w, cw_server s, const char *service, unsigned version,
                void (*visit)(void *context, cw_svc *svc, const void *exports), void *context);

const struct torus *world_torus(const struct world *w);
const struct world_config *world_config(const struct world *w);
const cw_server *world_neighbours(const struct world *w);
const struct wire *world_wire(const struct world *w, cw_server s, cw_link link);
struct oracle *world_oracle(struct world *w);
unsigned world_running(const struct world *w);
/* How many of the running servers may deliver keys; and of how many the committed view is exactly their component. */
unsigned world_active(struct world *w);
unsigned world_agreeing(struct world *w);
/* The same of one server, which runs. One that is not active agrees with nobody. */
bool world_is_active(struct world *w, cw_server s);
bool world_agrees(struct world *w, cw_server s);

/* ---- What is seen ------------------------------------------------------------------------------------------------ */

/*
 * An observer of a world. Functions may be NULL. They borrow their arguments for the call, and may change the world
 * only through world_at() and world_stop().
 */
struct world_watch {
    void *context;
    /* A frame was given to a wire; flight says whether it arrives, and when. */
    void (*frame)(void *context, cw_server s, cw_link link, const struct cw_packet *frame, cw_time now,
                  const struct wire_flight *flight);
    /*
     * The points of node.h, enum node_point. NODE_QUEUED comes once for each packet and hop, and only from servers that
     * were started after this was set.
     */
    void (*packet)(void *context, cw_server s, enum node_point point, const struct cw_packet *p, cw_drop cause,
                   cw_time now);
    void (*log)(void *context, cw_server s, cw_level level, const char *service, const char *text, cw_time now);
    void (*server)(void *context, cw_server s, enum world_server_state state, cw_time now);
};
void world_watch(struct world *w, const struct world_watch *watch);

enum { WORLD_REASONS = 16 };
struct world_totals {
    cw_time now;
    uint64_t events;
    uint64_t frames, bytes;                 /* given to wires */
    uint64_t control_frames, control_bytes; /* given to wires in frames without data */
    uint64_t packet_hops;                   /* data packets given to wires */
    uint64_t made;                          /* data packets that entered the world */
    uint64_t duplicated;                    /* data packets copied by injection */
    uint64_t delivered;
    uint64_t delivered_keys;
    uint64_t ended;                  /* taken out on the way by a service */
    uint64_t held;                   /* times a packet waited for the right to deliver */
    uint64_t hops, hops_max;         /* of delivered packets */
    uint64_t dropped[CW_DROP_COUNT]; /* by nodes */
    uint64_t lost[WORLD_LOSSES];
    uint64_t relayed;               /* data packets that relays gave to wires, past the node */
    uint64_t judged[WORLD_REASONS]; /* data frames by enum relay_reason (wire/relay.h): 0 passed, else why not */
    uint64_t inside, flying;        /* now: in nodes, on wires and in cards */
    uint64_t starts, kills, pauses, cuts;
    uint64_t misdelivered, delivered_twice;
    uint64_t checks; /* invariants looked at */
};
void world_totals(struct world *w, struct world_totals *out);
/* The sum over all deliveries of a hash of (time, server, source, number, hops), and over what the nodes hold. */
uint64_t world_digest(struct world *w);
/* Bytes of memory: of all nodes, of the engine itself and of packets; of all nodes only. */
size_t world_bytes(struct world *w);
size_t world_node_bytes(struct world *w);

/*
 * What tells the packets of a job apart: so many bytes (up to 32) at this offset of their payload, different in any two
 * packets of one source, or of one link for packets to neighbours. Deliveries of the same packet twice are then found.
 */
struct world_stamp {
    cw_job job;
    uint32_t offset;
    uint32_t bytes;
};
void world_stamps(struct world *w, const struct world_stamp *stamp);

/* ---- Violations -------------------------------------------------------------------------------------------------- */

enum { WORLD_VIOLATION_SERVERS = 4, WORLD_VIOLATION_TEXT = 400 };
struct world_violation {
    unsigned invariant; /* of semantics 8.1; 0: none */
    cw_time at;
    cw_server server[WORLD_VIOLATION_SERVERS];
    unsigned servers;
    char text[WORLD_VIOLATION_TEXT]; /* one paragraph: what, seed, time, servers, command that replays */
};
/* The first; NULL when all is well. */
const struct world_violation *world_violation(const struct world *w);

#endif
