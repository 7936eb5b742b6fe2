/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ls_world.h - a small cluster of link states alone: N of them, cables between them, faults, and an oracle that sees
 * all.
 *
 * One seed is one run: dims, timers, delays and faults all follow from it, time is simulated, ties are in a stated
 * order. A run has three phases: faults; healing of everything; and a bounded time after which all must agree
 * (semantics 8.2).
 *
 * ls_world.c moves frames, ls_faults.c breaks things, ls_oracle.c looks after every event.
 */
#ifndef SIM_LS_WORLD_H
#define SIM_LS_WORLD_H

#include "base/heap.h"
#include "base/prng.h"
#include "linkstate/internal.h"
#include "linkstate/linkstate.h"

#include <stdio.h>

enum { WORLD_SERVERS = 32, FRAME_BYTES = 1500 };

typedef uint32_t world_set; /* of servers */

/* The version of a record. */
struct version {
    uint64_t incarnation;
    uint32_t seq;
};

struct frame {
    struct frame *next;
    cw_time sent, at; /* at: of arrival */
    cw_link in;       /* link of the receiver */
    struct frame_head head;
    uint8_t bytes[FRAME_BYTES]; /* control packets */
    size_t size;
    bool data;                           /* carries data as well */
    struct version known[WORLD_SERVERS]; /* what the sender knew when it left: what data must not outrun */
};

enum slot_kind { SLOT_TICK, SLOT_ARRIVAL, SLOT_TX, SLOT_FAULT, SLOT_REPAIR };

/* Something that will happen; what it is about follows from its place. */
struct slot {
    struct heap_entry entry;
    enum slot_kind kind;
    cw_server server;
    cw_link link;
};

/* One direction of a cable: from a server by one of its links. */
struct pipe {
    struct frame *first, *last; /* under way, in order */
    cw_time last_at;            /* arrival of the last one sent: the next comes later */
    cw_time free_at;            /* when the link has room again */
    cw_span delay;
    bool cut;
    bool dark; /* the far end sees no light */
    struct slot arrival, tx;
};

struct server {
    struct linkstate *ls; /* NULL: dead */
    bool paused;
    bool leaving;
    uint64_t incarnation;           /* above all it ever used */
    struct frame *ring, *ring_last; /* came in while paused */
    unsigned ring_count;
    struct frame *gate[CW_LINK_COUNT]; /* data waiting for control, at most one a link */
    struct slot tick, repair;

    /* The oracle's notes. */
    struct version known[WORLD_SERVERS]; /* what its database held when last looked at */
    uint32_t acked[WORLD_SERVERS];       /* whose acks of its versions it had counted when last looked at */
    uint64_t admissions;                 /* as counted when last looked at */
    uint64_t told;                       /* end of its log when last looked at */
    world_set optimistic;                /* its O when last looked at */
    bool active, serving;                /* when last looked at */
    uint64_t reborn;                     /* its incarnation when last looked at */
    uint64_t far[CW_LINK_COUNT];         /* incarnation it is up with, by link, when last looked at; 0: not up */
    uint32_t session[CW_LINK_COUNT];     /* in which the adjacency is two-way; 0: it is not */
    struct version began[CW_LINK_COUNT][WORLD_SERVERS]; /* what it knew when that began */
    cw_links announced;                                 /* links pending or up when last looked at */
    cw_time proof; /* when that was sent which a neighbour has heard last, in an adjacency with us */
};

/* A fault under way on a cable. */
struct repair {
    struct slot slot;
    cw_server server;
    cw_link link;
    bool active;
};

enum fault { FAULT_KILL, FAULT_PAUSE, FAULT_CUT, FAULT_ONE_WAY, FAULT_CARRIER, FAULT_LEAVE, FAULT_KINDS };
enum { REPAIRS = 16 };

struct knobs {
    cw_dims dims;
    struct ls_timers timers;
    cw_span delay_most;  /* of one frame */
    unsigned loss;       /* of 1000 frames */
    unsigned spikes;     /* of 1000 frames: delay_most */
    unsigned asked;      /* of 100: how often somebody waits for the views after an entry */
    unsigned faults;     /* set of 1 << enum fault */
    unsigned goodbyes;   /* of 100 deaths that a supervisor announces */
    unsigned same_low;   /* of 100 restarts whose incarnation has the low half of the former */
    cw_span fault_gap;   /* mean */
    unsigned provoked;   /* of 100 times that a link goes up or is announced, the next fault comes soon and near */
    cw_span fault_phase; /* how long things break */
    bool alone;          /* servers may serve without ever having had a link */
    cw_span tx;          /* the most that a frame occupies its link, or waits for others */
    unsigned small;      /* of 100 frames that have room for a few items only */
};

/* A version that somebody made, with its bytes and all that its maker knew. */
struct issue {
    struct record record;
    struct version known[WORLD_SERVERS];
    struct issue *older;
};

/* The first ack of a version that somebody gave, and all that the giver knew. */
struct given {
    uint64_t acker_incarnation, incarnation;
    uint32_t seq;
    struct version known[WORLD_SERVERS];
};

struct world {
    uint64_t seed;
    struct knobs knobs;
    struct torus torus;
    cw_server neighbours[WORLD_SERVERS * CW_LINK_COUNT];
    struct server servers[WORLD_SERVERS];
    struct pipe pipes[WORLD_SERVERS][CW_LINK_COUNT];
    struct repair repairs[REPAIRS];
    struct slot fault;
    struct heap heap;
    void *heap_memory;
    struct prng chance, delays;
    uint64_t sequence;
    uint64_t events;
    uint64_t same_instant; /* events since time last moved */
    cw_time now;
    bool breaking;   /* phase of faults */
    cw_server focus; /* where the next fault is; CW_SERVER_NONE: anywhere */

    /* The oracle's. */
    struct issue *issues[WORLD_SERVERS];              /* newest first */
    struct given given[WORLD_SERVERS][WORLD_SERVERS]; /* by acker, by origin */
    world_set touched;                                /* servers that something entered since the last look */
    bool moved;                                       /* a link's truth may have changed, or who is active or serves */
    world_set component[WORLD_SERVERS];
    /* Of those not together now: when they were last; ns < 0: not in this life. */
    cw_time parted[WORLD_SERVERS][WORLD_SERVERS];
    uint64_t counts[LS_COUNTERS]; /* of servers that died */
    uint64_t frames, probes, waits, checks;
    bool delivery_only; /* complain only of what lets two servers deliver one key */
    char failure[256];  /* empty while all is well */
    FILE *trace;        /* NULL: none */
};

/* Runs the seed to its end or its first failure; failure says which. The caller closes. */
void world_run(struct world *w, uint64_t seed, bool delivery_only, FILE *trace);
void world_close(struct world *w);

/* ---- shared by the three parts ----------------------------------------------------------------------------------- */

void world_fail(struct world *w, const char *format, ...) __attribute__((format(printf, 2, 3)));
void world_trace(struct world *w, const char *format, ...) __attribute__((format(printf, 2, 3)));
void world_schedule(struct world *w, struct slot *slot, cw_time at);

void world_boot(struct world *w, cw_server s);
/* The daemon is gone; what is on the wire stays there. announced: a supervisor says goodbye for it. */
void world_kill(struct world *w, cw_server s, bool announced);
/* After any entry into a server: ticks, pulls, questions. */
void world_after(struct world *w, cw_server s);
void world_drop_pipe(struct world *w, cw_server s, cw_link link);
void world_resume(struct world *w, cw_server s);
/* Tells a server that is awake what light it sees. */
void world_show_light(struct world *w, cw_server s, cw_link link);

/* ls_faults.c */
void faults_draw(struct world *w);
void faults_next(struct world *w);
void faults_strike(struct world *w);
/* Something is under way at s: a good moment to break something. */
void faults_provoke(struct world *w, cw_server s);
void faults_repair(struct world *w, struct slot *slot);
void faults_heal(struct world *w);

/* ls_oracle.c */
void oracle_entered(struct world *w, cw_server s); /* after an entry into s */
void oracle_look(struct world *w);                 /* after an event */
void oracle_booted(struct world *w, cw_server s);
void oracle_heard(struct world *w, cw_server s, const struct frame *frame); /* after its control packets */
void oracle_stamp(struct world *w, cw_server s, cw_link link, struct frame *frame);
void oracle_passed(struct world *w, cw_server s, const struct frame *frame);
bool oracle_agreed(struct world *w, const char **why);
void oracle_close(struct world *w);

static inline struct linkstate *world_ls(const struct world *w, cw_server s)
{
    return w->servers[s].ls;
}

static inline cw_server world_peer(const struct world *w, cw_server s, cw_link link)
{
    return w->neighbours[s * CW_LINK_COUNT + link];
}

static inline struct pipe *world_pipe(struct world *w, cw_server s, cw_link link)
{
    return &w->pipes[s][link];
}

#endif
