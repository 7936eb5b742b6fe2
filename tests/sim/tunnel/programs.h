/* SPDX-License-Identifier: Apache-2.0 */
/*
 * programs.h - programs that speak TCP over the service `ip`, on every server of a simulated torus: a model of TCP that
 * is small enough to be believed, and a judge of what comes. Beside them are programs that speak UDP (datagrams.h).
 *
 * A connection sends its bytes by slow start, congestion avoidance, fast retransmission and a time-out that doubles; it
 * halves its window when the receiver has seen a mark (RFC 3168). Packets stand for up to seven segments, as those that
 * a kernel gives to a tun do. Each transmission has a number of its own in the packet's time stamp option, by which the
 * judge knows every segment that comes. The judge holds these invariants of docs/semantics.md, 8.1:
 *
 *   once     (62) no segment of a transmission comes twice
 *   server   (63) what comes has the address of the server to which it comes
 *   source   (64) nothing comes whose source address is not one of the server that sent it, whatever programs try
 *   order    (65) transmissions of a connection come in the order in which they were sent, but for pieces that the
 *                 service counts as late after all
 *   packet        what comes is a right packet, by kit/model/ip_kit.h, with the bytes that were sent
 *   home     (67) in the end nothing waits
 *   bounds   (66) what waits behind holes and before links is within its bounds, each millisecond
 *   ends          every connection between two servers that live through it ends with all bytes
 */
#ifndef PROGRAMS_H
#define PROGRAMS_H

#include "cubeway/service.h"
#include "seeds.h"

enum {
    PROGRAMS_JOB = 1300,
    PROGRAMS_SERVERS = 27,
    PROGRAMS_CONNECTIONS = 64,
    PROGRAMS_SENDINGS = 60000,
    PROGRAMS_BYTES = 600 * 1024
};

struct programs_ledger {
    char wrong[SEEDS_WRONG_BYTES];
    uint64_t begun, ended, cut_off, bytes, segments, again, timeouts, late, marks, joined, told, lies, longer;
    uint64_t datagrams, datagrams_came;
    int64_t held; /* the most bytes that waited behind holes */
};

/* What a seed draws, set before the world starts. */
struct programs_plan {
    uint64_t seed;
    cw_server servers;
    /* Connections begin from the first of these times on, and before the second. */
    cw_time begin, quiet;
};

extern struct programs_ledger *programs_ledger;
extern struct programs_plan programs_plan;
extern const cw_service programs_service;

/* Forgets everything that was. */
void programs_begin(void);
/* A server has died: its connections are cut off, and nothing more is asked of them. */
void programs_died(cw_server s);
/* Connections that are neither ended nor cut off. */
unsigned programs_open(void);
/* How often a transmission came to the server after one that was sent later. */
uint64_t programs_regress(cw_server s);

#endif
