/* SPDX-License-Identifier: Apache-2.0 */
/*
 * internal.h - struct host and what its parts share.
 *
 *   host.c       opening and closing
 *   nodes.c      the node of a server begins and ends
 *   questions.c  what others may know of a host, and taps
 *   modules.c    services of all servers
 *   pump.c       libevent: descriptors and time become marks on servers; whoever is marked is served
 *   serve.c      one server's turn: carriers, frames in, tick, frames out, next wake
 *   boot_runner.c       the bootstrap, while there is no node and beside it
 *   viewlog.c       what an operator should read in the log
 */
#ifndef DAEMON_HOST_INTERNAL_H
#define DAEMON_HOST_INTERNAL_H

#include "base/heap.h"
#include "boot/boot.h"
#include "daemon/host/host.h"
#include "daemon/host/log.h"
#include "daemon/host/offload.h"
#include "services/loader.h"

enum {
    HOST_STASH = SHIM_BATCH,
    HOST_SERVICES = 32, /* a node runs no more */
    HOST_OBJECTS = 4,
    HOST_RECEIVES = 8,    /* batches of one link in a turn */
    HOST_PULLS = 64,      /* frames of one server in a turn: whoever sends for long does not hear */
    HOST_STALL_MS = 5,    /* a tick that is so late: first what has come in meanwhile is heard (semantics 4.6) */
    HOST_STALL_TURNS = 4, /* for so many turns: in a flood there is always more, and hellos must leave */
    HOST_LEAVE_MS = 3000, /* an orderly end takes no longer */
    HOST_INCARNATIONS =
        1 << 20, /* so many beyond the first are ours (state.h): a node takes a new one when it is fenced */
};

struct book;
struct pump_server;

struct pump_link {
    struct pump_server *server;
    cw_link link;
    unsigned held_count;
    struct cw_packet *held[SHIM_BATCH]; /* pulled, and not yet taken by the shim */
    struct shim_frame out[SHIM_BATCH];  /* their bytes */
    cw_time until;                      /* while blocked, when to try again; CW_NEVER: something else will say */
    host_tap_fn *tap;
    void *tap_context;
    struct event *readable, *writable, *urgent, *changed; /* of the shim's descriptors; NULL: it has none */
};

/* What viewlog.c has said already. */
struct viewlog {
    cw_links live;
    uint64_t epoch;
    unsigned servers;
    bool serving, full; /* full: reaches all, and delivers keys */
    uint64_t duplicates, outbids, fences, conflicts;
    uint64_t strangers[CW_LINK_COUNT];
    cw_time stranger_said[CW_LINK_COUNT];
};

struct pump_server {
    struct host_server face; /* first */
    struct pump_link pump[CW_LINK_COUNT];
    struct shim *pair[CW_LINK_COUNT]; /* in one process: the cable itself, inside its fault */
    uint64_t incarnation;
    uint64_t notes; /* ls_notes() that viewlog.c has seen */
    struct viewlog viewlog;

    bool active; /* in the queue of those to be served */
    struct pump_server *next_active;
    cw_links readable; /* may have frames */
    cw_links changed;  /* carrier may have */
    cw_links blocked;  /* no room until somebody says so */
    cw_links holding;  /* have pulled frames that the shim has not taken yet */
    cw_links owed;     /* host_after() */
    cw_link turn;      /* the link that was given a frame last */
    unsigned stalled;  /* turns that the tick has waited for frames to be heard */
    struct heap_entry wake;
};

struct host_module {
    struct host_service face;
    struct loader_module loaded; /* handle NULL: built in */
    unsigned options;
    struct config_option option[CONFIG_OPTIONS];
    uint32_t asked; /* bit i: option[i] was asked for */
};

struct host {
    struct daemon_config config;
    struct log *log;
    struct torus torus;
    uint32_t mtu, config_hash;
    uint64_t bits_per_second, seed;
    cw_time started;
    struct job_host *jobs; /* borrowed; may be NULL */
    struct file_host *files;
    struct node_object object[HOST_OBJECTS + 1]; /* what both offer to services */
    struct book *book;                           /* jobs of services that are built in; NULL until the torus is known */
    struct pkt_home *packets;
    cw_server *neighbours;
    struct offload *offload;
    unsigned count;
    struct pump_server *server;

    host_watch_fn *watch;
    void *watch_context;
    struct host_module module[HOST_SERVICES];
    unsigned module_count;
    void (*services_changed)(void *context, struct host *h);
    void *services_context;
    struct host_module *opening; /* is asking for its options, and not among them yet; NULL: none is */
    /* Tells the watcher what to say should we die (watcher.h); may be NULL. */
    void (*will)(void *context, cw_link link, const uint8_t *bytes, uint32_t length);
    void *will_context;

    uint64_t incarnation; /* of the first node, when it gets its place */

    struct boot *boot; /* NULL: there is nothing to find out */
    cw_link port_of[CW_LINK_COUNT];
    cw_links boot_ports; /* it has something to send by these */
    bool boot_news;
    bool boot_moved;   /* boot_wake is to be asked for again */
    cw_time boot_wake; /* boot_next_wake(), which looks at every port: too much for every packet */
    struct boot_progress boot_told;
    cw_time faults_since;
    bool faults_told;
    int (*placed)(void *context, const struct boot_place *place);
    void *placed_context;

    struct pump *pump;
    struct pump_server *active_first, *active_last;
    struct list deferred;
    struct heap wakes;
    void *wakes_memory;
    unsigned full; /* servers whose look says so */
    cw_time busy_until;
    cw_span turn_longest; /* between two looks at the clock in a turn */
    bool leaving, done, failed;
    struct cw_packet *stash[HOST_STASH]; /* memory that frames are received into */
    struct shim_frame in[HOST_STASH];
};

/* nodes.c */
struct pump_server *host_pump_server(struct host_server *s);
void host_activate(struct pump_server *s);
/* Opens the node of a server that has none, with all services: 0 or -errno. */
CW_MUST_CHECK int host_start_node(struct pump_server *s, uint64_t incarnation);
void host_end_node(struct pump_server *s);

/* host.c */
/* The torus and the server's place in it are known now: its node is opened. 0 or -errno and why. */
CW_MUST_CHECK int host_settle(struct host *h, cw_dims dims, cw_coord self, char why[static HOST_WHY]);

/* modules.c */
/* What the host's parts offer to services goes into one table. */
void host_gather_objects(struct host *h);
/* All services on a node that has just been opened. */
CW_MUST_CHECK int host_add_services(struct host *h, struct node *n, cw_time now);
void host_close_modules(struct host *h);

/* serve.c */
/* now: read since the last wait, or since the last server's turn. */
void serve_turn(struct pump_server *s, cw_time now);
/* Frames that a link holds go home unsent. */
void serve_forget(struct pump_link *l);
CW_MUST_CHECK int serve_open(struct host *h);
void serve_close(struct host *h);

/* pump.c */
CW_MUST_CHECK int pump_open(struct host *h);
void pump_close(struct host *h);
/* Watches the descriptors of the server's shims, and hears their wakes; or no more. 0 or -ENOMEM. */
CW_MUST_CHECK int pump_watch(struct pump_server *s);
void pump_unwatch(struct pump_server *s);
/* Tells nodes what work of theirs is done. */
void pump_collect(struct host *h);
void pump_collect_all(struct host *h);
/* The link waits for its descriptor to take more. */
void pump_want_write(struct pump_link *l);

/* viewlog.c */
void viewlog_update(struct pump_server *s, cw_time now);
void viewlog_carrier(struct pump_server *s, cw_link link);
/* The link's shim could not receive: -errno. */
void viewlog_error(struct pump_server *s, cw_link link, int rc);
/* So long lay between two looks at the clock: what was delivered meanwhile may have been delivered so late. */
void viewlog_turn(struct host *h, cw_span span);
void viewlog_service(void *context, const struct node *n, cw_level level, const char *service, const char *text,
                     cw_time now);

#endif
