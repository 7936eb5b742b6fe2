/* SPDX-License-Identifier: Apache-2.0 */
/*
 * find.h - which socket is meant: named outright, by a daemon's name, by a lab's, by the environment, or the only one there is.
 */
#ifndef CTL_FIND_H
#define CTL_FIND_H

#include "ctl/client.h"

struct find_wish {
    const char *socket; /* --socket; NULL: not said, as all below */
    const char *node;
    const char *lab;
    const char *environment; /* $CUBEWAY_SOCKET */
    const char *folder[3];   /* where daemons have their sockets, ended by NULL; labs are in lab/ of these */
    const char *labs;        /* $CWLAB_DIR: labs are here instead */
};

struct find_result {
    char path[256];
    const char *server; /* the daemon is a whole lab, and this one of it is meant: borrowed from the wish; else NULL */
};

/* -ENOENT: there is none; -EEXIST: there are several; why says what there is and what to do. Sockets are not tried. */
CW_MUST_CHECK int find_socket(const struct find_wish *wish, struct find_result *out, char why[static CLIENT_WHY]);
/* Calls visit for the name of every socket in the folders (of the lab, when there is one), sorted. Gives how many. */
unsigned find_each(const struct find_wish *wish, void (*visit)(void *context, const char *name), void *context);

#endif
