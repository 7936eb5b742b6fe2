/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fake_host.h - the service API with nothing behind it: one service on one server, in the hands of a test.
 *
 * Sends are kept until the test takes them; packets arrive and time passes when the test says so; commands give their
 * rows to a struct the test reads. The test may look at and set every field of struct cw_svc. A wrong use of the API (a
 * packet that is not the service's, a timer that has run, a request answered twice) aborts with a sentence.
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
    cw_svc *holder; /* the service that has it in hand, NULL: nobody */
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

struct fake_call {
    uint32_t number; /* 0: free */
    cw_time deadline;
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
    uint64_t random;       /* of a generator that any value seeds */
    bool *down;            /* by server id: not in view */
    bool fenced;           /* the lease does not hold */
    uint64_t steady_since; /* epoch: what was learned of keys before it cannot be relied on */
    uint64_t moved;        /* in which all keys came to other roots; 0: none */
    cw_links up;           /* links; all at first */
    size_t room;           /* sends that are accepted until -EAGAIN; counts down, SIZE_MAX at first */
    size_t balk;           /* sends that get -EAGAIN before one is accepted; counts down */
    int refuse;            /* < 0: what every send gets */
    size_t timers_max;     /* SIZE_MAX at first */
    bool swallow;          /* sends are freed at once */
    uint64_t swallowed;
    size_t queued[CW_LINK_COUNT]; /* over one link: sent and not taken */
    struct fake_send *sent;
    size_t sent_first, sent_end, sent_capacity;
    struct fake_call *calls;
    size_t calls_capacity;
    uint32_t call_numbers;
    struct fake_right *rights;
    size_t rights_count;
    cw_timer *timers; /* in their order */
    uint64_t timer_orders;
    cw_packet *spare;
    cw_packet *lent; /* to the upcall under way; NULL again when it has been sent or freed */
    size_t packets;  /* in existence: in hand, sent, or with the test */
    size_t packets_max;
    cw_links polled;
    bool closing;
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
 * The same with options ("name=value", ended by NULL; borrowed). Gives NULL, and in *rc what open() said, or -EINVAL
 * when it did not ask for one of them: then nothing of it is left.
 */
cw_svc *fake_open_with(const cw_service *table, cw_dims dims, cw_coord self, const char *const *options, int *rc);
/*
 * Cancels its calls and closes it; what it sent goes. The first half of fake_close(), for several that have one
 * another's packets.
 */
void fake_shut(cw_svc *s);
/* Cancels its calls, closes it, and gives how many of its packets nobody freed: those the test holds count too. */
size_t fake_close(cw_svc *s);

/* Lets time pass: timers and time-outs of calls happen in their order, each at its instant. */
void fake_run(cw_svc *s, cw_span span);
/* The instant of the next of them, or CW_NEVER. */
cw_time fake_wake(const cw_svc *s);

/* Gives the oldest send that was not taken, its packet being the test's; false: there is none. */
bool fake_take(cw_svc *s, struct fake_send *out);
size_t fake_sends(const cw_svc *s);
/* Takes p, whosever it is. */
void fake_free(cw_packet *p);

/* A packet to let arrive; its home is s. */
cw_packet *fake_packet(cw_svc *s, const void *bytes, size_t length, size_t pad);
/* The upcall for p, which it takes unless it gives true: then p is to be forwarded, and the test's. */
bool fake_arrive(cw_svc *s, cw_packet *p, const cw_rx *rx, cw_verdict *verdict);
/* Opens the right to answer a call of that server; rx.call. */
uint32_t fake_right(cw_svc *s, cw_coord server, uint32_t call);
/* Ends a call: takes the reply, which may be NULL. False: there is no such call any more, and the reply is freed. */
bool fake_answer(cw_svc *s, uint32_t call, int status, cw_packet *reply, const cw_rx *rx);

/* Runs a command, words separated by spaces. Its answer is in *r, now or later: a cw_request here is that struct. */
void fake_command(cw_svc *s, const char *line, struct fake_result *r);

#endif
