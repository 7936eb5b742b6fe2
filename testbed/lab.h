/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lab.h - a lab as plain values, and where its files are.
 *
 *     /run/cubeway/lab/NAME/           root's; an ordinary user's is $XDG_RUNTIME_DIR/cubeway/lab/NAME/, and where
 *                                      CWLAB_DIR is set, anybody's is $CWLAB_DIR/NAME/
 *         lab.json                     what was asked for, and the keeper's process
 *         keeper.sock                  the keeper's socket: the lab lives while it answers there
 *         keeper.log                   what the keeper had to say
 *         ending                       there is one from when the keeper begins to end the lab
 *         X,Y,Z.conf .sock             of the server's daemon (driver process: all.conf, all.sock)
 *         operator.key .pub, jobs.conf see grants.h
 *     DATA/
 *         X,Y,Z.log .log.1             the daemon's log, and the part of it that was cut off last (rotate.h)
 *         X,Y,Z.state/                 the daemon's stable storage
 *         X,Y,Z.files/                 what the file service received
 *         X,Y,Z.trail                  what the server's witness saw (witness.h)
 *         journal                      what the keeper did to whom, and when
 *
 * The first folder holds little, and on most machines lies in memory (tmpfs), which also holds what all other programs
 * need in order to run. What may grow is in DATA, on a disk: $CWLAB_DATA/NAME where that is set; the first folder where
 * CWLAB_DIR is set, or where it is on a disk itself; otherwise a folder below /var/tmp or below the user's cache.
 */
#ifndef TESTBED_LAB_H
#define TESTBED_LAB_H

#include "keyspace/torus.h"
#include "linkstate/linkstate.h"

#include <limits.h>
#include <stdio.h>
#include <sys/types.h>

enum { LAB_NAME = 32, LAB_SERVICES = 8, LAB_NETWORKS = 4, LAB_GATEWAYS = 64, LAB_WHY = 320, LAB_PATH = 256 };

#define LAB_DEFAULT "lab" /* the name of a lab that was given none */
enum { LAB_REASON = 160 };
#define LAB_TUNNEL "ip"   /* the built-in service that gives each server a device (docs/services/tunnel.md) */
#define LAB_STORE "store" /* the built-in service that is given a folder for each server (docs/services/store.md) */
#define LAB_UPLINK "up0"  /* the device by which a gateway of that network reaches what is outside the lab */
/* The job of the first network beside that one; the others have the numbers behind it. */
#define LAB_NETWORK_JOB 5001

enum lab_driver { LAB_NETNS, LAB_PROCESS };
enum lab_shim { LAB_RAW, LAB_PCAP, LAB_UDP };

struct scenario; /* scenario/scenario.h */

struct lab {
    char name[LAB_NAME];
    char folder[LAB_PATH]; /* its own, without a slash at the end */
    char data[LAB_PATH];   /* the folder of what may grow; "": `folder` */
    enum lab_driver driver;
    enum lab_shim shim;
    struct torus torus;
    uint32_t mtu;
    uint64_t bits_per_second; /* 0: not shaped */
    struct ls_timers timers;
    uint64_t scale; /* `timers` are so many times those of the profile, on a machine that is too small for it */
    bool fast;      /* the profile is the fast one */
    bool hurries;   /* its daemons run before the other processes of this machine (scale_hurries()) */
    double wanted;  /* how many other processes wanted a processor when the lab came up; negative: --scale was given */
    /* Its keeper has given it longer timers by itself: when, from how many times those of the profile; 0: never. */
    cw_time rescaled;
    uint64_t rescaled_from;
    char rescaled_for[LAB_REASON];        /* what daemons had suffered from the machine */
    char service[LAB_SERVICES][LAB_PATH]; /* modules by their whole paths, built-in services by their names */
    unsigned services;
    char network[LAB_NETWORKS][LAB_NAME]; /* beside `ip`: their jobs are LAB_NETWORK_JOB and on */
    unsigned networks;
    char gateways[LAB_GATEWAYS];  /* of `ip`: numbers of servers with spaces between them; "": none */
    char uplink[LAB_PATH];        /* the program that leads outside by the first of them (uplink.h); "": none */
    bool no_grants;               /* the services begin without a right to send */
    bool strict;                  /* daemons log misuses of the service API; once the lab is up: unknown */
    const char *transit;          /* of the daemons' configurations; NULL: user. Once the lab is up: NULL */
    const struct scenario *plays; /* borrowed; its grants are all that the services get; NULL: no scenario */
    char daemon[LAB_PATH];        /* path of cubewayd */
    char witness[LAB_PATH];       /* path of the module; "": no witness */
    pid_t keeper;                 /* its process, as numbered where cwlab runs; 0: there is none yet */
};

enum { LAB_SCALE_MOST = 10000 };
/* Sets the lab's timers to `scale` (1 to LAB_SCALE_MOST) times the profile's, except those of damping. */
void lab_set_timers(struct lab *lab, bool fast, uint64_t scale);
/* Makes them `by` times as long as they are, and `scale` with them. */
void lab_stretch_timers(struct lab *lab, uint64_t by);
/* True when the service is a module's path, false when it is the name of a built-in one. */
bool lab_service_is_file(const char *service);
/* True when each server has a device for IP: the service `ip` is among those that were asked for, or a network is. */
bool lab_has_tunnel(const struct lab *lab);
/* The subnet of the network with that number, as its configuration has it. Gives out. */
enum { LAB_SUBNET = 20 };
const char *lab_subnet(unsigned network, char out[static LAB_SUBNET]);
/* True for letters, digits, - and _, few enough that sockets in the lab's folder can have names. */
bool lab_name_good(const char *name);
/* The folder that holds all labs of this user. -ENAMETOOLONG. */
CW_MUST_CHECK int lab_root(char out[static LAB_PATH]);
/* Fills in the name and the folders. -EINVAL, -ENAMETOOLONG, and why says it. */
CW_MUST_CHECK int lab_place(struct lab *lab, const char *name, char why[static LAB_WHY]);

/* Writes "<folder>/<stem><end>" into out and returns out. stem NULL: "<folder>/<end>". */
char *lab_path(const struct lab *lab, const char *stem, const char *end, char out[static LAB_PATH]);
/* The same in the folder of what may grow. */
char *lab_data(const struct lab *lab, const char *stem, const char *end, char out[static LAB_PATH]);
/* The folder of what may grow. */
const char *lab_data_folder(const struct lab *lab);
/* True when the folder, or the nearest one above it that is there, is in memory (tmpfs, ramfs). */
bool lab_in_memory(const char *folder);
/* Writes the name of the daemon that has the server into out and returns it: "0,1,2", or "all" with driver process. */
const char *lab_daemon_name(const struct lab *lab, cw_server s, char out[static TORUS_TEXT]);

/* Makes the folders above the lab's own. */
CW_MUST_CHECK int lab_make_root(const struct lab *lab);
/* Makes both folders, and those above them. -EEXIST: the first one is there already. */
CW_MUST_CHECK int lab_make_folder(const struct lab *lab);
/* Removes both folders with all that is in them; the first one last, so that its end is the end of the lab. */
void lab_remove_folder(const struct lab *lab);

/*
 * Write and read lab.json. -errno; of lab_load() -ENOENT: no such lab, -EINVAL: the file is no lab's, and why says it.
 */
CW_MUST_CHECK int lab_save(const struct lab *lab);
CW_MUST_CHECK int lab_load(struct lab *lab, const char *name, char why[static LAB_WHY]);
/* True when the lab's keeper answers. */
bool lab_lives(const struct lab *lab);
/* Calls visit for the name of every lab of this user, living or not, in alphabetical order. */
void lab_each(void (*visit)(void *context, const char *name), void *context);

const char *lab_driver_name(enum lab_driver driver);
const char *lab_shim_name(enum lab_shim shim);
/* -EINVAL. */
CW_MUST_CHECK int lab_driver_parse(const char *word, enum lab_driver *out);
CW_MUST_CHECK int lab_shim_parse(const char *word, enum lab_shim *out);

#endif
