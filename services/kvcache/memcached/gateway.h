/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gateway.h - the memcached front end of one server: a listener and the connections of its clients, on the event loop
 * of its owner. What clients say and are answered is session.h's; this file knows sockets and time.
 *
 * Made for many clients with little memory each: a connection holds only the bytes that are on their way in or out.
 * There are at most config->connections at one time; one more reads an error and is closed, as memcached does it. A
 * client that is silent for config->idle, or stops half-way for config->slow, is hung up on.
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

/* The server behind a gateway. */
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
 * Opens a listener. Copies config and host. -errno, and why in one sentence with the address: in use, not an address of
 * this machine, ...
 */
CW_MUST_CHECK int gateway_open(struct gateway **out, struct event_base *base, const struct mc_config *config,
                               const struct gateway_host *host, char why[static GATEWAY_WHY]);
/* Hangs up on all clients. Answers that the cache still owes them may come before or after. NULL is allowed. */
void gateway_close(struct gateway *g);
/* Gives answers that have come to their clients, and lets clients go on that had to wait. */
void gateway_work(struct gateway *g);
/* Connections now. */
unsigned gateway_clients(const struct gateway *g);

#endif
