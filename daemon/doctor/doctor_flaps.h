/* SPDX-License-Identifier: Apache-2.0 */
/*
 * doctor_flaps.h - links that went down lately and came back, or rest until they may, and not because this server stood
 * still (doctor_still.h): whether a neighbour began another life, somebody used a switch, or a cable is bad. For
 * doctor.c alone, with which it shares struct doctor.
 */
#ifndef DAEMON_DOCTOR_DOCTOR_FLAPS_H
#define DAEMON_DOCTOR_DOCTOR_FLAPS_H

#include "daemon/doctor/doctor_cables.h"

/*
 * The incarnation in which the neighbour lives now, as it was heard over the link, or as the view has it by other ways;
 * 0: nobody has told of one.
 */
uint64_t doctor_life(const struct doctor *d, cw_link link);
/* The link went down lately: it is told with others by doctor_flaps(), unless standing still explains all of it. */
void doctor_flapped(struct doctor *d, cw_link link);
/*
 * Call once, after all links: one finding for each neighbour that is the cause, or for each cable; and a row of part
 * "fell" for each link that is up and went down too seldom for a finding.
 */
void doctor_flaps(struct doctor *d);

#endif
