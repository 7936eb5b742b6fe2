/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lab.h - a lab as plain values, and where its files are.
 *
 *     /run/cubeway/lab/NAME/           $XDG_RUNTIME_DIR/cubeway/lab/NAME/ for an ordinary user; $CWLAB_DIR/NAME/ when
 *     that is set
 *         lab.json                     what was asked for, and who keeps it
 *         keeper.sock                  the keeper: where somebody answers, the lab lives
 *         X,Y,Z.conf .sock .log        of the server's daemon (driver process: all.conf, all.sock, all.log)
 *         X,Y,Z.state/                 its stable storage
 *         operator.key .pub, jobs.conf    see grants.h
 *         X,Y,Z.trail                  what its witness saw (witness.h)
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
    uint64_t scale; /* timers are so many times the profile's, on a machine that is too small for it */
    bool fast;      /* the fast profile */
    char service[LAB_SERVICES][LAB_PATH]; /* whole paths, and names of built-in ones */
    unsigned services;
    bool no_grants;               /* they begin with no right to send */
    const struct scenario *plays; /* borrowed; its grants are the services', and no others; NULL: none */
    char daemon[LAB_PATH];        /* cubewayd */
    char witness[LAB_PATH];       /* the module; "": none */
    pid_t keeper;                 /* as seen from where cwlab runs; 0: not yet */
};

/* A service of a lab is a file's, or one that every daemon has. */
bool lab_service_is_file(const char *service);
/* Letters, digits, - and _; so the name is a file name, and short enough for sockets. */
bool lab_name_good(const char *name);
/* The folder that holds all labs of this user. -ENAMETOOLONG. */
CW_MUST_CHECK int lab_root(char out[static LAB_PATH]);
/* Fills in name and folder. -EINVAL, -ENAMETOOLONG, and why says it. */
CW_MUST_CHECK int lab_place(struct lab *lab, const char *name, char why[static LAB_WHY]);

/* "<folder>/<stem><end>" in a buffer of the caller; gives it. stem NULL: "<folder>/<end>". */
char *lab_path(const struct lab *lab, const char *stem, const char *end, char out[static LAB_PATH]);
/* "0,1,2"; of the daemon that has the server: "all" in one process. */
const char *lab_daemon_name(const struct lab *lab, cw_server s, char out[static TORUS_TEXT]);

/* Makes the folder, and those above it. -EEXIST: it is there. */
CW_MUST_CHECK int lab_make_folder(const struct lab *lab);
/* Removes the folder with the files that belong in one; leaves what is strange. */
void lab_remove_folder(const struct lab *lab);

/* lab.json. Loading: -ENOENT no such lab, -EINVAL. */
CW_MUST_CHECK int lab_save(const struct lab *lab);
CW_MUST_CHECK int lab_load(struct lab *lab, const char *name, char why[static LAB_WHY]);
/* Is its keeper there? */
bool lab_lives(const struct lab *lab);
/* Calls visit for the name of every lab of this user, living or not, in alphabetical order. */
void lab_each(void (*visit)(void *context, const char *name), void *context);

const char *lab_driver_name(enum lab_driver driver);
const char *lab_shim_name(enum lab_shim shim);
/* -EINVAL. */
CW_MUST_CHECK int lab_driver_parse(const char *word, enum lab_driver *out);
CW_MUST_CHECK int lab_shim_parse(const char *word, enum lab_shim *out);

#endif
