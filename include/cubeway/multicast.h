/* SPDX-License-Identifier: Apache-2.0 */
/*
 * multicast.h - groups and messages to many servers, for other services: what the built-in service `multicast` exports.
 * The words are those of SCRIBE (Castro, Druschel, Kermarrec, Rowstron, 2002) and of the KBR interface (Dabek, Zhao,
 * Druschel, Kubiatowicz, Stoica, 2003).
 *
 *     open        h->api = cw_find(s, "multicast", CW_MULTICAST_API, &peer);        NULL: it does not run here
 *                 h->api->open(peer, s, &config, &h->multicast);
 *     close       h->api->close(h->multicast);
 *
 * Open it from a timer of no time, when all services are there.
 *
 * Guarantees
 *  - Names belong to the job of the service that opened: members of other jobs do not get its messages, and two jobs'
 *    groups of one name are two groups.
 *  - A join is acknowledged: done(0). A message that any server publishes to the group after that reaches the member,
 *    as long as it stays a member and in view. A server that is no member gets none. Each publish() asks the group's
 *    root for the members, so a root that is new makes publishers wait, for 250 ms, until all members can have
 *    announced themselves.
 *  - Reliable (flags 0): each member takes the message exactly once, or the result names it and says why not.
 *  - CW_MULTICAST_BEST_EFFORT: one packet down one tree, never repeated. Each member takes the message at most once;
 *    the members are those of at most 100 ms ago.
 *  - Messages may overtake one another. A publisher that is a member gets its own messages.
 *  - Memory is bounded: what does not fit is refused with -EAGAIN, and writable() says when to try again.
 *
 * Threading: that of the server. Upcalls come from the upcalls of the service `multicast`, never from inside a call of
 * this interface (but close()). In an upcall everything here may be called but close().
 */
#ifndef CUBEWAY_MULTICAST_H
#define CUBEWAY_MULTICAST_H

#include "cubeway/service.h"

enum { CW_MULTICAST_API = 1, CW_MULTICAST_NAME_MAX = 64, CW_MULTICAST_BYTES_MAX = 16 * 1024 * 1024 };
enum { CW_MULTICAST_BEST_EFFORT = 1 };

typedef struct cw_multicast cw_multicast; /* a service on one server that has opened the multicast */

/* A message that has arrived. Everything is borrowed for the upcall. */
typedef struct cw_multicast_message {
    size_t size;
    cw_coord from; /* the publisher: the runtime's word, as the servers between passed it on */
    bool to_group; /* name is a group's, which this service has joined; else a topic's, to which it listens */
    bool best_effort;
    const char *name; /* name_length bytes, without a 0 at the end */
    size_t name_length;
    const void *bytes;
    size_t length;
} cw_multicast_message;

typedef struct cw_multicast_config {
    size_t size; /* CW_MULTICAST_INIT */
    void *context;
    void (*deliver)(void *context, const cw_multicast_message *m);
    /*
     * May be NULL. Best effort only: the message is about to be passed on to servers further down the tree. False: it
     * is not passed on from here.
     */
    bool (*forward)(void *context, const cw_multicast_message *m);
    /* May be NULL. There is room again after an -EAGAIN. */
    void (*writable)(void *context);
} cw_multicast_config;
#define CW_MULTICAST_INIT .size = sizeof(cw_multicast_config)

typedef struct cw_multicast_row {
    cw_coord server;
    /*
     * 0: the member has taken the message. -ENETUNREACH: it left the view; -ETIMEDOUT: it has not answered; -ENOENT: no
     * service there listens to the topic; -ENOBUFS: no memory there.
     */
    int status;
} cw_multicast_row;

/* How a message ended. Borrowed for the upcall. */
typedef struct cw_multicast_result {
    size_t size;
    /*
     * 0: the message was sent, and each row says how it ended there. -ENOENT: there is no such group; -ETIMEDOUT: its
     * root has not answered; -ECANCELED: the service has closed the multicast.
     */
    int status;
    /* Best effort: complete is 0, and there are no rows. */
    unsigned members, complete;
    const cw_multicast_row *row;
    unsigned rows;
} cw_multicast_result;

typedef void (*cw_multicast_acked_fn)(void *arg, int status);
typedef void (*cw_multicast_done_fn)(void *arg, const cw_multicast_result *result);
/* status 0: count servers, ascending. -ENOENT: there is no such group; -ETIMEDOUT: its root has not answered. */
typedef void (*cw_multicast_members_fn)(void *arg, int status, const cw_coord *member, unsigned count);

/* What is sent. The bytes are copied. */
typedef struct cw_multicast_content {
    const void *bytes;
    size_t length; /* 1..CW_MULTICAST_BYTES_MAX; best effort: packet_max() */
    unsigned flags;
} cw_multicast_content;

/*
 * Names are 1..CW_MULTICAST_NAME_MAX bytes of any kind, copied. done may be NULL where nothing else is said; it is
 * called exactly once when the function gave 0. All functions may give -EINVAL and -ENOMEM besides the errors that are
 * named.
 */
typedef struct cw_multicast_api {
    size_t size;
    /* Borrows user until close(). *config is copied. -EEXIST: a service of that job has opened already. */
    int (*open)(cw_svc *multicast, cw_svc *user, const cw_multicast_config *config, cw_multicast **out);
    /* Leaves all groups; what is under way ends with -ECANCELED, reported from inside this call. NULL is allowed. */
    void (*close)(cw_multicast *u);

    /*
     * Keeps a group: it exists, with or without members, until leave() or close(). To publish to a group that nobody
     * keeps or is a member of is an error (-ENOENT).
     */
    int (*create)(cw_multicast *u, const char *group, size_t length, cw_multicast_acked_fn done, void *arg);
    /*
     * Makes this service a member. done(0): the root has acknowledged it. done(-ETIMEDOUT): not within 5 s;
     * done(-ENOSPC): the root has no room; after both the server goes on trying until leave(). done(-ECANCELED): it has
     * left before. -ENOSPC: this server is in 1,024 groups.
     */
    int (*join)(cw_multicast *u, const char *group, size_t length, cw_multicast_acked_fn done, void *arg);
    /* Ends create() and join(). Nothing is delivered any more when this returns. -ENOENT: it was neither. */
    int (*leave)(cw_multicast *u, const char *group, size_t length, cw_multicast_acked_fn done, void *arg);
    /*
     * Messages of send() with that topic are delivered to this service, or are not any more. Local: no packet is sent.
     * -ENOSPC: 1,024 names of this service; -ENOENT: it did not listen.
     */
    int (*listen)(cw_multicast *u, const char *topic, size_t length);
    int (*ignore)(cw_multicast *u, const char *topic, size_t length);

    /* Sends to the members of a group. -EAGAIN: writable() follows; -EMSGSIZE: the message is too long. */
    int (*publish)(cw_multicast *u, const char *group, size_t length, const cw_multicast_content *content,
                   cw_multicast_done_fn done, void *arg);
    /*
     * Sends to an ad hoc set: to those of the servers whose service listens to the topic, this one too when it is among
     * them. Servers may repeat. Errors as publish().
     */
    int (*send)(cw_multicast *u, const cw_coord *to, unsigned count, const char *topic, size_t length,
                const cw_multicast_content *content, cw_multicast_done_fn done, void *arg);
    /* Asks the root for the members; done must not be NULL. -EAGAIN: 256 questions are under way. */
    int (*members)(cw_multicast *u, const char *group, size_t length, cw_multicast_members_fn done, void *arg);
    /* The longest message that fits one packet: such a message is fast, and best effort carries no longer one. */
    size_t (*packet_max)(const cw_multicast *u, size_t name_length);
} cw_multicast_api;

#endif
