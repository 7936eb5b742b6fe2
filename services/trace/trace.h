/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace.h - the service that shows a packet's way: what every server on it reported, there and back (docs/wire.md,
 * TRACE).
 *
 * A probe with the trace bit goes to a server or to the root of a key. Whoever takes it answers with what the probe
 * carries, in a packet that is traced itself. The way there is the way of any packet of that destination; the way back
 * that of any packet to us.
 *
 * Commands (in brackets what may be left out, with its default):
 *   to SERVER            that server, "x,y,z"
 *   key KEY              the root of a key: 40 hex digits, or any other text as a name of this service
 *   [timeout=1000000]    us until the probe counts as lost
 *   [size=16]            bytes of payload, from 16
 * A row for every server on the way: leg ("there" or "back"), hop (0 at the sender), server, in and out ("+x", or
 * "self": made or taken there), wait_ns, queued. The last row: server (that took it), rtt_ns, hops_there, hops_back,
 * complete (0: the way was longer than the reports that fit). -ETIMEDOUT when no answer came.
 */
#ifndef SERVICES_TRACE_TRACE_H
#define SERVICES_TRACE_TRACE_H

#include "cubeway/service.h"

enum { TRACE_JOB = 3 };

extern const cw_service trace_service;

#endif
