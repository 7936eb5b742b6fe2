/* SPDX-License-Identifier: Apache-2.0 */
/*
 * internal.h - struct transport, its peers and messages. Only this folder's glue includes it:
 *
 *   transport.c  the ways in: packets, time, events            peers.c    who is remembered
 *   requests.c   the ways in: what the service asks for
 *   outgoing.c   messages being sent: born, numbered, repeated, ended             sending.c  what leaves now: data, acknowledgements
 *   incoming.c   messages that come: begun, gathered, handed over
 *
 * The rest are leaves that know none of it: segment (bytes), flight, rtt, congestion (sender), arrivals, outcomes
 * (receiver).
 *
 * Every way in is transport_enter(), changes, transport_leave(). A change marks the peers it touches; leaving lets
 * those send, and sets the timer. Callbacks about ends are made on leaving alone, when nothing is half done; those
 * about messages that come, at the end of handling their packet.
 */
#ifndef SERVICES_TRANSPORT_INTERNAL_H
#define SERVICES_TRANSPORT_INTERNAL_H

#include "base/heap.h"
#include "base/list.h"
#include "services/transport/arrivals.h"
#include "services/transport/congestion.h"
#include "services/transport/flight.h"
#include "services/transport/mutant.h"
#include "services/transport/outcomes.h"
#include "services/transport/rtt.h"
#include "services/transport/segment.h"
#include "services/transport/transport.h"

enum due_kind { DUE_PEER, DUE_MESSAGE };
struct due {
    struct heap_entry entry;
    enum due_kind kind;
    uint64_t order;
};

enum outgoing_kind { OUTGOING_SEND, OUTGOING_REQUEST, OUTGOING_ANSWER };
enum outgoing_state {
    OUTGOING_WAITING,  /* in peer->waiting: has no number yet */
    OUTGOING_READY,    /* in peer->ready: a part may be sent */
    OUTGOING_SENT,     /* in peer->sent: all that may be has been, its end is not known */
    OUTGOING_AWAITING, /* in peer->awaiting: a request that was taken, its answer is not here */
    OUTGOING_RETRY,    /* in t->retry: to whom is asked again at retry_at */
    OUTGOING_FINISHED, /* in t->finished: its end is to be told */
};

enum { OUTGOING_TRIED = 4 };

struct outgoing {
    struct list_node link;
    struct due due; /* deadline, or retry_at if that is before */
    int64_t id;
    enum outgoing_kind kind;
    enum outgoing_state state;
    struct peer *peer; /* NULL in RETRY and FINISHED */
    cw_to to;
    struct transport_data data;
    void *copy; /* TRANSPORT_COPY */
    unsigned flags;
    uint32_t tag;
    cw_time deadline, retry_at;
    cw_time left; /* when the first part of this attempt left */
    cw_span backoff;
    uint64_t request;       /* REQUEST: ours; ANSWER: theirs */
    uint16_t answer_status; /* ANSWER */
    int status;             /* FINISHED */
    union {
        transport_done_fn done;
        transport_answer_fn answer;
    };
    void *arg;
    uint64_t reply_max;
    struct transport_accept accept;
    struct incoming *answering; /* the answer to it, coming; another one is refused meanwhile */
    /* This attempt. */
    uint32_t number;
    uint32_t part, parts; /* bytes of one, how many */
    uint32_t next;        /* the first part that was never sent */
    uint32_t limit;       /* parts that the receiver lets us send */
    uint32_t lost;        /* parts to be sent again */
    uint32_t lost_from;
    uint64_t *came_bits, *lost_bits; /* by part; of one allocation, or `few` */
    uint64_t few[2];
    size_t charged; /* of memory_max */
    /* Incarnations that may have taken it in earlier attempts: it is not sent to one of them again. */
    uint64_t tried[OUTGOING_TRIED];
    unsigned tried_count;
};

struct incoming {
    struct list_node link, all; /* in peer->incoming, t->incoming */
    struct peer *peer;
    uint32_t number, parts;
    uint16_t part;
    struct transport_message m;
    struct transport_accept accept;
    bool answer;     /* of request m.reply_to.request */
    uint16_t status; /* of the answer */
    uint8_t *bytes;  /* whole: all; pieces: slots of `part`, a ring */
    uint64_t *got;   /* bits: by part; pieces: by slot */
    uint32_t got_count;
    uint32_t next, slots; /* pieces: the part to hand over next; of the ring */
    bool stalled;         /* piece() said -EAGAIN */
    bool calling;         /* piece() has not returned */
    uint32_t limit, told; /* credit: now, as last told */
    bool settled;         /* its sender has used its credit: it knows */
    cw_time heard;
    size_t charged;
};

enum peer_state { PEER_CLOSED, PEER_HELLO, PEER_OPEN };

/*
 * Who has an association with us is not forgotten before it was silent for so long. Then what was sent to us later
 * cannot have been taken.
 */
#define PEER_QUIET CW_SEC(1)

struct peer {
    struct peer *next; /* in its bucket */
    struct list_node age;
    struct list_node touched;
    struct due due;
    cw_time used;
    cw_job job;
    cw_process process;
    cw_port port;
    cw_coord server;

    /* What we send. */
    enum peer_state state;
    uint32_t out_name, out_in; /* the association: our name, theirs */
    uint64_t instance;         /* theirs; 0: not known */
    cw_time hello_sent, hello_due;
    unsigned hellos;
    uint32_t number_next, floor;
    struct outgoing *slot[SEGMENT_NUMBERS];
    struct list waiting, ready, sent, awaiting;
    struct flight flight;
    struct rtt rtt;
    cw_span idle; /* what a hello takes there and back when nobody queues; 0: not known */
    struct congestion congestion;
    uint32_t round;    /* the packet whose acknowledgement ends the round */
    unsigned patience; /* with those that are overtaken: grows with needless repetitions */
    cw_time progress;  /* the time-out runs from here */
    cw_time loss_due;
    cw_time retry_at; /* nothing is sent before */
    unsigned probes;  /* time-outs since something useful was heard */
    unsigned silent;  /* since anything was */
    bool probe;       /* one packet whatever the window says */

    /* What we receive. */
    bool in_open, in_pending;
    uint32_t in_out, in_name; /* the association: their name, ours */
    uint64_t in_instance;
    uint32_t pending_out, pending_name;
    uint64_t pending_instance;
    struct arrivals arrivals;
    struct outcomes outcomes;
    struct list incoming;
    unsigned incoming_count;
    size_t memory;
    unsigned unacked; /* packets since the last acknowledgement */
    cw_time ack_due;  /* CW_NEVER: none is owed */
    bool ack_now;
};

enum { TRANSPORT_COUNTERS = 10 };

struct transport {
    cw_svc *user;
    struct transport_config config;
    uint64_t instance; /* never 0 */
    cw_time opened;
    uint64_t salt;  /* of the numbers of requests on the wire */
    uint32_t names; /* of associations: the last one */
    size_t mtu;
    cw_time now;
    unsigned depth; /* of ways in, one within another */
    bool closing;
    bool blocked; /* -EAGAIN: on_writable follows */
    cw_time blocked_until;
    cw_timer *timer;
    cw_time timer_at;
    struct heap due;
    void *due_memory;
    uint64_t orders;
    struct list touched; /* peers that may have something to send */
    struct list age;     /* peers, the one idle longest first */
    struct peer **bucket;
    uint32_t buckets; /* a power of two */
    struct list finished, retry, incoming;
    struct outgoing **slot; /* by id */
    uint16_t *free_slot;
    unsigned outgoing_count;
    uint64_t generation;
    uint64_t incoming_ids;
    struct transport_stats stats;
    uint64_t counted[TRANSPORT_COUNTERS];
    cw_counter *counter[TRANSPORT_COUNTERS];
};

/* ---- turn.c ------------------------------------------------------------------------------------------------------ */

/* Every way in begins and ends with these. upcall: the host called, not the service: ends may be told. */
void transport_enter(struct transport *t);
void transport_leave(struct transport *t, bool upcall);
/* Tells the end of m, which is nowhere any more, and frees it. */
void transport_tell_end(struct transport *t, struct outgoing *m);
/* Brings the user's counters up to date with t->stats. */
void transport_count(struct transport *t);

/* ---- valid.c ----------------------------------------------------------------------------------------------------- */

/*
 * For CHECK_SLOW and tests, between turns: true, or the program stops with the rule of docs/services/transport.md that
 * is broken and the peer. Linear in all that is remembered.
 */
bool transport_valid(const struct transport *t);

/* ---- resources.c ------------------------------------------------------------------------------------------------- */

/* Counts bytes against memory_max; false: they do not fit. */
bool transport_charge(struct transport *t, size_t bytes);
void transport_uncharge(struct transport *t, size_t bytes);
/* (Re)places an entry; CW_NEVER takes it out. */
void transport_due(struct transport *t, struct due *due, cw_time at);

/* ---- peers.c ----------------------------------------------------------------------------------------------------- */

struct peer *peer_find(const struct transport *t, cw_job job, cw_process process, cw_port port);
/* The one there is, or a new one (an idle one may be forgotten for it). NULL: no room, no memory. */
struct peer *peer_get(struct transport *t, cw_job job, cw_process process, cw_port port, cw_coord server);
/* It may have something to send; it has been used. */
void peer_touch(struct transport *t, struct peer *p);
/* Nothing is under way in either direction. */
bool peer_idle(const struct peer *p);
/* When it wants to be woken. */
cw_time peer_wake(const struct transport *t, const struct peer *p);
/* Frees it; nothing may be under way. */
void peer_free(struct transport *t, struct peer *p);
/* How many bytes it means to keep queued: by its first links. */
uint64_t peer_target(const struct transport *t, const struct peer *p);
/* What a full packet takes there and back when nobody queues, as far as is known; 0: nothing is. */
cw_span peer_least(const struct transport *t, const struct peer *p);
/* The bound after which something sent is repeated. */
cw_span peer_timeout(const struct transport *t, const struct peer *p);

/* ---- outgoing.c -------------------------------------------------------------------------------------------------- */

struct outgoing *outgoing_find(const struct transport *t, int64_t id);
struct outgoing *outgoing_of_request(const struct transport *t, uint64_t request);
/* Takes m to a peer's queue, or to t->retry, or finishes it. */
void outgoing_route(struct transport *t, struct outgoing *m);
/* Ends m: it goes to t->finished. */
void outgoing_finish(struct transport *t, struct outgoing *m, int status);
/* As outgoing_finish(), and its receiver, which may have parts of it, is told. */
void outgoing_give_up(struct transport *t, struct outgoing *m, int status);
/* Takes m out of its lists and its association, and stops its clock: it is nowhere. */
void outgoing_detach(struct transport *t, struct outgoing *m);
/* Frees m, which is nowhere. */
void outgoing_free(struct transport *t, struct outgoing *m);
/* Its deadline, or the time to ask again, has come. */
void outgoing_due(struct transport *t, struct outgoing *m);
/* Numbers messages that wait while there is room for them. */
void outgoing_number(struct transport *t, struct peer *p);
/* What the receiver says of messages and packets. */
void outgoing_ack(struct transport *t, struct peer *p, const struct segment_ack *ack);
void outgoing_losses(struct transport *t, struct peer *p);
/* The association is open, or is no more: their instance is that, and has been for at least so long. */
void outgoing_welcome(struct transport *t, struct peer *p, const struct segment *s, uint32_t wait_ns);
void outgoing_reset(struct transport *t, struct peer *p, uint64_t instance, cw_span age);
/* Its instance has ended: nobody answers what that one was asked. */
void outgoing_orphan(struct transport *t, struct peer *p);
/* The peer's server is out of view. */
void outgoing_unreachable(struct transport *t, struct peer *p);
/* Nothing can be sent to it, for that reason. */
void outgoing_fail_all(struct transport *t, struct peer *p, int status);
/* The time-out: repeats something. */
void outgoing_silence(struct transport *t, struct peer *p);
/* The part of m to send next, by a place in *index; false: none. */
bool outgoing_next(const struct outgoing *m, uint32_t *index);
/* Part index is about to leave. */
void outgoing_left(struct transport *t, struct peer *p, struct outgoing *m, uint32_t index);
/* In which of its peer's lists it belongs now. */
void outgoing_sort(struct outgoing *m);

/* ---- incoming.c -------------------------------------------------------------------------------------------------- */

/* A part has come, of the association that is open. */
void incoming_data(struct transport *t, struct peer *p, const struct segment_data *d, bool now, const cw_rx *rx);
/* Its sender has given that one up. */
void incoming_given_up(struct transport *t, struct peer *p, uint32_t number);
/* A new association takes the place of the old one. */
void incoming_restart(struct transport *t, struct peer *p);
/* Nobody waits for this answer any more. */
void incoming_drop(struct transport *t, struct incoming *in);
/* Ends those of which nothing was heard for long. */
void incoming_silence(struct transport *t, struct peer *p);
int incoming_resume(struct transport *t, uint64_t id);
void incoming_close(struct transport *t);
/* An acknowledgement is owed, soon or now. */
void incoming_owe(struct transport *t, struct peer *p, bool now);
/* Credits to tell. */
unsigned incoming_notes(struct peer *p, struct segment_note *note, unsigned most);

/* ---- sending.c --------------------------------------------------------------------------------------------------- */

/* Lets all touched peers send, in turns. */
void sending_flush(struct transport *t);
/* One packet of no consequence: dropped when it cannot be sent. */
void sending_control(struct transport *t, const struct peer *p, const struct segment *s);
/* How long such a packet waited in queues on its way here. */
uint32_t sending_waited(const cw_packet *p);

#endif
