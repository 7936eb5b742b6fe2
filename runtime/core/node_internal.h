/* SPDX-License-Identifier: Apache-2.0 */
/*
 * node_internal.h - struct node: the modules as its members, and what the glue files call of one another.
 *
 * For node*.c, svc_*.c, drop.c and the tests that look inside. One file per way in:
 *
 *   node_rx.c        a frame came in            node_services.c   a service comes or goes
 *   node_tx.c        a link has room            node_command.c    an operator's command to a service
 *   node_tick.c      time has passed            svc_*.c           a service calls the API: packets, sending, calls,
 *   node_events.c    the view changed                             time, information
 *   node_relay.c     the relay is told          node_guests.c     an attached process comes or goes
 *
 * and what they share: node_forward.c (what becomes of one packet), node_place.c (where it waits), node_deliver.c
 * (upcalls with a packet), node_nmu.c (may it be sent?), node_dump.c (what operators see), node_walk.c (invariants). No
 * function is on the stack twice: what an upcall sends is queued, and looked at when the upcall has returned.
 */
#ifndef CORE_NODE_INTERNAL_H
#define CORE_NODE_INTERNAL_H

#include "base/prng.h"
#include "base/upcall.h"
#include "core/calls.h"
#include "core/guests.h"
#include "core/mutant.h"
#include "core/node.h"
#include "core/node_relay.h"
#include "core/queue/fairq.h"
#include "core/queue/holdq.h"
#include "core/queue/packetq.h"
#include "core/timers.h"
#include "core/turns.h"
#include "figures/counters.h"
#include "figures/histograms.h"
#include "linkstate/changes.h"
#include "nmu/guests.h"
#include "nmu/nmu.h"

enum {
    NODE_SERVICES = FAIRQ_PLACES, /* a service has the number of its first place: 1 and above */
    NODE_JOBS_LOADED = 1024,      /* the lowest job of loaded services: from it on, cw_find() gives no host object */
    NODE_JOB_SLOTS = 128,         /* of a hash table by job, at most half full */
    /*
     * Frames that may wait on one link, for control that was lost or is read after a batch of data (shims.md, two
     * lanes).
     */
    NODE_GATE_FRAMES = 64,
    NODE_GATHER_MAX = 512,     /* bytes: packets up to this size are gathered into one frame */
    NODE_FREED = 16,           /* packets that strict mode keeps, filled, before they go home */
    NODE_MISUSES = 16,         /* kinds of misuse whose lines in the log are counted */
    NODE_MISUSE_LINES = 20,    /* that are logged of one kind, of one service on one server */
    NODE_LOCAL_BURST = 256,    /* packets to ourselves that one entry delivers; the others in the entry after */
    NODE_LOCAL_MAX = 4096,     /* packets to ourselves that may wait */
    NODE_HANDS_MAX = 4096,     /* packets in one service's hands: made or kept, and not yet sent or freed */
    NODE_REQUESTS = 16,        /* operators' commands being answered at one time */
    NODE_COMMAND_WORDS = 64,   /* bytes of the words of one of these that are kept, to name it */
    NODE_GRANTS_MAX = 1 << 20, /* the most that node_config.nmu_grants may be: 60 MB of tables */
    NODE_TIMERS = 1024,        /* that run at one time, of all services */
    NODE_CALLS = 4096,         /* that are open at one time, of all services */
    NODE_OFFLOADS = 256,       /* pieces of work away at one time, of all services */
    NODE_WEIGHT = 10,          /* of a service until node_service_policy() sets one */
    NODE_ANSWERED = 64,        /* rights to answer that are remembered after their use, to tell a second answer */
};

/* The streams of chance that a node draws from (prng.h); a service's stream is NODE_STREAM_SERVICE + its job. */
enum { NODE_STREAM_HANDLES = 1, NODE_STREAM_SERVICE = 1000 };

/* cw_packet.marks */
enum {
    PKT_CHARGED = 1,      /* in a service's hands, and counted there (cw_svc.in_hand) */
    PKT_LENT = 2,         /* lent to the upcall under way: cw_packet_keep() makes it the service's */
    PKT_KEPT = 4,         /* the upcall it was lent to has kept it */
    PKT_HELD = 8,         /* has been held; `queued` is the instant at which that began */
    PKT_LOCAL = 16,       /* to ourselves, and the upcall that sent it has returned */
    PKT_RETRACES = 32,    /* goes back along its recorded path, which names the one link it may leave by */
    PKT_ADDRESSED = 64,   /* has a head, by cw_packet_address(): next_packet() of a service's own queue may give it */
    PKT_BACKGROUND = 128, /* waits here in the background place of its service */
};

/*
 * Where packets wait for links: one of those among which the turns on a link go round (fairq.h). A service has one, or
 * two. The node has one more, number 0, for all packets of jobs that have no service here.
 */
struct place {
    struct cw_svc *svc; /* NULL: the node's own, where packets wait in node.turns and not in `queue` */
    uint8_t number;     /* in node.places[], and its bit in masks */
    uint16_t weight;    /* 1..FAIRQ_WEIGHT_MAX; of the node's own: of each job that has packets there */
    cw_links own_links; /* the service's own queue has something for these links, as it said by cw_poll_links() */
    uint64_t refused;   /* bit i: the place had no room for service i (-EAGAIN): on_writable() is due when it has */
    struct packetq queue;
};

static inline uint64_t place_bit(unsigned number)
{
    return UINT64_C(1) << number;
}

/*
 * One who speaks here: a service, or an attached process (guests.h), which has no places. They know it as cw_svc.
 */
struct cw_svc {
    struct node *node;
    const cw_service *table; /* &own_table */
    void *state;             /* what its open() gave */
    uint16_t index;          /* its number as a speaker; of a service, that in node.service[], which is main.number */
    uint8_t on_path;         /* as its table says */
    bool opening;            /* its open() has not returned: it may still fail, and may start no offloaded work */
    bool closing;            /* its close() has begun: nothing new may be started for it */
    uint64_t found_by;       /* bit i: service i has found what this one exports, and may use that as long as it runs */
    cw_span mark_after;      /* 0: never */
    struct place main;
    struct place *background; /* NULL: its table asks for none */
    cw_job job;               /* who it is: what its packets say, and whom the NMU asks about */
    cw_process process;
    struct guest *guest;     /* NULL: it is a service */
    uint32_t in_hand;        /* packets in its hands: the length of `hands` */
    struct cw_packet *hands; /* the packets in its hands, a list through `next` (`hand` points back) */
    uint64_t age;            /* its number among all services that were ever added to this node, in their order */
    struct prng random;
    struct counter_set counters;
    struct histogram_set histograms;
    struct upcall_times times;
    uint64_t misuses;
    /* Of the sentences that strict mode has logged, by what they are about: the hash of the words before the colon. */
    struct {
        uint32_t about, lines;
    } logged[NODE_MISUSES];
    uint32_t answered[NODE_ANSWERED]; /* strict: the latest rights to answer that it has used, in a ring */
    uint32_t answers;                 /* how many it has used */
    cw_service own_table;             /* the table that it came with, as this build knows tables */
};

/*
 * An operator's command being answered. It lies in an array that lives as long as the node, so that a service's answer
 * after the end is recognised as too late.
 */
struct cw_request {
    struct node *node;
    struct node_request_sink sink;
    uint8_t service;
    bool open;
    bool named;                     /* strict: the log has said that it waits */
    cw_time came, moved;            /* when it came, and when its answer grew last */
    char words[NODE_COMMAND_WORDS]; /* as the operator gave them, as far as there is room */
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
    cw_server self;    /* this server's id */
    cw_coord place;    /* this server's coordinate */
    cw_links cabled;   /* links that the torus has: torus_links() */
    cw_links wanted;   /* links for which `ready` is not 0 */
    cw_links seen_up;  /* the live links that services have been told of */
    bool seen_serving; /* the right to deliver that services have been told of */
    bool sorting;      /* queues are being sorted anew: nothing is handed to a service meanwhile */
    cw_links gated;    /* links with frames that wait behind the gate */
    cw_job last_job;   /* of `last`, the service asked for last, which the next packet is likely to be for; 0: none */
    struct cw_svc *last;
    uint64_t writable;        /* bit i: service i was refused room, and there is some again */
    struct node_relay *relay; /* NULL: there is none */
    cw_time due;              /* no timer, call, handle, offload or wait of a held packet ends before this time */
    struct node_local local;
    uint64_t order;                /* of the packet that was queued last */
    uint64_t forwarded;            /* packets that left in transit */
    uint64_t ready[CW_LINK_COUNT]; /* bit i: place i has something for the link */
    uint64_t background;           /* bit i: place i is served only while no other place wants the link */
    struct place *places[FAIRQ_PLACES];
    uint64_t services; /* bit i: there is a service i */
    struct torus torus;
    cw_coord neighbour[CW_LINK_COUNT]; /* who is at the far end of each cable */
    struct cw_svc *service[NODE_SERVICES];
    struct node_link link[CW_LINK_COUNT];
    struct holdq held;
    struct cw_packet *trying; /* what was held, is being decided anew, and comes next: a list through `next` */

    struct node_config config;
    struct node_env env;
    struct upcall_mark *mark;    /* env.mark, or own_mark when that is NULL */
    struct upcall_mark own_mark; /* read by nobody */
    uint64_t seen_epoch;         /* ls_epoch() up to which services have been told */
    uint64_t seen_routes;        /* ls_routes_epoch() by which queues are sorted */
    struct {
        cw_job job;
        uint8_t index;
    } job_slot[NODE_JOB_SLOTS]; /* job 0: empty */
    struct timers timers;
    struct calls calls;
    struct nmu nmu;            /* knows a service by its index */
    uint64_t tampered;         /* bad seals that were reported */
    struct nmu_source records; /* of the service that has job records, if one has; asked before env.records */
    struct nmu_desk desk;
    struct expiry offloads;
    struct place others; /* of jobs that have no service here */
    struct turns turns;  /* its packets */
    struct guests guests;
    struct guests_desk guests_desk;
    struct cw_svc *nobody;  /* says what is said in place of a process that is not here; NULL: no guests are taken */
    bool closing;           /* node_end_offloads() was called */
    struct cw_packet *lent; /* to the upcall under way, until the service sends, frees or keeps it; NULL: none */
    struct cw_request request[NODE_REQUESTS];
    uint64_t services_came; /* services that were ever added */
    struct reach told;      /* the committed view that services have been told */
    struct changes changes; /* the latest changes of that view */
    struct changes unrest;  /* the latest changes of either view, and of the lives of servers in them */
    uint64_t drops[CW_DROP_COUNT];
    /* A packet that was sent is delivered, taken on its way, dropped, still inside or on a cable (invariant 8). */
    uint64_t sent, delivered, taken;
    uint64_t kept; /* packets that services still had in their hands when they closed */
    struct freed_packets {
        struct freed_packet {
            struct cw_packet *packet;
            struct cw_svc *svc;   /* that gave it up */
            const char *function; /* by this */
            cw_time since;
        } of[NODE_FREED];
        unsigned first, count;
    } freed;
} __attribute__((aligned(64)));

/* Tells the node's observer, unless it does not want to hear of this point. */
static inline void node_point(const struct node *n, enum node_point point, const struct cw_packet *p, cw_drop cause)
{
    const struct node_watch *watch = &n->env.watch;
    if (watch->packet != NULL && !(watch->deaf >> point & 1)) {
        watch->packet(watch->context, n, point, p, cause, n->now);
    }
}

/* Takes the next service out of the set, the one of the lowest number; NULL: the set is empty. */
static inline struct cw_svc *node_next_service(const struct node *n, uint64_t *set)
{
    if (*set == 0) {
        return NULL;
    }
    unsigned i = (unsigned)__builtin_ctzll(*set);
    *set &= *set - 1;
    return n->service[i];
}

/*
 * Around every upcall: what the mark said before, and when the upcall began by the pump's clock. One upcall nests in
 * another (cw_call_cancel()), so that what was there before comes back.
 */
struct node_outer {
    const char *service;
    enum upcall upcall;
    int64_t began_ns;
};

static inline struct node_outer node_upcall_begin(const struct cw_svc *svc, enum upcall upcall)
{
    const struct node *n = svc->node;
    struct upcall_mark *mark = n->mark;
    struct node_outer outer = {mark->service, mark->upcall, 0};
    mark->service = svc->table->name;
    mark->upcall = upcall;
    mark->server = n->place;
    mark->now = n->now;
    mark->moves++;
    if (n->env.meter.read != NULL) {
        outer.began_ns = n->env.meter.read(n->env.meter.context);
    }
    return outer;
}

/* node_services.c: notes how long an upcall took that began then. */
void node_upcall_took(struct cw_svc *svc, enum upcall upcall, int64_t began_ns);

static inline void node_upcall_end(struct cw_svc *svc, enum upcall upcall, struct node_outer outer)
{
    struct upcall_mark *mark = svc->node->mark;
    mark->last = svc->table->name;
    mark->last_upcall = upcall;
    mark->service = outer.service;
    mark->upcall = outer.upcall;
    mark->moves++;
    if (svc->node->env.meter.read != NULL) {
        node_upcall_took(svc, upcall, outer.began_ns);
    }
}

/* node_rx.c */
/* Takes a frame that is not let in; drops each of its data packets with the cause. */
void node_refuse_frame(struct node *n, struct cw_packet *frame, cw_drop cause);
/* Refuses the frames that wait on a link whose adjacency has ended by silence meanwhile. */
void node_look_at_gates(struct node *n);

/* node_forward.c */
/* Takes p, decoded, with `in` set: delivers, queues, holds or drops it. Strikes out way-points that p has reached. */
void node_decide(struct node *n, struct cw_packet *p);
/* Takes p: counts the cause, tells the observer, sends p's memory home. */
void node_drop(struct node *n, struct cw_packet *p, cw_drop cause);
/* Takes p, a list linked by next. */
void node_drop_list(struct node *n, struct cw_packet *p, cw_drop cause);
/* True when a packet to a key with these routing bits may be handed to a service here, now. */
bool node_is_root(struct node *n, uint64_t route);
/* Delivers packets that were sent to ourselves. At the end of every entry. */
void node_run_local(struct node *n);
/* The service of a job here, or NULL; and the place in which a packet waits here: a guest's own in no service's. */
struct cw_svc *node_service_look_up(struct node *n, cw_job job);
static inline struct cw_svc *node_service_of(struct node *n, cw_job job)
{
    return job == n->last_job && job != 0 ? n->last : node_service_look_up(n, job);
}
static inline struct place *node_place_of(struct node *n, const struct cw_packet *p)
{
    struct cw_svc *svc = node_service_of(n, p->head.job);
    if (svc == NULL || (p->speaker >= GUESTS_FIRST && !NODE_MUTANT(GUEST_PLACE))) {
        return &n->others;
    }
    return (p->marks & PKT_BACKGROUND) && svc->background != NULL ? svc->background : &svc->main;
}
/* True when this server is p's destination by the committed view: all that is left is to deliver or to hold p. */
bool node_arrives_here(struct node *n, const struct cw_packet *p);
/*
 * Sets p->target to the server that p, which is no link packet, is heading for now: a way-point, the server it is sent
 * to, or the root of its key. False: p is there.
 */
bool node_aim(struct node *n, struct cw_packet *p);
/* The links by which p may leave towards p->target; the one it came by is among them only if there is no other. */
cw_links node_links_for(struct node *n, const struct cw_packet *p);

/* node_place.c */
/* What the turns on a link ask of a place: for which links has it something? */
cw_links place_links(const struct node *n, const struct place *pl);
/* How many bytes has the packet that it would give the link next? 0: that is not known before it is taken. */
uint32_t place_peek(struct node *n, struct place *pl, cw_link link);
/* With which weight does it want the link now? The place of many jobs counts for each of them. */
static inline uint32_t place_weight(const struct node *n, const struct place *pl, cw_link link)
{
    return pl->svc != NULL || NODE_MUTANT(ONE_WEIGHT) ? pl->weight : pl->weight * turns_wanted(&n->turns, link);
}
/* Gives a packet for the link; NULL: there is none after all, and the place does not want the link any more. */
struct cw_packet *place_take(struct node *n, struct place *pl, cw_link link);
/* Takes p, with target and links set: it waits, perhaps at the cost of others there, or is dropped. */
void place_put(struct node *n, struct place *pl, struct cw_packet *p);
/* True when p would be let in now. False: the service that asks gets on_writable() when there may be room. */
bool place_has_room(struct node *n, struct place *pl, const struct cw_svc *asks, const struct cw_packet *p);
/* Packets have left the place: who was refused is told at the next tick. */
static inline void place_note_room(struct node *n, struct place *pl)
{
    n->writable |= pl->refused;
    pl->refused = 0;
    if (pl->svc == NULL) {
        guests_note_all_room(&n->guests);
    }
}
/* Takes p, which place_drain() gave, back into its place, whatever the limits are by now. */
void place_put_back(struct node *n, struct place *pl, struct cw_packet *p);
/* Gives all that waits, the oldest first: to be routed anew and put back in that order, or to be dropped. */
struct cw_packet *place_drain(struct node *n, struct place *pl);
/* How many packets wait. */
static inline uint32_t place_packets(const struct node *n, const struct place *pl)
{
    return pl->svc != NULL ? pl->queue.packets : n->turns.packets;
}
/* For CHECK_SLOW: are the counts those of the packets that wait? */
bool place_valid(const struct node *n, const struct place *pl);
/* Brings the place's bits in node.ready[] up to date, after a change of what it has. */
void place_refresh(struct node *n, const struct place *pl);

/* node_guests.c */
/* Whoever speaks by that number: a service or a guest. */
static inline struct cw_svc *node_speaker(struct node *n, unsigned number)
{
    return number < GUESTS_FIRST ? n->service[number] : guests_at(&n->guests, number)->svc;
}
/* The guest that p has arrived for, or NULL: it is not here, or is not the one that is meant. */
struct cw_svc *node_guest_for(struct node *n, struct cw_packet *p);
/* Takes p, for which nobody is here. Where guests are taken, a request is answered with -ECONNREFUSED. */
void node_refuse(struct node *n, struct cw_packet *p);
/* Has the guest room for p, in a place that would take it (`room`)? False: it is told when there may be some. */
bool node_guest_has_room(struct node *n, struct guest *guest, const struct cw_packet *p, bool room);
/* p has left the turns of those who have no place. */
void node_guest_left(struct node *n, const struct cw_packet *p);
/* p begins to wait for its delivery here, or for the right to it; it waits no more. */
void node_guest_stays(struct node *n, const struct cw_packet *p);
void node_guest_goes_on(struct node *n, const struct cw_packet *p);
/* Calls on_writable() and on_end() of guests, and frees those that are gone. */
void node_tell_guests(struct node *n);
/* By the record of the job, which has changed: who of its guests may not be here any more? */
void node_judge_guests(struct node *n, cw_job job);
/* Lets all guests speak again, after the NMU's tables were emptied. */
void node_reside_guests(struct node *n);
/* Closes the guests of a host that closes. */
void node_close_guests(struct cw_svc *host);
CW_MUST_CHECK int node_open_guests(struct node *n);
/* When no service is left. */
void node_end_guests(struct node *n);

/* node_deliver.c */
/* Takes p and hands it to its service as arrived. The caller has made the last check of the right to do so. */
void node_deliver(struct node *n, struct cw_packet *p);
/* Hands p to svc as passing by. True: p goes on and is still the caller's. False: the service took or dropped it. */
bool node_pass_by(struct node *n, struct cw_svc *svc, struct cw_packet *p);
/* Writes what a service is told of p. */
void node_fill_rx(const struct node *n, const struct cw_packet *p, cw_where where, cw_rx *rx);

/* node_events.c */
/* Brings the link state up to date. If it changed: tells services, sorts queues anew, decides held packets anew. */
void node_sync(struct node *n);
/* Decides every held packet anew. */
void node_try_held(struct node *n);
/* Decides the held packets that may wait no longer: what still may not be delivered is dropped. */
void node_end_held(struct node *n);

/* svc_packet.c */
/* True when p is in svc's hands: it counts against NODE_HANDS_MAX until it is sent, freed or given back. */
bool node_in_hand(const struct cw_svc *svc, const struct cw_packet *p);
/* Puts p into svc's hands; takes it out of them. */
void node_charge_packet(struct cw_svc *svc, struct cw_packet *p);
void node_uncharge_packet(struct cw_svc *svc, struct cw_packet *p);
/* Takes p out of svc's hands and ends its being lent: p is the runtime's from now on. */
void node_let_go(struct cw_svc *svc, struct cw_packet *p);
/*
 * Puts p into svc's hands for the upcall that follows. After it, node_lend_end() is true when p is the runtime's again.
 * Otherwise the service has kept, sent or freed p, and the caller must not look at it.
 */
void node_lend(struct cw_svc *svc, struct cw_packet *p);
bool node_lend_end(struct cw_svc *svc, struct cw_packet *p, cw_verdict verdict);

/*
 * Refuses what a service does with a packet that is not in its hands: counts the misuse under the name of the function,
 * unless p is NULL, which some calls of the API give and take. Gives node_in_hand().
 */
bool node_must_hold(struct cw_svc *svc, const struct cw_packet *p, const char *function);
/* strict: fills the bytes of p, which nobody may look at any more. */
void node_fill(struct cw_packet *p);
static inline void node_poison(const struct node *n, struct cw_packet *p)
{
    if (n->config.strict) {
        node_fill(p);
    }
}

/* freed.c */
/*
 * Takes p, which svc has given up by that function of the API (a constant text). strict: p is filled, and goes home
 * after a while: what was written to it until then is a misuse of svc. Else it goes home.
 */
void node_retire(struct cw_svc *svc, struct cw_packet *p, const char *function);
/* Sends those home that have been there for long enough; all of them. */
void node_check_freed(struct node *n);
void node_end_freed(struct node *n);

/* node_services.c */
/*
 * Counts a misuse of the service API; strict: logs the sentence, which begins with the function's name and a colon. A
 * service that goes wrong in a loop would fill a disk: of each function the first NODE_MISUSE_LINES are logged.
 */
void node_misuse(struct cw_svc *svc, const char *sentence);
/* Calls on_writable() of the services in `writable`. */
void node_wake_writers(struct node *n);
/* Closes every service, those that came last first. */
void node_close_services(struct node *n);

/* svc_send.c */
/* What goes before a payload: what the service asks for (to, options), and what only the runtime writes. */
struct node_address {
    const cw_to *to;
    const cw_send_options *options; /* NULL: none */
    const struct ext_request *request;
    const struct ext_response *response;
    const uint8_t *path; /* a whole extension, or NULL */
};
/*
 * Writes head and extensions before p's payload; borrows p. *out is p, or, when p's memory has too little room in
 * front, a copy, which is then the caller's. 0; or -errno as cw_send() says, and nothing is changed.
 */
int node_address_packet(struct cw_svc *svc, struct cw_packet *p, const struct node_address *address,
                        struct cw_packet **out);
/* Sends p, which is addressed and in nobody's hands. 0: takes p. -EAGAIN: the queue is full, p stays the caller's. */
int node_launch(struct cw_svc *svc, struct cw_packet *p);
/*
 * Sends `addressed`, which node_address_packet() made of p, in svc's hands. 0: takes both. -EAGAIN: the queue is full;
 * a copy is freed, and p stays in svc's hands.
 */
int node_hand_over(struct cw_svc *svc, struct cw_packet *p, struct cw_packet *addressed);
/* If p is in svc's hands: takes and drops it. */
void node_drop_unsent(struct cw_svc *svc, struct cw_packet *p, cw_drop cause);
/* The cause of a drop that follows from this -errno of sending. */
cw_drop node_drop_of(int rc);
/*
 * Copies a caller's structure, which begins with its size, into out as this build knows it (`size` bytes). Members that
 * an earlier API did not have (behind `least` bytes) become zero. False: the size is impossible, or members that this
 * build does not know are set.
 */
bool node_adopt(void *out, size_t size, size_t least, const void *src);

/* node_nmu.c */
/*
 * May svc put a packet with that head, to that server (CW_SERVER_NONE: to a key), into the network now? 0; -EACCES: no,
 * which is counted; -EINVAL: the process does not live on that server.
 */
int node_may_send(struct cw_svc *svc, const struct packet_head *head, cw_server target);
/* May svc name that third party as the recipient of an answer? Results as node_may_send(). */
int node_may_be_told(struct cw_svc *svc, const cw_to *recipient);
/* node_may_send() once more for a packet that was addressed earlier: a privilege may have ended since. */
int node_may_still_send(struct cw_svc *svc, const struct packet_head *head);
/* Makes the speaker known to the NMU, with the records of its job that are found. -ENOSPC. */
int node_reside(struct cw_svc *svc);
/* Asks the sources of records for those that the NMU lacks. */
void node_seek_records(struct node *n);
/*
 * Looks at some entries of sealed tables (docs/nmu.md). If one of them, or one that was used since the last look, is
 * not as the node left it, all tables are written anew from the records.
 */
void node_look_at_seals(struct node *n);
/* Borrows the host's object of that name and version; NULL: there is none. */
const void *node_object(const struct node *n, const char *name, unsigned version);
int node_open_nmu(struct node *n, uint64_t salt);

/* svc_calls.c */
/*
 * If svc, for which p has arrived, made the call that p answers: takes p, and hands it to that call or drops it. False:
 * somebody else asked and wants svc to have the answer, which its NMU has checked; p is then a packet like any other.
 */
bool node_take_response(struct node *n, struct cw_svc *svc, struct cw_packet *p);
/* Opens a handle for the request p that svc is about to see. 0: there is none to be had. */
uint32_t node_open_handle(struct cw_svc *svc, const struct cw_packet *p);
/*
 * Sends p, in svc's hands, as the answer that the right allows. On failure p is still in its hands. The right stays.
 */
int node_send_answer(struct cw_svc *svc, const struct response_right *right, int status, struct cw_packet *p);
/* Closes a handle that was opened for an on-path upcall, when the service lets the request go on. */
void node_close_handle(struct node *n, uint32_t handle);
/* For each call whose attempt has timed out: makes the next attempt, or ends the call with -ETIMEDOUT. */
void node_run_calls(struct node *n);
/* Ends all calls of a service or guest that closes with -ECANCELED. */
void node_cancel_calls(struct cw_svc *svc);

/* svc_time.c */
/* Runs what is due of calls, offloaded work and timers, and ends rights to answer whose time is over. */
void node_run_timers(struct node *n);
/* When node_run_timers() has something to do. */
cw_time node_timers_wake(const struct node *n);
int node_open_timers(struct node *n);
void node_close_timers(struct node *n);
/* True while the pump runs work of the service: node_offload_done() was not called for it yet. */
bool node_has_work_away(const struct cw_svc *svc);
/* Reports the work of a service that closes, all of which is done. */
void node_end_work(struct cw_svc *svc);

/* node_command.c */
/* Ends the operators' commands that a service has not answered when it closes, with -ECANCELED. After 1 s: a misuse. */
void node_end_requests(struct cw_svc *svc);
/* Fills in the commands that the service has in hand. */
void node_count_requests(const struct cw_svc *svc, struct node_service_info *out);
/* strict: logs each command once whose answer has not grown for 10 s. It may take as long by right. */
void node_check_requests(struct node *n);
/* strict: when that is due. */
cw_time node_requests_wake(const struct node *n);

/* node_tick.c */
/* Every entry begins with node_enter(), and returns node_leave_entry(). */
void node_enter(struct node *n, cw_time now);
cw_links node_leave_entry(struct node *n);

/* node_relay.c */
/*
 * Before anything leaves that an entry has made: the relay stops going by what was known before. It goes on with the
 * next publication.
 */
void node_relay_note(struct node *n);

/* node_walk.c */
/* Writes "server 1,0,2" into text and returns it: for CHECK_RULE. */
enum { NODE_WHO = sizeof "server " - 1 + TORUS_TEXT };
const char *node_who(const struct node *n, char text[static NODE_WHO]);
/* True; stops the program at a rule that is broken. For CHECK_SLOW, between two entries. */
bool node_walk(const struct node *n);

#endif
