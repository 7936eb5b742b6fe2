/* SPDX-License-Identifier: Apache-2.0 */
/*
 * node_internal.h - struct node: the modules as members, and what the glue files call of one another.
 *
 * Only node_*.c include this. One file per way in: node_rx.c (frames), node_forward.c (what becomes of one packet),
 * node_tx.c (a link has room), node_tick.c (time), node_events.c (the view changed), node_services.c (services come and
 * go), svc_send.c, svc_calls.c, svc_info.c (what services call), node_nmu.c (may they?), node_command.c, node_dump.c.
 * No function is on the stack twice: upcalls queue what they send.
 */
#ifndef CORE_NODE_INTERNAL_H
#define CORE_NODE_INTERNAL_H

#include "base/prng.h"
#include "core/calls.h"
#include "core/changes.h"
#include "core/counters.h"
#include "core/fairq.h"
#include "core/histograms.h"
#include "core/holdq.h"
#include "core/node.h"
#include "core/packetq.h"
#include "core/timers.h"
#include "nmu/nmu.h"

enum {
    NODE_SERVICES = FAIRQ_SERVICES,
    NODE_JOBS_LOADED = 1024, /* from here on jobs are of services that are loaded: no host object for them */
    NODE_JOB_SLOTS = 64,     /* open addressing over jobs, half full at most */
    /*
     * Frames a link may keep while control is on its way: lost and repeated, or read behind a batch of data
     * (shim/lane.h).
     */
    NODE_GATE_FRAMES = 64,
    NODE_GATHER_MAX = 512,     /* packets up to this size are gathered into one frame */
    NODE_LOCAL_BURST = 256,    /* packets delivered to ourselves in one entry; the rest at once after */
    NODE_LOCAL_MAX = 4096,     /* packets to ourselves that may wait */
    NODE_HANDS_MAX = 4096,     /* packets in one service's hands: made or kept, not yet sent or freed */
    NODE_REQUESTS = 16,        /* commands being answered at one time */
    NODE_GRANTS_MAX = 1 << 20, /* room for them, in the NMU: 60 MB */
    NODE_TIMERS = 1024,
    NODE_CALLS = 4096,
    NODE_OFFLOADS = 256,
    NODE_WEIGHT = 10, /* of a service that nobody gave one */
};

/* What each stream of chance is for (prng.h). */
enum { NODE_STREAM_HANDLES = 1, NODE_STREAM_SERVICE = 1000 /* and the job */ };

/* cw_packet.marks */
enum {
    PKT_CHARGED = 1, /* counts against its service's packet memory (made by cw_packet_new, still its own) */
    PKT_LENT = 2,    /* lent to an upcall: cw_packet_keep() makes it the service's */
    PKT_KEPT = 4,
    PKT_HELD = 8,       /* has been held: `queued` is since when */
    PKT_LOCAL = 16,     /* to ourselves, and the upcall that sent it has returned */
    PKT_RETRACES = 32,  /* walks back along its recorded path: `links` is not ours to choose */
    PKT_ADDRESSED = 64, /* by cw_packet_address(): next_packet may give it */
};

/* One service on this server: what services see as cw_svc. */
struct cw_svc {
    struct node *node;
    const cw_service *table; /* own_table */
    void *state;
    uint8_t index;
    bool on_path;       /* of its table */
    bool opening;       /* its open has not returned: it may yet fail, and no work may be away then */
    bool closing;       /* its close has begun: it starts nothing any more */
    uint32_t refused;   /* bit i: service i got -EAGAIN from this queue, on_writable is due when there is room */
    cw_links own_links; /* cw_poll_links(): its own queue has something for these */
    struct packetq queue;
    uint32_t in_hand;        /* packets charged to it */
    struct cw_packet *hands; /* they, linked by next and hand */
    uint64_t age;            /* services of a node are numbered as they come */
    struct prng random;
    struct counter_set counters;
    struct histogram_set histograms;
    cw_service own_table; /* the table it came with, as this build knows tables */
};

/*
 * A command being answered: in an array that lives as long as the node, so that a late word from a service is known to
 * be late.
 */
struct cw_request {
    struct node *node;
    struct node_request_sink sink;
    uint8_t service;
    bool open;
};

struct node_link {
    struct fairq turns;
    struct cw_packet *waiting[NODE_GATE_FRAMES]; /* frames behind the gate, oldest first (linkstate.h: LS_WAIT) */
    uint8_t waiting_count;
};

/* Packets to ourselves, delivered when the upcall that sent them has returned. */
struct node_local {
    struct cw_packet *head, *tail;
    uint32_t packets;
};

struct node {
    /* What every packet touches, in a few lines of cache. */
    cw_time now; /* instant of the entry under way */
    struct linkstate *ls;
    cw_server self;
    cw_coord place;
    cw_links cabled; /* torus_links() */
    cw_links wanted; /* links for which ready is not 0 */
    cw_links seen_up;
    bool seen_serving;
    bool sorting;    /* queues are being sorted anew: nothing is handed to a service meanwhile */
    cw_links gated;  /* links with frames that wait behind the gate */
    cw_job last_job; /* of the service asked for last: the next packet is likely to be for the same one; 0: none */
    struct cw_svc *last;
    uint32_t writable; /* bit i: service i was refused room, and has some again */
    cw_time due;       /* no timer, call, handle, offload or patience with a held packet ends before */
    struct node_local local;
    uint64_t order; /* of the last packet queued */
    uint64_t forwarded;
    uint32_t ready[CW_LINK_COUNT]; /* bit i: service i has something for the link */
    struct torus torus;
    cw_coord neighbour[CW_LINK_COUNT]; /* places of those that have a cable to us */
    struct cw_svc *service[NODE_SERVICES];
    struct node_link link[CW_LINK_COUNT];
    struct fairq_shares shares;
    struct holdq held;

    struct node_config config;
    struct node_env env;
    uint64_t seen_epoch; /* of ls: services have been told up to here, queues sorted */
    uint64_t seen_routes;
    struct {
        cw_job job;
        uint8_t index;
    } job_slot[NODE_JOB_SLOTS]; /* job 0: empty */
    struct timers timers;
    struct calls calls;
    struct nmu nmu;            /* a service speaks there by its place among the services */
    uint64_t tampered;         /* bad seals known of */
    struct nmu_source records; /* of the service that has them, asked before env.records */
    struct nmu_desk desk;
    struct expiry offloads;
    bool closing;           /* node_end_offloads() */
    struct cw_packet *lent; /* to the upcall under way, until it sends, frees or keeps it */
    struct cw_request request[NODE_REQUESTS];
    uint64_t services_came;
    struct reach told;      /* the committed view services know */
    struct changes changes; /* the latest changes of it */
    struct changes unrest;  /* the same of both views, and of the lives of servers */
    uint64_t drops[CW_DROP_COUNT];
    /* Every packet sent is delivered, taken on its way, dropped, or still inside or on a cable (invariant 8). */
    uint64_t sent, delivered, taken;
    uint64_t kept; /* packets that services had in their hands when they closed */
} __attribute__((aligned(64)));

/* Tells the watch, if it wants to hear of this point. */
static inline void node_point(const struct node *n, enum node_point point, const struct cw_packet *p, cw_drop cause)
{
    const struct node_watch *watch = &n->env.watch;
    if (watch->packet != NULL && !(watch->deaf >> point & 1)) {
        watch->packet(watch->context, n, point, p, cause, n->now);
    }
}

/* Packets have left svc's queue: whoever was refused there is told at the next tick. */
static inline void node_note_room(struct node *n, struct cw_svc *svc)
{
    n->writable |= svc->refused;
    svc->refused = 0;
}

/* node_rx.c */
/* Takes a frame that is not let in: its data packets are dropped, each with the cause. */
void node_refuse_frame(struct node *n, struct cw_packet *frame, cw_drop cause);
/* Time has passed: frames that wait on links which silence has ended are refused. */
void node_look_at_gates(struct node *n);

/* node_forward.c */
/* Takes p, decoded, with `in` set: delivers, queues, holds or drops it. Way-points it has reached are passed. */
void node_decide(struct node *n, struct cw_packet *p);
/* Takes p: counts the cause, tells the watch, sends its memory home. */
void node_drop(struct node *n, struct cw_packet *p, cw_drop cause);
/* Takes p, a list linked by next. */
void node_drop_list(struct node *n, struct cw_packet *p, cw_drop cause);
/* True when a packet to the key's routing bits may be handed to a service here now. */
bool node_is_root(struct node *n, uint64_t route);
/* Delivers what was sent to ourselves; at the end of every entry. */
void node_run_local(struct node *n);
/* The service of a job here, or NULL. */
struct cw_svc *node_service_look_up(struct node *n, cw_job job);
static inline struct cw_svc *node_service_of(struct node *n, cw_job job)
{
    return job == n->last_job && job != 0 ? n->last : node_service_look_up(n, job);
}
/* After a change of svc's queue or own_links: its bits in ready[]. */
void node_refresh_ready(struct node *n, const struct cw_svc *svc);
void node_refresh_ready_link(struct node *n, const struct cw_svc *svc, cw_link link);
/* Takes p with target and links set; false when the queue refused it (p stays the caller's): for local senders. */
bool node_enqueue(struct node *n, struct cw_svc *svc, struct cw_packet *p, bool local);
/* True when this server is where p was sent to (by the committed view): what is left is to deliver or hold it. */
bool node_arrives_here(struct node *n, const struct cw_packet *p);
/* Sets p->target to where p, no link packet, is heading now: way-point, server, root of its key. False: it is there. */
bool node_aim(struct node *n, struct cw_packet *p);
/* The links p may leave by towards p->target, without the way it came unless there is no other. */
cw_links node_links_for(struct node *n, const struct cw_packet *p);

/* node_deliver.c */
/* Takes p: the upcall as its destination. The last check has been made. */
void node_deliver(struct node *n, struct cw_packet *p);
/* The on-path upcall; true: p goes on, false: it was taken or dropped. */
bool node_pass_by(struct node *n, struct cw_svc *svc, struct cw_packet *p);
void node_fill_rx(const struct node *n, const struct cw_packet *p, cw_where where, cw_rx *rx);
/* node_events.c */
/* Brings routes and rights up to date; on a change tells services, sorts queues anew, looks at held packets again. */
void node_sync(struct node *n);
void node_try_held(struct node *n); /* every held packet is decided anew */

/* svc_packet.c */
/* True when p is in svc's hands: it counts against the service's memory until it is sent, freed or given back. */
bool node_in_hand(const struct cw_svc *svc, const struct cw_packet *p);
void node_charge_packet(struct cw_svc *svc, struct cw_packet *p);
void node_uncharge_packet(struct cw_svc *svc, struct cw_packet *p);
/* The packet in its hands is no more the service's, nor lent to it. */
void node_let_go(struct cw_svc *svc, struct cw_packet *p);
/*
 * Puts p into svc's hands for the upcall that follows. node_lend_end() gives true when it has come back; else it stays
 * in the service's hands, or the service has sent or freed it: not to be looked at.
 */
void node_lend(struct cw_svc *svc, struct cw_packet *p);
bool node_lend_end(struct cw_svc *svc, struct cw_packet *p, cw_verdict verdict);

/* node_services.c */
/* on_writable for the services in `writable`. */
void node_wake_writers(struct node *n);
/* Closes every service, in the reverse order of their coming. */
void node_close_services(struct node *n);

/* svc_send.c */
/* What may go before the payload beside what a service asks for. */
struct node_address {
    const cw_to *to;
    const cw_send_options *options; /* NULL: none */
    const struct ext_request *request;
    const struct ext_response *response;
    const uint8_t *path; /* a whole extension, or NULL */
};
/*
 * Writes head and extensions before p's payload. Borrows p. When its memory does not suffice: a copy in *out, the
 * caller's, else *out is p. 0, or -errno (cw_send's) and nothing is changed.
 */
int node_address_packet(struct cw_svc *svc, struct cw_packet *p, const struct node_address *address,
                        struct cw_packet **out);
/* Takes p, addressed and in nobody's hands, on success. -EAGAIN: p stays the caller's. */
int node_launch(struct cw_svc *svc, struct cw_packet *p);
/*
 * Takes p, in svc's hands, and what node_address_packet() made of it, on success; -EAGAIN: only p is left, still in its
 * hands.
 */
int node_hand_over(struct cw_svc *svc, struct cw_packet *p, struct cw_packet *addressed);
/* Takes p if it is in svc's hands: dropped. */
void node_drop_unsent(struct cw_svc *svc, struct cw_packet *p, cw_drop cause);
/* The cause that goes with an -errno of sending. */
cw_drop node_drop_of(int rc);
/*
 * The size-led structure src of a caller, as this build knows it, the members behind `least` bytes zero where an
 * earlier API ended. False: its size is none, or it says what we do not know.
 */
bool node_adopt(void *out, size_t size, size_t least, const void *src);

/* node_nmu.c */
/*
 * May svc put a packet of that head, for that server (CW_SERVER_NONE: for a key), into the network now? 0, -EACCES
 * (counted), or -EINVAL: the process does not live on that server.
 */
int node_may_send(struct cw_svc *svc, const struct packet_head *head, cw_server target);
/* May svc name that recipient of an answer? As node_may_send(). */
int node_may_be_told(struct cw_svc *svc, const cw_to *recipient);
/* The same for a packet that was addressed earlier: privileges end. */
int node_may_still_send(struct cw_svc *svc, const struct packet_head *head);
/* The service comes: it speaks from now on, by the records that are found. -ENOSPC. */
int node_reside(struct cw_svc *svc);
/* Looks for the records that are missing, where there may be some. */
void node_seek_records(struct node *n);
/*
 * Looks at some entries of sealed tables. When one, or one met since the last time, is not as it was left: all are
 * written anew.
 */
void node_look_at_seals(struct node *n);
/* Borrows a host's object, or NULL. */
const void *node_object(const struct node *n, const char *name, unsigned version);
int node_open_nmu(struct node *n, uint64_t salt);

/* svc_queue.c */
/*
 * Asks a service's own queue for a packet for the link: addressed, checked, or NULL (and then not asked again until it
 * polls).
 */
struct cw_packet *node_ask_own_queue(struct node *n, struct cw_svc *svc, cw_link link);

/* svc_calls.c */
/*
 * Takes p, an answer, if we asked: hands it to the call it answers, or drops it. False: another asked and wants us to
 * have it, which its NMU has checked; a packet like any other.
 */
bool node_take_response(struct node *n, struct cw_packet *p);
/* A request arrived for a service: opens a handle; 0 when it is none or no handle is to be had. */
uint32_t node_open_handle(struct node *n, const struct cw_packet *p);
/* A handle that was opened for an on-path upcall which let the request go on. */
void node_close_handle(struct node *n, uint32_t handle);
/* Attempts that are due: again, or the end of the call. */
void node_run_calls(struct node *n);
/* Ends all calls of a service that closes: -ECANCELED. */
void node_cancel_calls(struct cw_svc *svc);

/* svc_time.c */
/* All that is due of calls, offloaded work and timers; rights to answer that have run out end. */
void node_run_timers(struct node *n);
/* When there is something for node_run_timers(). */
cw_time node_timers_wake(const struct node *n);
int node_open_timers(struct node *n);
void node_close_timers(struct node *n);
/* True while the pump has work of the service that it has not reported. */
bool node_has_work_away(const struct cw_svc *svc);
/* A service closes: its work that is done is reported. */
void node_end_work(struct cw_svc *svc);

/* node_command.c */
/* A service has closed: what it has not answered is answered -ECANCELED. */
void node_end_requests(struct cw_svc *svc);

/* node_tick.c */
void node_enter(struct node *n, cw_time now); /* every entry starts with it */
cw_links node_leave_entry(struct node *n);    /* and returns it */

#endif
