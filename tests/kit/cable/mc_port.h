/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mc_port.h - a memcached front end on a free port of loopback, with the stand-in for a cache behind it, and clients of
 * that port. One at a time, in one thread: its loop runs inside of the functions below.
 */
#ifndef KIT_MC_PORT_H
#define KIT_MC_PORT_H

#include "kv_standin.h"
#include "services/kvcache/memcached/gateway.h"

#include <sys/types.h>

enum { MC_PORT_KEPT = 4 };

struct mc_port {
    struct standin cache;
    struct event_base *base;
    struct gateway *gateway;
    struct mc_config config; /* as it was opened; `listen` says where */
    unsigned port;
    bool away; /* the server behind the gateway does not run */
    /* The first keep_most operations are not answered: their done functions are kept here for the test to call. */
    struct {
        kv_done_fn done;
        void *arg;
    } kept[MC_PORT_KEPT];
    unsigned keeps, keep_most;
};

extern struct mc_port mc_port;

/* Opens the front end; its `listen` is replaced by a free port. */
void mc_port_open(const struct mc_config *config);
void mc_port_close(void);
/* As mc_port.gateway has it, for a second gateway of the test's own. */
struct gateway_host mc_port_host(void);
/* Runs the loop so many times, without waiting. */
void mc_port_turn(unsigned rounds);
/* Gives the socket of a new client, which the test closes. */
int mc_port_client(void);
/* Sends the text or the bytes, and runs the loop. */
void mc_port_tell(int fd, const char *text);
void mc_port_send(int fd, const void *bytes, size_t length);
/* What the client has been sent since the last call, up to 4,095 bytes; "(hung up)". Borrowed until the next call. */
const char *mc_port_hear(int fd);
/* The same as bytes: gives how many; 0: hung up; -1: nothing has come. */
ssize_t mc_port_receive(int fd, void *out, size_t room);

#endif
