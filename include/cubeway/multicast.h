/* SPDX-License-Identifier: Apache-2.0 */
/*
 * multicast.h - groups and messages to many servers, for other services: what the built-in service `multicast` exports. The words are those of
 * SCRIBE (Castro, Druschel, Kermarrec, Rowstron, 2002) and of the KBR interface (Dabek, Zhao, Druschel, Kubiatowicz, Stoica, 2003).
 *
 *     open        h->api = cw_find(s, "multicast", CW_MULTICAST_API, &peer);        NULL: it does not run here
 *                 h->api->open(peer, s, &config, &h->multicast);                    best in a timer of no time, so that all services are there
 *     close       h->api->close(h->multicast);
 *
 * Guarantees
 *  - Names belong to the job of the service that opened: no other job's members get its messages, and two jobs' groups of one name are two groups.
 *  - A join is acknowledged: done(0). A message published after that to the group, by any server, reaches the member, as long as it stays one and in view.
 *    Nobody gets it who is no member. It is asked of the group's root at the time, so a root that is new lets publishers wait, 250 ms at most, until
 *    all members can have announced themselves.
 *  - Reliable (flags 0): each member takes the message exactly once, or the result names it and says why not.
 *  - CW_MULTICAST_BEST_EFFORT: one packet down one tree, never repeated: each member takes it at most once. The members are those of
 *    100 ms ago or later.
 *  - Messages may overtake one another. A publisher that is a member gets its own.
 *  - Memory is bounded: what does not fit is refused with -EAGAIN, and writable() says when to try again.
 *
 * Threading: that of the server. Upcalls come from the upcalls of the service `multicast`, never from within a call of this interface (but close()); in
 * them everything here may be called but close().
 */
#ifndef CUBEWAY_MULTICAST_H
#define CUBEWAY_MULTICAST_H

#include "cubeway/service.h"

enum { CW_MULTICAST_API = 1, CW_MULTICAST_NAME_MAX = 64, CW_MULTICAST_BYTES_MAX = 16 * 1024 * 1024 };
enum { CW_MULTICAST_BEST_EFFORT = 1 };

typedef struct cw_multicast cw_multicast; /* one using service on one server */

/* A message that has come. All is borrowed for the upcall. */
typedef struct cw_multicast_message {
    size_t size;
    cw_coord from; /* the runtime's word, as passed on by the servers between */
    bool to_group; /* name is a group's that this server has joined; else a topic's that it listens to */
    bool best_effort;
    const char *name; /* name_length bytes, not ended by 0 */
    size_t name_length;
    const void *bytes;
    size_t length;
} cw_multicast_message;

typedef struct cw_multicast_config {
    size_t size; /* CW_MULTICAST_INIT */
    void *context;
    void (*deliver)(void *context, const cw_multicast_message *m);
    /* Best effort only, may be NULL: it is about to be passed on to servers further down the tree. False: it is not, from here. */
    bool (*forward)(void *context, const cw_multicast_message *m);
    void (*writable)(void *context); /* after -EAGAIN there is room again; may be NULL */
} cw_multicast_config;
#define CW_MULTICAST_INIT .size = sizeof(cw_multicast_config)

typedef struct cw_multicast_row {
    cw_coord server;
    int status; /* 0: it has taken it. -ENETUNREACH: it left the view; -ETIMEDOUT; -ENOENT: nobody there listens to the topic; -ENOBUFS: no memory there */
} cw_multicast_row;

/* How a message ended. Borrowed for the upcall. */
typedef struct cw_multicast_result {
    size_t size;
    int status; /* 0: it was sent, and each row says how it ended. -ENOENT: there is no such group; -ETIMEDOUT: its root did not answer; -ECANCELED: closed */
    unsigned members, complete; /* best effort: complete is 0, and there are no rows */
    const cw_multicast_row *row;
    unsigned rows;
} cw_multicast_result;

typedef void (*cw_multicast_acked_fn)(void *arg, int status);
typedef void (*cw_multicast_done_fn)(void *arg, const cw_multicast_result *result);
/* status 0, and count servers, ascending; -ENOENT, -ETIMEDOUT. */
typedef void (*cw_multicast_members_fn)(void *arg, int status, const cw_coord *member, unsigned count);

/* What is sent. Copied. */
typedef struct cw_multicast_content {
    const void *bytes;
    size_t length; /* 1..CW_MULTICAST_BYTES_MAX; best effort: packet_max() */
    unsigned flags;
} cw_multicast_content;

/*
 * Names are 1..CW_MULTICAST_NAME_MAX bytes of any kind, copied. done may be NULL; it is called exactly once when the function gave 0. Errors of all:
 * -EINVAL, -ENOMEM, and those that are named.
 */
typedef struct cw_multicast_api {
    size_t size;
    /* Borrows user until close(). *config is copied. -EEXIST: that service has opened already. */
    int (*open)(cw_svc *multicast, cw_svc *user, const cw_multicast_config *config, cw_multicast **out);
    /* Leaves all groups; what is under way ends with -ECANCELED, told from within. NULL is allowed. */
    void (*close)(cw_multicast *u);

    /*
     * The group is there, with or without members, for as long as this server keeps it: until leave() or close(). Publishing to a group that nobody keeps or
     * is a member of is an error (-ENOENT).
     */
    int (*create)(cw_multicast *u, const char *group, size_t length, cw_multicast_acked_fn done, void *arg);
    /*
     * This server is a member from now on; done(0): the root knows. done(-ETIMEDOUT) after 5 s, done(-ENOSPC) the root has no room: it goes on trying
     * until leave(). done(-ECANCELED): it has left before. -ENOSPC: 1,024 groups of this server.
     */
    int (*join)(cw_multicast *u, const char *group, size_t length, cw_multicast_acked_fn done, void *arg);
    /* Ends create() and join(): nothing is delivered any more when this returns. -ENOENT: it was neither. */
    int (*leave)(cw_multicast *u, const char *group, size_t length, cw_multicast_acked_fn done, void *arg);
    /* Messages to sets of servers with that topic are delivered here, or are not any more: local, without any packet. -ENOSPC; -ENOENT. */
    int (*listen)(cw_multicast *u, const char *topic, size_t length);
    int (*ignore)(cw_multicast *u, const char *topic, size_t length);

    /* -EAGAIN; -EMSGSIZE; -ESHUTDOWN. */
    int (*publish)(cw_multicast *u, const char *group, size_t length, const cw_multicast_content *content,
                   cw_multicast_done_fn done, void *arg);
    /* To an ad hoc set: those of the servers whose service listens to the topic, this one too if it is among them. Servers may repeat. */
    int (*send)(cw_multicast *u, const cw_coord *to, unsigned count, const char *topic, size_t length,
                const cw_multicast_content *content, cw_multicast_done_fn done, void *arg);
    /* Asks the root. -EAGAIN: 256 questions are open. */
    int (*members)(cw_multicast *u, const char *group, size_t length, cw_multicast_members_fn done, void *arg);
    /* The longest message that goes in one packet: fast, and what best effort can carry. */
    size_t (*packet_max)(const cw_multicast *u, size_t name_length);
} cw_multicast_api;

#endif
