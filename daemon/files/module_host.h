/* SPDX-License-Identifier: Apache-2.0 */
/*
 * module_host.h - modules of functions for key-value streams, from a folder of this machine
 * (services/aggregate/sorted/host.h). What is loaded runs in the daemon: so folder and files belong to root or to the
 * daemon's user, and nobody else may write them.
 */
#ifndef DAEMON_FILES_MODULE_HOST_H
#define DAEMON_FILES_MODULE_HOST_H

#include "services/aggregate/sorted/host.h"

/* Fills *out, which is good for ever. */
void module_host_open(struct modules_host *out);

#endif
