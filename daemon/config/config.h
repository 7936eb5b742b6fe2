/* SPDX-License-Identifier: Apache-2.0 */
/*
 * config.h - what the operator wants of a daemon: it is read from a file, checked as a whole, and written out again
 * with all defaults.
 *
 * The file is UCL (conf.h says which part of it); cubewayd.conf(5) lists the keys. Every mistake is reported, not only
 * the first one, each as "file:line: key: what is wrong, what is expected"; a key that is not known is a mistake.
 *
 * A configuration is a plain value: copying it copies all of it, and nothing is to be released.
 */
#ifndef DAEMON_CONFIG_CONFIG_H
#define DAEMON_CONFIG_CONFIG_H

#include "core/node.h"
#include "cubeway/time.h"
#include "cubeway/types.h"

#include <stdio.h>

enum {
    CONFIG_NAME = 64,  /* bytes of a name, its NUL included */
    CONFIG_TEXT = 128, /* bytes of an address or the name of an interface */
    CONFIG_PATH = 512,
    CONFIG_SERVICES = 32,      /* as many as a node runs */
    CONFIG_OPTIONS = 16,       /* of one service */
    CONFIG_OPTION_NAME = 32,   /* bytes, the NUL included */
    CONFIG_OPTION_VALUE = 160, /* bytes, the NUL included */
    CONFIG_KEY = 160,          /* bytes of a key for config_line(), the NUL included */
    CONFIG_MISTAKES = 20,      /* reported of one file, at most */
    CONFIG_BYTES = 1 << 20,    /* of a file, at most */
};

enum config_place {
    CONFIG_STATIC, /* this server is at config.self */
    CONFIG_AUTO,   /* the servers find out among themselves (runtime/boot) */
    CONFIG_WHOLE,  /* all servers of the torus live in this process, on pair links */
};

enum config_shim { CONFIG_NO_SHIM, CONFIG_RAW, CONFIG_PCAP, CONFIG_UDP };

/* Harm that is done on purpose to the frames that leave by a link (shim/fault.h); all zero: none. */
struct config_fault {
    uint32_t loss_ppm, duplicate_ppm, reorder_ppm, corrupt_ppm;
    cw_span delay;
    uint64_t bits_per_second; /* 0: not limited */
    uint64_t seed;
};

struct config_link {
    enum config_shim shim;
    char interface[CONFIG_TEXT]; /* raw, pcap */
    char file[CONFIG_PATH];      /* pcap: a capture that is read instead of an interface */
    char local[CONFIG_TEXT];     /* udp: "address:port" */
    char remote[CONFIG_TEXT];
    uint64_t bits_per_second; /* as the operator says; 0: as the device says */
    bool io_thread;           /* a thread of its own makes the link's system calls (shim/threaded.h) */
    struct config_fault fault;
    bool none_said; /* shim = none was written: it has no link there, on purpose */
    bool misread;   /* something about it was a mistake, which was told: nothing else is said of it */
};

/* An option of a service, which alone knows its meaning (cw_option()). */
struct config_option {
    char name[CONFIG_OPTION_NAME];
    char value[CONFIG_OPTION_VALUE];
};

struct config_service {
    char name[CONFIG_NAME];
    char file[CONFIG_PATH]; /* "": built in */
    bool enabled;
    bool network; /* the section is `network NAME`: an IP network (services/tunnel), with its options among its keys */
    cw_job job;   /* of such a network; 0: of a service, or of the network that is built in, which have theirs */
    struct node_service_policy policy; /* complete: what the file leaves out has its default */
    unsigned options;
    struct config_option option[CONFIG_OPTIONS];
};

/*
 * The daemon's priority among the processes of the machine. It is high by default, because a neighbour that hears
 * nothing for the time `dead` takes this server for dead.
 */
enum config_priority { CONFIG_HIGH, CONFIG_NORMAL, CONFIG_REALTIME };

/*
 * Where packets that only pass this server go through: the kernel where it can be had, the kernel or the daemon does
 * not start, or user space.
 */
enum config_transit { CONFIG_TRANSIT_AUTO, CONFIG_TRANSIT_KERNEL, CONFIG_TRANSIT_USER };

struct daemon_config {
    char file[CONFIG_PATH]; /* where it was read from; "": nowhere */
    char name[CONFIG_NAME]; /* of this daemon, in the names of its socket and its state, and in its log */
    uint32_t cluster;
    enum config_place place;
    cw_dims dims; /* 0x0x0 when place is CONFIG_AUTO and none were given */
    cw_coord self;
    bool misplaced; /* the coordinate was a mistake, which was told: self means nothing */
    bool labelled;  /* links are named by direction; false: "port0" .. "port5", and place is CONFIG_AUTO */

    char state_dir[CONFIG_PATH];
    char control_socket[CONFIG_PATH]; /* "": none */
    uint32_t control_mode;            /* of the socket's file: 0660 */
    char control_group[CONFIG_NAME];  /* of the socket's file; "": it is not changed */
    char metrics_listen[CONFIG_TEXT]; /* "": none */
    cw_level log_level;
    char operator_key[CONFIG_PATH]; /* public, 64 hex digits or a file; "": job records are not signed */
    char job_file[CONFIG_PATH];     /* jobs to begin with; "": none */
    char user[CONFIG_NAME];         /* to run as once the links are open; "": as started */
    enum config_priority priority;
    enum config_transit transit;
    bool watcher;     /* a process that says goodbye for a daemon that died (watcher.h) */
    cw_span watchdog; /* for so long a service may hold the thread before the watcher ends the daemon; 0: for ever */

    bool strict; /* misuses of the service API are logged (node_config.strict) */

    uint32_t mtu;               /* 0: the smallest of the links */
    uint32_t ethertype;         /* of data frames on raw and pcap links */
    uint32_t ethertype_control; /* of control frames; 0: the one behind that of data */
    bool alone;                 /* it may deliver keys before it has had a neighbour */
    struct ls_timers timers;
    uint32_t queue_packets, queue_bytes, hold_bytes;
    cw_span busy_poll; /* how long after the last frame the pump looks again without sleeping */
    bool io_threads;   /* every link has a thread of its own */
    cw_span nap;       /* how long the pump sleeps in a stream without waiting for links' data; 0: it does not */
    struct config_link link[CW_LINK_COUNT];
    bool seal_tables;          /* of the NMU (NMU 6.2) */
    struct config_fault fault; /* place CONFIG_WHOLE: of every pair link */
    unsigned service_count;
    struct config_service service[CONFIG_SERVICES];
};

struct daemon_config config_default(void);

/* One mistake, in words, without a newline; borrowed for the call. */
typedef void config_mistake_fn(void *context, const char *text);

/*
 * Reads text[length] (borrowed, not ended by NUL) of a file of that name. 0, and *out is a sound configuration; or
 * -EINVAL, every mistake was reported, and *out is untouched. Asks nothing of the system but the host's name, when
 * neither name nor coordinate is given.
 */
CW_MUST_CHECK int config_parse(const char *file, const char *text, size_t length, struct daemon_config *out,
                               config_mistake_fn *mistake, void *context);
/* The same for a file; also -errno when it cannot be read, reported too. */
CW_MUST_CHECK int config_load(const char *file, struct daemon_config *out, config_mistake_fn *mistake, void *context);
/*
 * The same for somebody who looks further in any case: *out is always filled, and what could not be read has its
 * default. Returns how many mistakes were reported; or -errno when the file cannot be read, and *out is untouched.
 */
CW_MUST_CHECK int config_load_most(const char *file, struct daemon_config *out, config_mistake_fn *mistake,
                                   void *context);
/*
 * The line of a key of the file, for mistakes that only the system shows: "user", "links.+x.interface",
 * `service "kvcache".options.listen`. Of the section around it where the key is left out; 1 where that is, too.
 * *guessed: its value is not what the file says, but what it means, it seems, as a quote is not closed; that is a
 * mistake of its own, which config_load() tells.
 */
unsigned config_line(const char *file, const char *key, bool *guessed);
/*
 * The key of a service's or network's section, or with an option the key of that option: for config_line(). The section
 * too where the option is not given. Gives out.
 */
const char *config_service_key(const struct config_service *s, const char *option, char out[static CONFIG_KEY]);
/* The value of an option; NULL: it is not given. */
const char *config_service_option(const struct config_service *s, const char *name);
/* Does a service or network that is to run have that option? */
bool config_has_option(const struct daemon_config *c, const char *name);

/*
 * Calls visit for every setting, defaults included, in the order of the file, with a key as "links.+x.interface" and
 * with the value as the file would have it (but texts without quotes). Both are borrowed for the call.
 */
void config_visit(const struct daemon_config *config, void (*visit)(void *context, const char *key, const char *value),
                  void *context);
/* Writes a file that config_parse() reads as the same configuration. */
void config_write(const struct daemon_config *config, FILE *out);

/* One number for what must be equal in all daemons of a cluster (dims, timers, mtu); hellos carry it. */
uint32_t config_hash(const struct daemon_config *config, cw_dims dims, uint32_t mtu);

/* "raw" ..; static. */
const char *config_shim_name(enum config_shim shim);
const char *config_priority_name(enum config_priority priority);
/* "+x", or "port0" when the links are not labelled; static. */
const char *config_link_name(const struct daemon_config *config, cw_link link);

#endif
