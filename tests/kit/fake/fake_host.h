/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fake_host.h - the service API with nothing behind it: one service on one server, in the hands of a test.
 *
 * Sends are kept until the test takes them; packets arrive and time passes when the test says so; commands give their
 * rows to a struct the test reads. The test may look at and set every field of struct cw_svc. All functions give what
 * service.h says, with this exception: what a server in strict mode logs as a misuse (a packet that is not in the
 * service's hands, a verdict that is none, a request that is done twice, a counter without a good name) aborts with a
 * sentence. Not pretended are privileges (set `refuse`), the limit of packets in hand (`packets_max`), and that a
 * request which is open when the service closes ends.
 *
 * How a root change is tested: fake_moved(), or in a torus of fake hosts fake_net_down() and fake_net_up().
 */
#ifndef KIT_FAKE_HOST_H
#define KIT_FAKE_HOST_H

#include "base/histogram.h"
#include "cubeway/service.h"
#include "fake_result.h"
#include "keyspace/torus.h"

enum { FAKE_MTU = 8960, FAKE_COUNTERS = 64, FAKE_HISTOGRAMS = 16, FAKE_TRACE = 16 };

struct cw_packet {
    cw_svc *home;   /* counts it */
    cw_svc *holder; /* the service that has it in hand; NULL: none has */
    cw_packet *next;
    bool kept;
    size_t length, pad, capacity;
    unsigned reports; /* of a traced packet: the first FAKE_TRACE servers on its way */
    cw_trace_hop trace[FAKE_TRACE];
    uint8_t data[];
};

/* What a service sent. */
struct fake_send {
    cw_packet *packet;
    cw_to to;
    cw_send_options options;
    cw_coord waypoint[CW_WAYPOINTS_MAX];
    uint32_t call; /* the number of the call it asks for or (reply) answers; 0: neither */
    bool reply;    /* to.server is who asked */
    cw_to told;    /* of a call for somebody else: who gets the answer; kind 0: the service itself */
    int status;
};

/* An answer that is owed: the handle is its index + 1. */
struct fake_right {
    cw_coord server;
    uint32_t call;
    bool open;
};

/* What a call sends again. */
struct fake_again {
    struct fake_send send; /* where to, and how; its packet has gone */
    unsigned left;         /* attempts */
    size_t length, pad;
    uint8_t bytes[];
};

struct fake_call {
    uint32_t number; /* 0: free */
    cw_time deadline;
    cw_span timeout;
    struct fake_again *again; /* NULL: no retries */
    cw_reply_fn done;
    void *arg;
};

struct cw_timer {
    cw_time at;
    uint64_t order;
    cw_timer_fn fn;
    void *arg;
    cw_timer *next;
};

struct cw_histogram {
    char name[32];
    struct histogram times;
};

struct cw_counter {
    char name[32];
    uint64_t value;
};

struct cw_svc {
    const cw_service *table;
    void *state;
    struct torus torus;
    cw_coord self;
    cw_time now;
    uint64_t random;        /* state of the generator; any value is a seed */
    bool *down;             /* by server id: not in view */
    bool fenced;            /* the lease does not hold */
    uint64_t steady_since;  /* an epoch: what was learned of keys before it cannot be relied on */
    uint64_t moved;         /* the epoch in which all keys came to other roots; 0: none */
    cw_links up;            /* links; all at first */
    size_t room;            /* sends that are accepted until -EAGAIN; counts down, SIZE_MAX at first */
    size_t room_background; /* the same, of the background place */
    size_t balk;            /* sends that get -EAGAIN before one is accepted; counts down */
    int refuse;             /* < 0: what every send returns */
    size_t timers_max;      /* SIZE_MAX at first */
    bool swallow;           /* sends are freed at once */
    uint64_t swallowed;
    size_t queued[CW_LINK_COUNT]; /* sends over one link that the test has not taken */
    struct fake_send *sent;
    size_t sent_first, sent_end, sent_capacity;
    struct fake_call *calls;
    size_t calls_capacity;
    uint32_t call_numbers;
    struct fake_right *rights;
    size_t rights_count;
    cw_timer *timers; /* in their order */
    cw_timer *timers_ended;
    uint64_t timer_orders;
    cw_packet *spare;
    cw_packet *lent; /* to the upcall under way; NULL again when it has been sent or freed */
    size_t packets;  /* in existence: in hand, sent, or with the test */
    size_t packets_max;
    cw_links polled, polled_background;
    bool opening, closing;
    cw_counter counter[FAKE_COUNTERS];
    unsigned histograms;
    cw_histogram histogram[FAKE_HISTOGRAMS];
    unsigned counters;
    char logged[FAKE_TEXT];     /* the last line */
    const char *const *options; /* "name=value", ended by NULL; may be NULL */
    uint32_t asked;             /* bit i: options[i] was asked for */
};

/* What the host offers besides, to cw_find(); NULL: nothing. */
extern const void *(*fake_offers)(cw_svc *s, const char *name, unsigned version);

/* Opens the service on a server of its own; its open() must succeed. */
cw_svc *fake_open(const cw_service *table, cw_dims dims, cw_coord self);
/*
 * As fake_open(), with options ("name=value", ended by NULL; borrowed). On failure returns NULL and leaves nothing; *rc
 * is what open() returned, or -EINVAL when open() did not ask for one of the options.
 */
cw_svc *fake_open_with(const cw_service *table, cw_dims dims, cw_coord self, const char *const *options, int *rc);
/* As fake_open_with(), at that time. */
cw_svc *fake_open_at(const cw_service *table, cw_dims dims, cw_coord self, const char *const *options, cw_time now,
                     int *rc);
/*
 * Cancels the service's calls, closes it, and frees its sends. This is the first half of fake_close(), for several
 * services that hold one another's packets.
 */
void fake_shut(cw_svc *s);
/* As fake_shut(), and frees s. Returns how many of its packets were never freed, those in the test's hands included. */
size_t fake_close(cw_svc *s);

/*
 * From now on all keys have other roots than before, or the same in another life, as far as this service is told: there
 * is a new epoch, what was learned before it is neither steady nor unmoved, and CW_EVENT_ROOTS comes. Who the roots are
 * by cw_is_root() is as before (`down` and `fenced` decide that).
 */
void fake_moved(cw_svc *s);
/* The server left this service's view (there: came back): `down`, and as fake_moved(), with the server's event. */
void fake_view(cw_svc *s, cw_coord server, bool there);

/* Lets time pass: timers and time-outs of calls happen in their order, each at its instant. */
void fake_run(cw_svc *s, cw_span span);
/* The instant of the next timer or time-out, or CW_NEVER. */
cw_time fake_wake(const cw_svc *s);

/* Takes the oldest send that the test has not taken; its packet is then the test's. False: there is none. */
bool fake_take(cw_svc *s, struct fake_send *out);
size_t fake_sends(const cw_svc *s);
/* Frees p, whoever holds it. */
void fake_free(cw_packet *p);

/* Makes a packet for fake_arrive(); its home is s. */
cw_packet *fake_packet(cw_svc *s, const void *bytes, size_t length, size_t pad);
/* Makes the upcall for p, and takes p. True: the service wants p forwarded, and p stays the test's. */
bool fake_arrive(cw_svc *s, cw_packet *p, const cw_rx *rx, cw_verdict *verdict);
/* Opens the right to answer a call of that server. Returns the handle for rx.call. */
uint32_t fake_right(cw_svc *s, cw_coord server, uint32_t call);
/* Ends a call. Takes the reply, which may be NULL. False: the call has ended before, and the reply is freed. */
bool fake_answer(cw_svc *s, uint32_t call, int status, cw_packet *reply, const cw_rx *rx);

/* Runs a command, its words separated by spaces. The answer is in *r, now or later (*r stands for the cw_request). */
void fake_command(cw_svc *s, const char *line, struct fake_result *r);

#endif
