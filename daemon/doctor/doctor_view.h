/* SPDX-License-Identifier: Apache-2.0 */
/*
 * doctor_view.h - who is away, as the view of this server has it, and whether those that are left are a majority. For
 * doctor.c alone, with which it shares struct doctor.
 */
#ifndef DAEMON_DOCTOR_DOCTOR_VIEW_H
#define DAEMON_DOCTOR_DOCTOR_VIEW_H

#include "daemon/doctor/doctor_cables.h"

/* No link of this server is up: that a neighbour is silent, too, says nothing about the neighbour. */
bool doctor_is_cut_off(const struct doctor *d);
/* Begins the finding that the server has left in order. False, and nothing is told: it has not. */
bool doctor_say_left(struct doctor *d, cw_link link, cw_server server);
/* Call once: servers that are away with all their neighbours, and that too few are in view. */
void doctor_view(struct doctor *d);

#endif
