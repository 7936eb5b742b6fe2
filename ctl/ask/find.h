/* SPDX-License-Identifier: Apache-2.0 */
/*
 * find.h - which socket is meant: the one that was named outright, or by the name of a daemon, of a lab, or by the
 * environment; or the only one there is.
 */
#ifndef CTL_ASK_FIND_H
#define CTL_ASK_FIND_H

#include "ctl/ask/client.h"

struct find_wish {
    const char *socket; /* --socket; NULL, here and below: not given */
    const char *node;
    const char *lab;
    const char *environment; /* $CUBEWAY_SOCKET */
    const char *folder[3];   /* where daemons have their sockets, ended by NULL; labs are in lab/ of these */
    const char *labs;        /* $CWLAB_DIR: labs are here instead */
};

struct find_result {
    char path[256];
    /* the daemon is a whole lab, and this one of its servers is meant, borrowed from the wish; NULL otherwise */
    const char *server;
};

/*
 * -ENOENT: there is none; -EEXIST: there are several; why says which there are and what to do. Sockets are not tried.
 */
CW_MUST_CHECK int find_socket(const struct find_wish *wish, struct find_result *out, char why[static CLIENT_WHY]);
/* Several daemons. */
struct find_crowd {
    struct find_one {
        char name[64];
        struct find_result at; /* its server is `name`, or NULL */
    } * one;
    size_t count;
};
/*
 * Makes it a wish for all daemons, where none is named: those of the lab whose server $CUBEWAY_SOCKET names (as in
 * `cwlab shell`), and of this machine otherwise. lab and labs are what the wish borrows then.
 */
enum { FIND_LAB = 64, FIND_PATH = 256 };
void find_everywhere(struct find_wish *wish, char lab[static FIND_LAB], char labs[static FIND_PATH]);
/* True when the wish's node means several daemons: "all", or names with spaces between. */
bool find_is_crowd(const struct find_wish *wish);
/*
 * Finds all of these; the crowd is to be freed by find_crowd_free(). A daemon of a lab that has no socket is found all
 * the same: whoever asks it learns why. Otherwise as find_socket().
 */
CW_MUST_CHECK int find_crowd(const struct find_wish *wish, struct find_crowd *out, char why[static CLIENT_WHY]);
void find_crowd_free(struct find_crowd *crowd);
/*
 * Calls visit for the name of every socket in the folders (of the lab, when there is one), sorted, and gives how many
 * these are.
 */
unsigned find_each(const struct find_wish *wish, void (*visit)(void *context, const char *name), void *context);

#endif
