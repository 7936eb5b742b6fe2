/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spool_host.h - the spool and the inputs of key-value streams on this machine (services/aggregate/sorted/host.h).
 *
 * What is spilled has no name from the beginning, or, where the file system cannot (NFS), from the moment it is open:
 * it is gone when it is closed, and when the daemon ends, however it does. Inputs are opened by names that operators
 * give, so that no name leads out of the folder.
 */
#ifndef DAEMON_FILES_SPOOL_HOST_H
#define DAEMON_FILES_SPOOL_HOST_H

#include "services/aggregate/sorted/host.h"

/* Fills *out, which is good for ever. several: as in struct spool_host. */
void spool_host_open(struct spool_host *out, bool several);

#endif
