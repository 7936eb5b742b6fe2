/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dense_town.h - the engine for vectors on every server of a fake_net, and calls of it: for unit tests. Vectors are
 * uint64: element i of server s is (s + 1) * 1,000,003 + i, so a sum says who is in it.
 */
#ifndef KIT_DENSE_TOWN_H
#define KIT_DENSE_TOWN_H

#include "fake_net.h"
#include "services/aggregate/dense/internal.h"

enum { TOWN_SERVERS = 27 };

struct town_call {
    int64_t ticket;
    unsigned ends;
    int status;
    unsigned attempts, count;
    bool named;
    cw_coord who, other;
    unsigned unlike;
    uint64_t *in, *out;
};

/* Opens the engine on 3x3x3 fake hosts. */
struct fake_net *town_open(void);
/* Everything is given back: packets, calls. */
void town_close(struct fake_net *net);
struct dense *town_dense(struct fake_net *net, cw_server s);
/* The call of each server in the reduction that town_call() made last. */
extern struct town_call town_calls[TOWN_SERVERS];

/* What all calls of one reduction have in common. */
struct town_plan {
    const char *name;
    cw_server root;
    uint32_t members; /* a bit each */
    uint64_t elements;
    cw_number type;     /* 0: uint64 */
    cw_combine combine; /* 0: sum */
    unsigned flags;
    cw_span limit;
    cw_job job; /* 0: 7 */
};
/* The server calls; its end is noted in town_calls[s]. Gives the ticket, or the error. */
int64_t town_reduce(struct fake_net *net, cw_server s, const struct town_plan *plan);
/* All members and the root call. */
void town_reduce_all(struct fake_net *net, const struct town_plan *plan);
/* Is the root's result the sum of these servers? */
bool town_right(const struct town_plan *plan, uint32_t counted);
/*
 * A multicast on every server, from town_multicast_open() on until the town closes. It hands messages over 10 us after
 * they were sent.
 */
struct town_multicast {
    uint32_t fail;    /* servers to which nothing comes, and the sender is told so */
    uint32_t swallow; /* servers to which nothing comes, and the sender is told that it did */
    unsigned busy;    /* so many sends are refused with -EAGAIN first */
    int status;       /* what the sender is told of the servers in `fail`; 0: -ETIMEDOUT */
    bool cancels;     /* whatever is sent ends with -ECANCELED, as when the service closes */
    unsigned sends;   /* counted */
};
extern struct town_multicast town_multicast;
void town_multicast_open(struct fake_net *net);
/* The multicast hands this over at server `to`, as if `from` had sent it. */
void town_multicast_deliver(cw_server from, cw_server to, const void *bytes, size_t length);
/* The server is out of everybody's view from now on, and its packets are lost. */
void town_lose(struct fake_net *net, cw_server s);

#endif
