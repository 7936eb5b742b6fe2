/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lab.h - a lab as plain values, and where its files are.
 *
 *     /run/cubeway/lab/NAME/           root's; an ordinary user's is $XDG_RUNTIME_DIR/cubeway/lab/NAME/, and where
 *                                      CWLAB_DIR is set, anybody's is $CWLAB_DIR/NAME/
 *         lab.json                     what was asked for, and the keeper's process
 *         keeper.sock                  the keeper's socket: the lab lives while it answers there
 *         X,Y,Z.conf .sock .log        of the server's daemon (driver process: all.conf, all.sock, all.log)
 *         X,Y,Z.state/                 the daemon's stable storage
 *         X,Y,Z.trail                  what the server's witness saw (witness.h)
 *         operator.key .pub, jobs.conf see grants.h
 */
#ifndef TESTBED_LAB_H
#define TESTBED_LAB_H

#include "keyspace/torus.h"
#include "linkstate/linkstate.h"

#include <limits.h>
#include <stdio.h>
#include <sys/types.h>

enum { LAB_NAME = 32, LAB_SERVICES = 8, LAB_WHY = 320, LAB_PATH = 256 };

enum lab_driver { LAB_NETNS, LAB_PROCESS };
enum lab_shim { LAB_RAW, LAB_PCAP, LAB_UDP };

struct scenario; /* scenario/scenario.h */

struct lab {
    char name[LAB_NAME];
    char folder[LAB_PATH]; /* its own, without a slash at the end */
    enum lab_driver driver;
    enum lab_shim shim;
    struct torus torus;
    uint32_t mtu;
    uint64_t bits_per_second; /* 0: not shaped */
    struct ls_timers timers;
    uint64_t scale; /* `timers` are so many times those of the profile, on a machine that is too small for it */
    bool fast;      /* the profile is the fast one */
    char service[LAB_SERVICES][LAB_PATH]; /* modules by their whole paths, built-in services by their names */
    unsigned services;
    bool no_grants;               /* the services begin without a right to send */
    bool strict;                  /* daemons log misuses of the service API; once the lab is up: unknown */
    const struct scenario *plays; /* borrowed; its grants are all that the services get; NULL: no scenario */
    char daemon[LAB_PATH];        /* path of cubewayd */
    char witness[LAB_PATH];       /* path of the module; "": no witness */
    pid_t keeper;                 /* its process, as numbered where cwlab runs; 0: there is none yet */
};

/* True when the service is a module's path, false when it is the name of a built-in one. */
bool lab_service_is_file(const char *service);
/* True for letters, digits, - and _, few enough that sockets in the lab's folder can have names. */
bool lab_name_good(const char *name);
/* The folder that holds all labs of this user. -ENAMETOOLONG. */
CW_MUST_CHECK int lab_root(char out[static LAB_PATH]);
/* Fills in name and folder. -EINVAL, -ENAMETOOLONG, and why says it. */
CW_MUST_CHECK int lab_place(struct lab *lab, const char *name, char why[static LAB_WHY]);

/* Writes "<folder>/<stem><end>" into out and returns out. stem NULL: "<folder>/<end>". */
char *lab_path(const struct lab *lab, const char *stem, const char *end, char out[static LAB_PATH]);
/* Writes the name of the daemon that has the server into out and returns it: "0,1,2", or "all" with driver process. */
const char *lab_daemon_name(const struct lab *lab, cw_server s, char out[static TORUS_TEXT]);

/* Makes the folder, and those above it. -EEXIST: it is there already. */
CW_MUST_CHECK int lab_make_folder(const struct lab *lab);
/* Removes the files that belong in a lab's folder, and the folder unless others are in it. */
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
