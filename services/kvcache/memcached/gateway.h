/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gateway.h - the memcached front end of one server: a listener and the connections of its clients, on the loop of
 * whoever opens it. What clients say and are told is session.h's; this knows sockets and time.
 *
 * Many clients, each with little: a connection has no memory but for what is in the middle of going in or out. At most
 * config->connections at one time; one more is told so and closed, as memcached does it. Whoever says nothing for
 * config->idle, or stops half-way for config->slow, is closed.
 *
 * Threading: that of the loop, which is the server's.
 */
#ifndef SERVICES_KVCACHE_MEMCACHED_GATEWAY_H
#define SERVICES_KVCACHE_MEMCACHED_GATEWAY_H

#include "services/kvcache/kvcache.h"
#include "services/kvcache/mc_config.h"

struct event_base;
struct gateway;

enum { GATEWAY_WHY = 256 };

/* The server behind it. */
struct gateway_host {
    void *context;
    /*
     * Calls visit as an upcall of the service, where kv_do() may be called, and sees to it that what the server then
     * has to send is sent. -errno: the server or its service do not run now, and visit was not called.
     */
    int (*enter)(void *context, void (*visit)(void *arg, cw_svc *kvcache, const struct kvcache_api *api), void *arg);
    /*
     * Calls gateway_work() soon, outside of the server, and not when the gateway has closed. May be NULL: the event
     * loop does.
     */
    void (*later)(void *context);
};

/*
 * Copies both. *out listens. -errno and why, in one sentence with the address: in use, not an address of this machine,
 * ...
 */
CW_MUST_CHECK int gateway_open(struct gateway **out, struct event_base *base, const struct mc_config *config,
                               const struct gateway_host *host, char why[static GATEWAY_WHY]);
/* Hangs up on all. What the cache still owes them may come before or after. NULL is allowed. */
void gateway_close(struct gateway *g);
/* Answers that have come are given to their clients. */
void gateway_work(struct gateway *g);
/* Connections now. */
unsigned gateway_clients(const struct gateway *g);

#endif
