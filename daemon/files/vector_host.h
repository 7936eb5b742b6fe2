/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vector_host.h - the vectors of this machine, for the service aggregate (services/aggregate/order/host.h): files below
 * one folder, opened by names that operators give, so that no name leads out of the folder (openat2()).
 *
 * A folder in which others could put something else in a file's place (they may write it, and it is not sticky) is
 * refused for results. Files are read with the daemon's rights.
 */
#ifndef DAEMON_FILES_VECTOR_HOST_H
#define DAEMON_FILES_VECTOR_HOST_H

#include "services/aggregate/order/host.h"

/* Fills *out, which is good for ever. several: as in struct vectors_host. */
void vector_host_open(struct vectors_host *out, bool several);

#endif
