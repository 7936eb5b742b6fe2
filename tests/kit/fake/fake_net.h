/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fake_net.h - a torus of fake hosts: packets go hop by hop on shortest paths, one link per `hop` of time, on-path
 * upcalls on the way. There are no queues, and only those losses and failures that the test makes. Answers retrace a
 * recorded path. A packet to a key goes to the server that cw_servers_for_key() names first.
 */
#ifndef KIT_FAKE_NET_H
#define KIT_FAKE_NET_H

#include "fake_host.h"

struct fake_flight;

struct fake_net {
    struct torus torus;
    cw_time now;
    cw_span hop;
    unsigned lose; /* n: every n-th packet that is sent is lost; 0: none is */
    unsigned sends;
    uint64_t crossed;            /* how many links all packets together have crossed */
    struct fake_flight *flights; /* by the instant of their arrival */
    bool *dead;                  /* by server id: fake_net_down() */
    unsigned deaths;
    cw_svc **former; /* lives that have ended: their packets may be on the way */
    unsigned formers;
    const cw_service *table;
    const char *const *options;
    cw_svc *server[];
};

/* Opens the service on every server. */
struct fake_net *fake_net_open(const cw_service *table, cw_dims dims);
/* The same, with options ("name=value", ended by NULL; borrowed until the net is closed). */
struct fake_net *fake_net_open_with(const cw_service *table, cw_dims dims, const char *const *options);
/* As fake_close(), for all servers. */
size_t fake_net_close(struct fake_net *net);
/*
 * The server dies: its service there is closed, packets at it and to it are lost, and all others are told at once
 * (fake_view()): its keys have their next servers as roots. Its state can be looked at until it comes back.
 */
void fake_net_down(struct fake_net *net, cw_server who);
/* It comes back with a new state, all are told, and its keys are its own again. server[who] is another pointer then. */
void fake_net_up(struct fake_net *net, cw_server who);
void fake_net_run(struct fake_net *net, cw_span span);
/* Lets time pass until the request has been answered; at most an hour. */
void fake_net_finish(struct fake_net *net, const struct fake_result *r);

#endif
