/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fake_net.h - a torus of fake hosts: packets go hop by hop on shortest paths, one link per `hop` of time, on-path
 * upcalls on the way. No loss, no queues, no failures but what the test makes; answers retrace a recorded path.
 */
#ifndef KIT_FAKE_NET_H
#define KIT_FAKE_NET_H

#include "fake_host.h"

struct fake_flight;

struct fake_net {
    struct torus torus;
    cw_time now;
    cw_span hop;
    unsigned lose; /* every so many-th packet that is sent is lost; 0: none */
    unsigned sends;
    uint64_t crossed;            /* links, by all packets */
    struct fake_flight *flights; /* by the instant of their arrival */
    cw_svc *server[];
};

/* The service on every server. */
struct fake_net *fake_net_open(const cw_service *table, cw_dims dims);
/* As fake_close(), for all of them. */
size_t fake_net_close(struct fake_net *net);
void fake_net_run(struct fake_net *net, cw_span span);
/* The same for a request, until it has been answered; at most an hour. */
void fake_net_finish(struct fake_net *net, const struct fake_result *r);

#endif
