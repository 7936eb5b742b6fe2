/* SPDX-License-Identifier: Apache-2.0 */
/*
 * host.h - the servers that live in this process: each with a node, its six links, and what the pump keeps of them. On
 * a machine with cables the process has one server; a torus inside one process has all of them here.
 *
 * One thread, the loop's, makes all calls. Whoever calls an entry of a node from outside the pump (the commands) hands
 * the links that it returns to host_after().
 */
#ifndef DAEMON_HOST_HOST_H
#define DAEMON_HOST_HOST_H

#include "base/list.h"
#include "core/node.h"
#include "daemon/config/config.h"
#include "daemon/host/holds.h"
#include "keyspace/torus.h"
#include "services/loader.h"
#include "shim/shim.h"

struct event_base;
struct events;
struct boot;
struct boot_place;
struct file_host;
struct host;
struct job_host;
struct log;
struct transit;

enum { HOST_WHY = 512 };

/* What the pump counts of one link, beside what its shim counts. */
struct host_link_tally {
    uint64_t sent, received; /* frames given to the shim, and taken from it */
    uint64_t lost_carrier;   /* frames pulled from the node, whose carrier was lost before they left */
    /* frames lost because there was no packet memory to receive them into, or to send them from */
    uint64_t lost_memory;
    uint64_t lost_errors; /* frames that the shim will take at no time */
    uint64_t failed;      /* receptions that ended in an error; how many frames were lost with them is not known */
};

struct host_link {
    struct shim *shim; /* NULL: no cable on this port */
    bool carrier;
    struct host_link_tally tally;
};

struct host_server {
    struct host *host;
    unsigned index; /* below host_count() */
    cw_coord self;
    struct node *node; /* NULL while it has failed (host_fail()), or has no place yet */
    struct host_link link[CW_LINK_COUNT];
};

/* ---- Opening and running ----------------------------------------------------------------------------------------- */

struct host_options {
    const struct daemon_config *config; /* copied */
    struct log *log;                    /* borrowed; may be NULL */
    /* where this server stands, as stored or configured, copied; NULL: it is to find out */
    const struct boot_place *place;
    struct job_host *jobs;   /* borrowed; NULL: no records but those of built-in services */
    struct file_host *files; /* borrowed; NULL: services reach no files of this machine */
    uint64_t id;             /* of this server, for the bootstrap; 0: no bootstrap, and place must be given */
    uint64_t incarnation;    /* of every server here (state.h) */
    /* what is missing of the priority that is configured, borrowed; NULL: nothing is */
    const char *priority_note;
    struct transit *transit; /* the relay of this server (transit.h); borrowed, may be NULL */
    struct shim **shim;      /* [CW_LINK_COUNT], each may be NULL; taken on success. NULL with CONFIG_WHOLE */
    /* A place was found: it must be on stable storage when this returns 0. May be NULL. */
    int (*placed)(void *context, const struct boot_place *place);
    void *placed_context;
    /*
     * Called when the goodbye that should be sent on a link in case of our death changes; length 0: none. May be NULL.
     */
    void (*will)(void *context, cw_link link, const uint8_t *bytes, uint32_t length);
    void *will_context;
    struct upcall_mark *mark; /* borrowed: where the nodes say in which upcall they are; may be NULL */
    /* Called for each line that a service logs, beside the log. May be NULL. */
    void (*said)(void *context, const char *service, const char *text);
    void *said_context;
};
/* Opens the servers, with pair links between them for CONFIG_WHOLE, and without services. -errno and why. */
CW_MUST_CHECK int host_open(struct host **out, const struct host_options *options, char why[static HOST_WHY]);
/*
 * Loads the built-in services that are not switched off, and those of the configuration. -errno and why, which tells of
 * the first one that cannot be loaded.
 */
CW_MUST_CHECK int host_load_configured(struct host *h, char why[static HOST_WHY]);
/* Runs the loop until host_leave() has come to its end. */
void host_run(struct host *h);
/* One round of the loop, which waits no longer than the span: for tests, and for programs with a loop of their own. */
void host_turn(struct host *h, cw_span wait);
void host_close(struct host *h);
/*
 * Logs, for each server, the links that have an interface and no neighbour. False: a server has no place yet, and
 * nothing was logged.
 */
bool host_log_neighbours(struct host *h);

/*
 * Calls fn on the loop's thread for every such signal, or once in every such span, until the host closes. 0 or -ENOMEM.
 */
CW_MUST_CHECK int host_on_signal(struct host *h, int signal, void (*fn)(void *context, struct host *h), void *context);
CW_MUST_CHECK int host_every(struct host *h, cw_span span, void (*fn)(void *context, struct host *h), void *context);

/*
 * A deferred call: fn runs once at the end of this turn of the loop, outside of all servers, before the loop sleeps or
 * asks the system for more. Zero it but for fn and context, and keep it alive until fn has run or host_undefer() was
 * called. Deferring it again meanwhile does nothing; fn itself may.
 */
struct host_deferred {
    struct list_node node;
    void (*fn)(void *context);
    void *context;
};
void host_defer(struct host *h, struct host_deferred *e);
void host_undefer(struct host_deferred *e);

/*
 * An inlet: a descriptor by which packets come from programs of this machine. fn runs in each turn of the loop in which
 * the descriptor is readable, outside of all servers and before these have their turns: what came in leaves in the same
 * turn. The loop waits for it itself; an event of libevent's would cost two looks for each packet. Zero it but for fn
 * and context, and keep it alive until host_inlet_close(), which fn may call, and which may be called again.
 */
struct host_inlet {
    struct list_node node;
    struct host *host;
    struct outside_watch *watch; /* NULL: it is closed */
    void (*fn)(void *context);
    void *context;
};
/* The descriptor stays the caller's, and open until the inlet is closed. 0 or -ENOMEM. */
CW_MUST_CHECK int host_inlet_open(struct host *h, struct host_inlet *i, int fd);
void host_inlet_close(struct host_inlet *i);

/* ---- Questions --------------------------------------------------------------------------------------------------- */

unsigned host_count(const struct host *h);
struct host_server *host_server(struct host *h, unsigned index);
/* NULL: not in this process. */
struct host_server *host_find(struct host *h, cw_coord self);
const struct daemon_config *host_config(const struct host *h);
struct daemon_config *host_config_change(struct host *h); /* for what may be changed while running: the log level */
/* All zero until the place is known. */
const struct torus *host_torus(const struct host *h);
/*
 * The bootstrap, for questions about cables; NULL: there is none. It knows a link as the port that host_port() gives.
 */
struct boot *host_boot(struct host *h);
cw_link host_port(const struct host *h, cw_link link);
struct log *host_log(struct host *h);
/* What has happened on the servers of this process (events.h). */
struct events *host_events(struct host *h);
/* As host_open() was given it; may be NULL. */
struct file_host *host_files(struct host *h);
struct transit *host_transit(struct host *h);
struct event_base *host_base(struct host *h);
/* Somebody who uses host_base() has given it a time-out that is due at once; without this it may be 10 ms late. */
void host_ask_soon(struct host *h);
/* As host_open() was given it; NULL: the priority that is configured is in force. */
const char *host_priority_note(const struct host *h);
/*
 * How often this process did not run when it was due, for more than half of timers.dead: it was stopped, or it had no
 * processor. A neighbour that hears nothing for `dead` counts this server out, so links that were lost at that time
 * were lost to the machine, and not to the network.
 */
enum { HOST_STALLS_KEPT = 32 };
struct host_stalls {
    uint64_t count;
    cw_span longest;
    cw_time last;                 /* when the last one ended; of no meaning while count is 0 */
    cw_time at[HOST_STALLS_KEPT]; /* a ring: when number i of them ended is at i % HOST_STALLS_KEPT, 0 the first */
};
const struct host_stalls *host_stalls(const struct host *h);
/* Services that held the thread for longer than half of timers.dead. A stall does not count that time. */
const struct host_holds *host_holds(const struct host *h);
/* How often the loop has slept in a stream without waiting for frames of data (docs/shims.md, "The nap"). */
uint64_t host_naps(const struct host *h);
/*
 * What has become of a server, as this one sees it: "up"; "leaving" (it leaves in order, and still forwards); "left"
 * (it has left in order, and is away); "feared" (it is away, perhaps alive: its keys are not delivered elsewhere yet)
 * or "down" (it is away, and has not said that it leaves; or it was never there). Static.
 */
const char *host_state_of(struct host_server *s, cw_server other);
/* The time of day in us when this server saw another one leave in order; 0: it is here, was not seen to, or did not. */
uint64_t host_left_us(struct host_server *s, cw_server other);
/*
 * What events of no single server belong to: this process's server, "all" when it runs several, "" while it has no
 * place. Gives text.
 */
const char *host_events_of(const struct host *h, char text[static TORUS_TEXT]);
/* Which build of the program this is (build.h). */
const char *host_build(const struct host *h);
/* Bytes of a frame, the same on every link of this process. */
uint32_t host_mtu(const struct host *h);
/* The number of its configuration in hellos: config_hash(). */
uint32_t host_config_hash(const struct host *h);
size_t host_packets_out(const struct host *h);   /* packet buffers in use */
size_t host_packets_bytes(const struct host *h); /* bytes of all packet buffers */
/* The clock of the nodes (shim/clock.h), read now: the time that entries of nodes are given. */
cw_time host_now(struct host *h);
cw_time host_started(const struct host *h);

/*
 * Something was asked of the server's node, which returned these links: in this turn of the loop, what the node has to
 * send is sent and its next wake is armed.
 */
void host_after(struct host_server *s, cw_links links);

/*
 * Begins an orderly end of the process, as SIGTERM asks for: every server leaves, then the loop stops. A second call
 * stops it now.
 */
void host_leave(struct host *h);
bool host_leaving(const struct host *h);
/* All servers have left in order: each has told everybody, and nothing was cut short. */
bool host_left(const struct host *h);
/* It leaves, or has left, because it cannot go on; the log says why. */
bool host_failed(const struct host *h);

/*
 * A tap sees every frame of a link, in both directions, with the bytes as they are on the cable. tap NULL ends it.
 * -EBUSY: the link has a tap already.
 */
typedef void host_tap_fn(void *context, bool out, const uint8_t *bytes, uint32_t length, cw_time now);
CW_MUST_CHECK int host_tap(struct host_server *s, cw_link link, host_tap_fn *tap, void *context);
/* The EtherType that a frame has on a cable: that of its lane (wire/frame.h), as configured. */
uint16_t host_ethertype(const struct host *h, const uint8_t *bytes, uint32_t length);

/* ---- A server of a torus inside one process fails, comes back, loses a cable ------------------------------------- */

/*
 * As if its power failed: it says no goodbye, and frames to it are lost. -EOPNOTSUPP: the torus is not in one process;
 * -EALREADY.
 */
CW_MUST_CHECK int host_fail(struct host_server *s);
CW_MUST_CHECK int host_restore(struct host_server *s);
/* Both ends lose their carrier, or find it again. -EOPNOTSUPP and -EALREADY as above; -ENODEV: no such link. */
CW_MUST_CHECK int host_cut(struct host_server *s, cw_link link, bool cut);

/*
 * A watch sees the packets that are held (cause 0) and dropped, on every server. watch NULL ends it. -EBUSY: there is a
 * watch already.
 */
typedef void host_watch_fn(void *context, struct host_server *s, enum node_point point, const struct cw_packet *p,
                           cw_drop cause, cw_time now);
CW_MUST_CHECK int host_watch(struct host *h, host_watch_fn *watch, void *context);

/* ---- Services, on every server of the process -------------------------------------------------------------------- */

struct host_service {
    const cw_service *table;
    char file[CONFIG_PATH];      /* "": built in */
    char build[LOADER_BUILD_ID]; /* "": built in, or the linker wrote none */
    struct node_service_policy policy;
};
unsigned host_service_count(const struct host *h);
/* index: below the count, in the order in which services came. Borrowed until a service comes or goes. */
const struct host_service *host_service_at(const struct host *h, unsigned index);
const struct host_service *host_service_find(const struct host *h, const char *name);
/* Writes the options that it was given, "name=value name=value", cut to the room, and gives out. */
const char *host_service_options(const struct host_service *service, char *out, size_t room);
/* What is told of a service's module. */
struct host_service_about {
    char name[TABLE_NAME_MAX + 1], version[32], build[LOADER_BUILD_ID];
    cw_job job;
};
/*
 * Opens the module and closes it again: could it be loaded (replaces: in the place of the service of its name), as far
 * as can be known before the service itself is asked to open? 0 or -errno as below; *out is filled in whenever the
 * module could be read.
 */
CW_MUST_CHECK int host_service_check(struct host *h, const char *name, const char *file, bool replaces,
                                     struct host_service_about *out, char why[static HOST_WHY]);
/*
 * Puts the service of this file in the place of the one of its name and job, which must have come from a file, too; its
 * policy and options stay, its state does not. The old module is kept, and what was kept before it, until the next such
 * call succeeds. On -errno the old one runs as before, and why[] says what is wrong. -EEXIST: it is the same file,
 * which cannot be opened anew while it is open.
 */
CW_MUST_CHECK int host_service_reload(struct host *h, const char *file, struct host_service_about *was,
                                      struct host_service_about *out, char why[static HOST_WHY]);
/*
 * Puts back what the last host_service_reload() of this service replaced. -ENOENT: there was none. taken_back: that
 * reload did not count, because another daemon has refused the same file: the module that it brought is forgotten, and
 * another call puts back what could have been put back before it. Otherwise another call puts that module back.
 */
CW_MUST_CHECK int host_service_undo(struct host *h, const char *name, bool taken_back, struct host_service_about *was,
                                    struct host_service_about *out, char why[static HOST_WHY]);
/* What host_service_undo() would end, and what it would put back. -ENOENT, as that. */
CW_MUST_CHECK int host_service_check_undo(struct host *h, const char *name, struct host_service_about *was,
                                          struct host_service_about *out, char why[static HOST_WHY]);
/*
 * Loads a service: with file NULL or "", the built-in one of that name; otherwise that of the file, which must have
 * that name unless name is NULL. policy may be NULL. On -errno why[] says in one sentence what is wrong and what to do,
 * and no server runs the service.
 */
CW_MUST_CHECK int host_service_load(struct host *h, const char *name, const char *file,
                                    const struct node_service_policy *policy, char why[static HOST_WHY]);
/*
 * The same with options[count] (borrowed; at most CONFIG_OPTIONS) for cw_option(). -EINVAL also when the service does
 * not know one of them.
 */
CW_MUST_CHECK int host_service_load_with(struct host *h, const char *name, const char *file,
                                         const struct node_service_policy *policy, const struct config_option *options,
                                         unsigned count, char why[static HOST_WHY]);
/*
 * -ENOENT; -EBUSY: it has work under way, or another service uses it (why says which). After 0 no server runs it any
 * more, and its file is closed.
 */
CW_MUST_CHECK int host_service_unload(struct host *h, const char *name, char why[static HOST_WHY]);
CW_MUST_CHECK int host_service_policy(struct host *h, const char *name, const struct node_service_policy *policy,
                                      char why[static HOST_WHY]);
/*
 * Calls visit as an upcall of the service on that server, with what the service exports (node_visit()), and lets the
 * server do in this turn of the loop what follows from it. -ENODEV: the server has no node now; -ENOENT: no such
 * service runs on it.
 */
CW_MUST_CHECK int host_visit(struct host_server *s, const char *service, unsigned version,
                             void (*visit)(void *context, cw_svc *svc, const void *exports), void *context);
/*
 * The value of an option of a service; NULL: it was given none, or does not run. An option `cluster` that was not given
 * is the number of the daemon's cluster. The context is the host (node_env.option).
 */
const char *host_option(void *context, const char *service, const char *name);
/* Calls fn whenever a service has come or gone. There is one such fn; NULL ends it. */
void host_on_services(struct host *h, void (*fn)(void *context, struct host *h), void *context);

#endif
