/* SPDX-License-Identifier: Apache-2.0 */
/*
 * internal.h - struct transport, its peers and its messages: what the files of this folder know of one another. Only
 * they include it; each calls those below it.
 *
 *   transport.c  the ways in: packets and events; opening and closing
 *   requests.c   the ways in: what the service asks for
 *   turn.c       what every way in begins and ends with, and the timer
 *   sending.c    what leaves now: data and acknowledgements
 *   outgoing.c   messages being sent: numbered, repeated, restarted, ended
 *   retrying.c   where a message goes, at first and again; permission; whose process has a key
 *   incoming.c   messages that come: begun, gathered, handed over
 *   peers.c      the peers that are remembered
 *   resources.c  memory, places for messages, and the queue of what is due
 *   valid.c      walks all of it and checks the rules (docs/services/transport.md)
 *
 * The rest are leaves that know no struct of this header: segment (bytes), flight, rtt, congestion (of the sender),
 * arrivals, outcomes (of the receiver).
 *
 * A turn is one way in: transport_enter(), changes, transport_leave(). A change marks the peers that it touches;
 * leaving lets those send, and sets the timer. done() is called on leaving alone, when nothing is half done; begin(),
 * piece() and message() are called while their packet is handled.
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
    OUTGOING_SENT,     /* in peer->sent: all parts that the receiver allows have left; no result yet */
    OUTGOING_STARVED,  /* in peer->starved: read() has no more bytes yet, and nothing else of it is to be sent */
    OUTGOING_AWAITING, /* in peer->awaiting: a request that was taken and is not answered yet */
    OUTGOING_RETRY,    /* in t->retry: is routed again at retry_at */
    OUTGOING_FINISHED, /* in t->finished: done() is to be called */
};

enum { OUTGOING_TRIED = 4 }; /* incarnations that a message is restarted from, at most */

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
    uint8_t head[SEGMENT_MESSAGE_HEAD_MOST];
    uint8_t head_bytes;
    cw_time deadline, retry_at;
    cw_time left; /* when the first part of this attempt was sent */
    cw_span backoff;
    unsigned asked;  /* how often its receiver has told it to wait for permission */
    bool held;       /* RETRY: it waits for permission */
    bool found;      /* to a key with CW_PROCESS_ANY: process, on server, has said that it has the key */
    unsigned sought; /* how often was asked since it was not known */
    cw_process process;
    cw_coord server;
    bool permitted;   /* permission has come while it was asking: the next time it is told to wait, it asks at once */
    uint64_t request; /* its number on the wire: REQUEST: ours; ANSWER: the requester's */
    uint16_t answer_status; /* ANSWER */
    int status;             /* FINISHED */
    union {
        transport_done_fn done;
        transport_answer_fn answer;
    };
    void *arg;
    uint64_t reply_max;
    struct transport_accept accept;
    struct transport_place *places; /* what accept.places is; ours */
    struct incoming *answering;     /* the answer while it comes; another answer is refused meanwhile */
    /* This attempt. */
    uint32_t number;
    uint32_t part;       /* bytes of a part */
    uint32_t parts;      /* how many */
    uint32_t next;       /* the first part that was never sent */
    uint32_t limit;      /* credit: parts below it may be sent */
    uint32_t lost;       /* parts to be sent again */
    uint32_t lost_from;  /* no part before it is lost */
    uint32_t turn;       /* READY: peer->turn when it came to the end of the line */
    bool starved;        /* read() has said -EAGAIN to part `next` */
    bool reading;        /* read() is running */
    bool begun;          /* the receiver has a part of it, and with that the head */
    uint64_t *came_bits; /* a bit each part: the receiver has it; one allocation with lost_bits, or `few` */
    uint64_t *lost_bits; /* a bit each part: to be sent again */
    uint64_t few[2];
    size_t charged; /* against memory_max */
    /* Incarnations that may have taken the message in earlier attempts: it is not sent to them again (rule 8). */
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
    struct transport_place *places; /* what accept.places is; ours */
    bool answer;                    /* of request m.reply_to.request */
    uint16_t status;                /* of the answer */
    uint8_t *bytes;                 /* whole: all of it; pieces: a ring of slots of `part` bytes */
    uint64_t *got;                  /* a bit each part; pieces: each slot */
    uint32_t got_count;
    uint32_t next;    /* pieces: the part to hand over next */
    uint32_t slots;   /* pieces: of the ring; 0: taken whole */
    bool stalled;     /* piece() returned -EAGAIN */
    bool calling;     /* piece() is running */
    bool again;       /* it was resumed while read() of the request that it answers was running */
    uint32_t limit;   /* credit: parts below it may be sent */
    uint32_t told;    /* the credit that the sender was told last */
    bool credit_used; /* the sender has sent beyond its first credit, so that it knows the one that we gave */
    cw_time heard;    /* when a part came last */
    size_t charged;   /* against memory_max and peer_memory_max */
};

enum peer_state { PEER_CLOSED, PEER_HELLO, PEER_OPEN };

/*
 * A peer with an association is kept until it was silent for so long: a packet that we sent before that can then no
 * longer be taken (rule 13).
 */
#define PEER_QUIET CW_SEC(1)

struct peer {
    struct peer *next; /* in its bucket */
    struct list_node age;
    struct list_node touched;
    struct list_node parked;
    struct due due;
    cw_time used;
    cw_job job;
    cw_process process;
    cw_port port;
    bool background; /* what is exchanged with it waits in the background place of whoever sends it */
    cw_coord server;

    /* What we send. */
    enum peer_state state;
    uint32_t out_name; /* our name for the association to the peer */
    uint32_t out_in;   /* the peer's name for it */
    uint64_t instance; /* of the peer; 0: not known */
    cw_time hello_sent, hello_due;
    unsigned hellos;
    uint32_t number_next; /* of messages */
    uint32_t floor;       /* every message below it has its result */
    struct outgoing *slot[SEGMENT_NUMBERS];
    struct list waiting, ready, sent, starved, awaiting;
    uint32_t turn; /* packets that left in turns */
    struct flight flight;
    struct rtt rtt;
    cw_span idle; /* round trip of a hello without its time in queues; 0: not known */
    struct congestion congestion;
    uint32_t round;    /* the packet whose acknowledgement ends the round */
    unsigned patience; /* factor of the wait before an overtaken packet is lost; grows with needless repetitions */
    cw_time progress;  /* the time-out runs from here */
    cw_time loss_due;
    cw_time retry_at; /* nothing is sent before */
    unsigned probes;  /* time-outs since something useful was heard */
    unsigned silent;  /* time-outs since anything was heard */
    bool probe;       /* one packet is to be sent, whatever the window says */

    /* What we receive. */
    bool in_open, in_pending;
    uint32_t in_out, in_name; /* the association from the peer: its name for it, ours */
    uint64_t in_instance;
    /* The association that opens with its first data packet: in_pending. */
    uint32_t pending_out, pending_name;
    uint64_t pending_instance;
    struct arrivals arrivals;
    struct outcomes outcomes;
    struct list incoming;
    unsigned incoming_count;
    size_t memory;    /* charged for messages that come from it */
    unsigned unacked; /* packets since the last acknowledgement */
    cw_time ack_due;  /* CW_NEVER: none is owed */
    bool ack_now;
};

enum { TRANSPORT_COUNTERS = 10, PLACES = 2 };

struct transport {
    cw_svc *user;
    struct transport_config config;
    uint64_t instance; /* never 0 */
    cw_time opened;
    uint64_t salt;  /* of the numbers of requests on the wire */
    uint32_t names; /* the last name given to an association */
    size_t mtu;
    cw_time now;
    unsigned depth; /* of turns: a callback may call in again */
    bool closing;
    /* By place (cw_place): there is no room in the service's queue, and on_writable follows. */
    bool blocked[PLACES];
    cw_time blocked_until[PLACES];
    cw_timer *timer;
    cw_time timer_at;
    bool timer_failed; /* the last turn could not start the timer it needs: the next turn tries again */
    struct heap due;
    void *due_memory;
    uint64_t orders;
    struct list touched[PLACES]; /* peers that may have something to send, by the place of their data */
    struct list parked;          /* peers of the background that were left alone while their place was full */
    struct list age;             /* all peers, the one that was idle longest first */
    struct peer **bucket;
    uint32_t buckets; /* a power of two */
    struct list finished, retry, incoming;
    bool again;             /* an incoming message is to be resumed, by the timer, at once */
    struct outgoing **slot; /* by the low 16 bits of the id */
    uint16_t *free_slot;
    unsigned outgoing_count;
    uint64_t generation;
    uint64_t incoming_ids;
    struct transport_stats stats;
    uint64_t counted[TRANSPORT_COUNTERS];
    cw_counter *counter[TRANSPORT_COUNTERS];
};

/* ---- turn.c ------------------------------------------------------------------------------------------------------ */

/* Begin and end a turn. upcall: the host called, not the service, so that done() may be called. */
void transport_enter(struct transport *t);
void transport_leave(struct transport *t, bool upcall);
/* Tells the end of m, which is in no list any more, and frees it. */
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

/* Counts bytes against memory_max (rule 10); false: they do not fit. */
bool transport_charge(struct transport *t, size_t bytes);
void transport_uncharge(struct transport *t, size_t bytes);
/* Replaces the borrowed places of accept by a copy, *out, which is the caller's (NULL: none). False: no memory. */
bool places_copy(struct transport_accept *accept, struct transport_place **out);
/* Can the places hold a message of so many bytes? True when there are none. */
bool places_hold(const struct transport_accept *accept, uint64_t bytes);
/* Writes the bytes of a message that are at offset to where they belong. The places hold them. */
void places_put(const struct transport_accept *accept, uint64_t offset, const uint8_t *bytes, size_t length);
/* Puts an entry in its place among what is due; CW_NEVER takes it out. */
void transport_due(struct transport *t, struct due *due, cw_time at);

/* ---- peers.c ----------------------------------------------------------------------------------------------------- */

/* Who a peer is. */
struct peer_name {
    cw_job job;
    cw_process process;
    cw_port port;
    bool background;
};

struct peer *peer_find(const struct transport *t, struct peer_name name);
/* The peer that is remembered, or a new one, for which an idle one may be forgotten. NULL: no room, or no memory. */
struct peer *peer_get(struct transport *t, struct peer_name name, cw_coord server);
/* In which place its data waits. */
cw_place peer_place(const struct peer *p);
/* Marks the peer as used now, and as one that may have something to send. */
void peer_touch(struct transport *t, struct peer *p);
/* Nothing is under way in either direction. */
bool peer_idle(const struct peer *p);
/* When the peer is to be woken: the earliest of its clocks. */
cw_time peer_wake(const struct transport *t, const struct peer *p);
/* Forgets the peer, which must be idle. */
void peer_free(struct transport *t, struct peer *p);
/* Bytes to keep queued on the way to the peer: queue_target for each first link. */
uint64_t peer_target(const struct transport *t, const struct peer *p);
/* Round trip of a full packet when nobody queues, as far as is known; 0: nothing is known. */
cw_span peer_least(const struct transport *t, const struct peer *p);
/* The time-out after which something sent is repeated. */
cw_span peer_timeout(const struct transport *t, const struct peer *p);

/* ---- outgoing.c -------------------------------------------------------------------------------------------------- */

struct outgoing *outgoing_find(const struct transport *t, int64_t id);
struct outgoing *outgoing_of_request(const struct transport *t, uint64_t request);
/* Its name on the wire: of no other message under way. */
uint32_t outgoing_name(const struct outgoing *m);
/* NULL: the message with that name has ended. */
struct outgoing *outgoing_named(const struct transport *t, uint32_t name);
/* It is in the peer's table of numbers: it may have parts under way. */
bool outgoing_has_number(const struct outgoing *m);
/* How many parts of a new attempt may leave before the receiver says how many. */
uint32_t outgoing_first(const struct outgoing *m);
/* Ends m: it goes to t->finished. */
void outgoing_finish(struct transport *t, struct outgoing *m, int status);
/* As outgoing_finish(), and its receiver, which may have parts of it, is told. */
void outgoing_give_up(struct transport *t, struct outgoing *m, int status);
/* Takes m out of its list, its association and the queue of what is due: then it may be freed. */
void outgoing_detach(struct transport *t, struct outgoing *m);
/* Frees m, which outgoing_detach() has taken out. */
void outgoing_free(struct transport *t, struct outgoing *m);
/* Gives numbers to waiting messages, while fewer than SEGMENT_NUMBERS are unfinished. */
void outgoing_number(struct transport *t, struct peer *p);
/* Applies an acknowledgement: packets that came, results, credits. */
void outgoing_ack(struct transport *t, struct peer *p, const struct segment_ack *ack);
/* Marks the parts of packets that are lost by now as to be sent again. */
void outgoing_losses(struct transport *t, struct peer *p);
/* The association is open. wait_ns: of the welcome, in queues. */
void outgoing_welcome(struct transport *t, struct peer *p, const struct segment *s, uint32_t wait_ns);
/* The peer does not know the association. `instance` is its incarnation now, which began `age` ago or earlier. */
void outgoing_reset(struct transport *t, struct peer *p, uint64_t instance, cw_span age);
/* The peer's incarnation has ended: nobody will answer the requests that it had taken. */
void outgoing_orphan(struct transport *t, struct peer *p);
/* The peer's server is out of view. */
void outgoing_unreachable(struct transport *t, struct peer *p);
/* Nothing can be sent to the peer: ends all its messages with that status. */
void outgoing_fail_all(struct transport *t, struct peer *p, int status);
/* The time-out: one part is repeated; after two in a row without a word, all parts. */
void outgoing_silence(struct transport *t, struct peer *p);
/* Sets *index to the part of m to send next; false: none may be sent. */
bool outgoing_next(const struct outgoing *m, uint32_t *index);
/* Part `index` has left. */
void outgoing_left(struct transport *t, struct peer *p, struct outgoing *m, uint32_t index);
/* Moves m to the list of its peer that it belongs to now: ready, sent or starved. */
void outgoing_sort(struct outgoing *m);
/* read() had no bytes for the part to send next; and, there may be some now. */
void outgoing_starve(struct outgoing *m);
void outgoing_feed(struct transport *t, struct outgoing *m);

/* ---- retrying.c -------------------------------------------------------------------------------------------------- */

/* m goes again from its first byte, after a while that doubles each time. */
void outgoing_retry_later(struct transport *t, struct outgoing *m);
/* The receiver gives no permission yet: m asks again later, or when permission comes. */
void outgoing_hold(struct transport *t, struct outgoing *m);
/* The process that had the key of m may have it no more. */
void outgoing_lose_process(struct outgoing *m);
/* Puts m in the queue of its peer, or in t->retry, or finishes it. */
void outgoing_route(struct transport *t, struct outgoing *m);
/* Its deadline, or the time to ask again, has come. */
void outgoing_due(struct transport *t, struct outgoing *m);
/* The peer permits the message with that name. */
void outgoing_permit(struct transport *t, const struct peer *p, uint32_t name);
/* That process has the key of the message with that name. */
void outgoing_found(struct transport *t, uint32_t name, const cw_rx *rx);

/* ---- incoming.c -------------------------------------------------------------------------------------------------- */

/* A part has come by the association that is open. now: its sender waits for the acknowledgement. */
void incoming_data(struct transport *t, struct peer *p, const struct segment_data *d, bool now, const cw_rx *rx);
/* The sender has given up message `number`. */
void incoming_given_up(struct transport *t, struct peer *p, uint32_t number);
/* A new association takes the place of the old one. */
void incoming_restart(struct transport *t, struct peer *p);
/* The request that this answer is for has ended. */
void incoming_drop(struct transport *t, struct incoming *in);
/* Ends messages of which nothing came for config.silence. */
void incoming_silence(struct transport *t, struct peer *p);
int incoming_resume(struct transport *t, uint64_t id);
void incoming_close(struct transport *t);
/* An acknowledgement is owed, soon or now. */
void incoming_owe(struct transport *t, struct peer *p, bool now);
/* Writes the credits that are to be told into note; returns how many, at most `most`. */
unsigned incoming_notes(struct peer *p, struct segment_note *note, unsigned most);
/* The acknowledgement with these notes did not leave: its credits are to be told again. */
void incoming_untell(struct peer *p, const struct segment_note *note, unsigned notes);

/* ---- sending.c --------------------------------------------------------------------------------------------------- */

/* Lets all touched peers send, one packet each in turn, those of the foreground first. */
void sending_flush(struct transport *t);
/* There may be room in that place again. */
void sending_unblock(struct transport *t, cw_place place);
/* Sends one packet that may get lost: it is dropped when it cannot be sent. */
void sending_control(struct transport *t, const struct peer *p, const struct segment *s);
/* Sends a packet that may get lost to somebody who is no peer. Gives what cw_send() does. */
int sending_to(struct transport *t, const cw_to *to, const struct segment *s);
/* How many ns a traced packet waited in queues on its way here. */
uint32_t sending_waited(const cw_packet *p);

#endif
