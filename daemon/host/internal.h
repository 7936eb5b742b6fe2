/* SPDX-License-Identifier: Apache-2.0 */
/*
 * internal.h - struct host and what the files of this folder share.
 *
 *   host.c         opening and closing
 *   nodes.c        the node of a server begins and ends
 *   marks.c        servers to be served, offloaded work that is done, frames that links hold: below all the others
 *   modules.c      services, on all servers at once
 *   pump.c         the loop: descriptors and time put marks on servers, and every marked server is served
 *   outside.c      what the loop hears of descriptors, by epoll sets of our own (waits.c), and of libevent
 *   nap.c          when the loop sleeps without waiting for data
 *   serve.c        one server's turn: carriers, frames in, tick, frames out, next wake
 *   boot_runner.c  the bootstrap, while there is no node and beside it
 *   viewlog.c      what an operator should read in the log; falls.c: how each link went down
 *   questions.c    what others may know of a host, and taps
 *
 * Who owns what. The host owns its servers, their nodes and shims, the packets' memory, the services' modules, the
 * threads that work is offloaded to, the bootstrap and the pump. host_close() ends nodes early, for they hold packets,
 * offloaded work and tables of modules, and packets late. It borrows the log, the job and file hosts, and the callbacks
 * of struct host_options; whoever opened it closes those after it. All of this belongs to one thread, the loop's: only
 * offload.c knows others.
 */
#ifndef DAEMON_HOST_INTERNAL_H
#define DAEMON_HOST_INTERNAL_H

#include "base/heap.h"
#include "boot/boot.h"
#include "daemon/files/module_host.h"
#include "daemon/files/spool_host.h"
#include "daemon/files/vector_host.h"
#include "daemon/host/disks_host.h"
#include "daemon/host/falls.h"
#include "daemon/host/figures_host.h"
#include "daemon/host/host.h"
#include "daemon/host/inquiry_host.h"
#include "daemon/host/nap.h"
#include "daemon/machine/build.h"
#include "daemon/machine/log.h"
#include "daemon/machine/offload.h"
#include "keyspace/reach.h"
#include "services/loader.h"

enum {
    HOST_STASH = SHIM_BATCH,
    HOST_SERVICES = 32,      /* a node runs no more */
    HOST_OBJECTS = 9,        /* that the parts of the host may offer, together */
    HOST_SMALL_PACKET = 256, /* bytes of a small packet: received frames that fit are copied into one */
    HOST_PULLS = 64,         /* frames that one server sends in a turn, or as many as it has heard */
    HOST_STALL_MS = 5,       /* a tick that is this late waits until what came in meanwhile is heard (semantics 4.6) */
    HOST_STALL_TURNS = 4, /* but for this many turns at most: in a flood there is always more, and hellos must leave */
    HOST_STALL_RECEIVES = 8, /* batches that are then received from each link */
    HOST_LEAVE_MS = 3000,    /* an orderly end takes no longer */
};

struct book;
struct events;
struct outside;
struct outside_watch;
struct pump_server;

/* A link's sending side, and the events of its shim. */
struct pump_link {
    struct pump_server *server;
    cw_link link;
    unsigned held_count;
    struct cw_packet *held[SHIM_BATCH]; /* pulled from the node, and not yet taken by the shim; owned */
    struct shim_frame out[SHIM_BATCH];  /* the bytes of held[] */
    cw_time until; /* while the link is blocked: when to try again. CW_NEVER: a descriptor or the shim will say */
    host_tap_fn *tap;
    void *tap_context;
    struct outside_watch *readable, *writable, *urgent,
        *changed; /* of the shim's descriptors; NULL: it has none such */
};

/* What viewlog.c has logged already. */
struct viewlog {
    cw_links live;
    cw_links had; /* were live once */
    uint64_t epoch;
    unsigned servers;
    bool serving;
    bool served; /* keys were delivered since it was last told that nobody hears us, or ever */
    bool full;   /* it reached all servers and delivered keys */
    uint64_t duplicates, fences, conflicts;
    uint64_t strangers[CW_LINK_COUNT];
    cw_time stranger_said[CW_LINK_COUNT];
    uint8_t foreign[CW_LINK_COUNT]; /* version of the wire that was heard there; 0: none that is not ours */
    struct ls_lossy lossy;
    struct falls falls[CW_LINK_COUNT]; /* for the doctor */
    uint32_t outages[CW_LINK_COUNT];   /* of the shim's (shim_info()), those that falls[] knows of */
};

/* Lives that host_fail() has ended: for the doctor, for which no neighbour is to be blamed that lost them. */
enum { ENDED_KEPT = FALLS_KEPT };
struct ended {
    uint64_t count;
    uint64_t life[ENDED_KEPT]; /* a ring: number i is at i % ENDED_KEPT */
    cw_time at[ENDED_KEPT];
};

struct pump_server {
    struct host_server face; /* first: host_pump_server() */
    struct pump_link pump[CW_LINK_COUNT];
    struct shim *pair[CW_LINK_COUNT]; /* in one process: the cable itself, which a fault injector may wrap; borrowed */
    uint64_t incarnation;
    uint64_t notes;    /* ls_notes() when viewlog.c looked last */
    struct reach seen; /* the view that events told of last */
    void *seen_memory; /* of it; NULL while there is no node */
    uint64_t *left_us; /* by server: host_left_us(); NULL as that is */
    struct viewlog viewlog;
    struct ended ended;

    bool active; /* it is in the queue of servers to be served */
    struct pump_server *next_active;
    cw_links readable;      /* these may have frames */
    cw_links changed;       /* the carrier of these may have changed */
    cw_links blocked;       /* these have no room until somebody says so */
    cw_links holding;       /* these have pulled frames that the shim has not taken yet */
    cw_links owed;          /* what host_after() was told since the last turn */
    cw_links stream;        /* links with a descriptor for data that gave frames when the server was served last */
    cw_link turn;           /* the link that was given a frame last */
    unsigned heard;         /* frames received in this turn */
    unsigned stalled;       /* turns for which the tick has waited for frames to be heard */
    struct heap_entry wake; /* among host.wakes */
};

/* A service that runs on every server of the process. */
struct host_module {
    struct host_service face;     /* first */
    struct loader_module loaded;  /* handle NULL: built in */
    struct host_network *network; /* of its own; NULL: it is no network that the configuration adds */
    unsigned options;
    struct config_option *option; /* taken: services keep pointers to the values, so they stay where they are */
    uint32_t asked;               /* bit i: the service has asked for option[i] */
};

/* For each option that a service was given, the most similar of the names that the service asks for; "": none is. */
struct host_hints {
    char near[CONFIG_OPTIONS][CONFIG_OPTION_NAME];
};

struct host {
    /* ---- As it was opened ---- */
    struct daemon_config config;
    struct log *log; /* borrowed; may be NULL */
    struct events *events;
    struct job_host *jobs;   /* borrowed; may be NULL */
    struct file_host *files; /* borrowed; may be NULL */
    struct transit *transit; /* borrowed; may be NULL */
    int (*placed)(void *context, const struct boot_place *place);
    void *placed_context;
    /* Tells the watcher what to say should this process die (watcher.h); may be NULL. */
    void (*will)(void *context, cw_link link, const uint8_t *bytes, uint32_t length);
    void *will_context;
    struct upcall_mark *mark;                                           /* of all nodes; borrowed; may be NULL */
    const char *priority_note;                                          /* borrowed; may be NULL */
    void (*said)(void *context, const char *service, const char *text); /* what services log; may be NULL */
    void *said_context;
    char build[BUILD_TEXT]; /* which build of the program this is */
    char cluster[16];       /* config.cluster as the value of an option */
    uint64_t incarnation;   /* of every node when the host gets its place */
    cw_time started;
    uint64_t seed;

    /* ---- What all nodes share ---- */
    struct torus torus; /* all zero until the place is known */
    cw_server *neighbours;
    uint32_t mtu, config_hash;
    uint64_t bits_per_second;
    struct node_object object[HOST_OBJECTS + 1]; /* what the host's parts offer to services */
    struct inquiry_host inquiry;                 /* one of them */
    host_doctor_fn *doctor;                      /* for it; may be NULL */
    struct vectors_host vectors;                 /* another */
    struct modules_host functions;               /* another */
    struct spool_host spool;                     /* another */
    struct figures_host figures;                 /* another */
    struct disks_host disks;                     /* another */
    struct list disks_open;                      /* of it */
    struct book *book;                           /* grants of built-in services; NULL until the torus is known */
    struct pkt_home *packets;
    struct offload *offload;

    /* ---- Servers ---- */
    unsigned count;
    struct pump_server *server; /* [count] */
    unsigned full;              /* servers whose viewlog is full */
    host_watch_fn *watch;
    void *watch_context;

    /* ---- Services ---- */
    struct host_module module[HOST_SERVICES];
    unsigned module_count;
    struct host_module previous; /* what the last reload replaced; its handle is NULL: nothing */
    struct host_module before;   /* what `previous` was until then: taking that reload back needs it */
    struct host_module *opening; /* asks for its options at this moment, and is not in module[] yet; NULL: none does */
    struct host_hints *hints;    /* of `opening`; NULL as that is */
    char refusal[HOST_WHY];      /* what the service that was opened last logged as an error meanwhile; "": nothing */
    void (*services_changed)(void *context, struct host *h);
    void *services_context;

    /* ---- Bootstrap ---- */
    struct boot *boot; /* NULL: there is nothing to find out */
    cw_link port_of[CW_LINK_COUNT];
    cw_links boot_ports; /* the bootstrap has something to send by these ports */
    bool boot_news;      /* boot_runner_tick() has something to look at */
    bool boot_moved;     /* boot_wake is to be asked for again */
    cw_time boot_wake;   /* boot_next_wake(), which looks at every port: too much for every packet */
    struct boot_progress boot_told;
    cw_time faults_since;
    bool faults_told;

    /* ---- The loop ---- */
    struct pump *pump;
    struct pump_server *active_first, *active_last; /* servers to be served */
    struct list deferred;                           /* struct host_deferred */
    struct list inlets;                             /* struct host_inlet: those that have something */
    struct heap wakes;                              /* servers, by when they wake */
    void *wakes_memory;
    cw_time busy_until; /* until then the loop polls and does not sleep */
    unsigned received;  /* frames of links that have a descriptor for data, in this turn of the loop */
    struct nap nap;
    struct host_stalls stalls;
    struct host_holds holds;
    cw_span turn_longest; /* longest span between two readings of the clock in a turn, while it delivered keys */
    cw_time turn_waited;  /* when such a span was last longer than timers.hold less timers.dead; 0: never */
    bool leaving, left, done, failed;
    struct cw_packet *stash[HOST_STASH]; /* memory that frames are received into; owned */
    struct shim_frame in[HOST_STASH];
};

/* marks.c */
struct pump_server *host_pump_server(struct host_server *s);
/* The server is served in this turn of the loop. */
void host_activate(struct pump_server *s);
/* Tells nodes which of their offloaded work is done: some of it, or all that is done by now. */
void host_collect(struct host *h);
void host_collect_all(struct host *h);
/* Releases the frames that a link holds, unsent. */
void host_drop_held(struct pump_link *l);

/* nodes.c */
/* Opens the node of a server that has none, with all services: 0 or -errno. */
CW_MUST_CHECK int host_start_node(struct pump_server *s, uint64_t incarnation);
/* Closes it, when there is one; work of its services that is offloaded ends first. */
void host_end_node(struct pump_server *s);

/* host.c */
/* The torus and the server's place in it have become known: opens the nodes. 0 or -errno and why. */
CW_MUST_CHECK int host_place(struct host *h, cw_dims dims, cw_coord self, char why[static HOST_WHY]);

/* module_options.c */
/* An option that the service did not ask for while it opened: it knows none of that name. NULL: it asked for all. */
const struct config_option *host_unknown_option(const struct host_module *m);
/* A service has logged that: as an error while it is opened, it is why it refuses to run. */
void host_note_refusal(struct host *h, const char *service, cw_level level, const char *text);

/* pump.c */
struct outside *host_outside(struct host *h);

/* modules.c */
/* Puts what the host's parts offer to services into h->object. */
void host_gather_objects(struct host *h);
/* Adds all services to a node that has just been opened. */
CW_MUST_CHECK int host_add_services(struct host *h, struct node *n, cw_time now);
void host_close_modules(struct host *h);

/* configured.c */
/*
 * Makes the table of the network of that name for *m, if the configuration has one beside the built-in one: 1. 0: it
 * has none; -errno and why.
 */
CW_MUST_CHECK int host_network_open(struct host *h, const char *name, struct host_module *m, char why[static HOST_WHY]);

/* serve.c */
/*
 * One turn of the server. now: read since the loop last waited, or since the last server's turn. Returns the last
 * instant that it read from the clock itself, before it sent.
 */
cw_time serve_turn(struct pump_server *s, cw_time now);
CW_MUST_CHECK int serve_open(struct host *h);
void serve_close(struct host *h);

/* pump.c */
CW_MUST_CHECK int pump_open(struct host *h);
void pump_close(struct host *h);
/* Watches the descriptors of the server's shims and takes their wakes. 0 or -ENOMEM. */
CW_MUST_CHECK int pump_watch(struct pump_server *s);
void pump_unwatch(struct pump_server *s);
/* The link is blocked until its descriptor takes more. */
void pump_want_write(struct pump_link *l);

/* viewlog.c */
/* Logs what has changed in the server's view since the last call, and renews its will. */
void viewlog_update(struct pump_server *s, cw_time now);
void viewlog_carrier(struct pump_server *s, cw_link link);
/* The server's node begins: nothing is known yet, and what the shims lost before is nobody's news. */
void viewlog_begin(struct pump_server *s);
/* The link has a carrier as before: notes whether it had none for a moment that nobody saw. */
void viewlog_outage(struct pump_server *s, cw_link link);
/* The link's shim could not receive: -errno. */
void viewlog_error(struct pump_server *s, cw_link link, int rc);
/* Frames of another version of the wire come in by the link; 0: no longer. Logs when that has changed. */
void viewlog_foreign(struct pump_server *s, cw_link link, uint8_t version);
/*
 * The span between two readings of the clock in a turn: what was delivered in it may have been delivered so late. While
 * no server here delivers keys, none is late.
 */
void viewlog_turn(struct host *h, cw_span span);
/* An upcall held the thread for longer than half of `dead` (node_meter.slow). */
void viewlog_slow(void *context, const struct node *n, const char *service, const char *upcall, cw_span held);
/* A service's own line (node_watch.log). */
void viewlog_service(void *context, const struct node *n, cw_level level, const char *service, const char *text,
                     cw_time now);

#endif
