/* SPDX-License-Identifier: Apache-2.0 */
/*
 * doctor_flaps.h - links that went down lately and came back, or rest until they may: whether this server stood still,
 * a neighbour began another life, or a cable is bad. For doctor.c alone, with which it shares struct doctor.
 *
 * What decides is when each link went down last, and not how often. A server is said to have stood still only if two
 * things agree: all its links that were up went down within one `dead`, and the daemon was kept waiting at that time.
 */
#ifndef DAEMON_DOCTOR_DOCTOR_FLAPS_H
#define DAEMON_DOCTOR_DOCTOR_FLAPS_H

#include "daemon/doctor/doctor_cables.h"

/*
 * The incarnation in which the neighbour lives now, as it was heard over the link, or as the view has it by other ways;
 * 0: nobody has told of one.
 */
uint64_t doctor_life(const struct doctor *d, cw_link link);
/* Says that this server stood still, if it did. d->stood: the links that went down by that. Call before the others. */
void doctor_stall(struct doctor *d);
/* Says that a service held the thread for longer than timers.dead lately, unless doctor_stall() has said so. */
void doctor_hold(struct doctor *d);
/*
 * Nothing is to be said of the cable yet: the link went down so lately that an end of it may still rest, or this server
 * stood still so lately that its neighbours' ends may.
 */
bool doctor_rests(const struct doctor *d, cw_link link);
/* The link went down lately: it is told with others by doctor_flaps(), unless standing still explains all of it. */
void doctor_flapped(struct doctor *d, cw_link link);
/*
 * Call once, after all links: one finding for each neighbour that is the cause, or for each cable; and a row of part
 * "fell" for each link that is up and went down too seldom for a finding.
 */
void doctor_flaps(struct doctor *d);

#endif
