/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ping.h - the service that measures how far it is: round trips, and links crossed there and back (CamCubeOS 4.2.2).
 *
 * How many links a packet crossed stands in its head, so that servers on the way need not look at it: also a kernel may
 * pass it on. With counted=1 each server on the way sees the packet (it is traced) and adds one to a counter in it,
 * which is not copied; `miscounted` says how often that counter and the head differ, and must stay 0.
 *
 * Commands (SERVER is "x,y,z"; in brackets what may be left out, with its default):
 *   to SERVER            that server
 *   key KEY              the root of a key: 40 hex digits, or any other text as a name of this service
 *   all                  every reachable server once, several at a time
 *   far [hops=15]        a path of so many links, over way-points; the answer retraces it, home
 *   far via SERVER..     over these servers, the last of which answers
 * options of all of them:
 *   [count=1]            packets (not for all)
 *   [interval=0]         us from one packet to the next; 0: the next one when the last is answered or lost
 *   [size=16]            bytes of payload, from 16; a call and its path take up to 56 of cw_mtu()
 *   [timeout=1000000]    us until a packet is lost
 *   [rows=0]             1: a row for every packet too
 *   [counted=0]          1: links are counted by the servers on the way there, too; a trace takes 8 bytes and more
 * The last row of the result: server (the last that answered) sent received lost, of all: unreachable (servers that are
 * not in view and were not asked), miscounted rtt_min_ns rtt_mean_ns rtt_max_ns hops_there_min hops_there_max
 * hops_back_min hops_back_max; times and hops only when something was received. Rows for every packet: seq server, and
 * rtt_ns hops_there hops_back or lost.
 */
#ifndef SERVICES_PING_PING_H
#define SERVICES_PING_PING_H

#include "cubeway/service.h"

enum { PING_JOB = 1 };

extern const cw_service ping_service;

#endif
