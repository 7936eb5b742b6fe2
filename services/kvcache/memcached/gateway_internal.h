/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gateway_internal.h - struct gateway and its connections. For the two sources of the gateway:
 *
 *   gateway.c      the listener, the clock, the way into the cache, opening and closing
 *   connection.c   one client: what it sends and takes, and when it is its turn
 */
#ifndef SERVICES_KVCACHE_MEMCACHED_GATEWAY_INTERNAL_H
#define SERVICES_KVCACHE_MEMCACHED_GATEWAY_INTERNAL_H

#include "base/list.h"
#include "services/kvcache/memcached/gateway.h"
#include "services/kvcache/memcached/session.h"

struct event;

enum {
    /* Bytes that are read at once, into one piece of memory for all connections. */
    GATEWAY_READ_BYTES = 64 * 1024,
    /* A command counts as so many bytes of a turn, besides the bytes that come and go. */
    GATEWAY_STEP_BYTES = 2048,
};

struct connection {
    struct list_node by_time; /* in gateway->by_time, by its latest sign of life, oldest first */
    struct list_node ready;   /* in gateway->ready while marked */
    struct gateway *gateway;
    struct mc_session *session;
    struct event *readable, *writable;
    int fd;
    bool marked, reading, writing;
    bool unread; /* while marked: it has bytes to be read, and other connections come first */
    bool ended;  /* the client sends nothing more, and still takes answers */
    int64_t alive_ns;
};

/* Lives until the cache has answered all its sessions: after gateway_close() only the hub is left of it. */
struct gateway {
    struct mc_hub hub;
    struct mc_config config;
    struct gateway_host host;
    struct event_base *base;
    struct event *listener, *again, *clock, *work;
    int fd;
    bool closed;
    unsigned count;
    struct list by_time, ready;
    size_t spent;    /* bytes of this turn, of TURN_BYTES in connection.c */
    bool working;    /* gateway_work() is running, at the end of the turn */
    unsigned unread; /* connections that are unread */
    int64_t started_ns;
    int64_t flush_ns; /* when to drop all; 0: never */
    cw_svc *kvcache;  /* while inside of enter(), as is api */
    const struct kvcache_api *api;
    uint8_t *bytes; /* GATEWAY_READ_BYTES */
};

/* Something to be done inside the server, in an upcall of the service. */
struct task {
    struct gateway *gateway;
    void (*run)(struct task *t);
    struct connection *connection;
    const uint8_t *bytes;
    size_t length;
};

/* ---- gateway.c --------------------------------------------------------------------------------------------------- */

/* Runs the task inside the server; if the service does not run, outside: then every operation is refused. */
void gateway_enter(struct gateway *g, struct task *t);
/* Lets gateway_work() run soon, outside of the server. */
void gateway_work_later(struct gateway *g);
/* Frees an event. NULL is allowed. */
void gateway_drop_event(struct event *e);

/* ---- connection.c ------------------------------------------------------------------------------------------------ */

/* Begins to serve a client. Takes fd. -ENOMEM: fd is still the caller's. */
CW_MUST_CHECK int connection_open(struct gateway *g, int fd);
/* Closes the connection; the pointer is dead when this returns. */
void connection_hang_up(struct connection *c);
/* gateway_work() will look after the connection. May be called from within the server. */
void connection_mark(struct connection *c);
/* Counts bytes of this turn; gateway_work(), at the end of the turn, begins anew. */
void connection_spend(struct gateway *g, size_t bytes);

#endif
