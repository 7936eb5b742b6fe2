/* SPDX-License-Identifier: Apache-2.0 */
/*
 * node.h - one server as a function of its inputs: frames and time in, frames out (architecture, "The node").
 *
 * Legal order: node_open, then any of rx / carrier / tick / tx_pull / service calls with a now that never goes back,
 * then node_close. Every entry that returns cw_links names the links that now have something to send; the pump pulls a
 * link when that link has room, until NULL. Nothing leaves inside an entry, and no entry calls another.
 *
 * Links that have room at the same instant are pulled in turns, beginning behind the one pulled last. Beginning always
 * with the same one makes one path of many, as every packet finds that link idle (300 packets with six minimal first
 * links took 0.97 ms, in turns 0.56).
 *
 * No globals, no clock, no threads: 4,096 of them run in one process. One thread owns a node.
 */
#ifndef CORE_NODE_H
#define CORE_NODE_H

#include "base/siphash.h"
#include "core/pkt.h"
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
    bool alone;
    uint16_t mtu;             /* bytes behind the Ethernet header of one frame, 1,500..9,000; same on all links */
    uint8_t hop_limit;        /* 64; at least the diameter */
    uint32_t queue_packets;   /* per service, default for its queue: 1,024 */
    uint32_t queue_bytes;     /* per service: 8 MiB */
    uint32_t hold_bytes;      /* held packets, all services: 8 MiB (semantics 4.5) */
    uint64_t bits_per_second; /* of a link, told to services; 0 unknown */
    uint32_t nmu_jobs;        /* room in the NMU for jobs, resident and reachable: 64 */
    /* Room in the NMU for (remote job, port) pairs, for spans of processes and for ranges of servers, each: 256. */
    uint32_t nmu_grants;
    struct ls_timers timers;
};
/* Everything but dims, self, cluster and incarnation filled with the defaults. */
struct node_config node_config_default(void);
/*
 * -EINVAL (a limit or an address is impossible) or -ERANGE (the diameter is beyond the hop limit), as node_open() would
 * say.
 */
CW_MUST_CHECK int node_config_check(const struct node_config *config);

/*
 * What a delivered, forwarded or dropped packet looks like to an observer (the simulator's oracle, capture, trace). Its
 * head is decoded, but not when it is dropped as MALFORMED, STALE_LINK or GATE_OVERFLOW, or CLOSED at the gate: then
 * there are bytes only.
 */
enum node_point {
    NODE_QUEUED,    /* entered a queue (sent here or in transit) */
    NODE_DELIVERED, /* about to be handed to a service as its destination: the last step before the upcall */
    NODE_DROPPED,   /* cause in the argument */
    NODE_HELD,      /* waits for the right to deliver */
};
struct node_watch { /* all may be NULL; borrowed for the node's life */
    void *context;
    unsigned deaf; /* set of 1 << enum node_point: those packet() is not called for */
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

struct node_env {
    struct pkt_home *packets;    /* borrowed */
    const cw_server *neighbours; /* borrowed; see ls_config */
    uint64_t seed;
    struct node_watch watch;
    /* Runs service work away from the thread; NULL: inline at once. The pump calls node_offload_done later. */
    void (*offload)(void *context, struct node *n, void (*work)(void *), void *arg, uint64_t ticket, cw_span cost);
    void *offload_context;
    /*
     * The value that an operator gave a service's option, borrowed until the service is removed, or NULL (cw_option).
     * NULL: there are none.
     */
    const char *(*option)(void *context, const char *service, const char *name);
    void *option_context;
    /* Borrowed; NULL: none. A service whose exports have the name and version of one of these does not load. */
    const struct node_object *objects;
    /* A key that nobody else knows, borrowed for node_open(). NULL: the NMU's tables are not sealed (NMU 6.2). */
    const struct siphash_key *seal;
    struct nmu_source records; /* of jobs, where the node looks for those it needs; without any: default deny */
};

CW_MUST_CHECK int node_open(struct node **out, const struct node_config *config, const struct node_env *env);
/*
 * From now on services start no work away from the thread, so that what is away comes to an end: before node_close().
 */
void node_end_offloads(struct node *n);
struct node_tally { /* of data packets; conservation: made + received = the rest */
    uint64_t made;  /* sent, or given up before they were sent */
    uint64_t delivered;
    uint64_t ended; /* taken by services they passed by */
};
/*
 * Closes the services, drops what is inside (CW_DROP_CLOSED); every packet goes home. Offloaded work must have been
 * reported. Gives the tally of its whole life: services make packets to the very end, answers that cannot be sent any
 * more.
 */
struct node_tally node_close(struct node *n, cw_time now);

cw_links node_rx(struct node *n, cw_link in, struct cw_packet *frame, cw_time now); /* takes the frame */
/*
 * For a pump that knows what comes next: brings near what node_rx() of this frame will touch. Looks at the frame
 * unchecked, changes nothing and may be wrong.
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
 * Services. Adding: -EEXIST (job or name), -EINVAL (table), -ENOSPC (32 at most), -ENOMEM, or what its open said; the
 * table may go after the call, what it points at may not. Removing: -ENOENT, or -EBUSY while the pump runs work for it.
 * What a service sends in these calls is asked for with the next node_tick().
 */
CW_MUST_CHECK int node_service_add(struct node *n, const cw_service *table, cw_time now);
int node_service_remove(struct node *n, cw_job job, cw_time now);
struct node_service_policy {
    uint32_t weight;        /* 1..1000, share of a link against others of its class */
    bool background;        /* only when no foreground service wants the link */
    uint32_t queue_packets; /* limits */
    uint32_t queue_bytes;
    enum node_drop_policy {
        NODE_DROP_TAIL,     /* full: the newcomer is refused */
        NODE_DROP_OLDEST,   /* full: the oldest makes room */
        NODE_DROP_PRIORITY, /* full: the youngest of the least important goes, the newcomer if it is that */
    } drop;
};
/* -ENOENT; -EINVAL out of range (a queue holds at least one packet of mtu bytes). What waits stays. */
int node_service_policy(struct node *n, cw_job job, const struct node_service_policy *policy);

/* The i-th service of the node; false when there are no more. Names are borrowed until the service is removed. */
struct node_service_info {
    const char *name, *version;
    cw_job job;
    struct node_service_policy policy;
    uint32_t queued_packets, queued_bytes;
};
bool node_service_at(const struct node *n, unsigned i, struct node_service_info *out);

/* A command for a service: fields go to the sink, done exactly once. Links with something to send as ever. */
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
 * Calls visit as an upcall of the service, with what it exports: how a gateway that serves clients of this machine asks
 * it. False: no service of that name runs here with exports of that version, and visit was not called. *links: what has
 * something to send, as ever.
 */
bool node_visit(struct node *n, const char *service, unsigned version,
                void (*visit)(void *context, cw_svc *s, const void *exports), void *context, cw_time now,
                cw_links *links);

void node_leave(struct node *n, cw_time now);
bool node_left(const struct node *n, cw_time now);

/*
 * Job protection (NMU 4; semantics 7.4). Takes in the record of a job, in bytes that are borrowed for the call and were
 * judged by whoever calls: 1; 0: nothing of it is needed here. -EBADMSG: no record; -ESTALE: a later one is here;
 * -ENOSPC: the tables cannot hold it, and all is as before. What this names and is not here yet is looked for
 * (node_env.records, desk.h).
 */
CW_MUST_CHECK int node_job_put(struct node *n, const uint8_t *record, size_t size);
/* Borrows what the NMU holds, until the next put or the coming or going of a service. */
const struct nmu *node_nmu(const struct node *n);

/* What operators and tests look at. */
struct linkstate *node_linkstate(struct node *n);
cw_server node_self(const struct node *n);
uint64_t node_drops(const struct node *n, cw_drop cause);
size_t node_packets_inside(const struct node *n); /* queued and held */
struct node_tally node_tally(const struct node *n);
uint64_t node_digest(const struct node *n); /* of all state that decides what it does next */
size_t node_bytes(const struct node *n);
/* Calls visit for each counter, the node's own first. */
void node_counters(const struct node *n,
                   void (*visit)(void *context, const char *service, const char *name, uint64_t value), void *context);
/* The same for the times that services note. */
struct histogram;
void node_histograms(const struct node *n,
                     void (*visit)(void *context, const char *service, const char *name, const struct histogram *h),
                     void *context);

#endif
