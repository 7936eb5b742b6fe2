/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inquiry_host.h - what this daemon answers when another server's operator asks, through the service inquiry.
 */
#ifndef DAEMON_HOST_INQUIRY_HOST_H
#define DAEMON_HOST_INQUIRY_HOST_H

#include "daemon/host/host.h"
#include "services/inquiry/inquiry.h"
#include "services/inquiry/rows.h"

/* Tells all that is wrong with the server, as rows; returns how many findings are more than a note (doctor.h). */
typedef unsigned host_doctor_fn(struct host_server *s, const struct rows_reader *out);
/* Who answers when another server asks what is wrong here; without one nothing is answered to that. */
void host_set_doctor(struct host *h, host_doctor_fn *look);

/* Fills in what cw_find() gives to the service; h is borrowed as long as that is used. */
void inquiry_host_open(struct inquiry_host *out, struct host *h);

#endif
