/* SPDX-License-Identifier: Apache-2.0 */
/*
 * node.h - one server as a function of its inputs: frames and time in, frames out (architecture, "The node").
 *
 * Legal order: node_open, then any of rx / carrier / tick / tx_pull / service calls with a now that never goes back,
 * then node_close. Every entry that returns cw_links returns the links that now have something to send. The pump pulls
 * frames for a link while that link has room, until it gets NULL. Nothing leaves inside an entry, and no entry calls
 * another.
 *
 * The pump pulls links that have room at the same instant in turns, beginning behind the link that was pulled last. If
 * it always began with the same link, every packet would find that one idle, and of several shortest paths only one
 * would be used (300 packets that could leave by six links took 0.97 ms so, and 0.56 ms in turns).
 *
 * No globals, no clock, no threads: 4,096 nodes run in one process. One thread owns a node.
 */
#ifndef CORE_NODE_H
#define CORE_NODE_H

#include "base/siphash.h"
#include "base/upcall.h"
#include "core/queue/pkt.h"
#include "cubeway/err.h"
#include "cubeway/service.h"
#include "linkstate/linkstate.h"
#include "nmu/desk.h"

struct node;

struct node_config {
    cw_dims dims;
    cw_coord self;
    uint32_t cluster;
    uint32_t config_hash;
    uint64_t incarnation;
    bool alone;               /* may serve before it ever had a link (a cluster of one server) */
    uint16_t mtu;             /* bytes of a frame behind the Ethernet header, 1,500..9,000; the same on all links */
    uint8_t hop_limit;        /* default 64; at least the diameter */
    uint32_t queue_packets;   /* limit of a service's queue, unless its policy says another: 1,024 */
    uint32_t queue_bytes;     /* the same in bytes: 8 MiB */
    uint32_t hold_bytes;      /* limit of held packets, of all services together: 8 MiB (semantics 4.5) */
    uint64_t bits_per_second; /* of a link, as services are told; 0: unknown */
    uint32_t nmu_jobs;        /* room in the NMU for jobs, resident and reachable ones: 64 */
    /* Room in the NMU for (remote job, port) pairs, for spans of processes and for ranges of servers, each: 256. */
    uint32_t nmu_grants;
    uint32_t guests; /* attached processes that may be here at one time (nmu/guests.h): 0 */
    /*
     * For authors of services: each misuse of the service API is logged by its function, and packets that a service
     * has freed, or lost with the end of its upcall, are filled with NODE_POISON, and go home a little later: who still
     * writes to one is logged, too.
     */
    bool strict;
    struct about about; /* what neighbours are told of this server's software (wire/about.h) */
    struct ls_timers timers;
};
enum { NODE_POISON = 0xdb };
/* The defaults, for all members but dims, self, cluster and incarnation. */
struct node_config node_config_default(void);
/*
 * What node_open() would say of it: 0; -EINVAL: a limit or an address is impossible; -ERANGE: the diameter is larger
 * than the hop limit.
 */
CW_MUST_CHECK int node_config_check(const struct node_config *config);

/*
 * The points of a packet's way that an observer (the simulator's oracle, captures) may be told of. The packet's head is
 * decoded, except when it is dropped as MALFORMED, STALE_LINK or GATE_OVERFLOW, or as CLOSED at the gate: then there
 * are only bytes.
 */
enum node_point {
    NODE_QUEUED,    /* entered a queue (sent here or in transit) */
    NODE_DELIVERED, /* about to be handed to a service as its destination: the last step before the upcall */
    NODE_DROPPED,   /* cause in the argument */
    NODE_HELD,      /* waits for the right to deliver */
};
/* An observer. Functions may be NULL; all is borrowed for the node's life. */
struct node_watch {
    void *context;
    unsigned deaf; /* set of 1 << enum node_point: the points that packet() is not called for */
    void (*packet)(void *context, const struct node *n, enum node_point point, const struct cw_packet *p, cw_drop cause,
                   cw_time now);
    void (*log)(void *context, const struct node *n, cw_level level, const char *service, const char *text,
                cw_time now);
};

/*
 * Something of the host's that cw_find() gives to built-in services: names and versions are the host's and the
 * service's affair.
 */
struct node_object {
    const char *name; /* NULL: the end of the table */
    unsigned version;
    const void *object; /* borrowed for the node's life, not NULL */
};

/*
 * Measures upcalls for a pump that has a clock: read() is called before and after each, and what it gives does nothing
 * to what the node does. slow() is told of an upcall that took longer than the limit, after it has returned; `upcall`
 * is "on_packet" or its like. Both are set, or neither.
 */
struct node_meter {
    void *context;
    int64_t (*read)(void *context); /* nanoseconds of a clock that never goes back */
    void (*slow)(void *context, const struct node *n, const char *service, const char *upcall, cw_span held);
    cw_span limit;
};

struct node_env {
    struct pkt_home *packets;    /* borrowed */
    const cw_server *neighbours; /* borrowed; see ls_config */
    uint64_t seed;
    struct node_watch watch;
    /*
     * Runs a service's work away from the node's thread; `cost` is the service's guess of its length. Whoever owns the
     * node calls node_offload_done(ticket) afterwards. NULL: work runs at once, inside the service's call.
     */
    void (*offload)(void *context, struct node *n, void (*work)(void *), void *arg, uint64_t ticket, cw_span cost);
    void *offload_context;
    /*
     * Gives the value that an operator set for a service's option (cw_option), borrowed until the service is removed,
     * or NULL: it is not set. A node without this function has no options.
     */
    const char *(*option)(void *context, const char *service, const char *name);
    void *option_context;
    /* Borrowed; NULL: none. A service whose exports have the name and version of one of these does not load. */
    const struct node_object *objects;
    /* A key that nobody else knows, borrowed for node_open(). NULL: the NMU's tables are not sealed (NMU 6.2). */
    const struct siphash_key *seal;
    struct nmu_source records; /* where the node looks for the job records it needs; without a source: default deny */
    struct upcall_mark *mark;  /* borrowed; the node says there in which upcall it is. NULL: nobody wants to know */
    struct node_meter meter;
};

CW_MUST_CHECK int node_open(struct node **out, const struct node_config *config, const struct node_env *env);
/* Call before node_close(): services start no offloaded work any more, so that what is under way comes to an end. */
void node_end_offloads(struct node *n);
/* Data packets of a node's whole life. */
struct node_tally {
    uint64_t made;      /* sent here, or dropped here before they could be sent */
    uint64_t delivered; /* handed to services here as their destination */
    uint64_t ended;     /* taken by services here that they passed by */
};
/*
 * Closes the services and drops what is inside (CW_DROP_CLOSED), so that every packet goes home. All offloaded work
 * must have been reported. Gives the final tally: services make packets to the very end, such as answers that cannot be
 * sent any more.
 */
struct node_tally node_close(struct node *n, cw_time now);

cw_links node_rx(struct node *n, cw_link in, struct cw_packet *frame, cw_time now); /* takes the frame */
/*
 * For a pump that knows which frame comes next: prefetches what node_rx() of that frame will touch. Changes nothing.
 * The frame is not checked, so that the guess may be wrong.
 */
void node_expect(const struct node *n, const struct cw_packet *frame);
cw_links node_carrier(struct node *n, cw_link link, bool up, cw_time now);
cw_links node_tick(struct node *n, cw_time now);
struct cw_packet *node_tx_pull(struct node *n, cw_link link, cw_time now); /* gives a frame, or NULL */
/* The links that have something to send, as every entry returns them: a pull may have made work for others. */
cw_links node_tx_links(const struct node *n);
cw_time node_next_wake(const struct node *n);
cw_links node_offload_done(struct node *n, uint64_t ticket, cw_time now);

/*
 * Services. Adding gives -EEXIST (its job or name is taken), -EINVAL (the table), -ENOSPC (there are 63), -ENOMEM, or
 * what its open() said; the table is copied, what it points at is borrowed for the service's life. Removing gives
 * -ENOENT, or -EBUSY while offloaded work of it runs. Links that have something to send because of these calls are
 * returned by the next node_tick().
 */
CW_MUST_CHECK int node_service_add(struct node *n, const cw_service *table, cw_time now);
int node_service_remove(struct node *n, cw_job job, cw_time now);
/*
 * The name of a service of this node that has found what the service of that job exports (cw_find()), and may use it as
 * long as both run; NULL: there is none. Whoever removes the found one first leaves the other with dead pointers.
 */
const char *node_service_user(struct node *n, cw_job job);
struct node_service_policy {
    uint32_t weight;        /* 1..1000: its share of a link, relative to others of its class */
    bool background;        /* it is served only while no foreground service wants the link */
    uint32_t queue_packets; /* limits of its queue */
    uint32_t queue_bytes;
    enum node_drop_policy {
        NODE_DROP_TAIL,     /* full: the newcomer is refused */
        NODE_DROP_OLDEST,   /* full: the oldest makes room */
        NODE_DROP_PRIORITY, /* full: the youngest of the lowest priority goes, which may be the newcomer */
    } drop;
};
/* -ENOENT; -EINVAL: out of range (a queue holds at least one packet of mtu bytes). Packets that wait stay. */
int node_service_policy(struct node *n, cw_job job, const struct node_service_policy *policy);

/* The i-th service of the node; false: there are no more. Names are borrowed until the service is removed. */
struct node_service_info {
    const char *name, *version;
    cw_job job;
    struct node_service_policy policy;
    uint32_t queued_packets, queued_bytes;
    uint32_t in_hand;       /* packets in its hands: made or kept, and not yet sent or freed */
    uint32_t timers, calls; /* that run, and that are open */
    uint64_t misuses;       /* of the service API, as far as they are noticed; node_config.strict logs them */
    uint32_t commands;      /* operators' commands that it has taken and not ended; of the oldest: */
    const char *command;    /* its words, as far as they were kept; "": there is none. Borrowed until the next entry */
    cw_time command_came;
};
bool node_service_at(const struct node *n, unsigned i, struct node_service_info *out);

/*
 * An operator's command for a service. What it answers goes to the sink; done() is called exactly once, perhaps later.
 */
struct node_request_sink {
    void *context;
    void (*row)(void *context);
    void (*integer)(void *context, const char *name, int64_t value);
    void (*text)(void *context, const char *name, const char *value);
    void (*done)(void *context, int rc);
};
cw_links node_command(struct node *n, const char *service, int argc, const char *const *argv,
                      const struct node_request_sink *sink, cw_time now);

/*
 * Calls visit as an upcall of the service, with what the service exports: this is how a gateway that serves clients of
 * this machine asks it. False: no service of that name runs here with exports of that version, and visit was not
 * called. *links gets the links that now have something to send.
 */
bool node_visit(struct node *n, const char *service, unsigned version,
                void (*visit)(void *context, cw_svc *s, const void *exports), void *context, cw_time now,
                cw_links *links);

/*
 * For simulators (linkstate.h, "begun at rest"): makes a node that was opened, and to which nothing has happened, what
 * it is at rest in a torus that is whole. Services are added behind it, and find the view as it is.
 */
void node_start_settled(struct node *n, const struct record *records, const struct ls_settled_link links[CW_LINK_COUNT],
                        cw_time now);

/*
 * Orderly end: others take over this server's keys from now on. node_left(): they have, and node_close() loses nothing.
 */
void node_leave(struct node *n, cw_time now);
bool node_left(const struct node *n, cw_time now);

/*
 * Job protection (NMU 4; nmu rule 7). Goes by this record of a job from now on. The bytes are borrowed for the call;
 * the caller has checked that an operator signed them. 1; 0: this server needs nothing of it. -EBADMSG: the bytes are
 * no record; -ESTALE: a later record of the job is here; -ENOSPC: the tables cannot hold it, and all is as before.
 * Records of jobs that this one names are then looked for (node_env.records, nmu/desk.h).
 */
CW_MUST_CHECK int node_job_put(struct node *n, const uint8_t *record, size_t size);
/* Borrows the NMU's tables until the next put, or until a service is added or removed. */
const struct nmu *node_nmu(const struct node *n);

/* What operators and tests look at. */
struct linkstate *node_linkstate(struct node *n);
cw_server node_self(const struct node *n);
uint64_t node_drops(const struct node *n, cw_drop cause);
size_t node_packets_inside(const struct node *n); /* queued and held */
struct node_tally node_tally(const struct node *n);
uint64_t node_digest(const struct node *n); /* over all state that decides what the node does next */
size_t node_bytes(const struct node *n);
/* Calls visit for each counter, the node's own first. */
void node_counters(const struct node *n,
                   void (*visit)(void *context, const char *service, const char *name, uint64_t value), void *context);
/* Calls visit for each histogram of a service. */
struct histogram;
void node_histograms(const struct node *n,
                     void (*visit)(void *context, const char *service, const char *name, const struct histogram *h),
                     void *context);
/* Calls visit for each kind of upcall of each service that was measured (node_meter): how long it took. */
void node_upcalls(const struct node *n,
                  void (*visit)(void *context, const char *service, const char *upcall, const struct histogram *h),
                  void *context);

#endif
