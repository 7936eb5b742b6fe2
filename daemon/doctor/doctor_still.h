/* SPDX-License-Identifier: Apache-2.0 */
/*
 * doctor_still.h - whether this server stood still, so that its links went down together, or a service held its thread.
 * For doctor.c and doctor_flaps.c, with which it shares struct doctor.
 *
 * What decides is when each link went down last, and not how often. A server is said to have stood still only if two
 * things agree: all its links that were up went down within one `dead`, and the daemon was kept waiting at that time.
 */
#ifndef DAEMON_DOCTOR_DOCTOR_STILL_H
#define DAEMON_DOCTOR_DOCTOR_STILL_H

#include "daemon/doctor/doctor_cables.h"

/* The bound for "at one instant". */
cw_span doctor_instant(const struct doctor *d);
/* The link has an interface, which has a carrier. */
bool doctor_is_plugged(const struct doctor *d, cw_link link);
/* This server did not run at that time, for the machine or for a service: what a link lost then was not its cable's. */
bool doctor_stood_still_at(const struct doctor *d, cw_time at);
/*
 * Nothing is to be said of the cable yet: the link went down so lately that an end of it may still rest, or this server
 * stood still so lately that its neighbours' ends may.
 */
bool doctor_rests(const struct doctor *d, cw_link link);
/* Says that this server stood still, if it did. d->stood: the links that went down by that. Call before the others. */
void doctor_stall(struct doctor *d);
/* Says that a service held the thread for longer than timers.dead lately, unless doctor_stall() has said so. */
void doctor_hold(struct doctor *d);

#endif
