/* SPDX-License-Identifier: Apache-2.0 */
/*
 * service.h - what a service is, and what it may ask of the server that it runs on.
 *
 * A service is a constant table of functions (struct cw_service) and the size of its state. One instance of it runs on
 * every server, in the daemon and in the simulator alike; the host allocates the state, zeroed. A service has no
 * writable globals, and it takes time, chance, threads and packets from this interface only: so a run can be repeated
 * from its seed.
 *
 * Rules of the whole interface
 *  - A function that gives an int gives >= 0 when all is well and a negative errno otherwise. A bad argument gives
 *    -EINVAL and never stops the server. Where nothing else is said, NULL is a bad argument.
 *  - Threads: everything here is called on the server's one thread, from within an upcall of the same service. The work
 *    of cw_offload() is the exception: it runs elsewhere and may call nothing of this interface.
 *  - The upcalls of one instance never overlap and never nest (cw_call_cancel() is the one exception): what a service
 *    sends, even to itself, is queued, and handled after the upcall has returned.
 *  - "Takes" means that the memory belongs to the callee from then on, "gives" that it belongs to the caller, "borrows"
 *    that it stays where it was; what is borrowed without a term is borrowed for the call.
 *  - Structures that cross this boundary begin with their size, which their owner sets, so that a service that was
 *    built for an older server loads into a newer one. A larger structure is accepted as long as all that this server
 *    does not know of it is zero.
 *  - A service is a job (architecture): its number is a job's, its operations are ports, and its instance on a server
 *    is the process whose number is that server's id.
 *  - A service shares the fate of the daemon: when it crashes, its server goes down.
 */
#ifndef CUBEWAY_SERVICE_H
#define CUBEWAY_SERVICE_H

#include "cubeway/time.h"
#include "cubeway/types.h"

#define CW_API_VERSION 2

/* This service on this server: one instance. */
typedef struct cw_svc cw_svc;
/* A packet; it has one owner at a time. */
typedef struct cw_packet cw_packet;
/* A timer that is running. */
typedef struct cw_timer cw_timer;
/* An operator's command that is being answered. */
typedef struct cw_request cw_request;
/* A number that operators see, and a distribution of times that they see. */
typedef struct cw_counter cw_counter;
typedef struct cw_histogram cw_histogram;

/* ---- Destinations ------------------------------------------------------------------------------------------------ */

enum { CW_WAYPOINTS_MAX = 16 };

typedef enum cw_to_kind { CW_TO_KEY = 1, CW_TO_SERVER = 2, CW_TO_LINK = 3 } cw_to_kind;

/*
 * Where a packet goes: to a job and a port of that job; and for these, to the server that is the key's root, to a
 * process on a named server, or to a process on the neighbour at the other end of a link.
 */
typedef struct cw_to {
    cw_to_kind kind;
    cw_job job;
    cw_port port;
    cw_link link;    /* CW_TO_LINK */
    cw_coord server; /* CW_TO_SERVER */
    /*
     * CW_TO_SERVER and CW_TO_LINK; for a service, the id of its server. CW_PROCESS_ANY stands for whichever process
     * there has the key that the packet is about: the privilege for it is that for all processes, as for a key.
     */
    cw_process process;
    cw_key key; /* CW_TO_KEY */
} cw_to;

/* ---- Packets that arrive ----------------------------------------------------------------------------------------- */

typedef enum cw_where {
    CW_TRANSIT = 1, /* the packet is passing by: only services that ask for it (on_path) see it */
    CW_ARRIVED = 2, /* this server is the packet's destination, or the root of its key */
} cw_where;

/*
 * What the runtime knows of a packet. Nothing here rests on the sending service's word: sources are stamped by the NMU
 * of the server that sent the packet (NMU 4.1). The payload, by contrast, is whatever the sender wrote.
 */
typedef struct cw_rx {
    size_t size;
    cw_where where;
    /* The link that the packet came by; CW_LINK_SELF when it was made on this server. */
    cw_link in;
    /* How many links the packet has crossed. */
    unsigned hops;
    /* A server on the way kept the packet for longer than its service there lets it wait unmarked (mark_after). */
    bool marked;
    cw_to_kind kind;
    /* The job and port that the packet is for. */
    cw_job job;
    cw_port port;
    /* CW_TO_KEY: all 160 bits when the sender gave them (full_key), otherwise zeros and the 64 bits that route. */
    cw_key key;
    /* The server that the packet is for; with CW_TO_KEY, this server. */
    cw_coord server;
    /* Who sent it. */
    cw_job src_job;
    cw_process src_process;
    cw_coord src_server;
    /* The right to answer, which cw_reply() takes; 0 when the packet is no request. */
    uint32_t call;
    /*
     * The packet answers a request (NMU 4.2): requester_* say who asked, requester_call is the requester's own number
     * of that call, and status is what the responder, who is the source, gave to cw_reply(): 0 or a negative errno.
     * When the packet is no answer, requester_job is 0.
     */
    cw_job requester_job;
    cw_process requester_process;
    cw_coord requester_server;
    uint32_t requester_call;
    int status;
} cw_rx;

/* What becomes of a packet after on_packet. */
typedef enum cw_verdict {
    CW_FORWARD, /* in transit: the packet goes on; arrived: the service is done with it, the runtime disposes of it */
    CW_DROP,    /* the packet is dropped; in transit that is counted as "dropped by the service" */
    CW_TAKE,    /* the service takes the packet, as by cw_packet_keep() */
} cw_verdict;

/* What may change around a service. */
typedef enum cw_event_kind {
    CW_EVENT_SERVER_UP = 1,   /* a server entered the committed view */
    CW_EVENT_SERVER_DOWN = 2, /* a server left the committed view */
    CW_EVENT_LINK_UP = 3,     /* one of this server's own links went up */
    CW_EVENT_LINK_DOWN = 4,   /* one of this server's own links went down */
    CW_EVENT_ROOTS = 5, /* which keys may be delivered here may have changed: a hold ended, a lease came or went */
} cw_event_kind;

typedef struct cw_event {
    size_t size;
    cw_event_kind kind;
    cw_coord server; /* the server; for a link, the neighbour at its other end; CW_EVENT_ROOTS: this server */
    cw_link link;    /* the link; CW_LINK_SELF for the other kinds */
    uint64_t epoch;  /* the number of the view with this change in it; it grows with every change (cw_epoch()) */
} cw_event;

/* ---- Places ------------------------------------------------------------------------------------------------------ */

/*
 * Packets wait for links in places, among which the turns on each link go round, byte for byte by weight. A service has
 * one, the main place, and a second one when its table asks for it: that is served only while no other place wants the
 * link. Places are this server's own: elsewhere a packet waits in the main place of its service, whichever it began in.
 */
typedef enum cw_place { CW_PLACE_MAIN = 0, CW_PLACE_BACKGROUND = 1 } cw_place;

/* What a service's own queue would give a link next: peek_packet(). */
typedef struct cw_peek {
    /* The caller sets it. */
    size_t size;
    /* Bytes of the payload, and of what options add to the packet (cw_mtu()). */
    size_t length;
    /* It waits since then. */
    cw_time since;
} cw_peek;

/* Which packets that pass by a service asks to see. */
enum { CW_PATH_NONE = 0, CW_PATH_ALL = 1, CW_PATH_TRACED = 2 };

/* ---- The table a service exports --------------------------------------------------------------------------------- */

/*
 * A command that the service takes, as on_command gets it. From this, operators have `cwctl service NAME --help`,
 * a word that is no command is refused with those that are, and shells complete.
 */
typedef struct cw_command {
    /* The words that it begins with, with one space between: "start". NULL: the end of the list. */
    const char *words;
    /*
     * What follows, as help shows it; "" or NULL: nothing. Words have spaces between. CAPITALS are to be filled in,
     * [..] may be left out, A|B is one of them, name=VALUE is an option.
     */
    const char *arguments;
    /* What the command does: one sentence. */
    const char *help;
} cw_command;

/*
 * Order of upcalls: open first; then on_packet, on_event, on_command, on_writable, next_packet, peek_packet, and the
 * functions of timers, calls and offloaded work, in any order; close last. The host copies the table; what it points at
 * must live as long as the service. Functions that "may be NULL" are not called then.
 */
typedef struct cw_service {
    /* CW_SERVICE_INIT sets these two. */
    size_t size;
    unsigned api;
    /* What operators type: 1 to 31 letters, digits and '-'. */
    const char *name;
    const char *version;
    /*
     * The service's job: 1..1023 are for built-in services, larger numbers for loaded ones; 0 is invalid. The host may
     * open the table several times, each time with another job and another name: cw_job_of() says which job it is.
     */
    cw_job job;
    /* Bytes of state, at most 1 GiB; the host allocates them, zeroed, before open and frees them after close. */
    size_t state_size;
    /*
     * Asks for on_packet with CW_TRANSIT, too, for packets to the service's own job that pass this server:
     * CW_PATH_NONE, CW_PATH_ALL, or CW_PATH_TRACED: for those that were sent with options.trace.
     */
    uint8_t on_path;
    /* Asks for a background place. */
    bool background;
    /*
     * A packet that waits for longer in the service's queue here, on its way or at its begin, is marked (cw_rx.marked).
     * Where the rate of links is known, this is at least the time of four full frames. 0: never.
     */
    cw_span mark_after;
    /* < 0: the service cannot run here and is not loaded; close is not called then. May be NULL. */
    int (*open)(cw_svc *s, void *state);
    /*
     * The last upcall. Open calls have been cancelled and offloaded work has ended by then; from within close the
     * service can neither send nor start anything. It frees what it made beside its state. May be NULL.
     */
    void (*close)(cw_svc *s, void *state);
    /* Borrows p and rx for the upcall, and says what becomes of p. Never NULL: a table without it is refused. */
    cw_verdict (*on_packet)(cw_svc *s, void *state, cw_packet *p, const cw_rx *rx);
    /* Borrows ev. May be NULL. */
    void (*on_event)(cw_svc *s, void *state, const cw_event *ev);
    /* An operator's command in words: see cw_request_int(). Borrows argv. May be NULL: then there are no commands. */
    int (*on_command)(cw_svc *s, void *state, cw_request *r, int argc, const char *const *argv);
    /* A send gave -EAGAIN, and now there may be room again. May be NULL. */
    void (*on_writable)(cw_svc *s, void *state);
    /*
     * For a service with a queue of its own: called when the link has room, it is the turn of this place of the
     * service, and the service has named the link with cw_poll_links(). Gives a packet that was made with
     * cw_packet_new() and addressed with cw_packet_address(), or NULL. May be NULL.
     */
    cw_packet *(*next_packet)(cw_svc *s, void *state, cw_place place, cw_link link);
    /*
     * What would next_packet give now? Fills *out, whose size is set, and gives true; false: nothing. With it, small
     * packets of the service's own queue share frames, and of this queue and the packets that wait in the place, the
     * one goes first that has waited longer. Without it, all that waits in the place goes first. May be NULL.
     */
    bool (*peek_packet)(cw_svc *s, void *state, cw_place place, cw_link link, cw_peek *out);
    /* Functions for other services on this server, found with cw_find(), and their version. May be NULL. */
    const void *exports;
    unsigned exports_version;
    /* What on_command understands; the list ends with words that are NULL. May be NULL: then nobody knows. */
    const cw_command *commands;
} cw_service;
#define CW_SERVICE_INIT .size = sizeof(cw_service), .api = CW_API_VERSION

/* Modules and the programs that load them see one another's functions of this header despite -fvisibility=hidden. */
#pragma GCC visibility push(default)

/* The one symbol that a loadable module exports. Gives the module's table, which lives as long as the module does. */
const cw_service *cw_service_entry(void);
#define CW_SERVICE_ENTRY "cw_service_entry"
typedef const cw_service *(*cw_service_entry_fn)(void);

/* ---- Making and reading packets ---------------------------------------------------------------------------------- */

/*
 * A packet is in a service's hands
 *  - from cw_packet_new() until it is sent or freed;
 *  - during the upcall that it came with. Within that upcall the service may change it, send it, answer with it or free
 *    it, and after the last three it is gone, whatever the verdict says; the service keeps it by the verdict CW_TAKE
 *    or by cw_packet_keep().
 * With a packet that is not in the service's hands these functions give -EINVAL or do nothing. At most 4,096 packets
 * are in a service's hands at one time: beyond that no new ones are made, and those that come for the service are
 * dropped.
 */

/*
 * Gives a packet whose payload is length zero bytes. NULL: length is above cw_mtu(), the service's hands are full, or
 * there is no packet memory left.
 */
cw_packet *cw_packet_new(cw_svc *s, size_t length);
/* As cw_packet_new(), with pad more zero bytes that cross the wire but take no memory: for load generators. */
cw_packet *cw_packet_new_padded(cw_svc *s, size_t length, size_t pad);
/* Takes p, which may be NULL. */
void cw_packet_free(cw_svc *s, cw_packet *p);
/*
 * Borrows the payload, which may be written as long as the packet is in the service's hands; *length becomes its size
 * in bytes (length may be NULL). Ask again after a send that failed: the payload may have moved. For a packet that is
 * NULL: NULL and 0.
 */
uint8_t *cw_packet_data(cw_packet *p, size_t *length);
/*
 * Cuts the payload at its end, or extends it there by zero bytes. -EMSGSIZE: that length fits no packet, or not the
 * memory that this one has. A packet that is to grow is best made as long as it may become, and then cut.
 */
CW_MUST_CHECK int cw_packet_resize(cw_packet *p, size_t length);
/* The bytes behind the payload that are on the wire and not in memory. */
size_t cw_packet_pad(const cw_packet *p);
/* What one server on the way reported of a packet that was sent with options.trace. */
typedef struct cw_trace_hop {
    /* The caller sets it. */
    size_t size;
    cw_coord server;
    /* The link by which the packet came to that server; CW_LINK_SELF: it was made there. */
    cw_link in;
    /* The link by which it left; CW_LINK_SELF: it was delivered there. */
    cw_link out;
    /* Nanoseconds from its coming until it left or was handed to the service; at most 2^32 - 1, some 4.3 s. */
    uint64_t wait_ns;
    /* How many packets of the service were in the queue when it came. */
    unsigned queued;
} cw_trace_hop;
/* Fills *out with report i, the first is 0. -ENOENT: there is no report i, or the packet is not traced; -EINVAL. */
int cw_packet_trace(const cw_packet *p, unsigned i, cw_trace_hop *out);
/*
 * The largest payload of one packet here, in bytes. Options take from it what they add to the packet: a full key 16
 * bytes, a call 24, the answer of a call 20, a recorded path 8 to 32, way-points 4 and 4 for each, a trace 20 or more.
 */
size_t cw_mtu(const cw_svc *s);

/* ---- Sending ----------------------------------------------------------------------------------------------------- */

typedef struct cw_send_options {
    /* CW_SEND_INIT sets it. */
    size_t size;
    /* Servers that the packet passes first, in this order: 0..CW_WAYPOINTS_MAX of them, in a borrowed array. */
    unsigned waypoints;
    const cw_coord *waypoint;
    /* Carry all 160 bits of the key; without it receivers see the 64 that route. Only for CW_TO_KEY. */
    bool full_key;
    /* Write down the links that the packet takes, so that an answer may go back the same way. */
    bool record_path;
    /* Every server on the way adds a report: cw_packet_trace(). */
    bool trace;
    /* Where the packet waits on this server. CW_PLACE_BACKGROUND is -EINVAL for a service that has no such place. */
    cw_place place;
    /* How many links the packet may cross; 0: the server's default. */
    uint8_t hop_limit;
    /*
     * 0 is ordinary; of the packets in a full queue of this server the one with the lowest priority is dropped first,
     * where the operator has set `drop = priority`. It counts on this server only: packets do not carry it.
     */
    uint8_t priority;
} cw_send_options;
#define CW_SEND_INIT .size = sizeof(cw_send_options)

/*
 * Sends p. On success (>= 0) it takes p; on failure p stays the service's. options may be NULL.
 *   -EAGAIN       the queue is full: on_writable follows when there is room
 *   -EACCES       the service's job has no privilege for the destination
 *   -ENETUNREACH  the server is not in view, or the link is down
 *   -ENOENT       no service with that job runs on this server, nor may it be of attached processes; answers may go
 *   -EMSGSIZE     the packet and what the options add to it are too long
 *   -ENOMEM       there is no packet memory left
 *   -ESHUTDOWN    the service is closing
 *   -EINVAL       bad arguments, or the process does not live on that server
 * A service needs a privilege for every packet (NMU 3), for packets to its own job as well: for the destination's job
 * and port, on the destination's process or, for a key, on all processes. The privilege is looked at before anything
 * else, so that a service without it does not learn whether anybody is there. Answers need none: cw_reply().
 */
CW_MUST_CHECK int cw_send(cw_svc *s, cw_packet *p, const cw_to *to, const cw_send_options *options);
/* As cw_send(), but always takes p: a packet that cannot be sent is dropped and counted. */
void cw_send_or_drop(cw_svc *s, cw_packet *p, const cw_to *to, const cw_send_options *options);

/*
 * How a call ended: status 0 and the reply, which is borrowed for the upcall (cw_packet_keep() keeps it), with what the
 * runtime knows of it; or a negative errno: what the responder gave to cw_reply(), which may come with a reply too;
 * -ETIMEDOUT; -EACCES, the privilege was withdrawn before another attempt; -ECANCELED, the call was cancelled or the
 * service closes. When nothing came, reply and rx are NULL.
 */
typedef void (*cw_reply_fn)(cw_svc *s, void *state, void *arg, int status, cw_packet *reply, const cw_rx *rx);
typedef struct cw_call_options {
    /* CW_CALL_INIT sets it. */
    size_t size;
    /* How long one attempt waits, at most 1 h; 0: 1 s. The responder has at most 30 s, however long this is. */
    cw_span timeout;
    /* Attempts after the first, 0..1000. */
    unsigned retries;
    /* How the request is sent; its size may be left 0. */
    cw_send_options send;
    /* Who gets the answer: a CW_TO_SERVER destination, borrowed. NULL: the caller. */
    const cw_to *reply_to;
} cw_call_options;
#define CW_CALL_INIT .size = sizeof(cw_call_options)
/*
 * Sends p as a request that is answered once or times out (NMU 4.2), and calls done exactly once, never before
 * cw_call() has returned. Takes p on success and gives the call's number (> 0). On failure p stays the service's:
 * -ENOBUFS, the service has too many calls open, or one of cw_send()'s errors. options may be NULL. Retries send the
 * request again: the responder may see it more than once. Only the job that was called can answer.
 *
 * With reply_to, a third party gets the answer: its on_packet is called with it, and cw_rx.requester_* say who asked.
 * The caller needs a privilege for the third party as well as for the responder; these two need none. The caller hears
 * nothing more: done must be NULL and retries 0 (otherwise -EINVAL), timeout says until when an answer may be given,
 * and the number that cw_call() gives is what the third party finds in requester_call.
 */
CW_MUST_CHECK int64_t cw_call(cw_svc *s, cw_packet *p, const cw_to *to, const cw_call_options *options,
                              cw_reply_fn done, void *arg);
/*
 * Ends a call of the service: done is called with -ECANCELED before this returns, the only upcall that nests in
 * another. -ENOENT: the service has no such call, or it has ended.
 */
int cw_call_cancel(cw_svc *s, int64_t call);
/*
 * Answers the request that came with this right (cw_rx.call), at once or later: keep the number. The answer goes back
 * along the request's recorded path when there is one and all its links are up; otherwise it is routed. status is 0 or
 * an errno up to 4095 of either sign; the requester gets it negative. Always takes p, which may be NULL: an empty
 * answer.
 *   -ENOENT      there is no such right: it was used, it timed out, its requester's server is gone, or it never was
 *   -EINVAL, or an error of cw_send(): the answer was dropped, the right remains, and another answer may be tried
 */
int cw_reply(cw_svc *s, uint32_t call, int status, cw_packet *p);
/* In an upcall that lends a packet: makes it the service's to send or free. In on_packet, CW_TAKE does the same. */
void cw_packet_keep(cw_packet *p);

/*
 * For a service with a queue of its own: says by which links it has packets to send from that place, and replaces what
 * it said of the place before. next_packet is called for these; a link for which it gives NULL is left out until the
 * service names it again. Nothing happens where the service has no such place.
 */
void cw_poll_links(cw_svc *s, cw_place place, cw_links links);
/*
 * Addresses a packet of the service's own queue, and leaves it in the service's hands. Checks and errors are those of
 * cw_send(), but it does not queue. -EMSGSIZE also when the packet's memory has no room for what must stand before the
 * payload.
 */
CW_MUST_CHECK int cw_packet_address(cw_svc *s, cw_packet *p, const cw_to *to, const cw_send_options *options);

/* ---- Place, keys, servers, links --------------------------------------------------------------------------------- */

/* This server's place, the extent of the torus, the service's job. They do not change while the service runs. */
cw_coord cw_self(const cw_svc *s);
cw_dims cw_torus(const cw_svc *s);
cw_job cw_job_of(const cw_svc *s);
/* True when the coordinate lies in the torus. */
bool cw_server_valid(const cw_svc *s, cw_coord c);
/* The dense id of a server, 0..N-1 where N is the number of servers: for tables. CW_SERVER_NONE: outside the torus. */
cw_server cw_server_id(const cw_svc *s, cw_coord c);
/* The server with that id; 0,0,0 when id is N or more. */
cw_coord cw_server_coord(const cw_svc *s, cw_server id);
/* The fewest links from one to the other in the whole torus, failed servers or not; UINT_MAX when one lies outside. */
unsigned cw_distance(const cw_svc *s, cw_coord a, cw_coord b);

/*
 * Who is there: the committed view (semantics 4.2) as far as this service was told of it, so that these answers agree
 * with the events. This server itself is reachable.
 */
bool cw_reachable(const cw_svc *s, cw_coord c);
/* How many servers are reachable. */
size_t cw_servers_reachable(const cw_svc *s);
/*
 * True when more than half of all servers are reachable. After a cut both sides may think so, for how long cw_hold()
 * says.
 */
bool cw_in_majority(const cw_svc *s);
/*
 * How many servers are reachable over at most that many living links, this server included. That a server is so many
 * links away was true at most as many cw_hold() ago, as far as this server's clock goes with true time (semantics
 * 4.2): each server on the way judges its neighbour by itself, within `dead`. O(servers).
 */
size_t cw_servers_within(const cw_svc *s, unsigned links);
/* The first links of shortest living paths to c; none when c is unreachable, this server, or outside the torus. */
cw_links cw_links_to(const cw_svc *s, cw_coord c);

typedef struct cw_link_info {
    /* The caller sets it. */
    size_t size;
    bool up;
    cw_coord neighbour;
    /* 0: unknown. */
    uint64_t bits_per_second;
    /* Packets of this service in the queue that may leave by this link. */
    size_t queued_packets;
} cw_link_info;
/* Fills *out. -EINVAL; -ENODEV: the link's axis has the length 1, so that there is no such link. */
int cw_link_get(const cw_svc *s, cw_link link, cw_link_info *out);

/* The key of a name of length bytes: SHA-1 over the service's job and the name, so that two jobs share no keys. */
cw_key cw_key_of(const cw_svc *s, const void *name, size_t length);
/*
 * A key whose home is that server: number w of the home's range, counted modulo the size of the range. All bytes are
 * zero when home lies outside the torus.
 */
cw_key cw_key_at(const cw_svc *s, cw_coord home, uint64_t w);
/*
 * GetServersForKey (CamCubeOS 3.2): writes to out, which has room for r, the first r reachable servers of the key's
 * sequence. The first is the root; the next one takes over when it fails. Gives how many were written: fewer than r
 * when fewer are reachable. -EINVAL.
 */
int cw_servers_for_key(const cw_svc *s, const cw_key *key, unsigned r, cw_coord *out);
/* True when a packet to the key would be delivered here now: root in both views, with a lease (semantics 4.2). */
bool cw_is_root(const cw_svc *s, const cw_key *key);
/*
 * True exactly when the key's root has changed since that epoch (cw_epoch()); also true when the epoch is older than
 * the last 128 changes, which is all that is remembered, and for a key that is NULL.
 */
bool cw_key_moved(const cw_svc *s, const cw_key *key, uint64_t since_epoch);
/*
 * True when what was learned of the key in that epoch can still be relied on: this server's lease holds, and since
 * then, without a break, one server in one life has been the key's root, in view, first in both views (semantics 4.2),
 * with nobody about to take its place. It turns false before this server admits a server that would end that. Caches
 * rest on it (docs/services/kvcache.md).
 */
bool cw_key_steady(const cw_svc *s, const cw_key *key, uint64_t since_epoch);
/* True when the server is in neither view: then its former life delivers no key any more (semantics 4.2). */
bool cw_gone(const cw_svc *s, cw_coord c);
/*
 * The cluster's hold (semantics 4.6): so long after a server died or was cut off, by true time, no server that was its
 * neighbour has it in view any more; allow for the drift of clocks. A server d links away hears of it at once, unless
 * servers on the way die or are cut off before they can tell: then it may take up to d holds (semantics 4.2). Until
 * then both sides of a cut may count the same servers, and each may believe that it is the majority.
 */
cw_span cw_hold(const cw_svc *s);
/* The number of the view that this service has been told of; it grows with every change and is this server's own. */
uint64_t cw_epoch(const cw_svc *s);

/* ---- Time, chance, timers, long work ----------------------------------------------------------------------------- */

/* The time; it stands still during an upcall. */
cw_time cw_now(const cw_svc *s);
/* 64 random bits from the service's own generator. */
uint64_t cw_random(cw_svc *s);
/* A number that is uniform in 0..below-1; 0 when below is 0. */
uint64_t cw_random_below(cw_svc *s, uint64_t below);

typedef void (*cw_timer_fn)(cw_svc *s, void *state, void *arg);
/*
 * Calls fn once, after the span and never from within this call, even when the span is 0 or negative. NULL: too many
 * timers are running on this server, fn is NULL, or the service is closing. Timers that run when it closes are stopped.
 */
cw_timer *cw_timer_start(cw_svc *s, cw_span after, cw_timer_fn fn, void *arg);
/* Stops a timer. Nothing happens when it has run, was stopped already, belongs to another service, or is NULL. */
void cw_timer_stop(cw_svc *s, cw_timer *t);
/*
 * Runs work(arg) away from the server's thread, then done on it. arg is borrowed until done. Work may call nothing of
 * this interface. The simulator runs it at once and reports its end after the span cost (>= 0); the daemon ignores
 * cost. 0, or
 *   -EAGAIN     256 pieces of work are under way on this server
 *   -EBUSY      the service is still opening: start it from a timer with the span 0 instead
 *   -ESHUTDOWN  the service or its server is closing
 *   -EINVAL
 */
CW_MUST_CHECK int cw_offload(cw_svc *s, void (*work)(void *arg), void (*done)(cw_svc *s, void *state, void *arg),
                             void *arg, cw_span cost);

/* ---- Other services, operators ----------------------------------------------------------------------------------- */

/*
 * Borrows the functions that another service on this server exports in that version; *peer (peer may be NULL) becomes
 * its instance. NULL when there is no such service. They are good as long as this service runs: the other one is not
 * unloaded before it, and when the server stops, services close in the reverse order of their loading, but whoever has
 * found another one closes before that one. (Two that have found each other close by their order of loading alone.)
 * Built-in services also find what their host offers, for as long as they run; *peer is NULL then.
 */
const void *cw_find(cw_svc *s, const char *name, unsigned version, cw_svc **peer);
/* Borrows the service's state, which every upcall gets as an argument too. */
void *cw_state(cw_svc *s);

/*
 * Gives the counter of that name (1..31 characters of a-z A-Z 0-9 _ -), new or made before; it lives as long as the
 * service. name is copied; help, a sentence that operators read, is borrowed for the service's life. Never NULL: a
 * service's counters beyond 63, and those with a bad name, share one counter that is called "overflow".
 */
cw_counter *cw_counter_new(cw_svc *s, const char *name, const char *help);
void cw_counter_add(cw_counter *c, uint64_t n);
/*
 * Gives the histogram of that name, by the rules of cw_counter_new(): times from 1 us to 17 s, in the daemon's metrics.
 * NULL: the service has 16 already, the name is bad, or there is no memory. The functions below do nothing with NULL,
 * or give 0.
 */
cw_histogram *cw_histogram_new(cw_svc *s, const char *name, const char *help);
/* Adds one time. */
void cw_histogram_note(cw_histogram *h, cw_span took);
/* How many times were added. */
uint64_t cw_histogram_count(const cw_histogram *h);
/* The span that permille thousandths of the times do not exceed (500: the median), with an error of at most 1/8. */
cw_span cw_histogram_quantile(const cw_histogram *h, unsigned permille);

/*
 * Borrows the value that the operator set for an option of this service: `service NAME { options { name = value } }` in
 * a daemon's configuration, `option SERVICE NAME VALUE` in a scenario. Good as long as the service lives. NULL: not
 * set, or name is NULL.
 *
 * In open(), a service asks for every option that it knows and refuses bad values: cw_log() says what would be right,
 * and open() gives -EINVAL. When open() has succeeded and an option is set that the service did not ask for, the host
 * names that option and does not let the service run.
 */
const char *cw_option(const cw_svc *s, const char *name);

/*
 * Answering a command. on_command gives 0 (the command is answered), a negative errno (refused), or 1: then
 * cw_request_done() follows later, or was called already. An answer is made of rows of named fields, of which operators
 * see a table, and programs JSON; a refusal says why in the text field "error". Names and texts are copied. A request
 * that is done ignores everything; one that is still open when close() has returned ends with -ECANCELED, which is a
 * misuse when nothing of its answer has come for a second. A server has room for 16 open requests, of all its services
 * together.
 */
void cw_request_int(cw_request *r, const char *name, int64_t value);
void cw_request_text(cw_request *r, const char *name, const char *value);
/* Begins another row: called between two rows, not before the first. */
void cw_request_row(cw_request *r);
/* Ends the request: rc is 0, or a negative errno. */
void cw_request_done(cw_request *r, int rc);

typedef enum cw_level { CW_LOG_ERROR, CW_LOG_WARN, CW_LOG_INFO, CW_LOG_DEBUG } cw_level;
/* Writes one line to the server's log, under the service's name. Borrows text. */
void cw_log(cw_svc *s, cw_level level, const char *text);

#pragma GCC visibility pop

#endif
