/* SPDX-License-Identifier: Apache-2.0 */
/*
 * module_host.h - modules of functions for key-value streams, from a folder of this machine
 * (services/aggregate/sorted/host.h). What is loaded runs in the daemon: so folder and files belong to root or to the
 * daemon's user, and nobody else may write them (a sticky folder that all may write is refused, too).
 */
#ifndef DAEMON_FILES_MODULE_HOST_H
#define DAEMON_FILES_MODULE_HOST_H

#include "services/aggregate/sorted/host.h"

/*
 * Fills *out, which is good as long as user is: the name of the user that the daemon will run as, borrowed; "": the one
 * that it runs as now.
 */
void module_host_open(struct modules_host *out, const char *user);

#endif
