/* SPDX-License-Identifier: Apache-2.0 */
/*
 * transport.h - reliable messages between the instances of services: to a server's process or to a key's root, of any
 * size; requests with answers of any size (CamCubeOS 5.3: "point-to-point or point-to-key reliable transport").
 *
 * It runs inside the job that uses it: an instance (struct transport) belongs to one using service on one server,
 * packets are sent with that service's own cw_svc, so that privileges, fair shares and identity are the user's. One
 * port of the user's job is the transport's:
 *
 *     open        transport_open(s, &config, &h->transport)
 *     on_packet   if (rx->port == PORT) return transport_packet(h->transport, p, rx);
 *     on_event    transport_event(h->transport, ev)
 *     on_writable transport_writable(h->transport)
 *     close       transport_close(h->transport)
 *
 * Guarantees
 *  - Whoever sends is told exactly once, by done(): 0, the receiver has taken the message, whole, byte for byte, and
 *    nothing else took it for that (but see TRANSPORT_RESTART); or why not. Time-outs are results: after them the
 *    message may or may not have been taken.
 *  - A receiver takes a message at most once in one incarnation of its own (one struct transport), whatever the network
 *    doubles, delays or reorders. Messages of one pair are independent: they may be taken in another order than they
 *    were sent in.
 *  - A message to a key is taken by a server that is the key's root when the message is whole (cw_is_root()).
 *  - Memory is bounded by the configuration: what does not fit waits at its sender, or is refused (-ENOBUFS).
 *
 * When to use it: for what does not fit one packet, or must be told apart from its own repetition. A question of one
 * packet with an answer of one packet that may be asked twice is cw_call(): one packet each way, no state.
 * docs/services/transport.md has the comparison.
 *
 * Two services that talk through it need the privilege to send to one another's transport port, both ways
 * (acknowledgements); both use the same port number or tell theirs by sending first. For a service with itself one
 * grant of its own job does.
 *
 * Threading: that of the service. Callbacks come from within transport_packet(), _event(), _writable(), _cancel(),
 * _resume(), _close() and timers, never from within the call that started what they are about; they may call everything
 * here but transport_close(). Nothing here is thread-safe.
 */
#ifndef SERVICES_TRANSPORT_TRANSPORT_H
#define SERVICES_TRANSPORT_TRANSPORT_H

#include "cubeway/service.h"

enum { TRANSPORT_JOB = 5, TRANSPORT_API_VERSION = 1 };

struct transport; /* one using service on one server */

/* ---- Messages that come ------------------------------------------------------------------------------------------ */

/* The right to answer a request, a plain value: kept as long as the service likes, used once. */
struct transport_reply_to {
    cw_job job;
    cw_process process;
    cw_coord server;
    cw_port port;
    uint64_t request;
};

/*
 * What is known of a message from its first packet on. Where it is from is the runtime's word; bytes and tag are the
 * sender's.
 */
struct transport_message {
    size_t size;
    uint64_t bytes; /* of the whole message */
    uint32_t tag;   /* what its sender said */
    cw_job src_job;
    cw_process src_process;
    cw_coord src_server;
    bool to_key; /* then key is the full one */
    cw_key key;
    bool request; /* its sender waits for transport_reply() with reply_to */
    struct transport_reply_to reply_to;
    uint64_t incoming; /* names it for transport_resume() while it comes; 0 when it came in one packet */
};

/*
 * How a message is taken. Zeroed: whole, in memory of the transport (and config.memory_max).
 *  - into: whole, in the service's own memory of at least message->bytes, which the transport writes until message() is
 *    called.
 *  - piece: in pieces, in order, as they come, of any size, however long the message; at most config.piece_window waits
 *    out of order. Borrows bytes for the call. Gives 0; -EAGAIN: not now, the same piece comes again after
 *    transport_resume(); any other -errno: the message is refused with it.
 */
struct transport_accept {
    uint8_t *into;
    int (*piece)(void *context, void *arg, const struct transport_message *m, uint64_t offset, const uint8_t *bytes,
                 size_t length);
    void *arg; /* for piece() and message() */
};

/* ---- What an instance may use ------------------------------------------------------------------------------------ */

struct transport_config {
    size_t size;   /* transport_config_default() sets it and everything below but what is marked (own) */
    cw_port port;  /* (own) of the user's job */
    void *context; /* (own) for the callbacks: usually the service's state */

    /*
     * A message begins. 0: taken as *accept (zeroed before) says; -errno: refused, its sender's status. May be NULL:
     * all are taken whole, up to message_max. Not asked for answers: whoever requested has said how.
     */
    int (*begin)(void *context, const struct transport_message *m, struct transport_accept *accept);
    /*
     * A message has ended, once for each that began. status 0: all of it is there, at bytes (borrowed for the call;
     * into, if that was set; NULL after pieces); what is returned, 0 or -errno, is its sender's status. status < 0: it
     * will not come any more (-ECONNRESET its sender is gone or has given up, -ETIMEDOUT, -ESTALE we are no longer its
     * key's root, -ECANCELED we close); told only when begin is set.
     */
    int (*message)(void *context, void *arg, const struct transport_message *m, const uint8_t *bytes,
                   int status); /* (own) */

    uint64_t message_max;   /* of a message taken whole: 16 MiB */
    size_t memory_max;      /* bytes allocated in all, but for peers and messages themselves: 64 MiB */
    size_t peer_memory_max; /* of it, for messages from one peer that come: 32 MiB */
    unsigned peers_max;     /* that are remembered: 1,024, each some 2 KiB; idle ones are forgotten for new ones */
    unsigned messages_max;  /* being sent, to all, requests until they are answered: 1,024 */
    unsigned incoming_max;  /* of several packets, coming from one peer at a time: 32 */
    size_t piece_window;    /* 256 KiB */
    size_t window_max;      /* bytes on their way to one peer at a time: 4 MiB */
    cw_span timeout;        /* of a message, and of a request with its answer: 5 s */
    cw_span silence;        /* an unfinished message is given up by its receiver after so long without a packet: 10 s */
    cw_span rto_min;        /* before something is repeated: 500 us; what is measured above it counts */
    cw_span rto_max;        /* 200 ms */
    cw_span ack_delay;      /* an acknowledgement waits so long for company: 50 us */
    size_t queue_target;    /* bytes that a transfer means to keep queued for each of its first links: 32 KiB */
    bool counters;          /* counters transport_... in the user's name */
};
struct transport_config transport_config_default(cw_port port, void *context);

/* ---- Life -------------------------------------------------------------------------------------------------------- */

/*
 * Borrows user until transport_close(). -EINVAL (a limit is impossible; message is NULL), -ENOMEM. In the user's open()
 * or later.
 */
CW_MUST_CHECK int transport_open(cw_svc *user, const struct transport_config *config, struct transport **out);
/* Everything under way ends with -ECANCELED, told from within. Nothing is sent: peers find out. NULL is allowed. */
void transport_close(struct transport *t);

/* Upcalls of the user's, handed on. Packets of other ports are not for it. */
cw_verdict transport_packet(struct transport *t, cw_packet *p, const cw_rx *rx);
void transport_event(struct transport *t, const cw_event *ev);
void transport_writable(struct transport *t);

/* ---- Sending ----------------------------------------------------------------------------------------------------- */

/*
 * What is sent: size bytes at bytes, borrowed until done() (or copied, TRANSPORT_COPY); or, when read is set, what read
 * gives of any part that is asked for, more than once for what is lost. read gives 0, or -errno: the message ends with
 * it.
 */
struct transport_data {
    const void *bytes;
    uint64_t size;
    int (*read)(void *context, void *arg, uint64_t offset, uint8_t *out, size_t length);
};

enum {
    TRANSPORT_COPY = 1, /* data->bytes may go after the call; counts against memory_max */
    TRANSPORT_RESTART =
        2, /* send it again from its first byte to whoever has the key now, or to the server's new incarnation, instead of
                              -ESTALE or -ECONNRESET: it may then have been taken by the one before, too */
    TRANSPORT_WAIT =
        4, /* a server out of view, or a key whose root does not answer, may come back until the time-out */
};

struct transport_send_options {
    size_t size; /* TRANSPORT_SEND_INIT */
    uint32_t tag;
    unsigned flags;
    cw_span timeout; /* 0: config.timeout */
    /* Of requests: the answer. Zeroed: whole, up to config.message_max. */
    uint64_t reply_max;             /* a longer one is refused: -EMSGSIZE at both ends; 0: config.message_max */
    struct transport_accept accept; /* into: of reply_max bytes. arg: for piece() only */
};
#define TRANSPORT_SEND_INIT .size = sizeof(struct transport_send_options)

/*
 * status: 0, or what the receiver refused with, or -ETIMEDOUT, -ECANCELED, -ENETUNREACH (not in view), -ECONNRESET (the
 * receiver began a new incarnation, or forgot us), -ESTALE (the key's root left with it, and nobody knows whether it
 * was taken), -EACCES, -EMSGSIZE, -ENOBUFS (it will never fit there), what read() gave.
 */
typedef void (*transport_done_fn)(void *context, void *arg, int status);

/*
 * Sends data to a server's process (CW_TO_SERVER) or to a key's root (CW_TO_KEY): job and port of to are those of the
 * receiver's transport. Gives the message's number (> 0), or -EINVAL, -ENOBUFS (messages_max, or memory for
 * TRANSPORT_COPY), -ENETUNREACH, -ENOENT (nobody has the key), -ESHUTDOWN; then done is not called. options may be
 * NULL. done may be NULL.
 */
CW_MUST_CHECK int64_t transport_send(struct transport *t, const cw_to *to, const struct transport_data *data,
                                     const struct transport_send_options *options, transport_done_fn done, void *arg);

/*
 * The answer, once. status 0: it is whole, at bytes (borrowed for the call; NULL after pieces), size long; m says who
 * answered. Else: what transport_reply() gave, with its bytes, or as for transport_done_fn with m NULL.
 */
typedef void (*transport_answer_fn)(void *context, void *arg, int status, const uint8_t *bytes, uint64_t size,
                                    const struct transport_message *m);

/* As transport_send(), and waits for the answer. One time-out for both. data may be NULL: of no bytes. */
CW_MUST_CHECK int64_t transport_request(struct transport *t, const cw_to *to, const struct transport_data *data,
                                        const struct transport_send_options *options, transport_answer_fn done,
                                        void *arg);
/*
 * Answers a request, now or later, also from within message(). status: 0, or an errno up to 4,095 of either sign; data
 * may be NULL. As transport_send() otherwise; done tells whether the answer was taken: -ENOENT when nobody waits for it
 * any more.
 */
CW_MUST_CHECK int64_t transport_reply(struct transport *t, const struct transport_reply_to *to, int status,
                                      const struct transport_data *data, const struct transport_send_options *options,
                                      transport_done_fn done, void *arg);

/*
 * Ends a message or a request: done is called from within, with -ECANCELED, or with the end that it had come to already
 * when nobody had been told of that yet; never later. 0, or -ENOENT when there is no such message: its done has been
 * called, or is running.
 */
int transport_cancel(struct transport *t, int64_t number);
/* piece() said -EAGAIN: it comes again, from within. -ENOENT when the message is no more. */
int transport_resume(struct transport *t, uint64_t incoming);

/* ---- What is seen ------------------------------------------------------------------------------------------------ */

struct transport_stats {
    size_t size;
    uint64_t sent, done, failed;       /* messages */
    uint64_t taken, refused, given_up; /* messages that came */
    uint64_t bytes_sent, bytes_taken;  /* of messages that ended well */
    uint64_t packets, acks;            /* that left; acks: those with nothing but an acknowledgement */
    uint64_t repeated;                 /* parts sent again */
    uint64_t needless;                 /* of these, when the first had arrived after all */
    uint64_t doubled;                  /* parts that came twice */
    uint64_t probes;                   /* time-outs of silence */
    uint64_t restarts;                 /* at an heir, or a new incarnation */
    uint64_t waits;                    /* refused for want of memory, tried again */
    uint64_t malformed, strange;       /* packets: unreadable; of no association of ours */
    uint64_t peers, forgotten;         /* now; idle ones that made room */
    uint64_t memory, memory_most;      /* bytes counted against memory_max: now, most */
};
void transport_stats(const struct transport *t, struct transport_stats *out);

/* Of the way to one peer; -ENOENT: nothing was sent there lately. */
struct transport_path {
    size_t size;
    cw_span rtt, rtt_least, rto; /* smoothed; least of late; 0 before the first */
    uint64_t window, in_flight;  /* bytes */
};
int transport_path_get(const struct transport *t, cw_job job, cw_process process, cw_port port,
                       struct transport_path *out);

/*
 * For services that come as files: cw_find(s, "transport", TRANSPORT_API_VERSION, NULL). Built-in ones link the
 * functions.
 */
struct transport_api {
    size_t size;
    struct transport_config (*config_default)(cw_port port, void *context);
    int (*open)(cw_svc *user, const struct transport_config *config, struct transport **out);
    void (*close)(struct transport *t);
    cw_verdict (*packet)(struct transport *t, cw_packet *p, const cw_rx *rx);
    void (*event)(struct transport *t, const cw_event *ev);
    void (*writable)(struct transport *t);
    int64_t (*send)(struct transport *t, const cw_to *to, const struct transport_data *data,
                    const struct transport_send_options *options, transport_done_fn done, void *arg);
    int64_t (*request)(struct transport *t, const cw_to *to, const struct transport_data *data,
                       const struct transport_send_options *options, transport_answer_fn done, void *arg);
    int64_t (*reply)(struct transport *t, const struct transport_reply_to *to, int status,
                     const struct transport_data *data, const struct transport_send_options *options,
                     transport_done_fn done, void *arg);
    int (*cancel)(struct transport *t, int64_t number);
    int (*resume)(struct transport *t, uint64_t incoming);
    void (*stats)(const struct transport *t, struct transport_stats *out);
};

/* The built-in service: exports the table, and moves bulk for operators (docs/services/transport.md). */
extern const cw_service transport_service;

#endif
