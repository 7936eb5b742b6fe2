/* SPDX-License-Identifier: Apache-2.0 */
/*
 * transport.h - reliable messages between the instances of services, to a server's process or to a key's root, of any
 * size; and requests with answers of any size (CamCubeOS 5.3: "point-to-point or point-to-key reliable transport").
 *
 * The transport runs inside the job that uses it. An instance (struct transport) belongs to one service, its user, on
 * one server; packets are sent with the user's own cw_svc, so privileges, fair shares and identity are the user's. One
 * port of the user's job is the transport's, and the user hands its upcalls on:
 *
 *     open        transport_open(s, &config, &h->transport)
 *     on_packet   if (rx->port == PORT) return transport_packet(h->transport, p, rx);
 *     on_event    transport_event(h->transport, ev)
 *     on_writable transport_writable(h->transport)
 *     close       transport_close(h->transport)
 *
 * Guarantees (docs/services/transport.md numbers the rules that keep them)
 *  - The sender is told exactly once, by done(), how its message ended. 0: the receiver has taken the whole message,
 *    byte for byte, and no other server took it (but see TRANSPORT_RESTART). After -ETIMEDOUT, as after any other loss
 *    of the receiver, the message may or may not have been taken.
 *  - A receiver takes a message at most once in one incarnation of its own (one struct transport), whatever the network
 *    doubles, delays or reorders. Messages of one pair are independent: they may be taken in another order than they
 *    were sent in.
 *  - A message to a key is taken by a server that is the key's root when the message is whole (cw_is_root()).
 *  - Memory is bounded by the configuration: a message that does not fit waits at its sender, or is refused (-ENOBUFS).
 *
 * Use the transport for what does not fit one packet, or must not be carried out twice. For a question of one packet
 * with an answer of one packet, where asking twice does no harm, use cw_call(): one packet each way and no state.
 * docs/services/transport.md compares them.
 *
 * Two services that exchange messages need the privilege to send to each other's transport port, in both directions,
 * because acknowledgements are packets too. A reply needs no known port: it goes to the port that the request came
 * from. For a service that talks to itself one grant to its own job is enough.
 *
 * Threading: everything on the user's thread; nothing here is thread-safe. Callbacks are called from within
 * transport_packet(), _event(), _writable(), _cancel(), _resume(), _close() and timers, never from within the call that
 * started the message they are about. A callback may call everything here but transport_close().
 */
#ifndef SERVICES_TRANSPORT_TRANSPORT_H
#define SERVICES_TRANSPORT_TRANSPORT_H

#include "cubeway/service.h"

enum { TRANSPORT_JOB = 5, TRANSPORT_API_VERSION = 2 };

struct transport; /* of one service on one server */

/* ---- Messages that come ------------------------------------------------------------------------------------------ */

/* Bytes of the longest head that a message may have beside its own bytes (transport_send_options.head). */
enum { TRANSPORT_HEAD_MAX = 48 };

/* The right to answer a request: a plain value. The service may keep it as long as it likes, and uses it once. */
struct transport_reply_to {
    cw_job job;
    cw_process process;
    cw_coord server;
    cw_port port;
    uint64_t request;
};

/*
 * Who asks to send which message: a plain value, for transport_permit(). It is the same whenever the sender asks for
 * this message again, and of no other message that this sender has under way.
 */
struct transport_asker {
    cw_job job;
    cw_process process;
    cw_coord server;
    cw_port port;
    uint32_t message;
    bool background;
};

/*
 * What is known of a message from its first packet on. The source is stamped by the runtime; bytes, tag, head and key
 * are what the sender says.
 */
struct transport_message {
    size_t size;
    uint64_t bytes; /* of the whole message */
    uint32_t tag;   /* transport_send_options.tag of its sender */
    cw_job src_job;
    cw_process src_process;
    cw_coord src_server;
    bool to_key; /* then key is the full one */
    cw_key key;
    bool request; /* its sender waits for transport_reply(), to reply_to */
    struct transport_reply_to reply_to;
    uint64_t incoming; /* its name for transport_resume(); 0: it came in one packet, taken whole */
    struct transport_asker asker;
    size_t head_length; /* bytes of head[] that the sender gave, 0 to TRANSPORT_HEAD_MAX; those behind are 0 */
    uint8_t head[TRANSPORT_HEAD_MAX];
};

/* Memory of the service for a stretch of a message. */
struct transport_place {
    uint8_t *at;
    size_t length;
};
enum { TRANSPORT_PLACES_MAX = 16 };

/*
 * How a message is taken. All zero: whole, in memory of the transport (counted against config.memory_max). Otherwise
 * one of these is set:
 *  - into: whole, in the service's own memory of at least message->bytes, which the transport may write until message()
 *    is called.
 *  - places: the same, in place_count pieces of memory, 1 to TRANSPORT_PLACES_MAX: the first bytes go to places[0],
 *    those that follow to places[1], and so on. Some may be of length 0. Together they have at least message->bytes, or
 *    the message is refused with -EMSGSIZE. The array is borrowed for the call, or until begin() has returned; what it
 *    points at may be written until message() is called.
 *  - piece: in pieces of any size, in order, as they come, however long the message; at most config.piece_window bytes
 *    wait out of order. piece() borrows bytes for the call and returns 0; -EAGAIN: not now, the same piece comes again
 *    after transport_resume(); or another -errno, with which the message is refused.
 */
struct transport_accept {
    uint8_t *into;
    int (*piece)(void *context, void *arg, const struct transport_message *m, uint64_t offset, const uint8_t *bytes,
                 size_t length);
    const struct transport_place *places;
    unsigned place_count;
    void *arg; /* for piece() and message() */
};

/* ---- What an instance may use ------------------------------------------------------------------------------------ */

struct transport_config {
    size_t size;   /* transport_config_default() sets it and everything below but what is marked (own) */
    cw_port port;  /* (own) of the user's job */
    void *context; /* (own) for the callbacks: usually the service's state */

    /*
     * A message begins. Returns
     *  - 0: it is taken as *accept (zeroed before) says.
     *  - -EAGAIN: not yet. No message() follows. The sender keeps the message and asks again: begin() is called for it
     *    once more after transport_permit(), or without that after 1 ms, then 2, 4 and so on to 64 ms, until the
     *    message's time-out. A service that remembers who waits finds them by m->asker.
     *  - any other -errno: it is refused, and its sender gets that status.
     * NULL: all messages are taken whole, up to message_max. Not called for answers: the request has said how its
     * answer is taken.
     */
    int (*begin)(void *context, const struct transport_message *m, struct transport_accept *accept);
    /*
     * (own) A message has ended; called once for each that began.
     *  - status 0: the message is whole, at bytes (borrowed for the call; `into` if that was set; NULL after pieces
     *    and with places).
     *    Returns 0 or -errno: the status that its sender gets.
     *  - status < 0: the rest will not come; told only when begin is set. -ECONNRESET: its sender is gone or has given
     *    up; -ETIMEDOUT; -ESTALE: we are no longer its key's root; -ECANCELED: we close; -EMSGSIZE, -ENOBUFS: too long.
     */
    int (*message)(void *context, void *arg, const struct transport_message *m, const uint8_t *bytes, int status);

    uint64_t message_max;   /* bytes of a message taken whole in the transport's memory: 16 MiB */
    size_t memory_max;      /* bytes allocated for messages in all, their structs apart: 64 MiB */
    size_t peer_memory_max; /* of memory_max, bytes for messages that come from one peer: 32 MiB */
    /*
     * Peers remembered, some 2 KiB each; idle ones make room for new ones: 1,024. One with which messages of both sorts
     * are exchanged, of the foreground and of the background, counts twice.
     */
    unsigned peers_max;
    unsigned messages_max; /* messages being sent, to all peers; requests until they are answered: 1,024 */
    unsigned incoming_max; /* messages of several packets that come from one peer at a time: 32 */
    size_t piece_window;   /* bytes of a message in pieces that may wait out of order: 256 KiB */
    size_t window_max;     /* bytes on their way to one peer: 4 MiB */
    cw_span timeout;       /* of a message, and of a request with its answer: 5 s */
    cw_span silence;       /* a receiver gives up an unfinished message after so long without a packet of it: 10 s */
    cw_span rto_min;       /* least time before a part is repeated, if the measured one is shorter: 500 us */
    cw_span rto_max;       /* most time before a part is repeated: 200 ms */
    cw_span ack_delay;     /* an acknowledgement waits so long for data to ride on: 50 us */
    size_t queue_target;   /* bytes that a transfer keeps queued for each first link of its way: 32 KiB */
    /*
     * (own) The user's table asks for a background place, and messages may be TRANSPORT_BACKGROUND: false. Without it
     * those of others are taken all the same.
     */
    bool background;
    bool counters; /* opens the counters transport_... in the user's name */
};
/* The defaults above, with the port and context given; message is still the caller's to set. */
struct transport_config transport_config_default(cw_port port, void *context);

/* ---- Life -------------------------------------------------------------------------------------------------------- */

/*
 * Borrows user until transport_close(). Called in the user's open() or later. -EINVAL: a limit is impossible, or
 * message is NULL; -ENOMEM.
 */
CW_MUST_CHECK int transport_open(cw_svc *user, const struct transport_config *config, struct transport **out);
/*
 * Ends everything under way with -ECANCELED; the callbacks are called from within. Sends nothing: peers find out by
 * themselves. NULL is allowed.
 */
void transport_close(struct transport *t);

/* The user's upcalls, handed on: packets of config.port only. transport_packet() gives the verdict to return. */
cw_verdict transport_packet(struct transport *t, cw_packet *p, const cw_rx *rx);
void transport_event(struct transport *t, const cw_event *ev);
void transport_writable(struct transport *t);

/* ---- Sending ----------------------------------------------------------------------------------------------------- */

/*
 * What is sent: size bytes at `bytes`, borrowed until done() (or copied, TRANSPORT_COPY). When read is set, bytes is
 * NULL and read() writes any part that is asked for, more than once for a part that was lost. read() returns
 *  - 0: the part is written.
 *  - -EAGAIN: these bytes are not there yet. What it has given before is still sent, and sent again where it was lost;
 *    for these bytes it is asked again after transport_more(). So a service passes a message on before it has all of
 *    it. The message's time-out runs on, and its receiver gives it up after its config.silence without a packet.
 *  - any other -errno, or -EAGAIN for bytes that it has given before: the message ends with that.
 */
struct transport_data {
    const void *bytes;
    uint64_t size;
    int (*read)(void *context, void *arg, uint64_t offset, uint8_t *out, size_t length);
};

enum {
    /* The bytes are copied, counted against memory_max: the caller's may go after the call. */
    TRANSPORT_COPY = 1,
    /*
     * Instead of -ESTALE or -ECONNRESET: send the message again from its first byte, to the server that is now the
     * key's root or to the server's new incarnation. The receiver before may have taken it, too.
     */
    TRANSPORT_RESTART = 2,
    /* Wait, until the time-out, for a server out of view, or for a key whose root does not answer. */
    TRANSPORT_WAIT = 4,
    /*
     * Only the first part leaves before the receiver has begun to take the message. It costs a round trip, and is for
     * long messages to a receiver whose begin() may refuse or say -EAGAIN: no packet is sent to be thrown away.
     */
    TRANSPORT_ASK = 8,
    /*
     * The message waits for links in the user's background place on this server (cw_place): it leaves when no other
     * place wants the link, and holds up nothing of the foreground, to the same receiver neither. Its answer is sent as
     * transport_reply() says. -EINVAL without config.background.
     */
    TRANSPORT_BACKGROUND = 16,
};

struct transport_send_options {
    size_t size; /* TRANSPORT_SEND_INIT */
    uint32_t tag;
    unsigned flags;
    cw_span timeout; /* 0: config.timeout */
    /* Requests only: bytes of the longest answer; a longer one is -EMSGSIZE at both ends. 0: config.message_max. */
    uint64_t reply_max;
    /* Requests only: how the answer is taken. `into`, or all `places`, have reply_max bytes; `arg` is for piece(). */
    struct transport_accept accept;
    /*
     * Up to TRANSPORT_HEAD_MAX bytes that the receiver sees when the message begins (transport_message.head). Copied by
     * the call. NULL when head_length is 0.
     */
    const void *head;
    size_t head_length;
};
#define TRANSPORT_SEND_INIT .size = sizeof(struct transport_send_options)

/*
 * How a message ended. status is 0, what the receiver refused it with, what read() returned, or
 *   -ETIMEDOUT, -ECANCELED
 *   -ENETUNREACH  the server is not in view
 *   -ECONNRESET   the receiver began a new incarnation, or forgot us
 *   -ESTALE       the key's root is gone, and nobody knows whether it took the message
 *   -EACCES       no privilege
 *   -EMSGSIZE     longer than the receiver takes
 *   -ENOBUFS      the receiver never has room for it
 */
typedef void (*transport_done_fn)(void *context, void *arg, int status);

/*
 * Sends data to a server's process (CW_TO_SERVER) or to a key's root (CW_TO_KEY); to->job and to->port are those of the
 * receiver's transport. With CW_TO_KEY it goes to the job's service on the root; or, when to->process is
 * CW_PROCESS_ANY, to whichever process of the root has the key, which is asked first: a round trip. options and done
 * may be NULL. Gives the message's number (> 0), or, and then done is not called, -EINVAL, -ENOBUFS (messages_max, or
 * no memory), -ENETUNREACH, -ENOENT (nobody has the key), -ESHUTDOWN.
 */
CW_MUST_CHECK int64_t transport_send(struct transport *t, const cw_to *to, const struct transport_data *data,
                                     const struct transport_send_options *options, transport_done_fn done, void *arg);

/*
 * How a request ended, called once. status 0: the answer is whole, `size` bytes at `bytes` (borrowed for the call; NULL
 * after pieces and with places), and m says who answered. A status that transport_reply() gave comes with its bytes and
 * m, too. Any other: as for transport_done_fn, with m NULL.
 */
typedef void (*transport_answer_fn)(void *context, void *arg, int status, const uint8_t *bytes, uint64_t size,
                                    const struct transport_message *m);

/* As transport_send(), and waits for the answer; one time-out covers both. data may be NULL: no bytes. */
CW_MUST_CHECK int64_t transport_request(struct transport *t, const cw_to *to, const struct transport_data *data,
                                        const struct transport_send_options *options, transport_answer_fn done,
                                        void *arg);
/*
 * Answers a request, now or later, also from within message(). status is 0 or an errno up to 4,095 of either sign; data
 * may be NULL: no bytes. Otherwise as transport_send(). done() says whether the answer was taken; -ENOENT: nobody waits
 * for it any more.
 */
CW_MUST_CHECK int64_t transport_reply(struct transport *t, const struct transport_reply_to *to, int status,
                                      const struct transport_data *data, const struct transport_send_options *options,
                                      transport_done_fn done, void *arg);

/*
 * Ends a message or a request. done() is called from within, never later: with -ECANCELED, or with the end that the
 * message had already come to when that had not been told yet. -ENOENT: there is no such message, because its done()
 * has been called or is running. -EINVAL: its read() is running, which can end it by what it returns.
 */
int transport_cancel(struct transport *t, int64_t number);
/*
 * There may be more bytes of a message whose read() returned -EAGAIN: it is called again, later. -ENOENT: the message
 * has ended. -EINVAL: its read() is running.
 */
int transport_more(struct transport *t, int64_t number);
/*
 * Calls piece() again, from within, for a message at which it returned -EAGAIN. An answer that is resumed from within
 * read() of its own request is resumed soon after read() has returned. -ENOENT: the message has ended. -EINVAL: its
 * piece() is running.
 */
int transport_resume(struct transport *t, uint64_t incoming);
/*
 * Tells the sender of a message at which begin() returned -EAGAIN to ask again now. It is a hint: it may get lost, come
 * twice, or be for a message that has ended meanwhile, and begin() decides again. -ENOENT: nothing is remembered of the
 * sender.
 */
int transport_permit(struct transport *t, const struct transport_asker *asker);

/* ---- What is seen ------------------------------------------------------------------------------------------------ */

/* Counted since transport_open(). */
struct transport_stats {
    size_t size;
    uint64_t sent, done, failed;       /* messages sent: begun, ended with 0, ended otherwise */
    uint64_t taken, refused, given_up; /* messages that came: taken, refused, not finished */
    uint64_t bytes_sent, bytes_taken;  /* of messages that ended well */
    uint64_t packets;                  /* that left */
    uint64_t acks;                     /* of the packets that left, those with nothing but an acknowledgement */
    uint64_t repeated;                 /* parts sent again */
    uint64_t needless;                 /* of the parts sent again, those that had arrived after all */
    uint64_t doubled;                  /* parts that came twice */
    uint64_t probes;                   /* time-outs of silence */
    uint64_t restarts;                 /* messages sent again, to an heir or a new incarnation */
    uint64_t waits;                    /* messages refused for want of memory, and tried again */
    uint64_t malformed;                /* packets that could not be read */
    uint64_t strange;                  /* packets of no association of ours */
    uint64_t peers;                    /* remembered now */
    uint64_t forgotten;                /* idle peers that made room for new ones */
    uint64_t memory, memory_most;      /* bytes counted against memory_max: now, and the most so far */
    uint64_t held;                     /* times that a message sent was told to wait for permission */
    uint64_t permits;                  /* permissions that came for messages that waited */
};
void transport_stats(const struct transport *t, struct transport_stats *out);

/* What is known of the way to one peer. The spans are 0 before the first sample. */
struct transport_path {
    size_t size;
    cw_span rtt;       /* round trip, smoothed */
    cw_span rtt_least; /* the least of late: nobody queued */
    cw_span rto;       /* time-out after which a part is repeated */
    uint64_t window;   /* bytes that may be in flight */
    uint64_t in_flight;
};
/* Of the way of foreground messages. -ENOENT: nothing was sent there lately. */
int transport_path_get(const struct transport *t, cw_job job, cw_process process, cw_port port,
                       struct transport_path *out);

/*
 * The functions above, for services that come as files: cw_find(s, "transport", TRANSPORT_API_VERSION, NULL). Built-in
 * services link them.
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
    int (*permit)(struct transport *t, const struct transport_asker *asker);
    int (*more)(struct transport *t, int64_t number);
};

/* The built-in service: exports the table, and measures the transport for operators (docs/services/transport.md). */
extern const cw_service transport_service;

#endif
