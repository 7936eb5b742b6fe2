/* SPDX-License-Identifier: Apache-2.0 */
/*
 * service.h - what a service is, and what it may ask of the server it runs on.
 *
 * A service is a constant table of functions (struct cw_service) plus the size of its state. One instance runs on every
 * server, in the daemon and in the simulator alike; the host allocates the state, zeroed. A service has no globals, no
 * clock, no threads and no chance but through this interface, so that a run repeats from its seed.
 *
 * House rules
 *  - int results: >= 0 good, < 0 is -errno. Bad arguments get -EINVAL; they never stop the server.
 *  - Upcalls of one instance never overlap and never nest: what a service sends, even to itself, is queued and handled
 *    after the upcall returns.
 *  - Structures that cross the boundary start with their size, so that older services load into newer servers.
 *  - A service is a job (architecture): its id is a job id, its operations are ports, its instance on a server is the
 *    process with that server's id.
 *  - Services share the daemon's fate: a service that crashes takes its server down. Bad arguments do not crash.
 */
#ifndef CUBEWAY_SERVICE_H
#define CUBEWAY_SERVICE_H

#include "cubeway/time.h"
#include "cubeway/types.h"

#define CW_API_VERSION 1

typedef struct cw_svc cw_svc;             /* this service on this server */
typedef struct cw_packet cw_packet;       /* a packet, reference counted, one owner at a time */
typedef struct cw_timer cw_timer;         /* a running timer */
typedef struct cw_request cw_request;     /* a control command being answered */
typedef struct cw_counter cw_counter;     /* a number operators see */
typedef struct cw_histogram cw_histogram; /* times operators see */

/* ---- Destinations ------------------------------------------------------------------------------------------------ */

enum { CW_WAYPOINTS_MAX = 16 };

typedef enum cw_to_kind { CW_TO_KEY = 1, CW_TO_SERVER = 2, CW_TO_LINK = 3 } cw_to_kind;

/* Where a packet goes: job and port, and there the key's root, a server's process, or the neighbour over one link. */
typedef struct cw_to {
    cw_to_kind kind;
    cw_job job;
    cw_port port;
    cw_link link;       /* CW_TO_LINK */
    cw_coord server;    /* CW_TO_SERVER */
    cw_process process; /* CW_TO_SERVER and CW_TO_LINK: for a service, the id of its server */
    cw_key key;         /* CW_TO_KEY */
} cw_to;

/* ---- Packets that arrive ------------------------------------------------------------------------------------------ */

typedef enum cw_where {
    CW_TRANSIT = 1, /* passing by: only for services that ask (on_path) */
    CW_ARRIVED = 2, /* we are its server, or the root of its key */
} cw_where;

/* What the runtime knows about a packet; nothing here is taken from the sender's word (NMU 4.1). */
typedef struct cw_rx {
    size_t size;
    cw_where where;
    cw_link in;    /* the link it came by, CW_LINK_SELF when made here */
    unsigned hops; /* links crossed so far */
    cw_to_kind kind;
    cw_job job; /* destination job and port */
    cw_port port;
    cw_key key;      /* kind CW_TO_KEY: the full key when the sender gave it, else its 64 routing bits */
    cw_coord server; /* other kinds: the destination */
    cw_job src_job;  /* who sent it, stamped by the sender's NMU */
    cw_process src_process;
    cw_coord src_server;
    uint32_t call; /* a call that may be answered with cw_reply(); 0: none */
    /* An answer (NMU 4.2): who asked, by which number of its own, and what the one who answers, the source, gave as status (0 or -errno). */
    cw_job requester_job; /* 0: no answer */
    cw_process requester_process;
    cw_coord requester_server;
    uint32_t requester_call;
    int status;
} cw_rx;

typedef enum cw_verdict {
    CW_FORWARD, /* send it on (transit), or nothing more to do with it (arrived): the runtime disposes of it */
    CW_DROP,    /* drop it: counted as dropped by the service */
    CW_TAKE,    /* the packet is now the service's */
} cw_verdict;

typedef enum cw_event_kind {
    CW_EVENT_SERVER_UP = 1,   /* entered the committed view */
    CW_EVENT_SERVER_DOWN = 2, /* left it */
    CW_EVENT_LINK_UP = 3,     /* one of our own links */
    CW_EVENT_LINK_DOWN = 4,
    CW_EVENT_ROOTS = 5, /* the right to deliver keys changed here: a hold ended, a lease came or went */
} cw_event_kind;

typedef struct cw_event {
    size_t size;
    cw_event_kind kind;
    cw_coord server;
    cw_link link;
    uint64_t epoch; /* version of the key map; grows with every change */
} cw_event;

/* ---- The table a service exports ---------------------------------------------------------------------------------- */

typedef struct cw_service {
    size_t size; /* CW_SERVICE_INIT sets size and api */
    unsigned api;
    const char *name; /* letters, digits, '-'; at most 31 */
    const char *version;
    cw_job job; /* its id; 1..1023 are built-in services, 0 is invalid */
    size_t state_size;
    bool on_path;                          /* wants CW_TRANSIT upcalls for packets of its own job */
    int (*open)(cw_svc *s, void *state);   /* < 0: not loaded; may be NULL */
    void (*close)(cw_svc *s, void *state); /* its calls have ended; it sends and starts nothing any more; may be NULL */
    cw_verdict (*on_packet)(cw_svc *s, void *state, cw_packet *p, const cw_rx *rx);
    void (*on_event)(cw_svc *s, void *state, const cw_event *ev);                                /* may be NULL */
    int (*on_command)(cw_svc *s, void *state, cw_request *r, int argc, const char *const *argv); /* may be NULL */
    void (*on_writable)(cw_svc *s, void *state); /* after -EAGAIN there is room again; may be NULL */
    /* Own queue (may be NULL): asked when a link has room and it is this service's turn; gives a packet made with
     * cw_packet_new and addressed with cw_packet_address, or NULL. cw_poll_links() says when to ask. */
    cw_packet *(*next_packet)(cw_svc *s, void *state, cw_link link);
    const void *exports; /* functions for other services on this server, found with cw_find(); may be NULL */
    unsigned exports_version;
} cw_service;
#define CW_SERVICE_INIT .size = sizeof(cw_service), .api = CW_API_VERSION

/* Modules and the programs that load them see one another's functions of this header, whatever else -fvisibility hides. */
#pragma GCC visibility push(default)

/* A loadable module exports this one symbol: gives its table, which lives as long as the module is loaded. */
const cw_service *cw_service_entry(void);
#define CW_SERVICE_ENTRY "cw_service_entry"
typedef const cw_service *(*cw_service_entry_fn)(void);

/* ---- Making and reading packets ----------------------------------------------------------------------------------- */

/* Gives a packet with length zero bytes of payload, or NULL: too long (cw_mtu()), or the service's memory is used up. */
cw_packet *cw_packet_new(cw_svc *s, size_t length);
/* As above with pad further zero bytes that are on the wire but not in memory: for load generators. */
cw_packet *cw_packet_new_padded(cw_svc *s, size_t length, size_t pad);
/*
 * A packet is in a service's hands from cw_packet_new() until it is sent or freed, and a packet that came from its upcall on: within
 * the upcall it may be changed, sent, answered with or freed (and then whatever the verdict, it is gone), and with CW_TAKE it
 * stays. A packet that is not in its hands is not touched: -EINVAL, or nothing happens. So many are in its hands at one time (4,096):
 * beyond that no new ones are made, and those that come for it are dropped.
 */
/* Takes p. NULL is allowed. */
void cw_packet_free(cw_svc *s, cw_packet *p);
/* Borrows: the payload, writable while the packet is in the service's hands; *length (may be NULL) its bytes. NULL of NULL. */
uint8_t *cw_packet_data(cw_packet *p, size_t *length);
/*
 * Cuts or extends the payload at its end (new bytes are zero). -EMSGSIZE when it would not fit a packet, or the memory it has: make a
 * packet as long as it may become, then cut it.
 */
CW_MUST_CHECK int cw_packet_resize(cw_packet *p, size_t length);
/* Bytes on the wire behind the payload that are not in memory. */
size_t cw_packet_pad(const cw_packet *p);
/* What one server on the way reported of a packet that was sent with options.trace. */
typedef struct cw_trace_hop {
    size_t size; /* the caller sets it */
    cw_coord server;
    cw_link in;       /* the link it came by, CW_LINK_SELF: made there */
    cw_link out;      /* the link it left by, CW_LINK_SELF: taken there */
    uint64_t wait_ns; /* from its coming to its leaving, or to the upcall; at most some 4 s are told apart */
    unsigned queued;  /* packets of the service that were before it when it came */
} cw_trace_hop;
/* Fills *out with report i, 0 the first. -ENOENT: there are not so many, or the packet is not traced; -EINVAL. */
int cw_packet_trace(const cw_packet *p, unsigned i, cw_trace_hop *out);
/*
 * The largest payload of one packet here. What goes with it takes from that: a full key 16 bytes, a call 24, its answer 20, a recorded
 * path 8 to 32, way-points 4 and 4 each, a trace 20 and more.
 */
size_t cw_mtu(const cw_svc *s);

/* ---- Sending ------------------------------------------------------------------------------------------------------ */

typedef struct cw_send_options {
    size_t size;              /* CW_SEND_INIT sets it */
    unsigned waypoints;       /* 0..CW_WAYPOINTS_MAX servers to pass through first, in order */
    const cw_coord *waypoint; /* borrowed for the call */
    bool full_key;            /* carry all 160 bits; otherwise receivers see the 64 that route */
    bool record_path;         /* note the links taken, so that a reply may retrace them */
    bool trace;               /* every hop reports (cwctl trace) */
    uint8_t hop_limit;        /* 0: the server's default */
    uint8_t
        priority; /* 0: ordinary; larger: the later it is dropped from a full queue of this server (drop = priority) */
} cw_send_options;
#define CW_SEND_INIT .size = sizeof(cw_send_options)

/*
 * Takes p on success (>= 0) and leaves it the service's on failure: -EAGAIN queue full (on_writable follows),
 * -ENETUNREACH no such server in view or the link down, -ENOENT no service with that job, -EACCES no privilege, -EMSGSIZE,
 * -ENOMEM, -ESHUTDOWN (the service is closing), -EINVAL (also: the process does not live on that server). options may be NULL.
 * The privilege is one of the service's job, its own job's too (NMU 3): to->job and port, on to->process or, for a key, on all
 * processes. Asked before anything else: who may not send does not learn whether anybody is there. Answers need none: cw_reply().
 */
CW_MUST_CHECK int cw_send(cw_svc *s, cw_packet *p, const cw_to *to, const cw_send_options *options);
/* As cw_send, but always takes p: what cannot be sent is dropped and counted. */
void cw_send_or_drop(cw_svc *s, cw_packet *p, const cw_to *to, const cw_send_options *options);

/* Calls: a request that is answered once or times out (NMU 4.2). */
typedef void (*cw_reply_fn)(cw_svc *s, void *state, void *arg, int status, cw_packet *reply, const cw_rx *rx);
typedef struct cw_call_options {
    size_t size;
    cw_span timeout;       /* of one attempt; 0: 1 s. Whoever is asked has 30 s at most to answer one */
    unsigned retries;      /* further attempts after the first */
    cw_send_options send;  /* its size may be left 0 */
    const cw_to *reply_to; /* CW_TO_SERVER: who gets the answer; borrowed for the call. NULL: the caller */
} cw_call_options;
#define CW_CALL_INIT .size = sizeof(cw_call_options)
/*
 * Sends a copy-on-retry request and calls done exactly once: status 0 with the reply (borrowed for the upcall, unless
 * cw_packet_keep()), or -ETIMEDOUT, -ECANCELED (cancelled, or the service closes), or the responder's status.
 * Takes p on success. Gives the call's number (> 0), or -errno and p stays the service's: cw_send's, or -ENOBUFS (the service has
 * too many calls out). options may be NULL. Only the job that was called can answer.
 *
 * With reply_to somebody else gets the answer (three-way, NMU 4.2): its on_packet is called with it, and with who asked in
 * cw_rx.requester_*. That needs the caller's privilege for it as for the one who is called, and neither of these needs any. The caller
 * hears nothing more: done is NULL, retries is 0 (else -EINVAL), timeout is how long the answer may be given, and the number given is
 * the recipient's requester_call.
 */
CW_MUST_CHECK int64_t cw_call(cw_svc *s, cw_packet *p, const cw_to *to, const cw_call_options *options,
                              cw_reply_fn done, void *arg);
/* Ends a call: done is called with -ECANCELED from inside, the one upcall that nests. -ENOENT when it is no more. */
int cw_call_cancel(cw_svc *s, int64_t call);
/*
 * Answers the call that rx named, retracing its recorded path when it has one and that path is up, else routed. Always takes p (NULL: an
 * empty answer). status is 0, or an errno up to 4095, positive or negative: the caller gets it negative. May be done later: keep
 * rx->call. On failure p is dropped: -ENOENT the handle was used, timed out, or never was; after any other (-EINVAL and those of
 * cw_send) it may be tried again.
 */
int cw_reply(cw_svc *s, uint32_t call, int status, cw_packet *p);
/* In an upcall: the packet lent by it becomes the service's to free. In on_packet, CW_TAKE does the same. */
void cw_packet_keep(cw_packet *p);

/*
 * Own queues: the links this service now has packets for; asked for by next_packet. A link for which next_packet gives NULL is
 * forgotten until it is polled again.
 */
void cw_poll_links(cw_svc *s, cw_links links);
/*
 * Addresses a packet of the service's own queue: same checks and results as cw_send, but does not queue; -EMSGSIZE also when what
 * must stand before the payload does not fit the packet's memory.
 */
CW_MUST_CHECK int cw_packet_address(cw_svc *s, cw_packet *p, const cw_to *to, const cw_send_options *options);

/* ---- Place, keys, servers, links ---------------------------------------------------------------------------------- */

cw_coord cw_self(const cw_svc *s);
cw_dims cw_torus(const cw_svc *s);
cw_job cw_job_of(const cw_svc *s);
/* True when the coordinate lies in the torus. */
bool cw_server_valid(const cw_svc *s, cw_coord c);
/* Dense ids, for tables: 0..N-1. CW_SERVER_NONE outside the torus. */
cw_server cw_server_id(const cw_svc *s, cw_coord c);
cw_coord cw_server_coord(const cw_svc *s, cw_server id); /* 0,0,0 when id is none */
/* Links between them in the whole torus; UINT_MAX when one lies outside. */
unsigned cw_distance(const cw_svc *s, cw_coord a, cw_coord b);

/* In the committed view, as far as this service was told of it: an answer and the events agree. */
bool cw_reachable(const cw_svc *s, cw_coord c);
size_t cw_servers_reachable(const cw_svc *s);
bool cw_in_majority(const cw_svc *s); /* more than half, as the view stands now: see cw_hold() */
/* The links on shortest paths to c over what is alive; none when unreachable or self. */
cw_links cw_links_to(const cw_svc *s, cw_coord c);

typedef struct cw_link_info {
    size_t size;
    bool up;
    cw_coord neighbour;
    uint64_t bits_per_second; /* 0: unknown */
    size_t queued_packets;    /* of this service, that may leave by it */
} cw_link_info;
/* Fills *out, whose size the caller has set. -EINVAL; -ENODEV: an axis of length 1 has no such link. */
int cw_link_get(const cw_svc *s, cw_link link, cw_link_info *out);

cw_key cw_key_of(const cw_svc *s, const void *name, size_t length); /* SHA-1 in the name space of the service's job */
/* The key at place w of the keys of a home server (w modulo their number); all zero when home lies outside the torus. */
cw_key cw_key_at(const cw_svc *s, cw_coord home, uint64_t w);
/* GetServersForKey (CamCubeOS 3.2): gives how many of the r asked for were found, or -EINVAL. */
int cw_servers_for_key(const cw_svc *s, const cw_key *key, unsigned r, cw_coord *out);
/* True when a packet to the key would be delivered here now: root in every view, and the lease holds. */
bool cw_is_root(const cw_svc *s, const cw_key *key);
/* True when the key's root changed after epoch, exactly; also when that epoch is older than the 128 changes remembered. */
bool cw_key_moved(const cw_svc *s, const cw_key *key, uint64_t since_epoch);
/*
 * True when what was learned of the key in that epoch can be relied on: this server's lease holds, and without a break since then the key
 * has had one root, in one life, in view, with nobody about to take its place (first in both views; semantics 4.2, 5.2). It turns false before
 * this server admits whoever ends it.
 */
bool cw_key_steady(const cw_svc *s, const cw_key *key, uint64_t since_epoch);
/* True when the server is in neither view: as what it was, it serves nothing any more (semantics 4.2, remove). */
bool cw_gone(const cw_svc *s, cw_coord c);
/*
 * The cluster's hold (semantics 4.6): a server that died or was cut off is in nobody's view any more so long afterwards, by true time; allow for the
 * drift of clocks. Until then both sides of a cut may count the same servers, and each think that it is the majority.
 */
cw_span cw_hold(const cw_svc *s);
uint64_t cw_epoch(const cw_svc *s);

/* ---- Time, chance, timers, long work ------------------------------------------------------------------------------- */

cw_time cw_now(const cw_svc *s);
uint64_t cw_random(cw_svc *s);
/* Uniform in 0..below-1; below > 0. */
uint64_t cw_random_below(cw_svc *s, uint64_t below);

typedef void (*cw_timer_fn)(cw_svc *s, void *state, void *arg);
/* Calls fn once after the span, from a later tick even if the span is 0. NULL when the service has too many timers. */
cw_timer *cw_timer_start(cw_svc *s, cw_span after, cw_timer_fn fn, void *arg);
/* Ends a timer. Nothing happens when it has run, was stopped, or is another service's. NULL is allowed. */
void cw_timer_stop(cw_svc *s, cw_timer *t);
/*
 * Runs work away from the server's thread (in the simulator: inline, and its end is reported after cost), then done on it. work must
 * not call anything of this interface. -EAGAIN too much is under way, -EBUSY the service is still opening (a timer of no time comes
 * after), -ESHUTDOWN it, or its server, is closing, -EINVAL.
 */
CW_MUST_CHECK int cw_offload(cw_svc *s, void (*work)(void *arg), void (*done)(cw_svc *s, void *state, void *arg),
                             void *arg, cw_span cost);

/* ---- Other services, operators ------------------------------------------------------------------------------------- */

/*
 * Borrows another service's exported functions of that version on this server, and its instance in *peer (may be NULL); NULL when it
 * is not there. Good until that service closes; services close in the reverse order of their loading. Built-in services find what
 * their host offers too, with *peer NULL, for as long as they run.
 */
const void *cw_find(cw_svc *s, const char *name, unsigned version, cw_svc **peer);
void *cw_state(cw_svc *s);

/*
 * Gives the counter of that name (1..31 of a-z A-Z 0-9 _ -), which lives as long as the service; the same for the same name. The name
 * is copied, help is borrowed. Never NULL: past 63 of them, and for a name that is none, all share one called "overflow".
 */
cw_counter *cw_counter_new(cw_svc *s, const char *name, const char *help);
void cw_counter_add(cw_counter *c, uint64_t n);
/*
 * The same for how long things take: a histogram from 1 us to 17 s, in the metrics of the daemon. NULL: 16 are made, the name is none, or there is
 * no memory; what is noted in NULL is not. permille 500 is the median, read off with an error of at most an eighth; 0: nothing was noted.
 */
cw_histogram *cw_histogram_new(cw_svc *s, const char *name, const char *help);
void cw_histogram_note(cw_histogram *h, cw_span took);
uint64_t cw_histogram_count(const cw_histogram *h);
cw_span cw_histogram_quantile(const cw_histogram *h, unsigned permille);

/*
 * What the operator set for this service: `service NAME { options { name = value } }` of a daemon, `option SERVICE NAME VALUE` of a scenario. Borrowed,
 * as long as the service lives; NULL: not set (or name is NULL). A service asks for all that it knows in open(), and refuses bad values there (-EINVAL, and cw_log() says which):
 * when open() has succeeded and there is an option it has not asked for, the host does not let it run and names the option.
 */
const char *cw_option(const cw_svc *s, const char *name);

/*
 * Commands: on_command returns 0 (answered), -errno, or 1: cw_request_done() follows, or was called by now. Fields are typed, for tables and JSON
 * alike. After it is done a request ignores what is said; those still open when the service closes end with -ECANCELED.
 */
void cw_request_int(cw_request *r, const char *name, int64_t value);
void cw_request_text(cw_request *r, const char *name, const char *value);
void cw_request_row(cw_request *r); /* between two rows: the fields that follow are of the next */
void cw_request_done(cw_request *r, int rc);

typedef enum cw_level { CW_LOG_ERROR, CW_LOG_WARN, CW_LOG_INFO, CW_LOG_DEBUG } cw_level;
void cw_log(cw_svc *s, cw_level level, const char *text);

#pragma GCC visibility pop

#endif
