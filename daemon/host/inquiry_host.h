/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inquiry_host.h - what this daemon answers when another server's operator asks, through the service inquiry.
 */
#ifndef DAEMON_HOST_INQUIRY_HOST_H
#define DAEMON_HOST_INQUIRY_HOST_H

#include "daemon/host/host.h"
#include "services/inquiry/inquiry.h"

/* Fills in what cw_find() gives to the service; h is borrowed as long as that is used. */
void inquiry_host_open(struct inquiry_host *out, struct host *h);

#endif
